"""What only a server can do wrong: being away, busy, or locked."""

from __future__ import annotations

import socket
from uuid import NAMESPACE_URL, uuid5

import numpy as np
import pytest
from qdrant_client import QdrantClient

from indexer.errors import StoreMismatch, StoreUnavailable
from indexer.records import Point
from indexer.vectors import open_store
from indexer.vectors.server import ServerStore
from tests.support.qdrant import StandIn, standing_in

pytestmark = [
    pytest.mark.filterwarnings("ignore:Local mode performs exact:UserWarning"),
]

AT_ONCE = (0.0, 0.0, 0.0)


def a_point(number: int = 1, dimensions: int = 4) -> Point:
    vector = np.full(dimensions, dimensions**-0.5, dtype=np.float32)
    return Point(str(uuid5(NAMESPACE_URL, str(number))), "key", f"/{number}", "en", vector)


def connected(server: StandIn, grpc: bool) -> ServerStore:
    """A store that does not wait before it asks again."""
    client = QdrantClient(
        url=server.address, grpc_port=server.port + 1, prefer_grpc=grpc, timeout=5, check_compatibility=False
    )
    return ServerStore(client, server.address, "pages", 4, pauses=AT_ONCE)


@pytest.mark.parametrize(("with_grpc", "transport"), [(True, "grpc"), (False, "rest")])
def test_grpc_where_its_port_answers_and_rest_elsewhere(with_grpc: bool, transport: str) -> None:
    with standing_in(with_grpc) as server:
        store = open_store(server.address, "pages", 4)
        store.upsert([a_point()])
        store.close()
        assert server.transports() == {transport}


@pytest.mark.parametrize("grpc", [True, False])
def test_a_busy_server_is_asked_again(grpc: bool) -> None:
    with standing_in(grpc) as server:
        store = connected(server, grpc)
        server.failing = len(AT_ONCE)
        store.upsert([a_point()])
        assert len(store.keys()) == 1
        store.close()


@pytest.mark.parametrize("grpc", [True, False])
def test_a_server_that_stays_busy_is_given_up_on(grpc: bool) -> None:
    with standing_in(grpc) as server:
        store = connected(server, grpc)
        asked = len(server.calls)
        server.failing = 1000
        with pytest.raises(StoreUnavailable, match=rf"Qdrant.*{server.address}.*store\.vectors to a folder") as caught:
            store.keys()
        assert caught.value.__cause__ is not None
        assert len(server.calls) - asked == 1 + len(AT_ONCE)
        store.close()


@pytest.mark.parametrize("grpc", [True, False])
def test_a_server_that_went_away(grpc: bool) -> None:
    with standing_in(grpc) as server:
        store = connected(server, grpc)
    with pytest.raises(StoreUnavailable, match=f"no Qdrant answers at {server.address}: start it"):
        store.keys()
    store.close()


def test_no_server_at_all_is_one_clear_line() -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{nobody.getsockname()[1]}"
        with pytest.raises(StoreUnavailable) as caught:
            open_store(address, "pages", 4)
    assert str(caught.value) == (
        f"no Qdrant answers at {address}: start it (docker compose up -d),"
        " or set store.vectors to a folder for the embedded engine"
    )


@pytest.mark.parametrize("grpc", [True, False])
def test_the_key_opens_and_its_lack_is_explained(grpc: bool) -> None:
    with standing_in(grpc, key="sesame") as server:
        open_store(server.address, "pages", 4, api_key="sesame").close()
        for wrong in (None, "guessed"):
            asked = len(server.calls)
            with pytest.raises(StoreUnavailable, match=r"refuses the API key: check store\.api_key"):
                open_store(server.address, "pages", 4, api_key=wrong)
            assert len(server.calls) == asked + 1


def test_large_writes_and_answers_are_split() -> None:
    """A message of 4 MB may be refused: four vectors of 50,000 numbers go into one, and 50,000 hits."""
    with standing_in() as server:
        store = open_store(server.address, "pages", 50_000)
        store.upsert(a_point(n, 50_000) for n in range(9))
        assert server.calls.count(("grpc", "Upsert")) == 3
        store.nearest(np.stack([a_point(1, 50_000).vector] * 3), "en", 30_000)
        assert server.calls.count(("grpc", "QueryBatch")) == 3
        store.close()


def test_the_index_on_the_language_is_made_up_for() -> None:
    """A kill between making the collection and its index leaves the index out."""
    with standing_in() as server:
        open_store(server.address, "pages", 4).close()
        server.calls.clear()
        open_store(server.address, "pages", 4).close()
        assert ("grpc", "CreateFieldIndex") in server.calls
        assert ("grpc", "Create") not in server.calls


def test_vectors_of_another_size_are_refused() -> None:
    with standing_in() as server:
        open_store(server.address, "pages", 4).close()
        store = open_store(server.address, "pages", 5)
        with pytest.raises(StoreMismatch, match="vectors of another size"):
            store.upsert([a_point(dimensions=5)])
        with pytest.raises(StoreMismatch):
            store.nearest(np.ones((1, 5), dtype=np.float32), "en", 5)
        store.drop()
        assert not server.engine.collection_exists("pages")


def test_closed_it_says_so() -> None:
    with standing_in() as server:
        store = open_store(server.address, "pages", 4)
        store.close()
        with pytest.raises(StoreUnavailable, match="closed"):
            store.keys()
