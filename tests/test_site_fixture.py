"""The demo site is what tests/site/README.md says it is, looked at with nothing but the standard library."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit
from xml.etree import ElementTree

import pytest

from indexer.config import load, starter

ROOT = Path(__file__).parents[1]
SITE = ROOT / "tests/site"
PUBLIC = SITE / "public"
BASE = "https://www.lindenhill.example/"
FILES = sorted(p.relative_to(PUBLIC).as_posix() for p in PUBLIC.rglob("*") if p.suffix in (".html", ".xhtml"))

VOID = {"base", "br", "hr", "img", "input", "link", "meta"}
BOILERPLATE = {"nav", "header", "footer", "aside"}
BOILERPLATE_CLASSES = {"site-header", "footer", "cookie-banner"}


@dataclass(eq=False)
class Page(HTMLParser):
    """What the standard library's parser sees. `links` and `text` are those of the content, `all_links` all."""

    tags: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    title: str | None = None
    headings: list[str] = field(default_factory=list)
    links: list[tuple[str, str]] = field(default_factory=list)
    all_links: list[str] = field(default_factory=list)
    text: str = ""
    unlinked: str = ""
    depth: int = 0
    _open: list[tuple[str, bool]] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.tags.append((tag, values))
        outside = tag in BOILERPLATE or bool(set(values.get("class", "").split()) & BOILERPLATE_CLASSES)
        if tag == "title":
            self.title = ""
        if tag == "h1":
            self.headings.append("")
        if tag == "a" and "href" in values:
            self.all_links.append(values["href"])
            if not self._outside:
                self.links.append((values["href"], ""))
        if tag not in VOID:
            self._open.append((tag, outside or self._outside))
            self.depth = max(self.depth, len(self._open))

    def handle_endtag(self, tag: str) -> None:
        if any(name == tag for name, _ in self._open):
            while self._open.pop()[0] != tag:
                pass

    def handle_data(self, data: str) -> None:
        names = {name for name, _ in self._open}
        if "title" in names:
            self.title = (self.title or "") + data
        elif names & {"script", "style"}:
            return
        if "h1" in names:
            self.headings[-1] += data
        if not self._outside and "head" not in names:
            self.text += data
            if "a" in names:
                href, words = self.links[-1]
                self.links[-1] = (href, words + data)
            else:
                self.unlinked += data

    @property
    def _outside(self) -> bool:
        return bool(self._open) and self._open[-1][1]

    def attributes(self, tag: str, **wanted: str) -> list[dict[str, str]]:
        """The attributes of the elements of this name that have these values."""
        return [
            values
            for name, values in self.tags
            if name == tag and all(values.get(key.replace("_", "-"), "").lower() == v for key, v in wanted.items())
        ]

    @property
    def canonical(self) -> str | None:
        return next((values["href"] for values in self.attributes("link", rel="canonical")), None)


def source(file: str) -> str:
    encoding = "iso-8859-1" if file == "de/archiv/satzung-1998.html" else "utf-8"
    return (PUBLIC / file).read_bytes().decode(encoding)


@cache
def page(file: str) -> Page:
    read = Page()
    read.feed(source(file))
    read.close()
    return read


def address(file: str) -> str:
    return BASE + re.sub(r"(^|/)index\.html$", r"\1", file)


def file_behind(href: str, file: str) -> str | None:
    """The file that a static server would send for a link of this page; None outside the site."""
    base = next((values["href"] for values in page(file).attributes("base")), "")
    parts = urlsplit(urljoin(urljoin(address(file), base), href))
    if parts.hostname not in ("www.lindenhill.example", "lindenhill.example"):
        return None
    path = unquote(parts.path).lstrip("/")
    return path + "index.html" if path.endswith("/") or not path else path


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def shared(one: str, other: str) -> float:
    """The share of runs of five words that two pages' contents have in common."""
    a, b = ({tuple(w[i : i + 5]) for i in range(len(w) - 4)} for w in (words(page(f).text) for f in (one, other)))
    return len(a & b) / len(a | b)


def readme() -> str:
    return (SITE / "README.md").read_text(encoding="utf-8")


