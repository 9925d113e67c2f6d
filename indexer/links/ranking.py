"""How likely a person would link one page to another: the candidates of a page, their features, and one score.

The features and the form of the model were found on real sites whose own links had been hidden; `weights` holds what a
logistic regression learned there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from indexer.anchors import Phrase
from indexer.lexical import Bag, Weights, term
from indexer.links.library import Library, Numbers
from indexer.links.weights import BIAS, WEIGHTS
from indexer.prose import Prose

LEXICAL = 50
"""Candidates by the words that the pages share."""
TITLED = 40
"""Candidates by the words of their titles."""
LEAST_SHARED = 0.02
LEAST_TITLE = 0.2
"""Scores below which a page is no candidate by words, or by title: among titles of one pattern thousands are equal."""
DECIMALS = 6

FEATURES = (
    "similarity", "best passage", "shared words", "shared words in a paragraph", "title words",
    "title words in a paragraph", "name words in a paragraph", "title said", "name said", "name is clear",
    "linked by many", "linked by neighbours", "length",
)  # fmt: skip


@dataclass(frozen=True)
class Source:
    """A page as one that links: its row, its bag with the rarity of its words, its prose, its passages' vectors, and
    its neighbours' rows with their cosines."""

    row: int
    bag: Bag
    idf: Weights
    prose: Sequence[Prose]
    passages: npt.NDArray[np.float32]
    neighbours: Mapping[int, float]

    @cached_property
    def counts(self) -> Weights:
        """How often each word of the bag stands in each block of the prose."""
        counts = np.zeros((len(self.prose), len(self.bag.terms)))
        blocks = np.repeat(np.arange(len(self.prose)), [len(block.content) for block in self.prose])
        terms = np.array([term(key) for block in self.prose for key in block.content], dtype=np.uint32)
        np.add.at(counts, (blocks, np.searchsorted(self.bag.terms, terms)), 1)
        return counts

    @cached_property
    def holds(self) -> Weights:
        """1 where a block of the prose holds a word of the bag, else 0."""
        return (self.counts > 0).astype(np.float64)

    @cached_property
    def weights(self) -> Weights:
        """The tf-idf vectors of the blocks, at unit length."""
        weights = np.where(self.counts > 0, 1 + np.log(np.maximum(self.counts, 1)), 0) * self.idf
        return np.asarray(weights / np.maximum(np.linalg.norm(weights, axis=1, keepdims=True), 1e-9))


@dataclass(frozen=True)
class Candidates:
    """The rows that a page might link to, how much each shares of its words and is said by its title, and the lowest
    scores with which a row comes in by its words or title."""

    rows: Numbers
    shared: Weights
    titled: Weights
    lexical_bar: float
    title_bar: float
    said: frozenset[Phrase]


def eligible(library: Library, source: Source) -> npt.NDArray[np.bool_]:
    """Rows that the page could link to at all: another page of its language that it does not link to already."""
    may = library.targets & (library.languages == library.languages[source.row])
    may[[source.row, *library.links[source.row]]] = False
    return np.asarray(may)


def shared_words(library: Library, bag: Bag) -> Weights:
    """The tf-idf cosine of a bag with every page."""
    return np.round(library.bodies.products(bag.terms, library.rarity.weights(bag)), DECIMALS)


def title_words(library: Library, bag: Bag) -> Weights:
    """How much of every page's title a bag holds."""
    return np.round(library.titles.products(bag.terms, np.ones(len(bag.terms))), DECIMALS)


def candidates(library: Library, source: Source) -> Candidates:
    """Whom the page might link to: its neighbours, those its neighbours link to, those it names, and those nearest to
    it by words and by title."""
    may = eligible(library, source)
    shared, titled = shared_words(library, source.bag), title_words(library, source.bag)
    lexical, lexical_bar = _highest(library, shared, may, LEXICAL, LEAST_SHARED)
    called, title_bar = _highest(library, titled, may, TITLED, LEAST_TITLE)
    said = library.names.said_in(source.prose)
    named = {
        library.row_of_page[page]
        for name in said
        for page in (*library.names.titles.get(name, ()), *library.names.anchors.get(name, ()))
    }
    linked = {row for near in source.neighbours for row in library.links[near]}
    rows = np.unique(np.array([*lexical, *called, *source.neighbours, *named, *linked], dtype=np.int64))
    rows = rows[may[rows]]
    return Candidates(rows, shared[rows], titled[rows], lexical_bar, title_bar, frozenset(said))


