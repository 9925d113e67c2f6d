"""Bringing the link suggestions up to date: the pages that a change touches are ranked anew, all others stay.

texts -> readings -> what differs from the pages as last ranked -> marks
                                                                    |
                                      pairs of the marked pages -> one pass of the rules -> suggestions
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np
import numpy.typing as npt

from indexer.anchors import Phrase, phrase, prose, rarity_by_key
from indexer.corpus import PageText, Statistics, bag, content_links, gather, name_parts, own_name
from indexer.lexical import Bag, Weights
from indexer.links.addresses import Addresses
from indexer.links.library import Entry, Library, Outlink, assemble
from indexer.links.pairs import Pair, pairs_of
from indexer.links.ranking import Candidates, Source
from indexer.links.touched import Change, touched
from indexer.links.utility import utility
from indexer.sketches import nearly_same
from indexer.state.linking import Linkable, Ranked, Reading
from indexer.state.writing import State
from indexer.sync.parts import LinkPolicy, Progress

_STALE = 0.05
"""From this share of pages added, changed and gone on, the statistics of the site are made anew."""
_BATCH = 64


@dataclass(frozen=True, slots=True)
class Ranking:
    """What finding links did: texts read, and pages whose links were found anew."""

    texts_read: int = 0
    ranked: int = 0


def rank(state: State, model: int, policy: LinkPolicy, progress: Progress) -> tuple[SitePages, Ranking]:
    """Find the links anew of every page that a change since the last time touches."""
    _follow_policy(state, model, policy)
    version, pages, churn = state.linking.version()
    if version:
        read = _read(state, policy, state.linking.statistics(), version)
    else:
        read = _refresh(state, policy)
    site = SitePages(state, model, policy)
    if version and churn + len(site.change.targets) >= max(1.0, _STALE * pages):
        read += _refresh(state, policy)
        site = SitePages(state, model, policy)
        version = 0
    with state.transaction():
        _take_in(state, site, count_churn=bool(version))
    marked = [page for page in state.linking.marked() if page in site.pages]
    _rank(state, model, site, policy, marked, progress)
    with state.transaction():
        state.linking.unmark(state.linking.marked())
    return site, Ranking(read + len(marked), len(marked))


def _follow_policy(state: State, model: int, policy: LinkPolicy) -> None:
    """Under other rules, or with another model, every page's links are found anew."""
    if not state.linking.follows(f"{model} {policy.fingerprint}"):
        with state.transaction():
            state.linking.forget_ranked()


# --- reading --------------------------------------------------------------------------------------------------------


def _read(state: State, policy: LinkPolicy, statistics: Statistics, version: int) -> int:
    unread = state.linking.unread(version)
    for start in range(0, len(unread), _BATCH):
        with state.transaction():
            for page in unread[start : start + _BATCH]:
                text, digest = state.linking.text(page)
                state.linking.save_reading(page, digest, version, _reading(text, bag(text), policy, statistics))
    return len(unread)


def _reading(text: PageText, words: Bag, policy: LinkPolicy, statistics: Statistics) -> Reading:
    links = content_links(text, statistics)
    outlinks = dict.fromkeys(Outlink(link.target, phrase(link.anchor, text.language)) for link in links)
    kind = None if policy.always_target(text.url) else utility(text.url, policy.home)
    return Reading(own_name(text.title, statistics), words, tuple(outlinks), len(links), kind)


def _refresh(state: State, policy: LinkPolicy) -> int:
    """Make the statistics of the site anew, from the texts of all pages, and let nothing stand that was found by the
    old ones."""
    pages = state.linking.unread(-1)
    texts: dict[int, Bag] = {}

    def every() -> Iterator[tuple[PageText, Bag]]:
        for page in pages:
            text, _ = state.linking.text(page)
            texts[page] = bag(text)
            yield text, texts[page]

    statistics = gather(every())
    behind, inlinks = _page_behind(state), Counter[int]()
    with state.transaction():
        version = state.linking.version()[0] + 1
        urls: dict[int, str] = {}
        for page in pages:
            text, digest = state.linking.text(page)
            reading = _reading(text, texts.pop(page), policy, statistics)
            state.linking.save_reading(page, digest, version, reading)
            urls[page] = text.url
            targets = {behind(link.target) for link in reading.outlinks} - {None, page}
            inlinks.update(target for target in targets if target is not None)
        counted = {urls[page]: count for page, count in sorted(inlinks.items()) if page in urls}
        state.linking.put_statistics(replace(statistics, inlinks=counted))
        state.linking.forget_ranked()
    return 2 * len(pages)


# --- what is new ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Address:
    page: int
    redirect_to: str | None
    stands_for: str | None


def _page_behind(state: State) -> Callable[[str], int | None]:
    """Finds the page that an address ends at: past redirects, other spellings, and duplicates."""
    known = {url: _Address(page, to, of) for url, page, to, of in state.linking.addresses()}
    addresses = Addresses(known.get)

    @cache
    def behind(url: str) -> int | None:
        found = addresses.page(url)
        if found is not None and found.stands_for is not None:
            found = known.get(found.stands_for, found)
        return None if found is None else found.page

    return behind


