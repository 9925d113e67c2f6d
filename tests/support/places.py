"""Places where a vector store can lie: each opens the same collection as often as it is asked to."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from uuid import uuid4

from indexer.vectors import VectorStore, open_store
from tests.support.qdrant import standing_in
from tests.support.stores import ModelStore

Open = Callable[[int], VectorStore]
"""Opens the collection for vectors of so many dimensions."""


@contextmanager
def _edge() -> Iterator[Open]:
    with tempfile.TemporaryDirectory() as folder:
        yield lambda dimensions: open_store(folder, "pages", dimensions)


@contextmanager
def _over_grpc() -> Iterator[Open]:
    with standing_in() as server:
        yield lambda dimensions: open_store(server.address, "pages", dimensions)


@contextmanager
def _over_rest() -> Iterator[Open]:
    with standing_in(with_grpc=False) as server:
        yield lambda dimensions: open_store(server.address, "pages", dimensions)


@contextmanager
def _at_qdrant_url() -> Iterator[Open]:
    address, key = os.environ["QDRANT_URL"], os.environ.get("QDRANT_API_KEY")
    name = f"indexer-test-{uuid4().hex}"
    yield lambda dimensions: open_store(address, name, dimensions, key)
    open_store(address, name, 1, key).drop()


@contextmanager
def _model() -> Iterator[Open]:
    store = ModelStore()
    yield lambda _: store


PLACES: dict[str, Callable[[], AbstractContextManager[Open]]] = {
    "edge": _edge,
    "grpc": _over_grpc,
    "rest": _over_rest,
    "model": _model,
}
if "QDRANT_URL" in os.environ:
    PLACES["server"] = _at_qdrant_url
