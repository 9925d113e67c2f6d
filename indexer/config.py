"""config.yaml and the environment, read once into one frozen Config; all faults in one message."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar
from urllib.parse import urlsplit

import yaml  # noqa: TID251
from cssselect import HTMLTranslator, SelectorError
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError  # noqa: TID251

from indexer.errors import ConfigError
from indexer.urls import Site, make_site

USER_AGENT = "indexer/0.1 (keeps a site's internal links in view; obeys robots.txt)"
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_DURATION = re.compile(r"[1-9]\d*[mhd]")
_VARIABLE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")


def _selector(css: str) -> str:
    try:
        HTMLTranslator().css_to_xpath(css)
    except SelectorError as error:
        raise ValueError(f"a CSS selector ({error})") from error
    return css


def _host(name: str) -> str:
    if not re.fullmatch(r"[^\s/@?#]+(:\d+)?", name):
        raise ValueError("a host name such as blog.example.com, without scheme or path")
    return name.lower()


def _address(url: str) -> str:
    if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
        raise ValueError("an address that begins with http:// or https://")
    return url


def _glob(pattern: str) -> str:
    if not pattern.strip():
        raise ValueError("a pattern such as /blog/*")
    return pattern


def _headers(headers: dict[str, str]) -> dict[str, str]:
    for name, value in headers.items():
        if not _HEADER.fullmatch(name) or "\n" in value or "\r" in value:
            raise ValueError(f"header names and values of one line; not {name!r}")
    return headers


def _every(text: str) -> str:
    if not _DURATION.fullmatch(text) and len(text.split()) != 5:
        raise ValueError("a time such as 30m, 1h or 1d, or a cron line of five fields")
    return text


Selector = Annotated[str, AfterValidator(_selector)]
Host = Annotated[str, AfterValidator(_host)]
Address = Annotated[str, AfterValidator(_address)]
Glob = Annotated[str, AfterValidator(_glob)]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, ignored_types=(cached_property,))


class Discover(_Section):
    """Where the site's pages are named."""

    sitemaps: tuple[Address, ...] = ()
    feeds: tuple[Address, ...] = ()
    urls: Path | None = None
    crawl: bool = False
    include: tuple[Glob, ...] = ()
    exclude: tuple[Glob, ...] = ()


class Fetch(_Section):
    """How pages are asked for. Times in seconds, sizes in bytes."""

    user_agent: Annotated[str, Field(min_length=1)] = USER_AGENT
    concurrency: Annotated[int, Field(ge=1, le=64)] = 8
    delay: Annotated[float, Field(ge=0, le=60)] = 0.0
    timeout: Annotated[float, Field(ge=1, le=300)] = 20
    max_bytes: Annotated[int, Field(ge=10_000)] = 5_000_000
    headers: Annotated[dict[str, str], AfterValidator(_headers)] = {}
    obey_robots: bool = True


class Extract(_Section):
    """Which part of a page is its text: CSS selectors, and how many words make a page."""

    content: Selector | None = None
    remove: tuple[Selector, ...] = ()
    min_words: Annotated[int, Field(ge=0)] = 30


class Embed(_Section):
    """The embedding model, and how many passages it reads at once."""

    model: Annotated[str, Field(min_length=1)] = "all-MiniLM-L6-v2"
    batch: Annotated[int, Field(ge=1, le=1024)] = 8


class Neighbours(_Section):
    """How many neighbours a page keeps, and how near they must be; None for the model's own threshold."""

    keep: Annotated[int, Field(ge=1, le=200)] = 20
    min_similarity: Annotated[float, Field(ge=-1, le=1)] | None = None


class Links(_Section):
    """The rules that suggestions keep."""

    per_page: Annotated[int, Field(ge=0)] = 5
    per_target: Annotated[int, Field(ge=0)] = 10
    per_paragraph: Annotated[int, Field(ge=1)] = 1
    both_ways: bool = False
    max_density: Annotated[float, Field(gt=0)] | None = 3.0
    min_score: Annotated[float, Field(ge=0, le=1)] = 0.5
    never_from: tuple[Glob, ...] = ()
    never_to: tuple[Glob, ...] = ()
    never_anchor: tuple[str, ...] = ()
    priority: tuple[str, ...] = ()


class Store(_Section):
    """Where the two stores are; `vectors` is a folder or a Qdrant server's address."""

    state: Path = Path("data/indexer.db")
    vectors: str = "data/vectors"
    api_key: str | None = None
    timeout: Annotated[int, Field(ge=1, le=600)] = 10


class Safety(_Section):
    """How much may leave the index without being told so."""

    max_removed: Annotated[int, Field(ge=0)] = 5
    max_removed_share: Annotated[float, Field(ge=0, le=1)] = 0.2
    gone_after: Annotated[int, Field(ge=1)] = 3


class Daemon(_Section):
    """When a daemon runs, and where it listens."""

    every: Annotated[str, AfterValidator(_every)] = "1h"
    listen: str = "127.0.0.1:8080"
    token: str | None = None
    webhooks: tuple[Address, ...] = ()