class SitePages:
    """The indexed pages as they are now, and how they differ from what their links were last found by."""

    def __init__(self, state: State, model: int, policy: LinkPolicy) -> None:
        self._state, self._policy = state, policy
        self.statistics = state.linking.statistics()
        self.pages = {page.page: page for page in state.linking.linkable(model)}
        self.behind = _page_behind(state)
        self.now = {page: self._as_ranked(linkable) for page, linkable in self.pages.items()}

    def _as_ranked(self, linkable: Linkable) -> Ranked:
        reading = linkable.reading
        places = {(link.phrase, self.behind(link.target)) for link in reading.outlinks}
        targets = sorted({page for _, page in places if page is not None and page in self.pages} - {linkable.page})
        named = {(words, page) for words, page in places if words and page in targets}
        named |= {(words, linkable.page) for words in self._own_names(linkable)}
        return Ranked(
            f"{linkable.key} {linkable.digest} {linkable.language}",
            f"{linkable.key} {linkable.text_hash} {linkable.language} {reading.utility} {reading.name}",
            json.dumps(targets),
            json.dumps(sorted(([" ".join(words), page] for words, page in named), key=str), ensure_ascii=False),
        )

    def _own_names(self, linkable: Linkable) -> tuple[Phrase, ...]:
        """The page's title, and the phrases that the configuration gives it."""
        names = (*name_parts(linkable.reading.name), *self._policy.phrases.get(linkable.url, ()))
        return tuple(filter(None, (phrase(name, linkable.language) for name in names)))

    @cached_property
    def by_url(self) -> Mapping[str, Linkable]:
        return {page.url: page for page in self.pages.values()}

    def targets(self, page: int) -> set[int]:
        """The pages that a page links to from its content."""
        return set(json.loads(self.now[page].targets))

    @cached_property
    def change(self) -> Change:
        before = self._state.linking.ranked()
        gone = frozenset(before.keys() - self.now.keys())
        none = Ranked("", "", "", "[]")
        pairs = {page: (before.get(page, none), self.now.get(page, none)) for page in before.keys() | self.now.keys()}
        named = {
            (tuple(str(words).split()), page)
            for old, new in pairs.values()
            if old.named != new.named
            for words, page in _names(old.named) ^ _names(new.named)
        }
        return Change(
            frozenset(page for page, (old, new) in pairs.items() if old.as_source != new.as_source) - gone,
            frozenset(page for page, (old, new) in pairs.items() if old.as_target != new.as_target),
            frozenset(named),
            frozenset(page for page, (old, new) in pairs.items() if old.targets != new.targets),
            gone,
        )

    @cached_property
    def library(self) -> Library:
        entries = [
            Entry(p.page, p.url, p.reading.name, self._own_names(p), p.language, p.reading.utility is None, p.vector,
                  p.reading.bag, p.reading.outlinks)
            for p in self.pages.values()
        ]  # fmt: skip
        return assemble(entries, self.behind, self.statistics)


def _names(packed: str) -> set[tuple[str, int]]:
    return {(words, page) for words, page in json.loads(packed)}


def _take_in(state: State, site: SitePages, count_churn: bool) -> None:
    change = site.change
    if not change.pages:
        return
    state.linking.mark(touched(change, site.library, state.linking.candidates(), state.linking.listing))
    state.linking.mark(change.linking - change.gone)
    state.linking.save_ranked({page: site.now[page] for page in change.pages - change.gone}, change.gone)
    if count_churn:
        state.linking.count_churn(len(change.targets))


# --- ranking --------------------------------------------------------------------------------------------------------


def _rank(
    state: State, model: int, site: SitePages, policy: LinkPolicy, pages: Sequence[int], progress: Progress
) -> None:
    for start in range(0, len(pages), _BATCH):
        some = pages[start : start + _BATCH]
        ranker = Ranker(state, model, site, policy)
        with state.transaction():
            for page in some:
                found, pairs = ranker.pairs(page)
                state.linking.save_pairs(page, site.library.pages[found.rows], found, pairs)
            state.linking.unmark(some)
        progress.step("links", start + len(some), len(pages))


class Ranker:
    """Finds the pairs of single pages from what is stored."""

    def __init__(self, state: State, model: int, site: SitePages, policy: LinkPolicy) -> None:
        self._state, self._model, self._site, self._policy = state, model, site, policy
        self._weight = rarity_by_key(site.statistics.rarity)

    def pairs(self, page: int) -> tuple[Candidates, list[Pair]]:
        library = self._site.library
        source, spans = self.source(page)
        own = self._sketch(page)

        def near(row: int) -> Weights:
            cosines = source.passages @ library.vectors[row]
            return _by_block(source, spans, cosines)

        def same_text(row: int) -> bool:
            return nearly_same(own, self._sketch(int(library.pages[row])))

        return pairs_of(library, source, near, self._weight, same_text, self._policy.min_score)

    def _sketch(self, page: int) -> bytes:
        return self._state.lists.sketches([page])[page]

    def source(self, page: int) -> tuple[Source, list[tuple[int, int]]]:
        """The page as one that links, and the first and last block of each of its passages."""
        library = self._site.library
        linkable = self._site.pages[page]
        text, _ = self._state.linking.text(page)
        passages = self._state.linking.passages(page, self._model)
        near = {library.row_of_page[other]: score for other, score in self._state.linking.neighbours(page)
                if other in library.row_of_page}  # fmt: skip
        vectors = np.stack([vector for _, _, vector in passages]) if passages else library.vectors[:0]
        made = Source(
            library.row_of_page[page], linkable.reading.bag, prose(text.blocks, text.language, self._site.statistics),
            vectors, near,
        )  # fmt: skip
        return made, [(first, last) for first, last, _ in passages]


def _by_block(source: Source, spans: Sequence[tuple[int, int]], cosines: npt.NDArray[np.float32]) -> Weights:
    """For each block of the prose the best cosine of a passage that it stands in."""
    best = np.zeros(len(source.prose))
    indices = np.array([block.index for block in source.prose])
    for (first, last), cosine in zip(spans, cosines.tolist(), strict=True):
        inside = (indices >= first) & (indices <= last)
        best[inside] = np.maximum(best[inside], cosine)
    return best
