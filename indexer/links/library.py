"""All pages as ranking looks at them, side by side."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from indexer.anchors import Names, Phrase
from indexer.corpus import Statistics
from indexer.lexical import Bag, Rarity, Rows, Terms, Weights, share_rows, unit_rows
from indexer.words import content_keys

Numbers = npt.NDArray[np.int64]

_TITLE_SLACK = 1.0
PHRASE_SLACK = 3.0
"""Added to the weight of all words of a name, so that one of common words alone is never said in full."""


class Outlink(NamedTuple):
    """A link that a page's author set: the address it leads to, and its words as a name of that page."""

    target: str
    phrase: Phrase


@dataclass(frozen=True)
class Entry:
    """An indexed page: `name` is its title without the site's, `names` that title and the phrases it was given, and
    `target` says whether it may be linked to."""

    page: int
    url: str
    name: str
    names: tuple[Phrase, ...]
    language: str
    target: bool
    vector: npt.NDArray[np.float32]
    bag: Bag
    outlinks: Sequence[Outlink]


@dataclass(frozen=True)
class Library:
    """All that ranking looks at, a row for each indexed page. `links[row]` are the rows that a page links to from its
    content. `titles` weigh a title's words to a sum just under one, and `phrases` those of each name, whose row
    `phrase_rows` knows."""

    pages: Numbers
    urls: Sequence[str]
    languages: npt.NDArray[np.str_]
    targets: npt.NDArray[np.bool_]
    vectors: npt.NDArray[np.float32]
    bodies: Rows
    titles: Rows
    names: Names
    phrases: Rows
    phrase_rows: Mapping[Phrase, int]
    phrase_totals: Weights
    links: Sequence[frozenset[int]]
    inlinks: Weights
    lengths: Weights
    rarity: Rarity
    row_of_page: Mapping[int, int]


def assemble(entries: Sequence[Entry], page_behind: Callable[[str], int | None], statistics: Statistics) -> Library:
    """The library of these pages; `page_behind` names the page that an address ends at."""
    row_of_page = {entry.page: row for row, entry in enumerate(entries)}
    links = [_targets(entry, page_behind) & row_of_page.keys() for entry in entries]
    names = _names(entries, page_behind)
    phrases = sorted(names.titles.keys() | names.anchors.keys())
    named, totals = share_rows(phrases, statistics.rarity.idf, PHRASE_SLACK)
    return Library(
        pages=np.array([entry.page for entry in entries], dtype=np.int64),
        urls=[entry.url for entry in entries],
        languages=np.array([entry.language for entry in entries], dtype=np.str_),
        targets=np.array([entry.target for entry in entries], dtype=np.bool_),
        vectors=np.stack([entry.vector for entry in entries]) if entries else np.zeros((0, 0), np.float32),
        bodies=unit_rows([entry.bag for entry in entries], statistics.rarity),
        titles=_titles(entries, statistics),
        names=names,
        phrases=named,
        phrase_rows={words: row for row, words in enumerate(phrases)},
        phrase_totals=totals,
        links=[frozenset(row_of_page[page] for page in some) for some in links],
        inlinks=np.array([statistics.inlinks.get(entry.url, 0) for entry in entries], dtype=np.float64),
        lengths=np.log1p([float(entry.bag.counts.sum()) for entry in entries]),
        rarity=statistics.rarity,
        row_of_page=row_of_page,
    )


def _targets(entry: Entry, page_behind: Callable[[str], int | None]) -> set[int]:
    pages = {page_behind(link.target) for link in entry.outlinks}
    return {page for page in pages if page is not None and page != entry.page}


def _names(entries: Iterable[Entry], page_behind: Callable[[str], int | None]) -> Names:
    titles: dict[Phrase, set[int]] = defaultdict(set)
    anchors: dict[Phrase, Counter[int]] = defaultdict(Counter)
    indexed = {entry.page for entry in entries}
    for entry in entries:
        for name in entry.names:
            titles[name].add(entry.page)
        for words, page in {(link.phrase, page_behind(link.target)) for link in entry.outlinks if link.phrase}:
            if page in indexed and page != entry.page:
                anchors[words][page] += 1
    return Names({name: frozenset(pages) for name, pages in titles.items()}, anchors)


def _titles(entries: Iterable[Entry], statistics: Statistics) -> Rows:
    """A title's words weigh as much as they are rare, in texts and in titles: "Announcing" tells no two apart."""

    def idf(terms: Terms) -> Weights:
        return np.minimum(statistics.rarity.idf(terms), statistics.titles.idf(terms))

    return share_rows((content_keys(entry.name, entry.language) for entry in entries), idf, _TITLE_SLACK)[0]