class Config(_Section):
    """The whole configuration. Relative paths are relative to the file it was read from."""

    sections: ClassVar[frozenset[str]] = frozenset()
    site: Annotated[str, Field(min_length=1)]
    base_url: Address | None = None
    hosts: tuple[Host, ...] = ()
    discover: Discover = Discover()
    fetch: Fetch = Fetch()
    extract: Extract = Extract()
    embed: Embed = Embed()
    neighbours: Neighbours = Neighbours()
    links: Links = Links()
    store: Store = Store()
    safety: Safety = Safety()
    daemon: Daemon = Daemon()

    @property
    def folder(self) -> Path | None:
        """The folder with the built site, where the site is one."""
        return None if _is_address(self.site) else Path(self.site)

    @cached_property
    def site_address(self) -> Site:
        """Which URLs are the site's pages."""
        if self.folder is not None:
            return make_site(self.base_url or guessed_base(self.folder), self.hosts)
        return make_site(self.base_url or self.site, self.hosts, self.site if self.base_url else None)


def load(path: Path, environ: Mapping[str, str]) -> Config:
    """The configuration in the file. Raises ConfigError with every fault, its line and what is allowed."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise ConfigError(f"there is no {path}: `indexer init SITE` writes one, --config names another") from error
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read {path}: {error}") from error
    try:
        root = yaml.compose(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{path}:{mark.line + 1}" if mark else str(path)
        raise ConfigError(f"{where}: this is not YAML: {getattr(error, 'problem', None) or error}") from error
    if not isinstance(root, yaml.MappingNode):
        raise ConfigError(f"{path}: a configuration is a list of keys, `site:` first; `indexer init SITE` writes one")
    faults: list[_Fault] = []
    value = _value(root, (), environ, faults)
    lines = dict(_lines(root, ()))
    try:
        config = _located(Config.model_validate(value), path.parent)
        faults += [] if faults else list(_missing_folder(config))
    except ValidationError as error:
        faults += [_fault(dict(detail)) for detail in error.errors()]
    if faults:
        shown = sorted({f.text(path, lines) for f in faults})
        raise ConfigError("\n  ".join([f"{path} has {len(shown)} fault{'s' * (len(shown) > 1)}:", *shown]))
    return config


def guessed_base(folder: Path) -> str:
    """The address that a built site's home page gives as its own, else http://localhost/."""
    home = folder / "index.html"
    html = home.read_text(encoding="utf-8", errors="replace")[:100_000] if home.is_file() else ""
    for tag in re.findall(r"<(?:link|meta)\b[^>]*>", html, re.IGNORECASE):
        if re.search(r"rel=[\"']?canonical|property=[\"']?og:url", tag, re.IGNORECASE):
            found = re.search(r"(?:href|content)=[\"']?(https?://[^\"'\s>]+)", tag, re.IGNORECASE)
            if found:
                return found[1]
    return "http://localhost/"


# --- reading YAML so that every fault has its line ---------------------------------------------------------------------

Key = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class _Fault:
    key: Key
    what: str

    def text(self, path: Path, lines: Mapping[Key, int]) -> str:
        key = self.key
        while key and key not in lines:
            key = key[:-1]
        name = ".".join(str(part) for part in self.key)
        return f"{path}:{lines.get(key, 1)}: {name}: {self.what}"


def _lines(node: yaml.Node, at: Key) -> Iterator[tuple[Key, int]]:
    yield at, node.start_mark.line + 1
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield (*at, key.value), key.start_mark.line + 1
            yield from ((inner, line) for inner, line in _lines(value, (*at, key.value)) if inner != (*at, key.value))
    elif isinstance(node, yaml.SequenceNode):
        for number, value in enumerate(node.value):
            yield from _lines(value, (*at, number))


def _value(node: yaml.Node, at: Key, environ: Mapping[str, str], faults: list[_Fault]) -> Any:
    """The node's value, with ${NAME} taken from the environment before its type is read."""
    if isinstance(node, yaml.MappingNode):
        return {key.value: _value(value, (*at, key.value), environ, faults) for key, value in node.value}
    if isinstance(node, yaml.SequenceNode):
        return [_value(value, (*at, number), environ, faults) for number, value in enumerate(node.value)]

    def variable(found: re.Match[str]) -> str:
        name, default = found[1], found[2]
        if name in environ:
            return environ[name]
        if default is None:
            faults.append(_Fault(at, f"the environment has no variable {name}"))
        return default or ""

    text = _VARIABLE.sub(variable, node.value)
    tag = node.tag
    loader = yaml.SafeLoader("")
    if text != node.value and getattr(node, "style", None) is None:
        tag = loader.resolve(yaml.ScalarNode, text, (True, False))  # type: ignore[no-untyped-call]
    return loader.construct_object(yaml.ScalarNode(tag, text, node.start_mark, node.end_mark))


