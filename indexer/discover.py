"""Where a site's pages are named: sitemaps, feeds, a file of addresses, a crawl. Asks through a `get` it is handed."""

from __future__ import annotations

import gzip
import io
import logging
import re
import zlib
from calendar import timegm
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
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
_MOVED = "is not there any more: name its new address in discover.sitemaps or, if it has none, set discover.crawl"


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

    What is configured must answer while it is, or the discovery is incomplete; and so must a sitemap that worked before
    while robots.txt names it, or while nothing stands in for it: no other sitemap, and no crawl that people asked for.
    Any other may be absent. Where no source names a page, and none ever worked, the site is crawled.
    """
    findings = _Findings(site, {}, [])
    guesses = list(dict.fromkeys(robots_sitemaps)) or _usual_places(site)
    needed = dict.fromkeys(sources.sitemaps, "is not there")
    needed |= dict.fromkeys(worked_before.intersection(robots_sitemaps), _MOVED)
    worked = await _read_sitemaps([*guesses, *sources.sitemaps], needed, get, findings)
    if not (worked or sources.sitemaps or sources.crawl):
        # Nothing stands in for what was named once: that may be a broken release, of the site or of its robots.txt.
        missed = worked_before.difference(robots_sitemaps, (fault.source for fault in findings.faults))
        worked |= await _read_sitemaps(sorted(missed), dict.fromkeys(missed, _MOVED), get, findings)
    for feed in sources.feeds:
        await _read_feed(feed, get, findings)
    if sources.urls is not None:
        _read_file(sources.urls, findings)
    crawl = sources.crawl or not (findings.lastmods or findings.faults or worked_before)
    if crawl:
        findings.lastmods.setdefault(site.base, None)
    found_out = worked.difference(set(sources.sitemaps).difference(guesses))
    remembered = found_out | worked_before if findings.faults else found_out
    return Discovered(_ordered(findings.lastmods), tuple(sorted(remembered)), _by_source(findings.faults), crawl)


def _usual_places(site: Site) -> list[str]:
    home = site.address(site.base)
    return list(dict.fromkeys((urljoin(home, "/sitemap.xml"), urljoin(home, "sitemap.xml"))))


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


async def _read_sitemaps(
    addresses: Sequence[str], needed: Mapping[str, str], get: Get, findings: _Findings
) -> set[str]:
    """Read sitemaps and the sitemaps they name, each once, so that one that names itself ends. Those given that worked:
    what an index names no more was taken out of it, and is not missed.

    `needed` says what is wrong where one of these is absent.
    """
    queue, seen = deque((address, needed.get(address)) for address in addresses), set(addresses)
    worked = set()
    while queue:
        address, if_absent = queue.popleft()
        body = await get(address)
        match body:
            case Missing():
                if if_absent:
                    findings.fault(address, if_absent)
                continue
            case Failed(_, reason):
                findings.fault(address, reason)
                continue
        assert isinstance(body, bytes)  # noqa: S101 - the two cases above are all others
        works, inner = _read_sitemap(address, body, if_absent is not None, findings)
        if works and address in addresses:
            worked.add(address)
        for named in inner:
            further = joined(named, address)
            if further is None:
                findings.fault(address, f"names a sitemap at {named!r}, which is no address")
            elif further not in seen and len(seen) < _MAX_SITEMAPS:
                seen.add(further)
                queue.append((further, f"is not there, but {address} names it"))
    return worked


def _read_sitemap(address: str, body: bytes, must_work: bool, findings: _Findings) -> tuple[bool, list[str]]:
    """Take in the pages a sitemap names, of a broken one what can be read. Whether it works, and the addresses of the
    sitemaps it names: one that worked before does so as long as it is whole, another once it names anything."""
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
    return not fault and bool(inner or named or must_work), inner


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


def _read_file(path: Path, findings: _Findings) -> None:
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        findings.fault(str(path), f"cannot be read: {error}")
        return
    for line in lines:
        if line.strip() and not line.lstrip().startswith("#"):
            findings.add(line.strip(), None, findings.site.base)


# --- which URLs count -----------------------------------------------------------------------------------------------


def wanted(url: str, include: Sequence[str], exclude: Sequence[str]) -> bool:
    """Whether a page's URL is wanted: matched by no pattern of `exclude`, and by one of `include` if there are any.

    A pattern is matched against the path and query, or against the whole URL where it names a scheme, both as sent and
    as people read them ("/über/" for "/%C3%BCber/"); "*" stands for anything, slashes too.
    """
    if not include and not exclude:
        return True  # asked of every pair of pages, mostly without patterns
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
