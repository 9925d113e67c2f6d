"""The rules that look across pairs: which of the scored pairs are suggested, and in which of their places.

One pass over all pairs, best first, in time proportional to their number. The threshold comes before the limits: what
is below it was never kept, and no list is filled up.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from indexer.anchors import Phrase
from indexer.links.pairs import Pair, Spot


@dataclass(frozen=True)
class Limits:
    """How many suggestions there may be. `max_density` is in content links per 100 words, those that exist counted;
    None allows any."""

    per_page: int
    per_target: int
    per_paragraph: int
    both_ways: bool
    max_density: float | None
    never_anchor: frozenset[Phrase]

    def room(self, words: int, links: int) -> int:
        """How many suggestions a page of so many words and content links can take."""
        if self.max_density is None:
            return self.per_page
        return max(0, min(self.per_page, int(self.max_density * words / 100 + 1e-9) - links))

    @property
    def same_words(self) -> int:
        """How often the same words may lead to one page: for half of what is suggested for it."""
        return max(1, self.per_target // 2)


@dataclass(frozen=True, slots=True)
class Chosen:
    """A pair that is suggested, in the place that it got."""

    pair: Pair
    spot: Spot


@dataclass
class _Taken:
    """What the suggestions so far have used up."""

    of_page: Counter[int] = field(default_factory=Counter)
    of_target: Counter[int] = field(default_factory=Counter)
    of_block: Counter[tuple[int, int]] = field(default_factory=Counter)
    words: Counter[tuple[int, Phrase]] = field(default_factory=Counter)
    anchors: set[tuple[int, Phrase]] = field(default_factory=set)
    stretches: dict[tuple[int, int], list[tuple[int, int]]] = field(default_factory=lambda: defaultdict(list))
    pairs: set[tuple[int, int]] = field(default_factory=set)

    def add(self, pair: Pair, spot: Spot) -> None:
        self.of_page[pair.source] += 1
        self.of_target[pair.target] += 1
        self.of_block[pair.source, spot.block] += 1
        self.pairs.add((pair.source, pair.target))
        if spot.key:
            self.words[pair.target, spot.key] += 1
            self.anchors.add((pair.source, spot.key))
        self.stretches[pair.source, spot.block].append((spot.start, spot.end))


def choose(
    pairs: Iterable[Pair],
    agreed: Iterable[Chosen],
    limits: Limits,
    room: Mapping[int, int],
    order: Mapping[int, tuple[bool, str]],
) -> list[Chosen]:
    """The pairs to suggest, best first.

    `agreed` are those that a person accepted: they take their room before any other. `room` says how many suggestions
    each page can take. `order` holds for every page whether it has to wait for those that are linked to first, and
    its URL, which parts equal scores.
    """
    taken = _Taken()
    for kept in agreed:
        taken.add(kept.pair, kept.spot)
    chosen: list[Chosen] = []

    def rank(pair: Pair) -> tuple[bool, float, str, str]:
        waits, target = order[pair.target]
        return waits, -pair.score, order[pair.source][1], target

    for pair in sorted(pairs, key=rank):
        spot = _spot_for(pair, taken, limits, room)
        if spot is not None:
            taken.add(pair, spot)
            chosen.append(Chosen(pair, spot))
    return chosen


def _spot_for(pair: Pair, taken: _Taken, limits: Limits, room: Mapping[int, int]) -> Spot | None:
    """The first of the pair's places that no rule forbids."""
    if taken.of_page[pair.source] >= room.get(pair.source, 0) or taken.of_target[pair.target] >= limits.per_target:
        return None
    if not limits.both_ways and (pair.target, pair.source) in taken.pairs:
        return None
    return next((spot for spot in pair.spots if _fits(pair, spot, taken, limits)), None)


def _fits(pair: Pair, spot: Spot, taken: _Taken, limits: Limits) -> bool:
    place = pair.source, spot.block
    if taken.of_block[place] >= limits.per_paragraph:
        return False
    if any(start < spot.end and spot.start < end for start, end in taken.stretches[place]):
        return False
    if not spot.key:
        return True
    if (pair.source, spot.key) in taken.anchors or _holds(spot.key, limits.never_anchor):
        return False
    return taken.words[pair.target, spot.key] < limits.same_words


def _holds(words: Sequence[str], phrases: Iterable[Phrase]) -> bool:
    """Whether one of the phrases stands in the words."""
    return any(
        tuple(words[at : at + len(phrase)]) == phrase
        for phrase in phrases
        for at in range(len(words) - len(phrase) + 1)
    )
