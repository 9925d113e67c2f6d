"""Where a site's pages are named: sitemaps, feeds, a file of addresses, a crawl. Asks through a `get` it is handed."""

from __future__ import annotations

import gzip
import io
import logging
import re
import zlib
from calendar import timegm
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Protocol, cast
from urllib.parse import unquote, urljoin, urlsplit
from xml.etree.ElementTree import Element, ParseError, XMLPullParser

from indexer.records import Discovered, Failed, Found, Missing, SourceFault
from indexer.urls import Site, absolute, joined

_log = logging.getLogger("indexer")

Get = Callable[[str], Awaitable[bytes | Missing | Failed]]

_MAX_BYTES = 100_000_000
_MAX_SITEMAPS = 5_000
_HTML_PAGE = re.compile(rb"\s*<(!doctype\s+html|html)\b", re.IGNORECASE)
_GZIP_MAGIC = b"\x1f\x8b"


class Sources(Protocol):
    """The part of the configuration that names sources."""

    @property
    def sitemaps(self) -> Sequence[str]: ...
    @property
    def feeds(self) -> Sequence[str]: ...
    @property
    def urls(self) -> Path | None: ...
    @property
    def crawl(self) -> bool: ...


@dataclass
class _Findings:
    """What the sources have named so far."""

    site: Site
    lastmods: dict[str, datetime | None]
    sources: list[str]
    faults: list[SourceFault]

    def add(self, address: str, lastmod: datetime | None, on: str) -> bool:
        """Take in an address, if it is a page of the site; whether it is."""
        url = self.site.page(address, on)
        if url is None:
            _log.debug("%s names %s, which is no page of the site", on, address)
            return False
        known = self.lastmods.get(url)
        self.lastmods[url] = max(filter(None, (known, lastmod)), default=None)
        return True

    def fault(self, source: str, reason: str) -> None:
        _log.warning("%s: %s", source, reason)
        self.faults.append(SourceFault(source, reason))


async def discover(
    site: Site, sources: Sources, robots_sitemaps: Sequence[str], get: Get, worked_before: frozenset[str]
) -> Discovered:
    """Every page the site's sources name, those changed last first.

    A sitemap that nobody configured and that never worked may be absent; one that worked before, or is configured, may
    not: then the discovery is incomplete. Where no source names a page, and none ever worked, the site is crawled.
    """
    findings = _Findings(site, {}, [], [])
    usual = urljoin(site.address(site.base), "/sitemap.xml")
    below = urljoin(site.address(site.base), "sitemap.xml")
    guesses = list(dict.fromkeys(robots_sitemaps)) or list(dict.fromkeys((usual, below)))
    needed = {*sources.sitemaps, *worked_before}
    await _read_sitemaps([*guesses, *sources.sitemaps], needed, get, findings)
    for feed in sources.feeds:
        await _read_feed(feed, get, findings)
    if sources.urls is not None:
        _read_file(sources.urls, findings)
    # A source that worked once and is no longer named is missed, too.
    asked = {*guesses, *sources.sitemaps, *sources.feeds, *findings.sources, str(sources.urls)}
    named_no_more = sorted(worked_before - asked - {fault.source for fault in findings.faults})
    await _read_sitemaps(named_no_more, needed, get, findings)
    crawl = sources.crawl or not (findings.lastmods or findings.faults or worked_before)
    if crawl:
        findings.lastmods.setdefault(site.base, None)
    return Discovered(
        _ordered(findings.lastmods), tuple(sorted(set(findings.sources))), _by_source(findings.faults), crawl
    )


def _by_source(faults: Iterable[SourceFault]) -> tuple[SourceFault, ...]:
    return tuple(sorted(set(faults), key=lambda fault: (fault.source, fault.reason)))


def _ordered(lastmods: dict[str, datetime | None]) -> tuple[Found, ...]:
    """Newest first, those without a date after them, the rest by URL."""
    oldest = datetime.min.replace(tzinfo=UTC)
    found = [Found(url, lastmod) for url, lastmod in lastmods.items()]
    found.sort(key=lambda f: f.url)
    found.sort(key=lambda f: f.lastmod or oldest, reverse=True)
    return tuple(found)


# --- sitemaps -------------------------------------------------------------------------------------------------------


