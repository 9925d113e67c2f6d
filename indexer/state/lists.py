"""The neighbour lists, and the marks that say which of them a change has touched."""

from __future__ import annotations

import json
import sqlite3  # noqa: TID251
from collections import defaultdict
from collections.abc import Iterable, Mapping

import numpy as np

from indexer.neighbours import Picture
from indexer.records import Neighbour, NeighbourList
from indexer.state import floats


class Lists:
    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def picture(self, model: int, languages: Iterable[str]) -> Picture:
        """Every indexed page of these languages, in the order of page numbers."""
        rows = self._db.execute(
            "SELECT o.page, o.id, p.url, o.language, o.vector FROM points o JOIN pages p ON p.id = o.page"
            " WHERE o.model = ? AND o.language IN (SELECT value FROM json_each(?)) ORDER BY o.page",
            (model, _json(languages)),
        ).fetchall()
        return Picture(
            np.array([row[0] for row in rows], dtype=np.int64),
            [row[1] for row in rows],
            [row[2] for row in rows],
            np.array([row[3] for row in rows], dtype=np.str_),
            floats.unpack_vectors([row[4] for row in rows]),
        )

    def indexed_count(self, model: int) -> int:
        return int(self._db.execute("SELECT count(*) FROM points WHERE model = ?", (model,)).fetchone()[0])

    def bars(self) -> dict[int, float | None]:
        """For each page the score of the last entry of its full list, None where the list has room."""
        return dict(self._db.execute("SELECT page, kth FROM lists").fetchall())

    def lists(self, pages: Iterable[int]) -> dict[int, NeighbourList]:
        """The lists of those pages that have one."""
        chosen = _json(pages)
        entries: dict[int, list[Neighbour]] = defaultdict(list)
        for page, other, score, near in self._db.execute(
            "SELECT page, other, score, near FROM neighbours WHERE page IN (SELECT value FROM json_each(?))"
            " ORDER BY page, rank",
            (chosen,),
        ):
            entries[page].append(Neighbour(other, score, bool(near)))
        bars = self._db.execute("SELECT page, kth FROM lists WHERE page IN (SELECT value FROM json_each(?))", (chosen,))
        return {page: NeighbourList(page, tuple(entries[page]), kth) for page, kth in bars}

    def save(self, lists: Iterable[NeighbourList]) -> int:
        """Put these lists in place of the pages' old ones; how many of them differ from what was there."""
        lists = list(lists)
        before = self.lists(new.page for new in lists)
        changed = [new for new in lists if before.get(new.page) != new]
        self._db.executemany("DELETE FROM neighbours WHERE page = ?", ((new.page,) for new in changed))
        self._db.executemany("INSERT OR IGNORE INTO marks VALUES (?, 'link')", ((new.page,) for new in changed))
        self._db.executemany("INSERT OR REPLACE INTO lists VALUES (?, ?)", ((new.page, new.kth) for new in changed))
        self._db.executemany(
            "INSERT INTO neighbours VALUES (?, ?, ?, ?, ?)",
            (
                (new.page, rank, entry.page, entry.score, entry.near_duplicate)
                for new in changed
                for rank, entry in enumerate(new.neighbours, start=1)
            ),
        )
        return len(changed)

    def sketches(self, pages: Iterable[int]) -> Mapping[int, bytes]:
        rows = self._db.execute(
            "SELECT page, sketch FROM sketches WHERE page IN (SELECT value FROM json_each(?))", (_json(pages),)
        )
        return dict(rows.fetchall())

    def marked(self, model: int, what: str) -> list[tuple[int, str]]:
        """Number and language of the indexed pages marked so."""
        rows = self._db.execute(
            "SELECT m.page, o.language FROM marks m JOIN points o ON o.model = ? AND o.page = m.page"
            " WHERE m.what = ? ORDER BY m.page",
            (model, what),
        )
        return rows.fetchall()

    def mark_all(self, model: int) -> None:
        """Every indexed page's list has to be asked for anew."""
        self._db.execute("DELETE FROM marks WHERE what IN ('ask', 'spread')")
        self._db.execute("INSERT INTO marks SELECT page, 'ask' FROM points WHERE model = ?", (model,))

    def unmark(self, what: str, pages: Iterable[int]) -> None:
        self._db.executemany("DELETE FROM marks WHERE page = ? AND what = ?", ((page, what) for page in pages))

    def clear(self) -> None:
        """Forget all lists and marks."""
        for table in ("neighbours", "lists", "marks"):
            self._db.execute(f"DELETE FROM {table}")


def _json(values: Iterable[object]) -> str:
    return json.dumps(list(values))
