"""Answers from the state database: which page a person means, near-duplicates, and how the index is doing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from itertools import islice
from urllib.parse import urlsplit

from indexer.config import Config
from indexer.discover import wanted
from indexer.errors import UnknownPage, UsageError
from indexer.links.addresses import Addresses
from indexer.links.review import Status
from indexer.records import PageRow, SuggestionRow
from indexer.report import Cell, Table, orphans_table
from indexer.state.reads import Reads
from indexer.structure import content_inlinks
from indexer.urls import twins

_HINTS = 3
_WEIGHED = 500


def page_for(url: str, config: Config, reads: Reads) -> PageRow:
    """The page behind an address as a person spells it: without scheme or slash, with tracking, an old address.

    Raises UnknownPage, with the nearest known URLs, where there is none.
    """
    normal = normal_url(url, config)
    page = reads.page((normal, *twins(normal)))
    for _ in range(10):
        if page is None or page.redirect_to is None:
            break
        page = reads.page((page.redirect_to, *twins(page.redirect_to)))
    if page is None:
        near = _nearest_urls(normal, reads)
        hint = f"; nearest are {', '.join(near)}" if near else ""
        raise UnknownPage(f"{url} is not in the index{hint}; `indexer sync {url}` adds a page")
    return page


def normal_url(url: str, config: Config) -> str:
    """The normal form of an address of the site. Raises UsageError where it is another site's."""
    site = config.site_address
    spellings = (url, f"{urlsplit(site.base).scheme}://{url}") if "://" not in url else (url,)
    for spelling in reversed(spellings):
        if (normal := site.page(spelling)) is not None:
            return normal
    normal = None if "://" in url else site.page(url.lstrip("/"))
    if normal is None:
        raise UsageError(f"{url} is no page of {site.base}: see site and hosts in the configuration")
    return normal


def _nearest_urls(url: str, reads: Reads) -> list[str]:
    path = urlsplit(url).path
    words = [word for word in re.split(r"[\W_]+", path) if len(word) > 2]
    candidates = reads.urls_like(words, _WEIGHED) or reads.urls_like((), _WEIGHED)
    matcher = SequenceMatcher(b=path)

    def likeness(candidate: str) -> float:
        matcher.set_seq1(urlsplit(candidate).path)
        return matcher.ratio()

    return sorted(candidates, key=lambda candidate: (-likeness(candidate), candidate))[:_HINTS]


def near_duplicates(reads: Reads) -> Iterator[tuple[PageRow, PageRow, float]]:
    """Pairs of a page and the first page of its group of nearly equal texts, with the share that agrees."""
    from indexer.sketches import near_duplicate_groups, resemblance

    urls, sketches = reads.sketches()
    for group in near_duplicate_groups(sketches):
        first, *others = sorted(group, key=lambda number: (len(urls[number]), urls[number]))
        kept = reads.page([urls[first]])
        for number in others:
            page = reads.page([urls[number]])
            if page is not None and kept is not None:
                yield page, kept, resemblance(sketches[first], sketches[number])


_SOURCES = 3
"""Pages to link from that are shown for an orphan."""
_FEW_INLINKS = 1


def orphans(reads: Reads, config: Config) -> Table:
    """Indexed pages that no other page's content links to, or only one's, with the best pages to link from; those
    with no inlink first."""
    pages = {page.url: page for page in reads.pages()}
    addresses = Addresses(pages.get)

    def behind(address: str) -> str | None:
        page = addresses.page(address)
        return None if page is None else page.stands_for or page.url

    links = list(reads.set_links())
    inlinks = content_inlinks(((url, targets) for url, _, targets in links), behind)
    counted = [
        (pages[url], len(inlinks.get(url, ())))
        for url, is_target, _ in links
        if is_target and pages[url].status == "indexed" and wanted(url, (), config.links.ignore_orphans)
    ]
    few = sorted((o for o in counted if o[1] <= _FEW_INLINKS), key=lambda o: (o[1], o[0].url))

    def sources(url: str) -> Iterator[SuggestionRow]:
        return islice(reads.suggestions(target=url, statuses=[Status.OPEN, Status.ACCEPTED]), _SOURCES)

    return orphans_table(few, sources)


def status_table(reads: Reads) -> Table:
    """What there is to say about the index, as names and values."""
    rows: list[tuple[str, Cell]] = [(f"pages {status}", count) for status, count in reads.counts().items()]
    if waiting := reads.waiting():
        rows.append(("passages waiting to be embedded", waiting))
    if run := reads.last_run():
        rows.append(("last run began", run.started))
        if run.exit_code is None:
            rows.append(("last run", "is still going on, or was killed: the next one finishes its work"))
        else:
            rows.append(("last run took seconds", run.seconds))
            rows.append(("last run's exit code", run.exit_code))
            rows += [(f"last run: {name}", value) for name, value in json.loads(run.summary or "{}").items() if value]
    rows += [(f"held back: {url}", reason) for url, reason in reads.held_back()]
    rows += [(f"not read: {url}", reason) for url, reason in reads.faults()]
    return Table(("what", "value"), rows)
