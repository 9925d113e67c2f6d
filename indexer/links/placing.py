"""Where on a page a link should stand: the paragraph, and in it the words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from indexer.anchors import Phrase, Run, best_runs
from indexer.lexical import Weights
from indexer.links.library import PHRASE_SLACK, Library
from indexer.links.ranking import Source
from indexer.prose import Prose

PLACES = 3
"""Places kept for a link, so that the next can take over where a rule forbids the first."""
_NAMES = 12
"""Names of a page that are tried on a paragraph: its title, and the most used."""
_FITS = 0.1
"""Below this no words name the page: the paragraph alone is suggested."""
_PASSAGE, _WORDS, _TITLE, _RUN = 1.0, 1.0, 0.5, 1.5


@dataclass(frozen=True, slots=True)
class Place:
    """Words first to last of the source's block; no words where the paragraph alone is meant. `fit` (0 to 1) says how
    well they name the target, `score` how well the place suits."""

    block: int
    start: int
    end: int
    fit: float
    score: float


def places(library: Library, source: Source, row: int, near: Weights, weight: Callable[[str], float]) -> list[Place]:
    """The best places of a page for a link to another, best first, each in another paragraph.

    `near` holds, for each block of the source's prose, the cosine of the passage it stands in with the target.
    """
    if not source.holds.size:
        return []
    names = _names(library, row)
    base, reach = _nearness(library, source, row, near), _reach(library, source, names)
    bounds = base + _RUN * reach.max(axis=1, initial=0.0)
    found: list[Place] = []
    for number in np.lexsort((np.arange(len(base)), -bounds)).tolist():
        if len(found) >= PLACES and bounds[number] <= found[PLACES - 1].score:
            break
        some = {name: names[name] for name, most in zip(names, reach[number].tolist(), strict=True) if most >= _FITS}
        found.append(_in_block(source.prose[number], float(base[number]), some, weight))
        found.sort(key=lambda place: (-place.score, place.block))
    return found[:PLACES]


def _names(library: Library, row: int) -> Mapping[Phrase, int]:
    """The names of a page that are worth trying: its title, then the most used."""
    page = int(library.pages[row])
    names = library.names.of_page.get(page, {})
    order = sorted(names, key=lambda name: (page not in library.names.titles.get(name, ()), -names[name], name))
    return {name: names[name] for name in order[:_NAMES]}


def _nearness(library: Library, source: Source, row: int, near: Weights) -> Weights:
    vocabulary = source.bag.terms
    body = library.bodies.onto(vocabulary, [row])[0]
    title = library.titles.onto(vocabulary, [row])[0]
    return np.asarray(_PASSAGE * near + _WORDS * (source.weights @ body) + _TITLE * (source.holds @ title))


def _reach(library: Library, source: Source, names: Mapping[Phrase, int]) -> Weights:
    """How well words of each block can fit each name at most: as if all that they share stood side by side."""
    rows = [library.phrase_rows[name] for name in names]
    totals = np.array([library.phrase_totals[row] for row in rows])
    shared = source.holds @ (library.phrases.onto(source.bag.terms, rows) * (totals + PHRASE_SLACK)[:, None]).T
    return np.asarray(2 * shared / (shared + totals))


def _in_block(block: Prose, base: float, names: Mapping[Phrase, int], weight: Callable[[str], float]) -> Place:
    runs: Sequence[Run] = best_runs(block, names, weight)[:1]
    if not runs or runs[0].fit < _FITS:
        return Place(block.index, 0, 0, 0.0, round(base, 6))
    run = runs[0]
    start, end = block.words[run.first].start, block.words[run.last].end
    return Place(block.index, start, end, run.fit, round(base + _RUN * run.fit, 6))
