"""Bringing the neighbour lists up to date: exactly those that a change has touched."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby

import numpy as np

from indexer.neighbours import Picture, Rule, entering, own_list, taken_in
from indexer.records import NeighbourList
from indexer.sketches import nearly_same
from indexer.state.writing import State
from indexer.sync.parts import Progress
from indexer.vectors import VectorStore

_ASKED_AT_ONCE = 256
_BEYOND = 6
"""Hits asked for beyond a list's length: the page itself, and room for equal scores at its end."""
_MOST = 0.5
"""From this share of marked lists on, all are asked for: a page's own list costs less than finding whom it touches."""


def relist(
    state: State, open_store: Callable[[], VectorStore], model: int, rule: Rule, progress: Progress
) -> tuple[int, int]:
    """Ask for the marked lists anew, and let the marked pages into the lists they belong in.

    Returns how many lists were asked for, and how many changed. The store is opened only where a list is asked for.
    """
    _follow_rule(state, model, rule)
    asked = state.lists.marked(model, "ask")
    spreading = state.lists.marked(model, "spread")
    if not asked and not spreading:
        return 0, 0
    if len(asked) > _MOST * state.lists.indexed_count(model):
        with state.transaction():
            state.lists.mark_all(model)
        asked, spreading = state.lists.marked(model, "ask"), []
    picture = state.lists.picture(model, {language for _, language in (*asked, *spreading)})
    changed = 0
    if spreading:
        changed += _spread(state, picture, [page for page, _ in spreading], [page for page, _ in asked], rule)
    if asked:
        changed += _ask(state, open_store(), picture, asked, rule, progress)
    return len(asked), changed


def _follow_rule(state: State, model: int, rule: Rule) -> None:
    """Another length or floor concerns every list."""
    wanted = json.dumps([model, rule.keep, rule.floor])
    if state.journal.get("lists") != wanted:
        with state.transaction():
            state.lists.mark_all(model)
            state.journal.put("lists", wanted)


def _spread(state: State, picture: Picture, pages: Sequence[int], asked: Iterable[int], rule: Rule) -> int:
    new = entered(state, picture, pages, asked, rule)
    with state.transaction():
        changed = state.lists.save(_with_near_duplicates(state, new))
        state.lists.unmark("spread", pages)
    return changed


def entered(
    state: State, picture: Picture, pages: Iterable[int], asked: Iterable[int], rule: Rule
) -> list[NeighbourList]:
    """The lists that the pages come into, as they are then, but for those that are asked for anyway."""
    bars = np.full(len(picture.pages), np.inf)
    for page, bar in state.lists.bars().items():
        row = picture.row_of_page.get(page)
        if row is not None:
            bars[row] = -np.inf if bar is None else bar
    bars[[picture.row_of_page[page] for page in asked]] = np.inf
    rows = np.array([picture.row_of_page[page] for page in pages], dtype=np.int64)
    arrivals: dict[int, list[tuple[int, float]]] = defaultdict(list)
    for list_row, row, score in entering(picture, bars, rows, rule):
        arrivals[int(picture.pages[list_row])].append((row, score))
    old = state.lists.lists(arrivals)
    return [taken_in(picture, old[page], some, rule) for page, some in arrivals.items()]


def _ask(
    state: State, store: VectorStore, picture: Picture, asked: Sequence[tuple[int, str]], rule: Rule, progress: Progress
) -> int:
    changed = done = 0
    for language, marked in groupby(sorted(asked, key=lambda entry: entry[1]), key=lambda entry: entry[1]):
        rows = [picture.row_of_page[page] for page, _ in marked]
        for start in range(0, len(rows), _ASKED_AT_ONCE):
            some = rows[start : start + _ASKED_AT_ONCE]
            lists = _own_lists(store, picture, some, language, rule)
            with state.transaction():
                changed += state.lists.save(_with_near_duplicates(state, lists))
                state.lists.unmark("ask", [new.page for new in lists])
            done += len(some)
            progress.step("neighbours", done, len(asked))
    return changed


def _own_lists(
    store: VectorStore, picture: Picture, rows: Sequence[int], language: str, rule: Rule
) -> list[NeighbourList]:
    """Each row's own list; where equal scores may go on beyond the hits, twice as many are asked for."""
    lists: list[NeighbourList] = []
    limit = rule.keep + _BEYOND
    while rows:
        found = store.nearest(picture.vectors[rows], language, limit)
        tried = [(row, own_list(picture, row, hits, limit, rule)) for row, hits in zip(rows, found, strict=True)]
        lists += [new for _, new in tried if new is not None]
        rows = [row for row, new in tried if new is None]
        limit *= 2
    return lists


def _with_near_duplicates(state: State, lists: Sequence[NeighbourList]) -> list[NeighbourList]:
    """The lists with those entries marked whose text nearly agrees with the page's."""
    pages = {new.page for new in lists} | {entry.page for new in lists for entry in new.neighbours}
    sketches = state.lists.sketches(pages)
    return [_marked(new, sketches) for new in lists]


def _marked(new: NeighbourList, sketches: Mapping[int, bytes]) -> NeighbourList:
    own = sketches[new.page]
    entries = tuple(e._replace(near_duplicate=nearly_same(own, sketches[e.page])) for e in new.neighbours)
    return NeighbourList(new.page, entries, new.kth)