def rows(heading: str) -> list[list[str]]:
    """The cells of the table or list below a heading of the README, code marks taken off."""
    part = readme().split(f"## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in part.splitlines() if re.match(r"\| `|- ", line)]
    return [[cell.strip().strip("`") for cell in line.strip("|-").split("|")] for line in lines]


# --- the site as a whole ----------------------------------------------------------------------------------------------


def test_it_has_as_many_pages_as_the_readme_says() -> None:
    assert f"{len(FILES)} HTML files" in readme()
    assert sum(file.startswith("de/") for file in FILES) >= 15


def test_it_is_small() -> None:
    assert sum(p.stat().st_size for p in PUBLIC.rglob("*") if p.is_file()) < 400_000


def test_the_sitemap_lists_every_page_but_the_error_page() -> None:
    locations = [e.text or "" for e in ElementTree.parse(PUBLIC / "sitemap.xml").iter() if e.tag.endswith("}loc")]
    assert len(locations) == len(set(locations))
    listed = {file_behind(location, "index.html") for location in locations}
    assert listed == set(FILES) - {"404.html"}


def test_robots_txt_names_the_sitemap_and_the_feed_names_pages_that_exist() -> None:
    assert f"Sitemap: {BASE}sitemap.xml" in (PUBLIC / "robots.txt").read_text()
    links = [e.text or "" for e in ElementTree.parse(PUBLIC / "feed.xml").iter("link")]
    assert len(links) > 5
    assert {file_behind(link, "index.html") for link in links} <= set(FILES)


def test_one_link_leads_nowhere_and_all_others_to_files() -> None:
    broken = {
        (file, href)
        for file in FILES
        for href in page(file).all_links
        if (target := file_behind(href, file)) is not None and not (PUBLIC / target).is_file()
    }
    assert broken == {("about/index.html", "/about/opening-hours.html")}


@pytest.mark.parametrize("folder", ["varroa", "harvest", "queens", "law", "forage", "winter"])
def test_each_cluster_has_articles_of_some_length(folder: str) -> None:
    articles = [f for f in FILES if f.startswith(f"{folder}/") and not f.endswith(("index.html", "calendar.html"))]
    assert len(articles) >= 4
    assert all(130 <= len(words(page(file).text)) <= 600 for file in articles)


def test_articles_carry_boilerplate_that_is_none_of_their_text() -> None:
    for file in ("varroa/counting-mites.html", "de/varroa/milben-zaehlen.html"):
        assert len(page(file).all_links) > len(page(file).links) + 10
        assert re.search(r"cookie|Cookie", source(file))
        assert not re.search(r"cookie|Cookie", page(file).text)


def test_the_example_configuration_is_what_init_writes_for_this_site(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert Path("config.yaml").read_text(encoding="utf-8").endswith(starter("tests/site/public"))
    config = load(Path("config.yaml"), {})
    assert config.folder == PUBLIC.relative_to(ROOT)
    assert config.site_address.base == BASE


# --- the traps --------------------------------------------------------------------------------------------------------

Check = Callable[[Page, str], bool]


def has(*phrases: str) -> Check:
    return lambda page, _: all(phrase in page.text for phrase in phrases)


def forwards(content: str) -> Check:
    return lambda page, _: [v["content"] for v in page.attributes("meta", http_equiv="refresh")] == [content]


def canonical(href: str) -> Check:
    return lambda page, _: page.canonical == href


def same_text(file: str) -> Check:
    return lambda seen, _: words(seen.text) == words(page(file).text)


def bytes_of(check: Callable[[bytes], bool]) -> Check:
    return lambda _, file: check((PUBLIC / file).read_bytes())


def all_of(*checks: Check) -> Check:
    return lambda page, file: all(check(page, file) for check in checks)


def only_inside(tag: str) -> Check:
    """All words of the body stand inside an element of this name."""
    return lambda _, file: (
        not words(
            re.sub(
                r"<[^>]*>", " ", re.sub(rf"<{tag}\b.*</{tag}>", "", source(file).split("<body>")[1], flags=re.DOTALL)
            )
        )
    )


CHECKS: dict[str, Check] = {
    "404.html": has("flown away"),
    "about/apiaries.html": lambda p, _: p.headings == ["Our three apiaries"] and "Our three apiaries" not in p.text,
    "about/history.xhtml": all_of(
        bytes_of(lambda b: b.startswith(b"<?xml version")), lambda _, f: bool(ElementTree.parse(PUBLIC / f))
    ),
    "about/index.html": lambda p, _: "/about/opening-hours.html" in p.all_links,
    "archive/drone-brood-removal.html": all_of(
        same_text("varroa/drone-brood-removal.html"), lambda p, _: p.canonical is None
    ),
    "contact.html": lambda p, _: 0 < len(words(p.text)) < 30,
    "courses.html": lambda p, _: p.headings != page("courses/index.html").headings,
    "de/archiv/gruendung.html": all_of(
        bytes_of(lambda b: b"charset" not in b and "Gründung".encode() in b), has("Größler")
    ),
    "de/archiv/satzung-1998.html": all_of(
        bytes_of(lambda b: b"charset=ISO-8859-1" in b and "Gläsern".encode("iso-8859-1") in b), has("führt", "»")
    ),
    "de/pflanzen/blühstreifen.html": has("Streifen"),
    "de/winter/wintertraube.html": all_of(has("Bienen schlafen"), lambda p, _: bool(p.attributes("html", lang="en"))),
    "forage/calendar.html": only_inside("table"),
    "forage/willow.html": canonical("https://magazine.botany.example/2019/goat-willow"),
    "honig.html": forwards("0; /de/ernte/"),
    "lime.html": all_of(same_text("forage/lime-trees.html"), canonical(f"{BASE}forage/lime-trees.html")),
    "map.html": lambda p, _: (
        not words(p.text.replace("Please switch on JavaScript.", "")) and p.attributes("script") != []
    ),
    "members/minutes.html": lambda p, _: "noindex" in p.attributes("meta", name="robots")[0]["content"],
    "mites.html": forwards("0; url=/varroa/counting-mites.html"),
    "news/archive/spring-meeting.html": all_of(
        forwards("0; url=without-scripts.html"),
        lambda p, f: (
            [v["href"] for v in p.attributes("base")] == ["/news/"]
            and "<noscript><meta" in source(f)
            and {file_behind(href, f) for href, _ in p.links} == {"news/report-2024.html", "news/index.html"}
        ),
    ),
    "news/bee-walk-2023.html": lambda p, f: p.title is None and not p.headings and "og:title" not in source(f),
    "news/index.html": lambda p, _: (
        {
            "http://www.lindenhill.example/varroa/counting-mites.html",
            "/law/index.html?utm_source=news&utm_medium=web",
            "/harvest/index.html",
        }
        <= {href for href, _ in p.links}
    ),
    "news/page/2/index.html": canonical("/"),
    "news/page/3/index.html": canonical("/"),
    "news/report-2024.html": lambda _, f: 0.85 < shared(f, "news/report-2025.html") < 1,
    "news/report-2025.html": lambda _, f: 0.85 < shared(f, "news/report-2024.html") < 1,
    "news/without-scripts.html": lambda p, _: len(words(p.text)) < 30,
    "notes/hive-scale.html": only_inside("pre"),
    "notes/letter-1987.html": all_of(bytes_of(lambda b: b.count(b"<br><br>") >= 4), lambda p, _: not p.attributes("p")),
    "notes/old-almanac.html": lambda _, f: not re.search(r"<(html|head|body)|</p>", source(f)),
    "notes/spring-cleaning.html": lambda p, f: "display:none" in source(f) and p.text.count("crumbs of wax") == 2,
    "notes/telephone-chain.html": lambda p, _: p.depth > 300,
    "notes/wax-moth.html": bytes_of(lambda b: b.count(b"</a-->") == 2 and b"<!--a href" in b),
    "print/counting-mites.html": all_of(
        canonical(f"{BASE}varroa/counting-mites.html"), lambda _, f: shared(f, "varroa/counting-mites.html") > 0.9
    ),
    "queens/queen-age.html": canonical(f"{BASE}queens/requeening.html"),
    "queens/requeening.html": canonical(f"{BASE}queens/queen-age.html"),
    "queens/what is a nucleus.html": has("small colony"),
    "tags/varroa.html": lambda p, _: len(p.links) >= 5 and words(p.unlinked) == words(p.headings[0]),
}


def test_every_trap_of_the_readme_is_checked_and_the_other_way_round() -> None:
    assert [row[0] for row in rows("Traps")] == list(CHECKS)


@pytest.mark.parametrize("file", CHECKS)
def test_the_trap_is_there(file: str) -> None:
    assert CHECKS[file](page(file), file)


def test_pages_without_trap_have_title_heading_language_charset_and_themselves_as_canonical() -> None:
    for file in set(FILES) - set(CHECKS):
        seen = page(file)
        assert len(seen.headings) == 1, file
        assert seen.title, file
        assert seen.attributes("html", lang="de" if file.startswith("de/") else "en"), file
        assert seen.attributes("meta", charset="utf-8"), file
        assert seen.canonical == address(file), file


def test_nobody_links_to_the_orphans() -> None:
    orphans = {row[0] for row in rows("Pages that nobody links to")}
    assert len(orphans) == 4
    assert orphans <= set(FILES)
    linked = {file_behind(href, file) for file in FILES for href in page(file).all_links}
    assert not orphans & linked


@pytest.mark.parametrize(("file", "phrase", "target"), rows("Links that are obviously missing"))
def test_the_missing_link_is_missing(file: str, phrase: str, target: str) -> None:
    assert phrase in page(file).unlinked
    assert target in FILES
    assert target not in {file_behind(href, file) for href, _ in page(file).links}
