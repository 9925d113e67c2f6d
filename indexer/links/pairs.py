"""The links that one page might set, scored and placed: what the rules across pages choose from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from indexer.anchors import Phrase, phrase
from indexer.lexical import Weights
from indexer.links.library import Library
from indexer.links.placing import Place, places
from indexer.links.ranking import (
    FEATURES,
    Candidates,
    Source,
    above_average,
    candidates,
    contributions,
    features,
    scores,
)

KEPT = 30
"""Pairs kept of each page, so that others can take the place of those that a rule leaves out."""
_REASONS = {
    "similarity": "near in meaning",
    "best passage": "a passage is near in meaning",
    "shared words": "shares its rare words",
    "shared words in a paragraph": "a paragraph shares its rare words",
    "title words": "says the words of its title",
    "title words in a paragraph": "a paragraph says the words of its title",
    "name words in a paragraph": "a paragraph says words that name it",
    "title said": "says its title",
    "name said": "says a name that other pages link with",
    "name is clear": "says a name that means no other page",
    "linked by many": "many pages link to it",
    "linked by neighbours": "the nearest pages link to it",
    "length": "there is much to read",
}


@dataclass(frozen=True, slots=True)
class Spot:
    """A place for a link as the rules look at it: the block, the words there, and the same words as a name."""

    block: int
    start: int
    end: int
    anchor: str
    key: Phrase


@dataclass(frozen=True, slots=True)
class Pair:
    """A link from the page numbered `source` to `target` that a person would set with probability `score`."""

    source: int
    target: int
    score: float
    similarity: float
    reason: str
    spots: tuple[Spot, ...]


def pairs_of(
    library: Library,
    source: Source,
    near: Callable[[int], Weights],
    weight: Callable[[str], float],
    same_text: Callable[[int], bool],
    least: float,
) -> tuple[Candidates, list[Pair]]:
    """The page's candidates, and its best pairs with scores of `least` and more, best first.

    `near` gives, for a row, the cosine of each block's passage with it; `same_text` says of a row whether its text
    nearly agrees with the source's.
    """
    found = candidates(library, source)
    table = features(library, source, found)
    given = contributions(table)
    above, scored = above_average(given), scores(given)
    order = sorted(range(len(found.rows)), key=lambda n: (-scored[n], library.urls[int(found.rows[n])]))
    pairs: list[Pair] = []
    for number in order:
        if len(pairs) == KEPT or scored[number] < least:
            break
        row = int(found.rows[number])
        if same_text(row):
            continue
        spots = places(library, source, row, near(row), weight)
        pairs.append(
            Pair(
                int(library.pages[source.row]),
                int(library.pages[row]),
                float(scored[number]),
                float(table[number, 0]),
                _reason(above[number]),
                tuple(_spot(library, source, place) for place in spots),
            )
        )
    return found, [pair for pair in pairs if pair.spots]


def _spot(library: Library, source: Source, place: Place) -> Spot:
    text = next(block.text for block in source.prose if block.index == place.block)
    anchor = text[place.start : place.end]
    return Spot(place.block, place.start, place.end, anchor, phrase(anchor, str(library.languages[source.row])))


def _reason(above: Weights) -> str:
    """What raised the pair most above the page's other candidates."""
    best = np.argsort(-above, kind="stable")[:2]
    return "; ".join(_REASONS[FEATURES[n]] for n in best.tolist() if above[n] > 0) or "stands out in nothing"