async def _read_sitemaps(addresses: Sequence[str], needed: set[str], get: Get, findings: _Findings) -> None:
    """Read sitemaps and the sitemaps they name, each once, so that one that names itself ends.

    Only those given are sources to be missed one day: what an index names no more was taken out of it.
    """
    queue, seen = deque((address, address in needed) for address in addresses), set(addresses)
    while queue:
        address, must_work = queue.popleft()
        body = await get(address)
        match body:
            case Missing():
                if must_work:
                    findings.fault(address, "is not there any more")
                continue
            case Failed(_, reason):
                findings.fault(address, reason)
                continue
        assert isinstance(body, bytes)  # noqa: S101 - the two cases above are all others
        works, inner = _read_sitemap(address, body, must_work, findings)
        if works and address in addresses:
            findings.sources.append(address)
        for named in inner:
            further = joined(named, address)
            if further is None:
                findings.fault(address, f"names a sitemap at {named!r}, which is no address")
            elif further not in seen and len(seen) < _MAX_SITEMAPS:
                seen.add(further)
                queue.append((further, True))


def _read_sitemap(address: str, body: bytes, must_work: bool, findings: _Findings) -> tuple[bool, list[str]]:
    """Take in the pages a sitemap names, of a broken one what can be read. Whether it is whole and names anything, and
    the addresses of the sitemaps it names."""
    text, fault = _unzipped(body)
    inner: list[str] = []
    named = 0
    if text.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] != b"<":
        lines = text.decode("utf-8", "replace").split()
        pages = [line for line in lines if absolute(line, address) and "://" in line]
        if not pages and lines:
            fault = fault or ("is neither XML nor a list of addresses" if must_work else None)
        for line in pages:
            named += findings.add(line, None, address)
    else:
        try:
            for kind, loc, lastmod in _entries(text):
                if kind == "sitemap":
                    inner.append(loc)
                else:
                    named += findings.add(loc, lastmod, address)
        except ParseError as error:
            fault = fault or f"is broken: {error}"
        except _NotASitemap as error:
            # Many sites answer any address with a page: that is no sitemap, and where none was before, no fault.
            _log.info("%s is no sitemap but <%s>", address, error)
            fault = f"is no sitemap but <{error}>" if must_work else None
    if fault:
        findings.fault(address, fault)
    return not fault and bool(inner or named), inner


class _NotASitemap(Exception):
    """The document is XML or HTML of another kind; holds its root element's name."""


def _refuse_html(text: bytes) -> None:
    """Many sites answer any address with a page, whose HTML need not even be XML."""
    if _HTML_PAGE.match(text):
        raise _NotASitemap("html")


def _entries(text: bytes) -> Iterator[tuple[str, str, datetime | None]]:
    """Kind ("url" or "sitemap"), address and date of each entry, whatever the namespace. Raises ParseError at the
    first fault, after all that stands before it; entities are never expanded (expat's own limits hold)."""
    _refuse_html(text)
    parser = XMLPullParser(("start", "end"))  # type: ignore[var-annotated]
    loc, lastmod, depth = "", None, 0
    for start in range(0, len(text), 65536):
        error = None
        try:
            parser.feed(text[start : start + 65536])
        except ParseError as fault:
            error = fault
        for event, element in cast("Iterator[tuple[str, Element]]", parser.read_events()):
            name = str(element.tag).rpartition("}")[2].lower()
            if event == "start":
                if depth == 0 and name not in ("urlset", "sitemapindex"):
                    raise _NotASitemap(name)
                depth += 1
                continue
            depth -= 1
            content = (element.text or "").strip()
            if name == "loc" and depth == 2:
                loc = content
            elif name == "lastmod":
                lastmod = read_date(content)
            elif name in ("url", "sitemap") and loc:
                yield name, loc, lastmod
                loc, lastmod = "", None
                element.clear()
        if error:
            raise error
    parser.close()


def read_date(text: str) -> datetime | None:
    """A W3C date, as full or as short as it is given; None for anything else: a date here is a hint, never a fault."""
    text = text.strip().replace(" ", "T", 1)
    for shape in (text, f"{text}-01", f"{text}-01-01"):
        try:
            date = datetime.fromisoformat(shape)
        except ValueError:
            continue
        return date if date.tzinfo else date.replace(tzinfo=UTC)
    return None


