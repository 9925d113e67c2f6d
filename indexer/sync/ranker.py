"""The indexed pages side by side, and the links that single ones of them might set."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt

from indexer.anchors import Phrase, phrase, rarity_by_key
from indexer.corpus import PageText, Statistics, name_parts
from indexer.lexical import Weights
from indexer.links.addresses import Addresses
from indexer.links.library import Entry, Library, assemble
from indexer.links.pairs import Pair, pairs_of
from indexer.links.ranking import Candidates, Source
from indexer.prose import prose
from indexer.sketches import nearly_same
from indexer.state.linking import Linkable, Linking, Ranked
from indexer.state.writing import State

PassageVectors = Sequence[tuple[int, int, npt.NDArray[np.float32]]]
"""First block, last block and vector of each passage of a page."""


class Texts(Protocol):
    """What pages say, and how they lie to each other."""

    def text(self, page: int) -> PageText: ...

    def passages(self, page: int) -> PassageVectors: ...

    def neighbours(self, page: int) -> Sequence[tuple[int, float]]: ...

    def sketch(self, page: int) -> bytes: ...


@dataclass(frozen=True)
class StoredTexts:
    """The texts as the state database has them."""

    state: State
    model: int

    def text(self, page: int) -> PageText:
        return self.state.linking.text(page)[0]

    def passages(self, page: int) -> PassageVectors:
        return self.state.linking.passages(page, self.model)

    def neighbours(self, page: int) -> Sequence[tuple[int, float]]:
        kept = self.state.lists.lists([page]).get(page)
        return [(entry.page, entry.score) for entry in kept.neighbours] if kept else []

    def sketch(self, page: int) -> bytes:
        return self.state.lists.sketches([page]).get(page, b"")


@dataclass(frozen=True)
class SitePages:
    """The indexed pages by their numbers; `behind` finds the page that an address ends at, `phrases` are names that
    the configuration gives to pages, by URL."""

    pages: Mapping[int, Linkable]
    behind: Callable[[str], int | None]
    statistics: Statistics
    phrases: Mapping[str, tuple[str, ...]]

    @cached_property
    def by_url(self) -> Mapping[str, Linkable]:
        return {page.url: page for page in self.pages.values()}

    @cached_property
    def library(self) -> Library:
        entries = [
            Entry(p.page, p.url, p.reading.name, self.names[p.page], p.language, p.reading.utility is None, p.vector,
                  p.reading.bag, p.reading.outlinks)
            for p in self.pages.values()
        ]  # fmt: skip
        return assemble(entries, self.behind, self.statistics)

    @cached_property
    def now(self) -> Mapping[int, Ranked]:
        """Each page as its links are found by."""
        return {page: self._as_ranked(linkable) for page, linkable in self.pages.items()}

    @cached_property
    def names(self) -> Mapping[int, tuple[Phrase, ...]]:
        """By page, its title and the parts of it, and the phrases that the configuration gives it."""
        return {page: self._own_names(linkable) for page, linkable in self.pages.items()}

    def targets(self, page: int) -> set[int]:
        """The pages that a page links to from its content."""
        pages = {self.behind(link.target) for link in self.pages[page].reading.outlinks}
        return {other for other in pages if other is not None and other in self.pages} - {page}

    def _as_ranked(self, linkable: Linkable) -> Ranked:
        reading, targets = linkable.reading, self.targets(linkable.page)
        named = {(link.phrase, self.behind(link.target)) for link in reading.outlinks if link.phrase}
        named = {(words, page) for words, page in named if page in targets}
        named |= {(words, linkable.page) for words in self.names[linkable.page]}
        return Ranked(
            f"{linkable.key} {linkable.digest} {linkable.language}",
            f"{linkable.key} {linkable.text_hash} {linkable.language} {reading.utility} {reading.name}",
            json.dumps(sorted(targets)),
            json.dumps(sorted(f"{page} {' '.join(words)}" for words, page in named), ensure_ascii=False),
        )

    def _own_names(self, linkable: Linkable) -> tuple[Phrase, ...]:
        names = (*name_parts(linkable.reading.name), *self.phrases.get(linkable.url, ()))
        return tuple(filter(None, (phrase(name, linkable.language) for name in names)))


def site_pages(linking: Linking, model: int, phrases: Mapping[str, tuple[str, ...]]) -> SitePages:
    """The indexed pages as the state database has them."""
    pages = {page.page: page for page in linking.linkable(model)}
    return SitePages(pages, page_behind(linking), linking.statistics(), phrases)


@dataclass(frozen=True, slots=True)
class _Address:
    page: int
    redirect_to: str | None
    stands_for: str | None


def page_behind(linking: Linking) -> Callable[[str], int | None]:
    """Finds the number of the page that an address ends at."""
    known = {url: _Address(page, to, of) for url, page, to, of in linking.addresses()}
    addresses = Addresses(known.get)

    @cache
    def behind(url: str) -> int | None:
        found = addresses.page(url)
        return None if found is None else found.page

    return behind


class Ranker:
    """Finds the links that single pages might set."""

    def __init__(self, site: SitePages, texts: Texts, least: float) -> None:
        self.site, self._texts, self._least = site, texts, least
        self._weight = rarity_by_key(site.statistics.rarity)

    def pairs(self, page: int) -> tuple[Candidates, list[Pair]]:
        """The page's candidates, and its best pairs of the least score and more, best first."""
        library = self.site.library
        source, spans = self.source(page)
        own = self._texts.sketch(page)

        def near(row: int) -> Weights:
            return _by_block(source, spans, source.passages @ library.vectors[row])

        def same_text(row: int) -> bool:
            return nearly_same(own, self._texts.sketch(int(library.pages[row])))

        return pairs_of(library, source, near, self._weight, same_text, self._least)

    def source(self, page: int) -> tuple[Source, list[tuple[int, int]]]:
        """The page as one that links, and the first and last block of each of its passages."""
        library, rows = self.site.library, self.site.library.row_of_page
        text, passages = self._texts.text(page), self._texts.passages(page)
        near = {rows[other]: score for other, score in self._texts.neighbours(page) if other in rows}
        vectors = np.stack([vector for _, _, vector in passages]) if passages else library.vectors[:0]
        blocks = prose(text.blocks, text.language, self.site.statistics)
        words = self.site.pages[page].reading.bag
        made = Source(rows[page], words, library.rarity.idf(words.terms), blocks, vectors, near)
        return made, [(first, last) for first, last, _ in passages]


def _by_block(source: Source, spans: Sequence[tuple[int, int]], cosines: npt.NDArray[np.float32]) -> Weights:
    """For each block of the prose the best cosine of a passage that it stands in."""
    best = np.zeros(len(source.prose))
    indices = np.array([block.index for block in source.prose])
    for (first, last), cosine in zip(spans, cosines.tolist(), strict=True):
        inside = (indices >= first) & (indices <= last)
        best[inside] = np.maximum(best[inside], cosine)
    return best
