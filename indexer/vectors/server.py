"""A Qdrant server or cluster, through qdrant-client."""

from __future__ import annotations

import socket
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import TypeVar
from urllib.parse import urlsplit
from uuid import NAMESPACE_URL, uuid5

import numpy as np
from qdrant_client import QdrantClient, models  # noqa: TID251
from qdrant_client.common.client_exceptions import QdrantException  # noqa: TID251
from qdrant_client.http.exceptions import ApiException  # noqa: TID251

from indexer.errors import StoreMismatch, StoreUnavailable
from indexer.records import Hit, Point
from indexer.vectors import Vectors

T = TypeVar("T")

_CHUNK = 500
"""Points to a request: 0.8 MB of vectors, well below the 4 MB that gRPC takes by default."""
_QUERIES = 64
_MARKER = str(uuid5(NAMESPACE_URL, "indexer/owner"))
"""The point that says whose collection this is. It has no language, so that no search finds it."""


def open_server_store(address: str, collection: str, dimensions: int, api_key: str | None, timeout: int) -> ServerStore:
    """The collection on the server at `address`, made where there is none.

    gRPC is used where its port answers, REST elsewhere. Raises StoreUnavailable where no Qdrant answers.
    """
    parts = urlsplit(address)
    port = parts.port or (443 if parts.scheme == "https" else 6333)
    client = QdrantClient(
        url=f"{parts.scheme}://{parts.hostname}",
        port=port,
        prefix=parts.path.strip("/") or None,
        grpc_port=port + 1,
        prefer_grpc=_answers(parts.hostname or "", port + 1),
        api_key=api_key,
        timeout=timeout,
        check_compatibility=False,
    )
    return ServerStore(client, address, collection, dimensions)


def _answers(host: str, port: int) -> bool:
    try:
        with socket.create_connection((host, port), timeout=1):
            return True
    except OSError:
        return False


class ServerStore:
    """A collection of a Qdrant server."""

    def __init__(self, client: QdrantClient, address: str, collection: str, dimensions: int) -> None:
        self._client, self._address, self._name = client, address, collection
        with self._explained():
            if not client.collection_exists(collection):
                vectors = models.VectorParams(size=dimensions, distance=models.Distance.DOT)
                client.create_collection(collection, vectors_config=vectors)
                client.create_payload_index(collection, "language", models.PayloadSchemaType.KEYWORD, wait=True)
            size = client.get_collection(collection).config.params.vectors
        if not isinstance(size, models.VectorParams) or size.size != dimensions:
            raise StoreMismatch(
                f"the collection {collection} at {address} holds vectors of another size than {dimensions}:"
                " delete it there, or name another model"
            )

    def upsert(self, points: Iterable[Point]) -> None:
        with self._explained():
            for chunk in _chunks(points):
                self._client.upsert(self._name, [_struct(point) for point in chunk], wait=True)

    def delete(self, ids: Iterable[str]) -> None:
        with self._explained():
            for chunk in _chunks(ids):
                self._client.delete(self._name, models.PointIdsList(points=list(chunk)), wait=True)

    def get(self, ids: Iterable[str]) -> Mapping[str, Point]:
        found: dict[str, Point] = {}
        with self._explained():
            for chunk in _chunks(ids):
                records = self._client.retrieve(self._name, list(chunk), with_payload=True, with_vectors=True)
                for record in records:
                    payload = record.payload or {}
                    vector = np.asarray(record.vector, dtype=np.float32)
                    point = Point(str(record.id), payload["key"], payload["url"], payload["language"], vector)
                    found[point.id] = point
        return found

    def nearest(self, vectors: Vectors, language: str, limit: int) -> Sequence[Sequence[Hit]]:
        match = models.FieldCondition(key="language", match=models.MatchValue(value=language))
        hits: list[list[Hit]] = []
        with self._explained():
            for start in range(0, len(vectors), _QUERIES):
                requests = [
                    models.QueryRequest(
                        query=vector,
                        filter=models.Filter(must=[match]),
                        params=models.SearchParams(exact=True),
                        limit=limit,
                    )
                    for vector in vectors[start : start + _QUERIES].tolist()
                ]
                for response in self._client.query_batch_points(self._name, requests):
                    hits.append([Hit(str(point.id), point.score) for point in response.points])
        return hits

    def keys(self) -> Mapping[str, str]:
        keys: dict[str, str] = {}
        offset = None
        with self._explained():
            while True:
                records, offset = self._client.scroll(
                    self._name, limit=10 * _CHUNK, offset=offset, with_payload=["key"], with_vectors=False
                )
                keys |= {str(record.id): (record.payload or {})["key"] for record in records if record.id != _MARKER}
                if offset is None:
                    return keys

    def owner(self) -> tuple[str, int] | None:
        with self._explained():
            found = self._client.retrieve(self._name, [_MARKER], with_payload=True)
        if not found:
            return None
        payload = found[0].payload or {}
        return payload["database"], payload["generation"]

    def claim(self, database: str, generation: int) -> None:
        with self._explained():
            size = self._client.get_collection(self._name).config.params.vectors
            nowhere = [0.0] * (size.size if isinstance(size, models.VectorParams) else 0)
            marker = {"key": "", "database": database, "generation": generation}
            self._client.upsert(self._name, [models.PointStruct(id=_MARKER, vector=nowhere, payload=marker)], wait=True)

    def flush(self) -> None:
        """Every write waits for the server's word that it is in its log: nothing is left to do."""

    def drop(self) -> None:
        with self._explained():
            self._client.delete_collection(self._name)
        self.close()

    def close(self) -> None:
        self._client.close()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (QdrantException, ApiException, ValueError, OSError) as error:
            raise self._fault(error) from error
        except Exception as error:
            # gRPC's errors share no base with the client's own.
            if type(error).__module__.startswith("grpc"):
                raise self._fault(error) from error
            raise

    def _fault(self, error: Exception) -> StoreUnavailable:
        said = str(error).strip().splitlines() or [type(error).__name__]
        return StoreUnavailable(
            f"Qdrant at {self._address} does not do its work ({said[0][:200]}):"
            " start it (docker compose up -d), check store.vectors and store.api_key, or set store.vectors to a folder"
        )


def _struct(point: Point) -> models.PointStruct:
    vector = np.asarray(point.vector, dtype=np.float32).tolist()
    payload = {"key": point.key, "url": point.url, "language": point.language}
    return models.PointStruct(id=point.id, vector=vector, payload=payload)


def _chunks(items: Iterable[T]) -> Iterator[list[T]]:
    rest = iter(items)
    while chunk := list(islice(rest, _CHUNK)):
        yield chunk
