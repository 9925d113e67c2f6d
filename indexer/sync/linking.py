"""Bringing the pairs up to date: the pages that a change touches are ranked anew, all others stay as they are.

texts -> readings -> what differs from the pages as last ranked -> marks -> pairs of the marked pages
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from indexer.anchors import Phrase, phrase
from indexer.corpus import PageText, Statistics, bag, content_links, gather, own_name
from indexer.lexical import Bag
from indexer.links.library import Outlink
from indexer.links.touched import Change, touched
from indexer.links.utility import utility
from indexer.state.linking import Ranked, Reading
from indexer.state.writing import State
from indexer.sync.parts import LinkPolicy, Progress
from indexer.sync.ranker import Ranker, SitePages, StoredTexts, page_behind, site_pages

_STALE = 0.05
"""From this share of pages added, changed and gone on, the statistics of the site are made anew."""
_BATCH = 64


def rank(state: State, model: int, policy: LinkPolicy, progress: Progress) -> tuple[SitePages, int]:
    """Find the links anew of every page that a change since the last time touches.

    Returns the pages as they are now, and how many texts were read for it.
    """
    if not state.linking.follows(f"{model} {policy.fingerprint}"):
        with state.transaction():
            state.linking.forget_ranked()
    version, pages, churn = state.linking.version()
    read = _read(state, policy, version) if version else _refresh(state, policy, progress)
    site = site_pages(state.linking, model, policy.phrases)
    change = difference(state.linking.ranked(), site.now)
    if version and churn + len(change.targets) >= max(1.0, _STALE * pages):
        read += _refresh(state, policy, progress)
        version, site = 0, site_pages(state.linking, model, policy.phrases)
        change = difference({}, site.now)
    with state.transaction():
        _take_in(state, site, change)
        state.linking.count_churn(len(change.targets) if version else 0)
    marked = [page for page in state.linking.marked() if page in site.pages]
    _rank(state, model, site, policy, marked, progress)
    with state.transaction():
        state.linking.unmark(state.linking.marked())
    return site, read + len(marked)


# --- reading --------------------------------------------------------------------------------------------------------


def _read(state: State, policy: LinkPolicy, version: int) -> int:
    """Read the texts that were not read under these statistics."""
    unread = state.linking.unread(version)
    if not unread:
        return 0
    statistics = state.linking.statistics()
    for start in range(0, len(unread), _BATCH):
        with state.transaction():
            for page in unread[start : start + _BATCH]:
                text, digest = state.linking.text(page)
                state.linking.save_reading(page, digest, version, reading(text, bag(text), policy, statistics))
    return len(unread)


def reading(text: PageText, words: Bag, policy: LinkPolicy, statistics: Statistics) -> Reading:
    """What links need of a page's text."""
    links = content_links(text, statistics)
    outlinks = dict.fromkeys(Outlink(link.target, phrase(link.anchor, text.language)) for link in links)
    kind = None if policy.always_target(text.url) else utility(text.url, policy.home)
    return Reading(own_name(text.title, statistics), words, tuple(outlinks), len(links), kind)


def _refresh(state: State, policy: LinkPolicy, progress: Progress) -> int:
    """Make the statistics of the site anew, from the texts of all pages, and let nothing stand that was found by the
    old ones."""
    pages = state.linking.unread(-1)
    bags: dict[int, Bag] = {}

    def every() -> Iterator[tuple[PageText, Bag]]:
        for page in pages:
            text, _ = state.linking.text(page)
            bags[page] = bag(text)
            progress.step("words", len(bags), len(pages))
            yield text, bags[page]

    statistics = gather(every())
    with state.transaction():
        inlinks = _read_all(state, policy, statistics, bags)
        state.linking.put_statistics(replace(statistics, inlinks=inlinks))
        state.linking.forget_ranked()
    return 2 * len(pages)


def _read_all(state: State, policy: LinkPolicy, statistics: Statistics, bags: Mapping[int, Bag]) -> dict[str, int]:
    """Read every page's text for the next version of the statistics; how many pages link to each URL."""
    version = state.linking.version()[0] + 1
    behind, urls, inlinks = page_behind(state.linking), {}, Counter[int | None]()
    for page, words in bags.items():
        text, digest = state.linking.text(page)
        made = reading(text, words, policy, statistics)
        state.linking.save_reading(page, digest, version, made)
        urls[page] = text.url
        inlinks.update({behind(link.target) for link in made.outlinks} - {page})
    return {urls[page]: count for page, count in inlinks.items() if page in urls}


# --- what is new ----------------------------------------------------------------------------------------------------


def difference(before: Mapping[int, Ranked], now: Mapping[int, Ranked]) -> Change:
    """How the pages differ from what their links were last found by."""
    none = Ranked("", "", "[]", "[]")
    pairs = {page: (before.get(page, none), now.get(page, none)) for page in before.keys() | now.keys()}
    gone = frozenset(before.keys() - now.keys())
    named = {name for old, new in pairs.values() if old.named != new.named for name in _names(old) ^ _names(new)}
    return Change(
        frozenset(page for page, (old, new) in pairs.items() if old.as_source != new.as_source) - gone,
        frozenset(page for page, (old, new) in pairs.items() if old.as_target != new.as_target),
        frozenset(named),
        frozenset(page for page, (old, new) in pairs.items() if old.targets != new.targets),
        gone,
    )


def _names(ranked: Ranked) -> set[tuple[Phrase, int]]:
    return {(tuple(words), int(page)) for page, *words in (entry.split(" ") for entry in json.loads(ranked.named))}


def _take_in(state: State, site: SitePages, change: Change) -> None:
    """Mark whom the change touches, and remember the pages as they are now."""
    if change.pages:
        state.linking.mark(touched(change, site.library, state.linking.candidates(), state.linking.listing))
        state.linking.save_ranked({page: site.now[page] for page in change.pages - change.gone}, change.gone)


def _rank(
    state: State, model: int, site: SitePages, policy: LinkPolicy, pages: Sequence[int], progress: Progress
) -> None:
    ranker = Ranker(site, StoredTexts(state, model), policy.min_score)
    for start in range(0, len(pages), _BATCH):
        some = pages[start : start + _BATCH]
        with state.transaction():
            for page in some:
                found, pairs = ranker.pairs(page)
                state.linking.save_pairs(page, site.library.pages[found.rows], found, pairs)
            state.linking.unmark(some)
        progress.step("links", start + len(some), len(pages))
