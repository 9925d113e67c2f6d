"""Bringing the vector store to what the pages ask for: embed what has no embedding, upsert, flush, confirm.

Every step may be repeated: what is embedded is kept before anything else happens, and a page counts as indexed only
when the store has it for good.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence

import numpy as np

from indexer.errors import StoreMismatch
from indexer.records import Point
from indexer.state.embeddings import Wanted
from indexer.state.writing import State
from indexer.sync.parts import Parts, Reader
from indexer.vectors import Vectors, VectorStore

WINDOW = 256
"""Passages embedded at once: sorted by length inside a window, a twentieth of all tokens is padding; else a fifth."""
_POINTS = 1000

_log = logging.getLogger("indexer")


def unit_mean(vectors: Vectors) -> Vectors:
    """The mean of the rows at unit length; the first row where the mean is nothing."""
    mean = vectors.astype(np.float64).mean(axis=0)
    length = float(np.linalg.norm(mean))
    return np.asarray(mean / length if length > 1e-9 else vectors[0], dtype=np.float32)


class Filler:
    """Fills one model's collection. The store is opened at the first point that must go in or out."""

    def __init__(self, state: State, parts: Parts, model: int) -> None:
        self._state, self._parts, self._model = state, parts, model
        self._store: VectorStore | None = None
        self.embedded = 0
        self.texts_read = 0

    @property
    def store(self) -> VectorStore:
        if self._store is None:
            self._store = self._parts.open_store(self._parts.fingerprint)
            self._recognise(self._store)
        return self._store

    def close(self) -> None:
        if self._store is not None:
            self._store.close()

    # --- one pass after the other ---------------------------------------------------------------------------------

    def remove(self) -> None:
        """Take the points of pages that ask for none out of the store."""
        while unwanted := self._state.embeddings.unwanted(self._model, _POINTS):
            self.store.delete([point for _, point in unwanted])
            self._flush()
            with self._state.transaction():
                self._state.embeddings.confirm_removed(self._model, [page for page, _ in unwanted])
                self._count_generation()

    def upsert_ready(self) -> None:
        """Put every page whose passages are all embedded into the store."""
        while ready := self._state.embeddings.ready(self._model, _POINTS):
            self._upsert(ready)

    def _upsert(self, ready: Sequence[Wanted]) -> None:
        made = [(wanted, unit_mean(wanted.passages)) for wanted in ready]
        self.store.upsert(_point(wanted, vector) for wanted, vector in made)
        self._flush()
        with self._state.transaction():
            self._state.embeddings.confirm(self._model, made)
            self._count_generation()

    def cut(self, reader: Reader) -> None:
        """Cut the stored texts of pages whose passages are wanted and lie nowhere ready for embedding."""
        for page in self._state.embeddings.uncut(self._model):
            title, blocks = self._state.pages.blocks(page)
            self.texts_read += 1
            with self._state.transaction():
                passages = reader.cut(title, blocks)
                self._state.pages.recut(page, passages, self._model)
                self._state.embeddings.enqueue(self._model, passages)

    def adopt(self, reader: Reader) -> None:
        """Cut every page's stored text for this model where it was cut for another."""
        for page in self._state.pages.of_other_model(self._model):
            title, blocks = self._state.pages.blocks(page)
            self.texts_read += 1
            with self._state.transaction():
                passages = reader.cut(title, blocks)
                self._state.pages.recut(page, passages, self._model)
                if page in self._state.pages.expect([page], self._model):
                    self._state.embeddings.enqueue(self._model, passages)

    async def embed(self, at_least: int) -> bool:
        """Embed the window that has waited longest, if it holds `at_least` passages, and upsert the pages that this
        completes; whether it did."""
        waiting = self._state.embeddings.waiting(self._model, WINDOW)
        if len(waiting) < max(at_least, 1):
            return False
        hashes, texts = zip(*waiting, strict=True)
        vectors = await asyncio.to_thread(self._parts.embedder.embed, texts)
        with self._state.transaction():
            self._state.embeddings.keep(self._model, hashes, vectors)
        if ready := self._state.embeddings.ready_with(self._model, hashes):
            self._upsert(ready)
        self.embedded += len(hashes)
        left = self._state.embeddings.waiting_count(self._model)
        self._parts.progress.step("passages", self.embedded, self.embedded + left)
        return True

    async def beside(self, looking: asyncio.Task[None], flush: Callable[[], None]) -> None:
        """Embed and upsert full windows while pages are still looked at; `flush` writes down those decided so far."""
        warming: asyncio.Task[None] | None = None
        while not looking.done():
            flush()
            if warming is None and self._state.embeddings.waiting(self._model, 1):
                warming = asyncio.create_task(asyncio.to_thread(self._parts.embedder.warm))
            if not await self.embed(at_least=WINDOW):
                await asyncio.wait({looking}, timeout=0.05)
        if warming is not None:
            await warming

    async def drain(self, reader: Reader) -> None:
        """Bring the store to exactly what the pages ask for."""
        self.remove()
        self.cut(reader)
        while await self.embed(at_least=1):
            pass
        self.upsert_ready()

    # --- whose store this is --------------------------------------------------------------------------------------

    def _recognise(self, store: VectorStore) -> None:
        """Refuse another database's store; mend one that was lost, or restored from another day."""
        database = self._state.journal.get("database") or ""
        expected = self._generation()
        match store.owner():
            case None:
                store.claim(database, expected)
                stale = bool(self._state.embeddings.stored_keys(self._model))
            case (owner, _) if owner != database:
                raise StoreMismatch(
                    "the vector store was filled by another state database: set store.vectors to a place of its own,"
                    " or delete it there and run `indexer sync` to fill it anew (nothing is embedded again)"
                )
            case (_, generation):
                # One ahead is a crash between the store's flush and our commit.
                stale = generation not in (expected, expected + 1)
        if stale:
            _log.warning("the vector store is not as this index left it: it is compared and mended")
            mended = repair(self._state, store, self._model)
            _log.warning("%d points of the vector store were mended", mended)

    def _generation(self) -> int:
        return int(self._state.journal.get(f"generation/{self._model}") or 0)

    def _flush(self) -> None:
        self.store.claim(self._state.journal.get("database") or "", self._generation() + 1)
        self.store.flush()

    def _count_generation(self) -> None:
        self._state.journal.put(f"generation/{self._model}", str(self._generation() + 1))


def differences(state: State, store: VectorStore, model: int) -> tuple[set[str], set[str]]:
    """Compare both stores: ids whose point is missing or another one, and ids that should not be there."""
    expected, found = state.embeddings.stored_keys(model), store.keys()
    pending = state.embeddings.pending_ids(model)
    wrong = {point for point, key in expected.items() if found.get(point) != key}
    return wrong, set(found) - set(expected) - pending


def repair(state: State, store: VectorStore, model: int) -> int:
    """Make the store hold what the state says, from the vectors kept there; every list is asked for anew.

    Returns how many points were wrong.
    """
    wrong, foreign = differences(state, store, model)
    points = state.embeddings.stored_points(model, wrong)
    store.upsert(Point(p.id, p.key, p.url, p.language, p.vector) for p in points)
    store.delete(foreign)
    store.flush()
    if wrong or foreign:
        with state.transaction():
            state.lists.mark_all(model)
    return len(wrong) + len(foreign)


def _point(wanted: Wanted, vector: Vectors) -> Point:
    return Point(wanted.id, wanted.key, wanted.url, wanted.language, vector)
