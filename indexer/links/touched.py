"""Whose links a change touches: the pages for which candidates, features or places may come out differently."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from indexer.anchors import Phrase
from indexer.function_words import FUNCTION_WORDS
from indexer.lexical import bag_of
from indexer.links.library import Library

_SLACK = 2e-6
"""Scores are rounded to six decimals, and a product may be off by one of them when the other page asks for it."""


@dataclass(frozen=True)
class Change:
    """How the site's pages differ from what their links were last found by: pages that say, link or lie elsewhere
    (`sources`), that are named, read or open to links differently (`targets`), the names with their pages that came
    or went, pages that link to other pages than before (`linking`), and pages that are no longer there."""

    sources: frozenset[int]
    targets: frozenset[int]
    named: frozenset[tuple[Phrase, int]]
    linking: frozenset[int]
    gone: frozenset[int]

    @property
    def pages(self) -> frozenset[int]:
        return self.sources | self.targets | self.linking | self.gone


def touched(
    change: Change,
    library: Library,
    candidates: Iterable[tuple[int, npt.NDArray[np.int64], float, float]],
    listing: Callable[[Collection[int]], set[int]],
) -> set[int]:
    """The pages whose links have to be found anew.

    `candidates` gives, for each page, its candidates and the scores from which a page becomes one; `listing` the
    pages that have one of some pages among their neighbours.
    """
    pages = set(change.sources) | (change.linking - change.gone) | listing(change.linking)
    concerned = np.array(sorted(change.targets | {page for _, page in change.named}), dtype=np.int64)
    bars = np.full((len(library.pages), 2), np.inf)
    for page, targets, lexical, title in candidates:
        row = library.row_of_page.get(page)
        if row is None:
            continue
        bars[row] = lexical, title
        if np.isin(targets, concerned).any():
            pages.add(page)
    rows: set[int] = set()
    for page in change.targets & library.row_of_page.keys():
        rows.update(_entered(library, library.row_of_page[page], bars))
    for name in {name for name, _ in change.named}:
        rows.update(_saying(library, name))
    return pages | {int(library.pages[row]) for row in rows}


def _entered(library: Library, row: int, bars: npt.NDArray[np.float64]) -> list[int]:
    """The rows among whose candidates this one comes, or may come, by its words or its title."""
    terms, weights = library.bodies.row(row)
    lexical = library.bodies.products(terms, weights.astype(np.float64))
    terms, weights = library.titles.row(row)
    title = library.bodies.overlaps(terms, weights.astype(np.float64))
    near, called = lexical >= bars[:, 0] - _SLACK, title >= bars[:, 1] - _SLACK
    rows = np.flatnonzero((near | called) & (library.languages == library.languages[row]))
    return [int(other) for other in rows]


def _saying(library: Library, name: Phrase) -> list[int]:
    """The rows whose text holds all words of a name that no language takes for function words."""
    words = [key for key in name if not any(key in some for some in FUNCTION_WORDS.values())]
    if not words:
        return list(range(len(library.pages)))
    return [int(row) for row in library.bodies.holding_all(bag_of(words).terms)]