def _highest(
    library: Library, scores: Weights, may: npt.NDArray[np.bool_], count: int, least: float
) -> tuple[Sequence[int], float]:
    """The rows with the highest scores of `least` and more, equal ones by URL, and from which score on a row is one
    of them."""
    rows = np.flatnonzero(may & (scores >= least))
    if len(rows) > count:
        bar = np.partition(scores[rows], len(rows) - count)[len(rows) - count]
        rows = rows[scores[rows] >= bar]
    best = sorted(rows.tolist(), key=lambda row: (-scores[row], library.urls[row]))[:count]
    return best, float(scores[best[-1]]) if len(best) == count else least


def features(library: Library, source: Source, found: Candidates) -> Weights:
    """The features of every candidate, in the order of FEATURES, a row each."""
    rows = found.rows
    vectors = library.vectors[rows].astype(np.float64)
    own = library.vectors[source.row].astype(np.float64)
    title_said, name_said, clear = _said(library, found)
    near = sum(source.neighbours.values()) or 1.0
    flow: dict[int, float] = {}
    for neighbour, score in source.neighbours.items():
        for row in library.links[neighbour]:
            flow[row] = flow.get(row, 0.0) + score / near
    columns = (
        vectors @ own,
        (vectors @ source.passages.astype(np.float64).T).max(axis=1, initial=-1.0),
        found.shared,
        *_in_paragraphs(library, source, rows, found.titled),
        title_said,
        name_said,
        clear,
        np.log1p(library.inlinks[rows]),
        np.sqrt([flow.get(row, 0.0) for row in rows.tolist()]),
        library.lengths[rows],
    )
    return np.round(np.stack(columns, axis=1), DECIMALS)


def _in_paragraphs(library: Library, source: Source, rows: Numbers, titles: Weights) -> tuple[Weights, ...]:
    """What the best single paragraph shares with each page, its title, and the best of its names."""
    nothing = np.zeros(len(rows))
    vocabulary, there = source.bag.terms, source.holds.T
    if not there.size:
        return nothing, titles, nothing, nothing
    bodies = (library.bodies.onto(vocabulary, rows) @ source.weights.T).max(axis=1)
    title = (library.titles.onto(vocabulary, rows) @ there).max(axis=1)
    names = [
        (number, library.phrase_rows[name])
        for number, row in enumerate(rows.tolist())
        for name in library.names.of_page.get(int(library.pages[row]), ())
        if name in library.phrase_rows
    ]
    best = nothing.copy()
    if names:
        each = (library.phrases.onto(vocabulary, [row for _, row in names]) @ there).max(axis=1)
        np.maximum.at(best, [number for number, _ in names], each)
    return bodies, titles, title, best


def _said(library: Library, found: Candidates) -> tuple[Weights, Weights, Weights]:
    """For each candidate: its title is said; a name of it is said, less where many pages share the name; and how
    clearly that name means this page among those it is used for."""
    place = {int(library.pages[row]): number for number, row in enumerate(found.rows.tolist())}
    title, name, clear = (np.zeros(len(found.rows)) for _ in range(3))
    for phrase in sorted(found.said):
        titled = library.names.titles.get(phrase, frozenset())
        for page in titled & place.keys():
            title[place[page]] = max(title[place[page]], len(titled) ** -0.5)
        counts = library.names.anchors.get(phrase, {})
        every = sum(counts.values())
        for page in counts.keys() & place.keys():
            name[place[page]] = max(name[place[page]], len(counts) ** -0.5)
            clear[place[page]] = max(clear[place[page]], counts[page] / (every + 1))
    return title, name, clear


def contributions(features: Weights) -> Weights:
    """What each feature adds to the score's logit, a row for each candidate; `features` are of all one page's
    candidates, since each also counts by how far it stands out among them."""
    if not len(features):
        return features
    spread = (features - features.mean(axis=0)) / (features.std(axis=0) + 1e-6)
    own, relative = WEIGHTS
    return np.asarray(features * np.array(own) + spread * np.array(relative))


def above_average(contributed: Weights) -> Weights:
    """What each feature adds beyond what it adds to the average candidate."""
    return np.asarray(contributed - contributed.mean(axis=0)) if len(contributed) else contributed


def scores(contributed: Weights) -> Weights:
    """The probability, between 0 and 1, that a person would make each link, by what its features contribute."""
    return np.asarray(1 / (1 + np.exp(-(contributed.sum(axis=1) + BIAS)))).round(DECIMALS)
