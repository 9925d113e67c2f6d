"""The embedded engine: Qdrant Edge, in this process, in a folder a collection."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from qdrant_edge import (  # noqa: TID251
    Distance,
    EdgeConfig,
    EdgeOptimizersConfig,
    EdgeShard,
    EdgeVectorParams,
    FieldCondition,
    Filter,
    HnswIndexConfig,
    MatchValue,
    PayloadSchemaType,
    Query,
    QueryBatchRequest,
    QueryRequest,
    ScrollRequest,
    SearchParams,
    UpdateOperation,
)
from qdrant_edge import Point as EdgePoint  # noqa: TID251

from indexer.errors import StoreError, StoreMismatch, StoreUnavailable
from indexer.records import Hit, Point
from indexer.vectors import Vectors
from indexer.vectors.payload import MARKER, chunks, owner_of, owner_payload, payload_of, point_of

_POINTS = 1000
_KEYS = 10_000
_QUERIES = 32
"""Queries to a call. The engine keeps Python's lock while it searches, 0.1 s for so many among 100,000 points: more of
them save nothing (3.6 ms a query, 3.4 for 256), and the other threads would wait the longer."""
_SEGMENTS = 8
"""A search asks the segments side by side: 3.5 ms a query among 100,000 points on two cores, 6 ms in one segment."""


class EdgeStore:
    """A collection in a folder. One process may hold it."""

    def __init__(self, folder: Path, dimensions: int) -> None:
        self._folder = folder
        with self._explained():
            if not folder.exists():
                _make(folder, dimensions)
            self._shard: EdgeShard | None = EdgeShard.load(str(folder))

    def upsert(self, points: Iterable[Point]) -> None:
        for chunk in chunks(points, _POINTS):
            made = [EdgePoint(point.id, point.vector.tolist(), payload_of(point)) for point in chunk]
            with self._explained():
                self._open.update(UpdateOperation.upsert_points(made))

    def delete(self, ids: Iterable[str]) -> None:
        for chunk in chunks(ids, _POINTS):
            with self._explained():
                self._open.update(UpdateOperation.delete_points(list(chunk)))

    def get(self, ids: Iterable[str]) -> Mapping[str, Point]:
        found: dict[str, Point] = {}
        for chunk in chunks(ids, _POINTS):
            with self._explained():
                records = self._open.retrieve(list(chunk), with_payload=True, with_vector=True)
            found |= {str(record.id): point_of(record.id, record.payload, record.vector) for record in records}
        return found

    def nearest(self, vectors: Vectors, language: str, limit: int) -> Sequence[Sequence[Hit]]:
        condition = Filter(must=[FieldCondition(key="language", match=MatchValue(value=language))])
        exact = SearchParams(exact=True)
        hits: list[list[Hit]] = []
        for start in range(0, len(vectors), _QUERIES):
            rows = vectors[start : start + _QUERIES].tolist()
            requests = [QueryRequest(limit, query=Query.Nearest(row), filter=condition, params=exact) for row in rows]
            with self._explained():
                answers = self._open.query_batch(QueryBatchRequest(requests))
            hits += [[Hit(str(point.id), point.score) for point in found] for found in answers]
        return hits

    def keys(self) -> Mapping[str, str]:
        keys: dict[str, str] = {}
        offset = None
        while True:
            request = ScrollRequest(offset=offset, limit=_KEYS, with_payload=["key"], with_vector=False)
            with self._explained():
                records, offset = self._open.scroll(request)
            for record in records:
                # The marker has no key.
                if payload := record.payload:
                    keys[str(record.id)] = payload["key"]
            if offset is None:
                return keys

    def owner(self) -> tuple[str, int] | None:
        with self._explained():
            found = self._open.retrieve([MARKER], with_payload=True, with_vector=False)
        return owner_of(found[0].payload) if found else None

    def claim(self, database: str, generation: int) -> None:
        marker = EdgePoint(MARKER, {}, owner_payload(database, generation))
        with self._explained():
            self._open.update(UpdateOperation.upsert_points([marker]))

    def flush(self) -> None:
        with self._explained():
            # Merges small segments and clears out what was deleted; a matter of microseconds where there is nothing.
            self._open.optimize()
            self._open.flush()

    def drop(self) -> None:
        self.close()
        with self._explained():
            # Renamed first: killed in the middle of deleting, no half of a collection is left under its name.
            part = _part(self._folder)
            shutil.rmtree(part, ignore_errors=True)
            self._folder.rename(part)
            shutil.rmtree(part)

    def close(self) -> None:
        if self._shard is None:
            return
        try:
            self.flush()
        finally:
            shard, self._shard = self._shard, None
            shard.close()

    @property
    def _open(self) -> EdgeShard:
        if self._shard is None:
            raise StoreUnavailable(f"the vector store {self._folder} is closed")
        return self._shard

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Every fault of the engine is a bare Exception: here each becomes ours, with what to do next."""
        try:
            yield
        except StoreError:
            raise
        except OSError as error:
            raise StoreUnavailable(
                f"the vector store {self._folder} cannot be written ({error.strerror}): make room for it there,"
                " or set store.vectors to another folder"
            ) from error
        except Exception as error:
            raise self._fault(error) from error
        except BaseException as error:
            # A torn file makes the engine panic, which is no Exception.
            if type(error).__name__ != "PanicException":
                raise
            raise self._fault(error) from error

    def _fault(self, error: BaseException) -> StoreError:
        said = str(error)
        if "WouldBlock" in said:
            return StoreUnavailable(f"another process holds the vector store {self._folder}: wait until it is done")
        if "Vector dimension error" in said:
            return StoreMismatch(
                f"the vector store {self._folder} holds vectors of another size ({said}):"
                " delete that folder and run `indexer sync`, which fills it anew"
            )
        return StoreUnavailable(
            f"the vector store {self._folder} failed ({said}): if it does so again, delete that folder and run"
            " `indexer sync`, which fills it anew without embedding anything again"
        )


def _make(folder: Path, dimensions: int) -> None:
    """An empty collection in a new folder: wholly there, also after a crash of the machine, or not at all."""
    part = _part(folder)
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    config = EdgeConfig(
        # Of unit vectors the dot product is the cosine, and nobody normalises them once more.
        vectors=EdgeVectorParams(size=dimensions, distance=Distance.Dot),
        # m=0: no graph. Every search is exact, and building one takes 50 s for 100,000 points.
        hnsw_config=HnswIndexConfig(m=0, ef_construct=4, full_scan_threshold=10**9),
        optimizers=EdgeOptimizersConfig(default_segment_number=_SEGMENTS),
    )
    shard = EdgeShard.create(str(part), config)
    shard.update(UpdateOperation.create_field_index("language", PayloadSchemaType.Keyword))
    shard.flush()
    shard.close()
    part.rename(folder)
    entries = os.open(folder.parent, os.O_RDONLY)
    try:
        os.fsync(entries)
    finally:
        os.close(entries)


def _part(folder: Path) -> Path:
    """Where a collection is on its way into the folder, or out of it."""
    return folder.with_name(f"{folder.name}.part")