def _unzipped(body: bytes) -> tuple[bytes, str | None]:
    """The text of a sitemap, and what is wrong with it where only a part could be had."""
    if not body.startswith(_GZIP_MAGIC):
        return body, None
    parts: list[bytes] = []
    size = 0
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(body)) as file:
            while part := file.read(1 << 20):
                size += len(part)
                if size > _MAX_BYTES:
                    return b"".join(parts), f"is larger than {_MAX_BYTES} bytes"
                parts.append(part)
    except (EOFError, OSError, zlib.error) as error:
        return b"".join(parts), f"is broken: {error}"
    return b"".join(parts), None


# --- other sources --------------------------------------------------------------------------------------------------


async def _read_feed(address: str, get: Get, findings: _Findings) -> None:
    body = await get(address)
    match body:
        case Missing():
            findings.fault(address, "is not there")
        case Failed(_, reason):
            findings.fault(address, reason)
        case bytes():
            import feedparser  # type: ignore[import-untyped]

            feed = feedparser.parse(io.BytesIO(body), response_headers={"content-location": address})
            if not feed.version:
                findings.fault(address, "is neither RSS nor Atom")
                return
            for entry in feed.entries:
                date = entry.get("updated_parsed") or entry.get("published_parsed")
                lastmod = datetime.fromtimestamp(timegm(date), UTC) if date else None
                if link := entry.get("link"):
                    findings.add(link, lastmod, address)
            if feed.bozo and not feed.entries:
                findings.fault(address, f"is broken: {feed.bozo_exception}")
            else:
                findings.sources.append(address)


def _read_file(path: Path, findings: _Findings) -> None:
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        findings.fault(str(path), f"cannot be read: {error}")
        return
    for line in lines:
        if line.strip() and not line.lstrip().startswith("#"):
            findings.add(line.strip(), None, findings.site.base)
    findings.sources.append(str(path))


# --- which URLs count -----------------------------------------------------------------------------------------------


def wanted(url: str, include: Sequence[str], exclude: Sequence[str]) -> bool:
    """Whether a page's URL is wanted: matched by no pattern of `exclude`, and by one of `include` if there are any.

    A pattern is matched against the path and query, or against the whole URL where it names a scheme, both as sent and
    as people read them ("/über/" for "/%C3%BCber/"); "*" stands for anything, slashes too.
    """
    parts = urlsplit(url)
    path = parts.path + (f"?{parts.query}" if parts.query else "")

    def matches(pattern: str) -> bool:
        sent = url if "://" in pattern else path
        return fnmatchcase(sent, pattern) or ("%" in sent and fnmatchcase(unquote(sent), pattern))

    return not any(map(matches, exclude)) and (not include or any(map(matches, include)))


class Frontier:
    """The URLs still to look at, each once, in the order they came; keeps out of the traps that calendars and filters
    are to crawlers."""

    MOST = 500_000
    QUERIES = 100
    """Different queries of one path that are looked at."""
    REPEATS = 4

    def __init__(self, counts: Callable[[str], bool]) -> None:
        self._counts = counts
        self._seen: set[str] = set()
        self._queue: deque[str] = deque()
        self._queries: Counter[str] = Counter()

    @property
    def total(self) -> int:
        """How many URLs were ever added."""
        return len(self._seen)

    def add(self, url: str) -> None:
        """Add a URL that was listed or is known, if it counts."""
        if url not in self._seen and self._counts(url):
            self._seen.add(url)
            self._queue.append(url)

    def add_linked(self, urls: Iterable[str]) -> None:
        """Add URLs that were met as links, but for those that look like a trap."""
        for url in urls:
            # Those that do not count must not use up what a path may have of queries.
            if url not in self._seen and self._counts(url) and not self._is_trap(url):
                self.add(url)

    def next(self) -> str | None:
        """The next URL, None where there is none at the moment."""
        return self._queue.popleft() if self._queue else None

    def _is_trap(self, url: str) -> bool:
        path, _, query = url.partition("?")
        if len(self._seen) >= self.MOST or _repeats(path) >= self.REPEATS:
            return True
        if query:
            self._queries[path] += 1
            return self._queries[path] > self.QUERIES
        return False


def _repeats(path: str) -> int:
    """How often the commonest segment of a path stands in it: /a/b/a/b/a/b comes from links that are relative by
    mistake."""
    segments = [segment for segment in re.split("/", urlsplit(path).path) if segment]
    return max(Counter(segments).values(), default=0)
