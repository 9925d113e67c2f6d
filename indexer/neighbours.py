"""Every page's nearest pages, and who else is touched when one page changes.

A list is a function of the vectors alone: the `keep` highest cosines at or above the floor among the pages of the same
language, equal ones in the order of their URLs. Cosines are computed here, in double precision, and rounded to six
decimals, so that neither the engine that proposed the candidates nor the order of events can be read off a list.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from indexer.records import Hit, Neighbour, NeighbourList

DECIMALS = 6
_SLACK = 5e-6
"""By how much an engine's single-precision cosine may be off, rounding included; measured: 3e-7."""
_ROWS_AT_ONCE = 64


@dataclass(frozen=True)
class Picture:
    """Every indexed page under one model, a row each: page number, id in the vector store, URL, language, vector."""

    pages: npt.NDArray[np.int64]
    ids: Sequence[str]
    urls: Sequence[str]
    languages: npt.NDArray[np.str_]
    vectors: npt.NDArray[np.float32]

    @cached_property
    def row_of_id(self) -> Mapping[str, int]:
        return {point: row for row, point in enumerate(self.ids)}

    @cached_property
    def row_of_page(self) -> Mapping[int, int]:
        return {page: row for row, page in enumerate(self.pages.tolist())}


@dataclass(frozen=True, slots=True)
class Rule:
    """How long a list may be, and how near a page must be to stand in it."""

    keep: int
    floor: float


def cosines(picture: Picture, row: int, others: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """The cosines of one row with others, the same whichever of the two asks."""
    one, many = picture.vectors[row].astype(np.float64), picture.vectors[others].astype(np.float64)
    return np.asarray(np.round(np.einsum("ij,j->i", many, one), DECIMALS))


def joined(picture: Picture, page: int, url: str, language: str, vector: npt.NDArray[np.float32]) -> Picture:
    """The picture with one more page, as its last row."""
    return Picture(
        np.append(picture.pages, page),
        [*picture.ids, ""],
        [*picture.urls, url],
        np.append(picture.languages, language),
        np.concatenate([picture.vectors.reshape(-1, len(vector)), vector[None]]),
    )


def nearest(picture: Picture, row: int, rule: Rule) -> NeighbourList:
    """The row's list among all rows, which must be of one language."""
    others = np.delete(np.arange(len(picture.pages)), row)
    scored = zip(others.tolist(), cosines(picture, row, others).tolist(), strict=True)
    return _list(int(picture.pages[row]), _best(picture, scored, rule), rule)


def own_list(picture: Picture, row: int, hits: Sequence[Hit], limit: int, rule: Rule) -> NeighbourList | None:
    """The row's list from the `limit` hits an engine found for it, or None where more hits have to be asked for.

    More are needed when a page beyond the last hit could still belong to the list: its cosine, as the engine sees it,
    is not clearly below the list's last.
    """
    found = [picture.row_of_id[hit.id] for hit in hits if hit.id in picture.row_of_id]
    others = np.array([other for other in found if other != row], dtype=np.int64)
    entries = _best(picture, zip(others.tolist(), cosines(picture, row, others).tolist(), strict=True), rule)
    bar = entries[-1].score if len(entries) == rule.keep else rule.floor
    if len(hits) >= limit and hits[-1].score >= bar - _SLACK:
        return None
    return _list(int(picture.pages[row]), entries, rule)


def entering(
    picture: Picture, bars: npt.NDArray[np.float64], rows: npt.NDArray[np.int64], rule: Rule
) -> Iterator[tuple[int, int, float]]:
    """Whose lists the given rows may enter: (row of the list, row that enters, cosine).

    `bars` holds for each row the cosine of the last entry of its full list, -inf for a list with room, +inf for one
    that will be asked anew anyway. One product with all vectors of the language replaces a search by threshold: the
    lowest bar of a site is an outlier's, and searching down to it returned 71% of the pages where 4% were touched.
    """
    for language in np.unique(picture.languages[rows]):
        members = np.flatnonzero(picture.languages == language)
        mine = rows[picture.languages[rows] == language]
        lowest = np.maximum(bars[members], rule.floor)
        for start in range(0, len(mine), _ROWS_AT_ONCE):
            some = mine[start : start + _ROWS_AT_ONCE]
            reach = picture.vectors[some] @ picture.vectors[members].T >= lowest - _SLACK
            for row, near in zip(some.tolist(), reach, strict=True):
                lists = members[near]
                lists = lists[lists != row]
                for other, score in zip(lists.tolist(), cosines(picture, row, lists).tolist(), strict=True):
                    if score >= max(bars[other], rule.floor):
                        yield other, row, score


def taken_in(picture: Picture, old: NeighbourList, arrivals: Iterable[tuple[int, float]], rule: Rule) -> NeighbourList:
    """The old list with (row, cosine) arrivals taken in; its last entries fall out where it overflows."""
    rows = {picture.row_of_page[entry.page]: entry.score for entry in old.neighbours}
    return _list(old.page, _best(picture, (rows | dict(arrivals)).items(), rule), rule)


def _best(picture: Picture, scored: Iterable[tuple[int, float]], rule: Rule) -> list[Neighbour]:
    near = [(row, score) for row, score in scored if score >= rule.floor]
    near.sort(key=lambda entry: (-entry[1], picture.urls[entry[0]]))
    return [Neighbour(int(picture.pages[row]), score) for row, score in near[: rule.keep]]


def _list(page: int, entries: Sequence[Neighbour], rule: Rule) -> NeighbourList:
    return NeighbourList(page, tuple(entries), entries[-1].score if len(entries) == rule.keep else None)
