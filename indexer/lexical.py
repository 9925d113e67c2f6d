"""How near texts are by the words they share: bags of words, how rare a word is on the site, tf-idf cosines."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt

Terms = npt.NDArray[np.uint32]
Weights = npt.NDArray[np.float64]


@lru_cache(maxsize=262_144)
def term(key: str) -> int:
    """The number of a word. Of 100,000 words one or two share theirs with another, which costs nothing."""
    return zlib.crc32(key.encode())


@dataclass(frozen=True, slots=True)
class Bag:
    """The words of a text, each once, in the order of their numbers, and how often each stands there."""

    terms: Terms
    counts: npt.NDArray[np.uint16]


def bag_of(keys: Iterable[str]) -> Bag:
    """The bag of these words."""
    counted = Counter(map(term, keys))
    terms = np.fromiter(counted.keys(), np.uint32, len(counted))
    counts = np.fromiter((min(n, 65535) for n in counted.values()), np.uint16, len(counted))
    order = np.argsort(terms)
    return Bag(terms[order], counts[order])


@dataclass(frozen=True)
class Rarity:
    """On how many of a site's pages each word stands: the document frequencies of one version of the statistics."""

    pages: int
    terms: Terms
    frequencies: npt.NDArray[np.uint32]

    def idf(self, terms: Terms) -> Weights:
        """The inverse document frequency of each word, ln((pages + 1) / (frequency + ½)); highest for unknown words."""
        if not len(self.terms):
            return np.full(len(terms), np.log((self.pages + 1) / 0.5))
        at = np.minimum(np.searchsorted(self.terms, terms), len(self.terms) - 1)
        frequency = np.where(self.terms[at] == terms, self.frequencies[at], 0)
        return np.asarray(np.maximum(np.log((self.pages + 1) / (frequency + 0.5)), 0.01))

    def weights(self, bag: Bag) -> Weights:
        """The tf-idf vector of a bag at unit length, term frequencies damped by 1 + ln."""
        weights = (1 + np.log(np.maximum(bag.counts, 1))) * self.idf(bag.terms)
        length = np.sqrt(weights @ weights)
        return np.asarray(weights / length) if length else weights


def rarity_of(bags: Iterable[Bag]) -> Rarity:
    """Count on how many of the bags' pages each word stands."""
    bags = list(bags)
    every = np.concatenate([bag.terms for bag in bags]) if bags else np.zeros(0, np.uint32)
    terms, frequencies = np.unique(every, return_counts=True)
    return Rarity(len(bags), terms, frequencies.astype(np.uint32))


@dataclass(frozen=True)
class Rows:
    """Sparse vectors over words, a row each: row i holds terms[starts[i]:starts[i+1]] with their weights."""

    terms: Terms
    weights: npt.NDArray[np.float32]
    starts: npt.NDArray[np.int64]

    def row(self, number: int) -> tuple[Terms, npt.NDArray[np.float32]]:
        part = slice(self.starts[number], self.starts[number + 1])
        return self.terms[part], self.weights[part]

    def onto(self, vocabulary: Terms, rows: Sequence[int] | npt.NDArray[np.int64]) -> Weights:
        """The weights that these rows give to the words of a sorted vocabulary, as a dense array a row each."""
        found = np.zeros((len(rows), len(vocabulary)))
        if not found.size:
            return found
        begins, ends = self.starts[rows], self.starts[np.asarray(rows, dtype=np.int64) + 1]
        flat = _ranges(begins, ends)
        place = np.repeat(np.arange(len(rows)), ends - begins)
        at = np.minimum(np.searchsorted(vocabulary, self.terms[flat]), len(vocabulary) - 1)
        hit = vocabulary[at] == self.terms[flat]
        found[place[hit], at[hit]] = self.weights[flat[hit]]
        return found

    def products(self, terms: Terms, weights: Weights) -> Weights:
        """The product of every row with one sparse vector."""
        return self._products(terms, weights, self._inverted[3])

    def overlaps(self, terms: Terms, weights: Weights) -> Weights:
        """The weight, for every row, of those words of one sparse vector that the row holds."""
        return self._products(terms, weights, np.ones_like(self._inverted[3]))

    def _products(self, terms: Terms, weights: Weights, values: npt.NDArray[np.float32]) -> Weights:
        vocabulary, starts, rows, _ = self._inverted
        count = len(self.starts) - 1
        if not len(vocabulary) or not len(terms):
            return np.zeros(count)
        at = np.minimum(np.searchsorted(vocabulary, terms), len(vocabulary) - 1)
        hit = vocabulary[at] == terms
        begins, ends = starts[at[hit]], starts[at[hit] + 1]
        flat = _ranges(begins, ends)
        what = values[flat] * np.repeat(weights[hit], ends - begins)
        return np.asarray(np.bincount(rows[flat], what, count), dtype=np.float64)

    def holding_all(self, terms: Terms) -> npt.NDArray[np.int64]:
        """The rows that hold every one of these words."""
        vocabulary, starts, rows, _ = self._inverted
        held: npt.NDArray[np.int64] | None = None
        for one in np.unique(terms):
            at = int(np.searchsorted(vocabulary, one))
            known = at < len(vocabulary) and vocabulary[at] == one
            some = rows[starts[at] : starts[at + 1]] if known else rows[:0]
            held = some if held is None else np.intersect1d(held, some, assume_unique=True)
        return np.zeros(0, np.int64) if held is None else held

    @cached_property
    def _inverted(self) -> tuple[Terms, npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float32]]:
        order = np.argsort(self.terms, kind="stable")
        vocabulary, first = np.unique(self.terms[order], return_index=True)
        rows = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        return vocabulary, np.append(first, len(order)).astype(np.int64), rows[order], self.weights[order]


def _ranges(begins: npt.NDArray[np.int64], ends: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """All numbers from each beginning up to its end, one range behind the other."""
    sizes = ends - begins
    offsets = np.repeat(begins - np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64), sizes)
    return np.asarray(np.arange(int(sizes.sum())) + offsets)


def unit_rows(bags: Sequence[Bag], rarity: Rarity) -> Rows:
    """The tf-idf vectors of the bags at unit length, one below the other."""
    counts = np.concatenate([*(bag.counts for bag in bags), np.zeros(0, np.uint16)])
    terms, starts, row = _stacked([bag.terms for bag in bags])
    weights = (1 + np.log(np.maximum(counts, 1))) * rarity.idf(terms)
    length = np.sqrt(np.bincount(row, weights**2, len(bags)))
    return Rows(terms, (weights / np.maximum(length, 1e-9)[row]).astype(np.float32), starts)


def share_rows(names: Iterable[Iterable[str]], idf: Callable[[Terms], Weights], slack: float) -> tuple[Rows, Weights]:
    """What each word of a name weighs of the whole name, the weight of which is raised by `slack`, a name a row; and
    the weights of the whole names without it."""
    parts = [np.array(sorted(set(map(term, name))), np.uint32) for name in names]
    terms, starts, row = _stacked(parts)
    weights = idf(terms)
    totals = np.bincount(row, weights, len(parts)).astype(np.float64)
    return Rows(terms, (weights / (totals + slack)[row]).astype(np.float32), starts), totals


def _stacked(parts: Sequence[Terms]) -> tuple[Terms, npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The parts one behind the other, where each begins, and for each word the number of its part."""
    sizes = np.array([len(part) for part in parts], dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    terms = np.concatenate([*parts, np.zeros(0, np.uint32)]).astype(np.uint32)
    return terms, starts, np.repeat(np.arange(len(parts)), sizes)
