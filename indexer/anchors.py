"""Phrases that name a page, where a text says them, and on which of its words a link may stand.

The names of a page are its title and the words with which other pages of the site link to it. Words of a text that
are such a name, and no link yet, are the strongest single sign that a link belongs there (the idea behind Wikimedia's
Add-a-link, arXiv 2105.15110).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from indexer.lexical import Rarity, term
from indexer.prose import LONGEST, Prose
from indexer.words import is_function_word, words

Phrase = tuple[str, ...]

_LEAST_SHARED = 2.0
"""What an anchor shares with a name weighs at least so much, a word on a seventh of the pages: "module" or "site" alone
names nothing. The whole of a name always does."""
_PURE = 0.6
"""How much of an anchor must be words of the name: "queen in the evening and hang the new" is no "new queen"."""
_FILLER = 0.3
"""The weight of a function word in an anchor, where a rare word has 5 to 8."""


def phrase(text: str, language: str) -> Phrase:
    """The text as a name: its words' keys, or nothing where it is too long or says nothing."""
    keys = tuple(word.key for word in words(text, language))
    says = any(not is_function_word(key, language) and (len(key) > 1 or not key.isascii()) for key in keys)
    return keys if says and len(keys) <= 2 * LONGEST else ()


# --- the names of all pages -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Names:
    """The dictionary of a site: for each phrase the pages whose title it is, and the pages it links to, with the
    number of pages that link so."""

    titles: Mapping[Phrase, frozenset[int]]
    anchors: Mapping[Phrase, Mapping[int, int]]

    @cached_property
    def _beginnings(self) -> frozenset[Phrase]:
        return frozenset(
            name[:size] for names in (self.titles, self.anchors) for name in names for size in range(1, len(name) + 1)
        )

    @cached_property
    def _first_words(self) -> frozenset[str]:
        return frozenset(name[0] for names in (self.titles, self.anchors) for name in names)

    @cached_property
    def of_page(self) -> Mapping[int, Mapping[Phrase, int]]:
        """The names of each page, with the number of pages that use them; the title counts as one."""
        names: dict[int, Counter[Phrase]] = defaultdict(Counter)
        for name, pages in self.titles.items():
            for page in pages:
                names[page][name] += 1
        for name, counts in self.anchors.items():
            for page, count in counts.items():
                names[page][name] += count
        return names

    def said_in(self, some: Iterable[Prose]) -> set[Phrase]:
        """The names that stand in these blocks on words that are free for a link."""
        said: set[Phrase] = set()
        for block in some:
            keys = tuple(word.key for word in block.words)
            for first in (number for number, key in enumerate(keys) if key in self._first_words):
                last = first
                while (name := keys[first : last + 1]) in self._beginnings and block.is_free(last):
                    if (name in self.titles or name in self.anchors) and block.code(first) in (None, (first, last)):
                        said.add(name)
                    if not block.runs_on(last):
                        break
                    last += 1
        return said


# --- the best words for a link --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Run:
    """Words first to last of a block, and how well they name a page (0 to 1)."""

    first: int
    last: int
    fit: float


def best_runs(block: Prose, names: Mapping[Phrase, int], rarity: Callable[[str], float]) -> list[Run]:
    """The runs of words that name a page best, best first, none overlapping a better one.

    The fit is the overlap (Dice) of the run's words with the name's, weighted by rarity, for the name that fits best.
    """
    found: dict[tuple[int, int], float] = {}
    for name, count in names.items():
        wanted = {key: rarity(key) for key in name}
        places = sorted(place for key in wanted for place in block.places.get(key, ()) if block.is_free(place))
        if not places:
            continue
        total = sum(wanted.values())
        trust = _trust(count)
        for first, last, shared, whole in _windows(block, places, wanted, rarity):
            fit = trust * 2 * shared / (whole + total)
            if shared >= max(min(_LEAST_SHARED, total), _PURE * whole) and fit > found.get((first, last), 0.0):
                found[first, last] = fit
    return _apart(found)


def _trust(count: int) -> float:
    """A name that many use is worth more than one that was used once."""
    return 1.0 - 0.15 / max(count, 1)


def _windows(
    block: Prose, places: Sequence[int], wanted: Mapping[str, float], rarity: Callable[[str], float]
) -> Iterator[tuple[int, int, float, float]]:
    """Runs that begin and end with words of a name: first, last, weight of the words shared, weight of all."""
    for start, first in enumerate(places):
        seen: set[str] = set()
        shared = whole = 0.0
        at = first
        for last in places[start : start + LONGEST]:
            if last - first >= LONGEST or not all(map(block.runs_on, range(at, last))):
                break
            for number in range(at if last == first else at + 1, last + 1):
                key = block.words[number].key
                weight = _FILLER if block.is_function(number) else rarity(key)
                whole += weight
                if key in wanted and key not in seen:
                    seen.add(key)
                    shared += wanted[key]
            at = last
            if block.may_be_anchor(first, last) and (
                block.code(first) is None or shared >= whole >= sum(wanted.values())
            ):
                yield first, last, shared, whole


def _apart(found: Mapping[tuple[int, int], float]) -> list[Run]:
    runs: list[Run] = []
    for (first, last), fit in sorted(found.items(), key=lambda entry: (-entry[1], entry[0][0] - entry[0][1], entry[0])):
        if all(last < run.first or first > run.last for run in runs):
            runs.append(Run(first, last, round(fit, 6)))
    return runs


def rarity_by_key(rarity: Rarity) -> Callable[[str], float]:
    """How much a word weighs in a name."""
    known: dict[str, float] = {}

    def weight(key: str) -> float:
        if key not in known:
            known[key] = max(_FILLER, float(rarity.idf(np.array([term(key)], np.uint32))[0]))
        return known[key]

    return weight
