"""A Qdrant server or cluster, through qdrant-client."""

from __future__ import annotations

import socket
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import ParamSpec, TypeVar
from urllib.parse import urlsplit

import grpc  # type: ignore[import-untyped]
from qdrant_client import QdrantClient, models  # noqa: TID251
from qdrant_client.common.client_exceptions import QdrantException, ResourceExhaustedResponse  # noqa: TID251
from qdrant_client.http.exceptions import (  # noqa: TID251
    ApiException,
    ResponseHandlingException,
    UnexpectedResponse,
)

from indexer.errors import StoreMismatch, StoreUnavailable
from indexer.records import Hit, Point
from indexer.vectors import Vectors
from indexer.vectors.payload import MARKER, chunks, owner_of, owner_payload, payload_of, point_of

P = ParamSpec("P")
T = TypeVar("T")

_PORT = 6333
_NUMBERS = 200_000
"""Vector components to a request, 0.8 MB: a server may refuse messages of 4 MB and more."""
_KEYS = 5000
_QUERIES = 64
_HITS = 50_000
"""Hits to an answer, about 2 MB."""
_PAUSES = (0.5, 2.0, 5.0)
"""Seconds before each further try: a server that is started anew is back by then."""
_AWAY = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)
_REFUSED = (grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED)


def open_server_store(address: str, collection: str, dimensions: int, api_key: str | None, timeout: int) -> ServerStore:
    """The collection on the server at `address`, made where there is none.

    gRPC is used where its port (the next one) answers, REST elsewhere. Raises StoreUnavailable where no Qdrant answers.
    """
    parts = urlsplit(address)
    host, port = parts.hostname or "", parts.port or _PORT
    if not _answers(host, port, timeout):
        raise StoreUnavailable(_away(address))
    with warnings.catch_warnings():
        # Said of every key that goes over http, also to this very machine.
        warnings.filterwarnings("ignore", "Api key is used with an insecure connection", UserWarning)
        client = QdrantClient(
            url=address,
            grpc_port=port + 1,
            prefer_grpc=_answers(host, port + 1, timeout=1),
            api_key=api_key,
            timeout=timeout,
            check_compatibility=False,
        )
    return ServerStore(client, address, collection, dimensions)


def _answers(host: str, port: int, timeout: float) -> bool:
    try:
        with socket.create_connection((host, port), timeout):
            return True
    except OSError:
        return False


