"""Answers from the state database: which page a person means, near-duplicates, and how the index is doing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from urllib.parse import urlsplit

from indexer.config import Config
from indexer.errors import UnknownPage, UsageError
from indexer.records import PageRow
from indexer.report import Cell, Table
from indexer.state.reads import Reads
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
