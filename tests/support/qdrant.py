"""A Qdrant server to talk to over the wire: qdrant-client's own in-process engine behind the real REST and gRPC ports.

It stops with its `with` block. It can be told to fail, and to ask for a key.
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import grpc
from qdrant_client import QdrantClient, models
from qdrant_client import grpc as wire
from qdrant_client.conversions.conversion import GrpcToRest, RestToGrpc
from qdrant_client.grpc.collections_service_pb2_grpc import (
    CollectionsServicer,
    add_CollectionsServicer_to_server,
)
from qdrant_client.grpc.points_service_pb2_grpc import PointsServicer, add_PointsServicer_to_server

Call = tuple[str, str]


@dataclass
class StandIn:
    """`calls` are the transport and name of everything asked; the next `failing` of them are turned away as busy."""

    engine: QdrantClient = field(default_factory=lambda: QdrantClient(":memory:"))
    port: int = 0
    key: str | None = None
    failing: int = 0
    calls: list[Call] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def transports(self) -> set[str]:
        return {transport for transport, _ in self.calls}

    def fault(self, call: Call, key: str | None) -> str | None:
        """Why this call is turned away."""
        self.calls.append(call)
        if self.key is not None and key != self.key:
            return "key"
        if self.failing:
            self.failing -= 1
            return "busy"
        return None


@contextmanager
def standing_in(with_grpc: bool = True, **settings: Any) -> Iterator[StandIn]:
    """A server on two ports in a row, or, without gRPC, on the first of them."""
    server = StandIn(**settings)
    server.port = _two_free_ports()
    rest = ThreadingHTTPServer(("127.0.0.1", server.port), _rest_handler(server))
    thread = threading.Thread(target=rest.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    remote = _grpc_server(server) if with_grpc else None
    try:
        yield server
    finally:
        if remote is not None:
            remote.stop(None).wait()
        rest.shutdown()
        rest.server_close()
        thread.join()


def _two_free_ports() -> int:
    while True:
        with socket.socket() as first, socket.socket() as second:
            first.bind(("127.0.0.1", 0))
            port: int = first.getsockname()[1]
            try:
                second.bind(("127.0.0.1", port + 1))
            except (OSError, OverflowError):
                continue
            return port


# --- REST -------------------------------------------------------------------------------------------------------------


def _rest_handler(server: StandIn) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"null")
            _, _, name, *rest = self.path.partition("?")[0].split("/")
            operation = f"{self.command} {'/'.join(rest)}".strip()
            with server.lock:
                match server.fault(("rest", operation), self.headers.get("api-key")):
                    case "key":
                        self.reply(401, {"status": {"error": "Must provide an API key"}})
                    case "busy":
                        self.reply(503, {"status": {"error": "busy"}})
                    case _:
                        self.reply(
                            200, {"result": _rest(server.engine, operation, name, body), "status": "ok", "time": 0}
                        )

        do_GET = do_PUT = do_POST = do_DELETE = answer  # noqa: N815

        def reply(self, status: int, said: Any) -> None:
            content = json.dumps(said).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            pass

    return Handler


def _rest(engine: QdrantClient, operation: str, name: str, body: Any) -> Any:  # noqa: C901 - one case an operation
    done = {"operation_id": 0, "status": "completed"}
    match operation:
        case "GET exists":
            return {"exists": engine.collection_exists(name)}
        case "PUT":
            return engine.create_collection(name, models.CreateCollection(**body).vectors)
        case "GET":
            return engine.get_collection(name).model_dump(mode="json")
        case "DELETE":
            return engine.delete_collection(name)
        case "PUT index":
            return done
        case "PUT points":
            engine.upsert(name, models.PointsList(**body).points)
            return done
        case "POST points/delete":
            engine.delete(name, models.PointIdsList(**body))
            return done
        case "POST points":
            asked = models.PointRequest(**body)
            found = engine.retrieve(name, asked.ids, asked.with_payload, asked.with_vector)
            return [record.model_dump(mode="json") for record in found]
        case "POST points/scroll":
            page = models.ScrollRequest(**body)
            records, following = engine.scroll(
                name,
                limit=page.limit,
                offset=page.offset,
                with_payload=page.with_payload,
                with_vectors=page.with_vector,
            )
            return {"points": [r.model_dump(mode="json") for r in records], "next_page_offset": following}
        case "POST points/query/batch":
            queries = models.QueryRequestBatch(**body).searches
            return [a.model_dump(mode="json") for a in engine.query_batch_points(name, queries)]
    raise NotImplementedError(operation)


# --- gRPC -------------------------------------------------------------------------------------------------------------


def _grpc_server(server: StandIn) -> grpc.Server:
    remote = grpc.server(ThreadPoolExecutor(1), interceptors=[_Guard(server)])
    add_CollectionsServicer_to_server(_Collections(server.engine), remote)
    add_PointsServicer_to_server(_Points(server.engine), remote)
    remote.add_insecure_port(f"127.0.0.1:{server.port + 1}")
    remote.start()
    return remote


class _Guard(grpc.ServerInterceptor):
    def __init__(self, server: StandIn) -> None:
        self._server = server

    def intercept_service(self, continuation: Callable[..., Any], details: grpc.HandlerCallDetails) -> Any:
        key = dict(details.invocation_metadata).get("api-key")
        match self._server.fault(("grpc", details.method.rpartition("/")[2]), key):
            case "key":
                return _refusal(grpc.StatusCode.UNAUTHENTICATED, "Must provide an API key")
            case "busy":
                return _refusal(grpc.StatusCode.UNAVAILABLE, "busy")
        return continuation(details)


def _refusal(code: grpc.StatusCode, said: str) -> grpc.RpcMethodHandler:
    return grpc.unary_unary_rpc_method_handler(lambda _, context: context.abort(code, said))


class _Collections(CollectionsServicer):
    def __init__(self, engine: QdrantClient) -> None:
        self._engine = engine

    def CollectionExists(self, request: Any, _: Any) -> Any:  # noqa: N802
        exists = self._engine.collection_exists(request.collection_name)
        return wire.CollectionExistsResponse(result=wire.CollectionExists(exists=exists))

    def Create(self, request: Any, _: Any) -> Any:  # noqa: N802
        vectors = GrpcToRest.convert_vectors_config(request.vectors_config)
        return wire.CollectionOperationResponse(result=self._engine.create_collection(request.collection_name, vectors))

    def Get(self, request: Any, _: Any) -> Any:  # noqa: N802
        info = self._engine.get_collection(request.collection_name)
        return wire.GetCollectionInfoResponse(result=RestToGrpc.convert_collection_info(info))

    def Delete(self, request: Any, _: Any) -> Any:  # noqa: N802
        return wire.CollectionOperationResponse(result=self._engine.delete_collection(request.collection_name))


class _Points(PointsServicer):
    def __init__(self, engine: QdrantClient) -> None:
        self._engine = engine

    def CreateFieldIndex(self, *_: Any) -> Any:  # noqa: N802
        return _done()

    def Upsert(self, request: Any, _: Any) -> Any:  # noqa: N802
        self._engine.upsert(request.collection_name, [GrpcToRest.convert_point_struct(p) for p in request.points])
        return _done()

    def Delete(self, request: Any, _: Any) -> Any:  # noqa: N802
        self._engine.delete(request.collection_name, GrpcToRest.convert_points_selector(request.points))
        return _done()

    def Get(self, request: Any, _: Any) -> Any:  # noqa: N802
        found = self._engine.retrieve(
            request.collection_name,
            [GrpcToRest.convert_point_id(one) for one in request.ids],
            GrpcToRest.convert_with_payload_selector(request.with_payload),
            GrpcToRest.convert_with_vectors_selector(request.with_vectors),
        )
        return wire.GetResponse(result=[RestToGrpc.convert_retrieved_point(record) for record in found])

    def Scroll(self, request: Any, _: Any) -> Any:  # noqa: N802
        records, following = self._engine.scroll(
            request.collection_name,
            limit=request.limit,
            offset=GrpcToRest.convert_point_id(request.offset) if request.HasField("offset") else None,
            with_payload=GrpcToRest.convert_with_payload_selector(request.with_payload),
            with_vectors=GrpcToRest.convert_with_vectors_selector(request.with_vectors),
        )
        return wire.ScrollResponse(
            result=[RestToGrpc.convert_retrieved_point(record) for record in records],
            next_page_offset=None if following is None else RestToGrpc.convert_extended_point_id(following),
        )

    def QueryBatch(self, request: Any, _: Any) -> Any:  # noqa: N802
        queries = [GrpcToRest.convert_query_points(query) for query in request.query_points]
        answers = self._engine.query_batch_points(request.collection_name, queries)
        return wire.QueryBatchResponse(
            result=[
                wire.BatchResult(result=[RestToGrpc.convert_scored_point(hit) for hit in answer.points])
                for answer in answers
            ]
        )


def _done() -> Any:
    return wire.PointsOperationResponse(result=wire.UpdateResult(operation_id=0, status=wire.UpdateStatus.Completed))
