"""The embeddings kept by (model, text), the texts that wait for one, and what the vector store is known to hold."""

from __future__ import annotations

import json
import sqlite3  # noqa: TID251
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from indexer.errors import StateError
from indexer.records import Passage
from indexer.state import floats
from indexer.state.floats import Vector

_WANTED = "p.status = 'live' AND p.duplicate_of IS NULL"


@dataclass(frozen=True, slots=True)
class Wanted:
    """A page whose point is pending, and everything its vector is made of: its passages' vectors, as rows."""

    page: int
    url: str
    id: str
    key: str
    language: str
    passages: Vector


@dataclass(frozen=True, slots=True)
class StoredPoint:
    """A page's vector as the vector store is known to hold it."""

    page: int
    url: str
    id: str
    key: str
    language: str
    vector: Vector


class Embeddings:
    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def model(self, fingerprint: str) -> int:
        """The number of the model with this fingerprint, given at its first use."""
        self._db.execute("INSERT OR IGNORE INTO models (fingerprint) VALUES (?)", (fingerprint,))
        return int(self._db.execute("SELECT id FROM models WHERE fingerprint = ?", (fingerprint,)).fetchone()[0])

    def indexed_model(self, fingerprint: str) -> int:
        """The number of the model with this fingerprint. Raises StateError where no page is indexed with it."""
        row = self._db.execute(
            "SELECT id FROM models m WHERE fingerprint = ? AND EXISTS (SELECT 1 FROM points WHERE model = m.id)",
            (fingerprint,),
        ).fetchone()
        if row is None:
            raise StateError("no page is indexed with this model yet: run `indexer sync` first")
        return int(row[0])

    # --- texts to embed -------------------------------------------------------------------------------------------

    def enqueue(self, model: int, passages: Iterable[Passage]) -> None:
        """Let the passages wait for their embedding, save those that have one."""
        self._db.executemany(
            "INSERT OR IGNORE INTO to_embed (model, hash, text) SELECT ?1, ?2, ?3"
            " WHERE NOT EXISTS (SELECT 1 FROM embeddings WHERE model = ?1 AND hash = ?2)",
            ((model, p.hash, p.text) for p in passages),
        )

    def waiting(self, model: int, limit: int) -> list[tuple[str, str]]:
        """Hash and text of the passages that have waited longest."""
        rows = self._db.execute("SELECT hash, text FROM to_embed WHERE model = ? ORDER BY id LIMIT ?", (model, limit))
        return rows.fetchall()

    def waiting_count(self, model: int) -> int:
        return int(self._db.execute("SELECT count(*) FROM to_embed WHERE model = ?", (model,)).fetchone()[0])

    def keep(self, model: int, hashes: Sequence[str], vectors: Vector) -> None:
        """Keep the embeddings of these texts; they wait no longer."""
        self._db.executemany(
            "INSERT OR REPLACE INTO embeddings VALUES (?, ?, ?)",
            ((model, text, floats.pack_vector(vector)) for text, vector in zip(hashes, vectors, strict=True)),
        )
        self._db.executemany("DELETE FROM to_embed WHERE model = ? AND hash = ?", ((model, text) for text in hashes))

    def kept(self, model: int, hashes: Sequence[str]) -> dict[str, Vector]:
        """The embeddings, by the hashes of their texts, of those that have one."""
        rows = self._db.execute(
            "SELECT hash, vector FROM embeddings WHERE model = ? AND hash IN (SELECT value FROM json_each(?))",
            (model, json.dumps(list(hashes))),
        )
        return {text: floats.unpack_vectors([blob])[0] for text, blob in rows}

    def sweep(self, model: int) -> None:
        """Let go of embeddings, waiting texts and addresses that no page holds any more."""
        unused = "hash IN (SELECT hash FROM dropped) AND hash NOT IN (SELECT hash FROM passages)"
        self._db.execute(f"DELETE FROM embeddings WHERE {unused}")
        self._db.execute(f"DELETE FROM to_embed WHERE {unused}")
        self._db.execute("DELETE FROM dropped")
        self._db.execute("DELETE FROM to_embed WHERE model != ?", (model,))
        self._db.execute("DELETE FROM targets WHERE id NOT IN (SELECT target FROM outlinks)")

    # --- pages whose point is pending -----------------------------------------------------------------------------

    def uncut(self, model: int) -> list[int]:
        """Pending pages with a passage that neither has an embedding nor waits for one: their text must be cut again.

        That is a page that takes over from its duplicate, or one whose embeddings were lost.
        """
        rows = self._db.execute(
            f"SELECT DISTINCT p.id FROM pending w JOIN pages p ON p.id = w.page JOIN passages s ON s.page = p.id"
            f" WHERE w.model = ?1 AND {_WANTED}"
            " AND NOT EXISTS (SELECT 1 FROM embeddings e WHERE e.model = ?1 AND e.hash = s.hash)"
            " AND NOT EXISTS (SELECT 1 FROM to_embed t WHERE t.model = ?1 AND t.hash = s.hash)",
            (model,),
        )
        return [page for (page,) in rows]

    def ready(self, model: int, limit: int) -> list[Wanted]:
        """Pending pages all of whose passages have an embedding; looks through all that are pending."""
        return self._ready(model, "SELECT page FROM pending WHERE model = ?1", (model, limit))

    def ready_with(self, model: int, hashes: Sequence[str]) -> list[Wanted]:
        """Of the pages that hold one of these passages those that are ready: looks at no others, so that a first run's
        hundred thousand pending pages are not looked through for every window."""
        holding = "SELECT page FROM passages WHERE hash IN (SELECT value FROM json_each(?3))"
        return self._ready(model, holding, (model, -1, json.dumps(list(hashes))))

    def _ready(self, model: int, among: str, arguments: tuple[int | str, ...]) -> list[Wanted]:
        rows = self._db.execute(
            f"SELECT p.id, p.url, w.id, p.key, p.language FROM pending w JOIN pages p ON p.id = w.page"
            f" WHERE w.model = ?1 AND w.page IN ({among}) AND {_WANTED} AND p.key IS NOT NULL"
            " AND NOT EXISTS (SELECT 1 FROM passages s WHERE s.page = p.id"
            " AND NOT EXISTS (SELECT 1 FROM embeddings e WHERE e.model = ?1 AND e.hash = s.hash))"
            " ORDER BY w.page LIMIT ?2",
            arguments,
        ).fetchall()
        return [
            Wanted(page, url, point, key, language, self._passage_vectors(model, page))
            for page, url, point, key, language in rows
        ]

    def unwanted(self, model: int, limit: int) -> list[tuple[int, str]]:
        """Page numbers and point ids of pending pages that ask for no vector any more."""
        rows = self._db.execute(
            f"SELECT w.page, w.id FROM pending w LEFT JOIN pages p ON p.id = w.page"
            f" WHERE w.model = ? AND (p.id IS NULL OR p.key IS NULL OR NOT ({_WANTED})) LIMIT ?",
            (model, limit),
        )
        return rows.fetchall()

    def pending_ids(self, model: int) -> set[str]:
        """Ids of the points of which nobody knows what the store holds."""
        return {point for (point,) in self._db.execute("SELECT id FROM pending WHERE model = ?", (model,))}

    def confirm(self, model: int, points: Iterable[tuple[Wanted, Vector]]) -> None:
        """The store holds these vectors: note it, and mark the pages and everyone whose list they may touch."""
        for wanted, vector in points:
            self._mark_listers(wanted.page)
            self._db.execute(
                "INSERT OR REPLACE INTO points VALUES (?, ?, ?, ?, ?, ?)",
                (model, wanted.page, wanted.id, wanted.key, wanted.language, floats.pack_vector(vector)),
            )
            self._db.execute("INSERT OR IGNORE INTO marks VALUES (?1, 'ask'), (?1, 'spread')", (wanted.page,))
            self._db.execute("DELETE FROM pending WHERE model = ? AND page = ?", (model, wanted.page))

    def confirm_removed(self, model: int, pages: Iterable[int]) -> None:
        """The store holds nothing of these pages: note it, and mark everyone who listed them."""
        for page in pages:
            self._mark_listers(page)
            self._db.execute("DELETE FROM neighbours WHERE page = ?", (page,))
            self._db.execute("DELETE FROM lists WHERE page = ?", (page,))
            self._db.execute("DELETE FROM marks WHERE page = ?", (page,))
            self._db.execute("DELETE FROM points WHERE model = ? AND page = ?", (model, page))
            self._db.execute("DELETE FROM pending WHERE model = ? AND page = ?", (model, page))

    def _mark_listers(self, page: int) -> None:
        self._db.execute("INSERT OR IGNORE INTO marks SELECT page, 'ask' FROM neighbours WHERE other = ?", (page,))

    def _passage_vectors(self, model: int, page: int) -> Vector:
        rows = self._db.execute(
            "SELECT e.vector FROM passages s JOIN embeddings e ON e.model = ? AND e.hash = s.hash"
            " WHERE s.page = ? ORDER BY s.place",
            (model, page),
        )
        return floats.unpack_vectors([blob for (blob,) in rows])

    # --- what the store is known to hold --------------------------------------------------------------------------

    def stored_keys(self, model: int) -> dict[str, str]:
        """Id and key of every point the store should hold, but for pages that are pending."""
        rows = self._db.execute(
            "SELECT id, key FROM points o WHERE model = ?1"
            " AND NOT EXISTS (SELECT 1 FROM pending w WHERE w.model = ?1 AND w.page = o.page)",
            (model,),
        )
        return dict(rows.fetchall())

    def stored_points(self, model: int, ids: Iterable[str]) -> list[StoredPoint]:
        rows = self._db.execute(
            "SELECT o.page, p.url, o.id, o.key, o.language, o.vector FROM points o JOIN pages p ON p.id = o.page"
            " WHERE o.model = ? AND o.id IN (SELECT value FROM json_each(?))",
            (model, json.dumps(list(ids))),
        )
        return [
            StoredPoint(page, url, point, key, language, floats.unpack_vectors([blob])[0])
            for page, url, point, key, language, blob in rows
        ]

    def models_besides(self, model: int) -> list[tuple[int, str]]:
        """Number and fingerprint of the other models that something is still kept of."""
        rows = self._db.execute("SELECT id, fingerprint FROM models WHERE id != ?", (model,))
        return rows.fetchall()

    def drop_model(self, model: int) -> None:
        """Let go of everything kept of a model."""
        for table in ("embeddings", "to_embed", "points", "pending"):
            self._db.execute(f"DELETE FROM {table} WHERE model = ?", (model,))
        self._db.execute("DELETE FROM models WHERE id = ?", (model,))
