"""Every key of config.yaml, with its default and what is allowed."""

from __future__ import annotations

import re
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

from cssselect import HTMLTranslator, SelectorError
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo  # noqa: TID251

from indexer.urls import Site, absolute, make_site

USER_AGENT = "indexer/0.1 (keeps a site's internal links in view; obeys robots.txt)"
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = re.compile(r"([!-~]([ -~\t]*[!-~])?)?")
_HOST = re.compile(r"[\w-]+(\.[\w-]+)*(:\d{1,5})?")
_LISTEN = re.compile(r"([\w-]+(\.[\w-]+)*|\[[0-9A-Fa-f:.]+\]):(\d{1,5})")
_DURATION = re.compile(r"[1-9]\d*[mhd]")
_CRON_PART = re.compile(r"(?:\*|(\w+)(?:-(\w+))?)(?:/[1-9]\d*)?")
_CRON_FIELDS = (
    (0, 59, ()),
    (0, 23, ()),
    (1, 31, ()),
    (1, 12, ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")),
    (0, 7, ("mon", "tue", "wed", "thu", "fri", "sat", "sun")),
)


def is_address(text: str) -> bool:
    """Whether the text is meant as an address, not as a folder."""
    return text.lower().startswith(("http://", "https://"))


# --- checks: each gives the value back, or says what is allowed -----------------------------------------------------


def _no_truth_value(value: Any) -> Any:
    """Pydantic takes true for 1; as a word it is no number."""
    return str(value).lower() if isinstance(value, bool) else value


def _address(url: str) -> str:
    try:
        good = is_address(url) and absolute(url, url) is not None and urlsplit(url).port != 0
    except ValueError:
        good = False
    if not good:
        raise ValueError("an address that begins with http:// or https://")
    return url


def _site(text: str, info: ValidationInfo) -> str:
    if is_address(text):
        return _address(text)
    folder = _below_config(Path(text), info)
    if not folder.is_dir():
        raise ValueError("an address that begins with http:// or https://, or a folder that exists")
    return str(folder)


def _vectors(text: str, info: ValidationInfo) -> str:
    if is_address(text):
        return _address(text)
    folder = _below_config(Path(text), info)
    if "://" in text or folder.is_file():
        raise ValueError("a folder, or a server's address that begins with http:// or https://")
    return str(folder)


def _file(path: Path, info: ValidationInfo) -> Path:
    file = _below_config(path, info)
    if file.is_dir():
        raise ValueError("a file, and this is a folder")
    return file


def _model(name: str, info: ValidationInfo) -> str:
    folder = _below_config(Path(name), info)
    return str(folder) if folder.is_dir() else name


def _below_config(path: Path, info: ValidationInfo) -> Path:
    """Relative paths are relative to the folder of the file that names them."""
    return path if info.context is None else info.context / path


def _selector(css: str) -> str:
    try:
        HTMLTranslator().css_to_xpath(css)
    except SelectorError as error:
        raise ValueError(f"a CSS selector ({error})") from error
    return css


def _host(name: str) -> str:
    if not _HOST.fullmatch(name):
        raise ValueError("a host name such as blog.example.com, without scheme or path")
    return name.lower()


def _said(text: str) -> str:
    if not text.strip():
        raise ValueError("something: it is empty")
    return text


def _glob(pattern: str) -> str:
    if not pattern.strip():
        raise ValueError("a pattern such as /blog/*")
    return pattern


def _header_name(name: str) -> str:
    if not _HEADER_NAME.fullmatch(name):
        raise ValueError("a header's name: letters, digits and hyphens")
    return name


def _header_value(value: str) -> str:
    if not _HEADER_VALUE.fullmatch(value):
        raise ValueError("one line of ASCII, without blanks at its ends")
    return value


def _listen(text: str) -> str:
    found = _LISTEN.fullmatch(text)
    if not found or int(found[3]) > 65535:
        raise ValueError("a host and a port, such as 127.0.0.1:8080")
    return text


def _every(text: str) -> str:
    fields = text.split()
    if not _DURATION.fullmatch(text) and not (
        len(fields) == len(_CRON_FIELDS) and all(map(_cron_field, fields, *zip(*_CRON_FIELDS, strict=True)))
    ):
        raise ValueError("a time such as 30m, 1h or 1d, or a cron line of five fields such as 0 4 * * mon-fri")
    return text


def _cron_field(text: str, least: int, most: int, names: tuple[str, ...]) -> bool:
    found = [_CRON_PART.fullmatch(part.lower()) for part in text.split(",")]
    values = [value for part in found if part for value in part.groups() if value is not None]
    return all(found) and all(v in names or (v.isdecimal() and least <= int(v) <= most) for v in values)


Int = Annotated[int, BeforeValidator(_no_truth_value)]
Float = Annotated[float, BeforeValidator(_no_truth_value)]
Text = Annotated[str, AfterValidator(_said)]
Selector = Annotated[str, AfterValidator(_selector)]
Host = Annotated[str, AfterValidator(_host)]
Address = Annotated[str, AfterValidator(_address)]
Glob = Annotated[str, AfterValidator(_glob)]
HeaderName = Annotated[str, AfterValidator(_header_name)]
HeaderValue = Annotated[str, AfterValidator(_header_value)]
File = Annotated[Path, AfterValidator(_file)]


# --- the sections ---------------------------------------------------------------------------------------------------


class Section(BaseModel):
    """Keys that belong together. Defaults are validated like what is given: that is how their paths become whole."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True, defer_build=True)


class Discover(Section):
    """Where the site's pages are named."""

    sitemaps: tuple[Address, ...] = ()
    feeds: tuple[Address, ...] = ()
    urls: File | None = None
    crawl: bool = False
    include: tuple[Glob, ...] = ()
    exclude: tuple[Glob, ...] = ()


class Fetch(Section):
    """How pages are asked for. Times in seconds, sizes in bytes."""

    user_agent: Annotated[HeaderValue, AfterValidator(_said)] = USER_AGENT
    concurrency: Annotated[Int, Field(ge=1, le=64)] = 8
    delay: Annotated[Float, Field(ge=0, le=60)] = 0.0
    timeout: Annotated[Float, Field(ge=1, le=60)] = 20.0
    max_bytes: Annotated[Int, Field(ge=10_000)] = 5_000_000
    headers: dict[HeaderName, HeaderValue] = {}
    obey_robots: bool = True


class Extract(Section):
    """Which part of a page is its text: CSS selectors, and how many words make a page."""

    content: Selector | None = None
    remove: tuple[Selector, ...] = ()
    min_words: Annotated[Int, Field(ge=0)] = 30


class Embed(Section):
    """The embedding model, and how many passages it reads at once."""

    model: Annotated[Text, AfterValidator(_model)] = "all-MiniLM-L6-v2"
    batch: Annotated[Int, Field(ge=1, le=1024)] = 8


class Neighbours(Section):
    """How many neighbours a page keeps, and how near they must be; None for the model's own threshold."""

    keep: Annotated[Int, Field(ge=1, le=200)] = 20
    min_similarity: Annotated[Float | None, Field(ge=-1, le=1)] = None


class Links(Section):
    """The rules that suggestions keep."""

    per_page: Annotated[Int, Field(ge=0)] = 5
    per_target: Annotated[Int, Field(ge=0)] = 10
    per_paragraph: Annotated[Int, Field(ge=1)] = 1
    both_ways: bool = False
    max_density: Annotated[Float | None, Field(ge=0)] = 3.0
    min_score: Annotated[Float, Field(ge=0, le=1)] = 0.12
    min_words: Annotated[Int, Field(ge=0)] = 60
    never_from: tuple[Glob, ...] = ()
    never_to: tuple[Glob, ...] = ()
    never_anchor: tuple[Text, ...] = ()
    always_to: tuple[Glob, ...] = ()
    priority: tuple[Glob, ...] = ()
    phrases: dict[Text, tuple[Text, ...]] = {}
    ignore_orphans: tuple[Glob, ...] = ()


class Store(Section):
    """Where the two stores are; `vectors` is a folder or a Qdrant server's address, `timeout` is in seconds."""

    state: File = Path("data/indexer.db")
    vectors: Annotated[Text, AfterValidator(_vectors)] = "data/vectors"
    api_key: Text | None = None
    timeout: Annotated[Int, Field(ge=1, le=600)] = 10


class Safety(Section):
    """How much may leave the index without being told so."""

    max_removed: Annotated[Int, Field(ge=0)] = 5
    max_removed_share: Annotated[Float, Field(ge=0, le=1)] = 0.2
    gone_after: Annotated[Int, Field(ge=1)] = 3


class Daemon(Section):
    """When a daemon runs, and where it listens."""

    every: Annotated[str, AfterValidator(_every)] = "1h"
    listen: Annotated[str, AfterValidator(_listen)] = "127.0.0.1:8080"
    token: Text | None = None
    webhooks: tuple[Address, ...] = ()


class Config(Section):
    """The whole configuration. Paths that were relative to the file's folder are so no longer."""

    site: Annotated[Text, AfterValidator(_site)]
    base_url: Address | None = None
    hosts: tuple[Host, ...] = ()
    discover: Discover
    fetch: Fetch
    extract: Extract
    embed: Embed
    neighbours: Neighbours
    links: Links
    store: Store
    safety: Safety
    daemon: Daemon

    @property
    def folder(self) -> Path | None:
        """The folder with the built site, where the site is one."""
        return None if is_address(self.site) else Path(self.site)

    @cached_property
    def site_address(self) -> Site:
        """Which URLs are the site's pages."""
        if self.folder is not None:
            return make_site(self.base_url or guessed_base(self.folder), self.hosts)
        return make_site(self.base_url or self.site, self.hosts, self.site if self.base_url else None)


def guessed_base(folder: Path) -> str:
    """The address that a built site's home page gives as its own, else http://localhost/."""
    home = folder / "index.html"
    html = home.read_text(encoding="utf-8", errors="replace")[:100_000] if home.is_file() else ""
    for tag in re.findall(r"<(?:link|meta)\b[^>]*>", html, re.IGNORECASE):
        if re.search(r"rel=[\"']?canonical|property=[\"']?og:url", tag, re.IGNORECASE):
            found = re.search(r"(?:href|content)=[\"']?(https?://[^\"'\s>]+)", tag, re.IGNORECASE)
            if found and absolute(found[1], found[1]) is not None:
                return found[1]
    return "http://localhost/"