class ServerStore:
    """A collection of a Qdrant server. Every write waits until the server has it in its log."""

    def __init__(
        self,
        client: QdrantClient,
        address: str,
        collection: str,
        dimensions: int,
        pauses: Sequence[float] = _PAUSES,
    ) -> None:
        self._client: QdrantClient | None = client
        self._address, self._name, self._pauses = address, collection, pauses
        self._chunk = max(1, _NUMBERS // dimensions)
        if not self._ask(client.collection_exists, collection):
            # Of unit vectors the dot product is the cosine, and nobody normalises them once more, changing their bits.
            vectors = models.VectorParams(size=dimensions, distance=models.Distance.DOT)
            self._ask(client.create_collection, collection, vectors)
        info = self._ask(client.get_collection, collection)
        kept = info.config.params.vectors
        self._size = kept.size if isinstance(kept, models.VectorParams) else None
        if "language" not in info.payload_schema:
            keyword = models.PayloadSchemaType.KEYWORD
            self._ask(client.create_payload_index, collection, "language", keyword, wait=True)

    def upsert(self, points: Iterable[Point]) -> None:
        for chunk in chunks(points, self._chunk):
            self._check({point.vector.size for point in chunk})
            made = [models.PointStruct(id=p.id, vector=p.vector.tolist(), payload=payload_of(p)) for p in chunk]
            self._ask(self._open.upsert, self._name, made, wait=True)

    def delete(self, ids: Iterable[str]) -> None:
        for chunk in chunks(ids, _KEYS):
            self._ask(self._open.delete, self._name, models.PointIdsList(points=list(chunk)), wait=True)

    def get(self, ids: Iterable[str]) -> Mapping[str, Point]:
        found: dict[str, Point] = {}
        for chunk in chunks(ids, self._chunk):
            records = self._ask(self._open.retrieve, self._name, chunk, with_payload=True, with_vectors=True)
            found |= {str(record.id): point_of(record.id, record.payload, record.vector) for record in records}
        return found

    def nearest(self, vectors: Vectors, language: str, limit: int) -> Sequence[Sequence[Hit]]:
        self._check({vectors.shape[1]} if len(vectors) else set())
        match = models.FieldCondition(key="language", match=models.MatchValue(value=language))
        condition, exact = models.Filter(must=[match]), models.SearchParams(exact=True)
        hits: list[list[Hit]] = []
        for rows in chunks(vectors, max(1, min(_QUERIES, _HITS // limit))):
            requests = [
                models.QueryRequest(query=row.tolist(), filter=condition, params=exact, limit=limit) for row in rows
            ]
            answers = self._ask(self._open.query_batch_points, self._name, requests)
            hits += [[Hit(str(point.id), point.score) for point in answer.points] for answer in answers]
        return hits

    def keys(self) -> Mapping[str, str]:
        keys: dict[str, str] = {}
        offset: models.ExtendedPointId | None = None
        while True:
            records, offset = self._ask(
                self._open.scroll, self._name, limit=_KEYS, offset=offset, with_payload=["key"], with_vectors=False
            )
            # The marker has no key.
            keys |= {str(record.id): record.payload["key"] for record in records if record.payload}
            if offset is None:
                return keys

    def owner(self) -> tuple[str, int] | None:
        found = self._ask(self._open.retrieve, self._name, [MARKER], with_payload=True)
        return owner_of(found[0].payload) if found else None

    def claim(self, database: str, generation: int) -> None:
        marker = models.PointStruct(id=MARKER, vector={}, payload=owner_payload(database, generation))
        self._ask(self._open.upsert, self._name, [marker], wait=True)

    def flush(self) -> None:
        """Nothing is left to do: every write has waited until the server had it in its log.

        A server's machine that loses its power may lose the last seconds of its log, the claim among them: its
        generation then tells.
        """

    def drop(self) -> None:
        self._ask(self._open.delete_collection, self._name)
        self.close()

    def close(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None

    def _check(self, sizes: set[int]) -> None:
        if sizes - {self._size}:
            raise StoreMismatch(
                f"the collection {self._name} at {self._address} holds vectors of another size: delete it there"
                " and run `indexer sync`, which fills it anew"
            )

    @property
    def _open(self) -> QdrantClient:
        if self._client is None:
            raise StoreUnavailable(f"the connection to Qdrant at {self._address} is closed")
        return self._client

    def _ask(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What the server answers; asked again while its fault may pass. Every call may be repeated."""
        for pause in (*self._pauses, None):
            try:
                return call(*args, **kwargs)
            except (QdrantException, ApiException, grpc.RpcError, ValueError) as error:
                if pause is None or not _may_pass(error):
                    raise self._fault(error) from error
                time.sleep(error.retry_after_s if isinstance(error, ResourceExhaustedResponse) else pause)
        raise AssertionError("the last try returns or raises")

    def _fault(self, error: Exception) -> StoreUnavailable:
        if _is_away(error):
            return StoreUnavailable(_away(self._address))
        if _is_refusal(error):
            return StoreUnavailable(f"Qdrant at {self._address} refuses the API key: check store.api_key")
        said = (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
        return StoreUnavailable(
            f"Qdrant at {self._address} failed ({said}): see its log, check store.vectors,"
            " or set store.vectors to a folder"
        )


def _is_away(error: Exception) -> bool:
    """Whether there was no answer at all; one that cannot be understood is a ValueError inside."""
    if isinstance(error, ResponseHandlingException):
        return not isinstance(error.source, ValueError)
    return isinstance(error, grpc.Call) and error.code() in _AWAY


def _is_refusal(error: Exception) -> bool:
    if isinstance(error, UnexpectedResponse):
        return error.status_code in (401, 403)
    return isinstance(error, grpc.Call) and error.code() in _REFUSED


def _may_pass(error: Exception) -> bool:
    if isinstance(error, UnexpectedResponse):
        return error.status_code is not None and (error.status_code == 429 or error.status_code >= 500)
    return isinstance(error, ResourceExhaustedResponse) or _is_away(error)


def _away(address: str) -> str:
    return (
        f"no Qdrant answers at {address}: start it (docker compose up -d),"
        " or set store.vectors to a folder for the embedded engine"
    )