def _fault(detail: dict[str, Any]) -> _Fault:
    key: Key = tuple(detail["loc"])
    given = detail.get("input")
    match detail["type"]:
        case "extra_forbidden":
            return _Fault(key, f"unknown key{_close_key(key)}")
        case "missing":
            return _Fault(key, "is missing: the site's address, or the folder it is built into")
        case "value_error":
            return _Fault(key, f"{given!r} is not allowed: it must be {detail['ctx']['error']}")
        case _:
            message = detail["msg"].removeprefix("Input should be ").removeprefix("Input ")
            return _Fault(key, f"{given!r} is not allowed: it must be {message}")


def _close_key(key: Key) -> str:
    fields: Any = Config.model_fields
    for part in key[:-1]:
        fields = getattr(fields[part].annotation, "model_fields", {}) if part in fields else {}
    close = get_close_matches(str(key[-1]), list(fields), n=1)
    return f"; did you mean {close[0]}?" if close else f"; allowed are {', '.join(fields)}" if fields else ""


def _missing_folder(config: Config) -> Iterator[_Fault]:
    if config.folder is not None and not config.folder.is_dir():
        yield _Fault(("site",), f"{config.site!r} is neither an http(s) address nor a folder that exists")


def _is_address(text: str) -> bool:
    return text.startswith(("http://", "https://"))


def _located(config: Config, directory: Path) -> Config:
    """The configuration with its relative paths made relative to `directory`."""
    store, discover, embed = config.store, config.discover, config.embed
    vectors = store.vectors if _is_address(store.vectors) else str(directory / store.vectors)
    model = directory / embed.model
    return config.model_copy(
        update={
            "site": config.site if _is_address(config.site) else str(directory / config.site),
            "store": store.model_copy(update={"state": directory / store.state, "vectors": vectors}),
            "discover": discover.model_copy(update={"urls": directory / discover.urls if discover.urls else None}),
            "embed": embed.model_copy(update={"model": str(model) if model.is_dir() else embed.model}),
        }
    )


# --- writing one -------------------------------------------------------------------------------------------------------


def starter(site: str) -> str:
    """The text of a configuration for a site's address or folder, with every key explained."""
    folder = None if _is_address(site) else Path(site)
    if folder is not None and not folder.is_dir():
        raise ConfigError(f"{site} is neither an http(s) address nor a folder that exists")
    base = f"base_url: {guessed_base(folder)}" if folder else "# base_url: null"
    return _STARTER.replace("SITE", site, 1).replace("BASE", base, 1)


_STARTER = f"""\
# The site: its address, or the folder it is built into. All other keys have defaults, shown here behind a "#".
# Any value may be taken from the environment: ${{NAME}}, or ${{NAME:-default}}.
site: SITE

# Where a folder or a staging host stands for another address: the address its links and canonicals name.
BASE
# Further names of the same host; the one with or without www. needs no mention.
# hosts: []

# Where pages are named. The sitemaps in robots.txt and /sitemap.xml are always read; a site without one is crawled.
# discover:
#   sitemaps: []                  # addresses of further sitemaps
#   feeds: []                     # addresses of RSS or Atom feeds
#   urls: null                    # a file with an address a line
#   crawl: false                  # follow the links from the home page, too
#   include: []                   # only pages that match one of these, such as /blog/*
#   exclude: []                   # no page that matches one of these

# fetch:
#   user_agent: {USER_AGENT!r}
#   concurrency: 8                # requests at a time
#   delay: 0.0                    # seconds between requests; robots.txt may ask for more
#   timeout: 20                   # seconds for a whole answer
#   max_bytes: 5000000            # larger pages are skipped
#   headers: {{}}                   # such as {{Authorization: "Bearer ${{TOKEN}}"}}
#   obey_robots: true

# extract:
#   content: null                 # CSS selector of a page's text, where it is not found by itself
#   remove: []                    # CSS selectors of what is never text
#   min_words: 30                 # pages with less text are known, not indexed

# embed:
#   model: all-MiniLM-L6-v2       # or a folder with a sentence-transformers model, or its name on the hub
#   batch: 8                      # passages at a time

# neighbours:
#   keep: 20                      # neighbours a page
#   min_similarity: null          # null: the model's own threshold

# The rules for suggested links.
# links:
#   per_page: 5                   # suggestions from one page
#   per_target: 10                # suggestions to one page
#   per_paragraph: 1              # suggestions in one paragraph
#   both_ways: false              # whether two pages may be told to link to each other
#   max_density: 3.0              # content links per 100 words, existing ones counted; null: any
#   min_score: 0.5
#   never_from: []                # pages, such as /legal/*
#   never_to: []
#   never_anchor: []              # words
#   priority: []                  # pages to link to first

# store:
#   state: data/indexer.db
#   vectors: data/vectors         # a folder, or a Qdrant server: http://localhost:6333
#   api_key: null                 # the server's
#   timeout: 10                   # seconds the server may take for an answer

# Pages that would leave the index in one run are held back where there are more than the larger of these two.
# safety:
#   max_removed: 5
#   max_removed_share: 0.2
#   gone_after: 3                 # looks at a 404 before its page is forgotten

# daemon:
#   every: 1h                     # or 30m, 1d, or a cron line
#   listen: 127.0.0.1:8080
#   token: null
#   webhooks: []
"""
