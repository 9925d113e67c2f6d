"""The embedded engine: Qdrant Edge, in this process, in a folder a collection."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TypeVar

import numpy as np
from qdrant_edge import (  # noqa: TID251
    Distance,
    EdgeConfig,
    EdgeShard,
    EdgeVectorParams,
    FieldCondition,
    Filter,
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

from indexer.errors import StoreUnavailable
from indexer.records import Hit, Point
from indexer.vectors import Vectors

T = TypeVar("T")

_CHUNK = 1000
_QUERIES = 64


class EdgeStore:
    """A collection in a folder. One process may hold it."""

    def __init__(self, folder: Path, dimensions: int) -> None:
        self._folder = folder
        self._owner = folder / "owner.json"
        shard = folder / "shard"
        with self._explained():
            if shard.exists():
                self._shard: EdgeShard | None = EdgeShard.load(str(shard))
            else:
                shard.mkdir(parents=True)
                # Dot product of unit vectors: cosine distance would normalise them once more, and change their bits.
                vectors = EdgeVectorParams(size=dimensions, distance=Distance.Dot)
                self._shard = EdgeShard.create(str(shard), EdgeConfig(vectors=vectors))
                self._shard.update(UpdateOperation.create_field_index("language", PayloadSchemaType.Keyword))

    def upsert(self, points: Iterable[Point]) -> None:
        with self._explained():
            for chunk in _chunks(points):
                self._open.update(UpdateOperation.upsert_points([_edge_point(point) for point in chunk]))

    def delete(self, ids: Iterable[str]) -> None:
        with self._explained():
            for chunk in _chunks(ids):
                self._open.update(UpdateOperation.delete_points(list(chunk)))

    def get(self, ids: Iterable[str]) -> Mapping[str, Point]:
        with self._explained():
            records = self._open.retrieve(list(ids), with_payload=True, with_vector=True)
        found = {}
        for record in records:
            payload = record.payload or {}
            vector = np.asarray(record.vector, dtype=np.float32)
            found[str(record.id)] = Point(str(record.id), payload["key"], payload["url"], payload["language"], vector)
        return found

    def nearest(self, vectors: Vectors, language: str, limit: int) -> Sequence[Sequence[Hit]]:
        condition = Filter(must=[FieldCondition(key="language", match=MatchValue(value=language))])
        hits: list[list[Hit]] = []
        with self._explained():
            for start in range(0, len(vectors), _QUERIES):
                requests = [
                    QueryRequest(limit, query=Query.Nearest(vector), filter=condition, params=SearchParams(exact=True))
                    for vector in vectors[start : start + _QUERIES].tolist()
                ]
                for found in self._open.query_batch(QueryBatchRequest(requests)):
                    hits.append([Hit(str(point.id), point.score) for point in found])
        return hits

    def keys(self) -> Mapping[str, str]:
        keys: dict[str, str] = {}
        offset = None
        with self._explained():
            while True:
                request = ScrollRequest(offset=offset, limit=10 * _CHUNK, with_payload=["key"], with_vector=False)
                records, offset = self._open.scroll(request)
                keys |= {str(record.id): (record.payload or {})["key"] for record in records}
                if offset is None:
                    return keys

    def owner(self) -> tuple[str, int] | None:
        try:
            marker = json.loads(self._owner.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        return marker["database"], marker["generation"]

    def claim(self, database: str, generation: int) -> None:
        beside = self._owner.with_suffix(".part")
        with beside.open("w", encoding="utf-8") as out:
            json.dump({"database": database, "generation": generation}, out)
            out.flush()
            os.fsync(out.fileno())
        beside.replace(self._owner)

    def flush(self) -> None:
        with self._explained():
            self._open.flush()

    def drop(self) -> None:
        self.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def close(self) -> None:
        if self._shard is not None:
            with self._explained():
                self._shard.flush()
                self._shard.close()
            self._shard = None

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
        except StoreUnavailable:
            raise
        except Exception as error:
            if "WouldBlock" in str(error):
                raise StoreUnavailable(
                    f"another process holds the vector store {self._folder}: wait until it is done"
                ) from error
            raise StoreUnavailable(
                f"the vector store {self._folder} failed ({error}): delete that folder and run `indexer sync`,"
                " which fills it anew without embedding anything again"
            ) from error


def _edge_point(point: Point) -> EdgePoint:
    vector = np.asarray(point.vector, dtype=np.float32).tolist()
    return EdgePoint(point.id, vector, {"key": point.key, "url": point.url, "language": point.language})


def _chunks(items: Iterable[T]) -> Iterator[list[T]]:
    rest = iter(items)
    while chunk := list(islice(rest, _CHUNK)):
        yield chunk
