"""The vector store: one protocol, two engines.

The store is derived: everything in it can be made again from the state database. What is promised of it is written
down in `VectorStore` and checked for every engine by one suite of tests.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from indexer.records import Hit, Point

Vectors = npt.NDArray[np.float32]
"""One row a vector, unit length."""


class VectorStore(Protocol):
    """One collection: the pages' vectors under one model. Open it for the length of a run, close it at the end.

    Every method raises StoreUnavailable when the engine is away or fails, and StoreMismatch when it is handed a vector
    of another size than the collection's; nothing else.
    """

    def upsert(self, points: Iterable[Point]) -> None:
        """Put the points in; a point of the same id is replaced whole."""

    def delete(self, ids: Iterable[str]) -> None:
        """Take the points out; ids that are not there are no fault."""

    def get(self, ids: Iterable[str]) -> Mapping[str, Point]:
        """The points that are there, by id."""

    def nearest(self, vectors: Vectors, language: str, limit: int) -> Sequence[Sequence[Hit]]:
        """For each vector the `limit` points of that language with the highest cosine, exact, highest first.

        Scores are single precision: equal ones may come in any order, and any of them may fall beyond `limit`.
        """

    def keys(self) -> Mapping[str, str]:
        """The id and key of every point."""

    def owner(self) -> tuple[str, int] | None:
        """The state database's id and the generation it last wrote here; None in a new collection."""

    def claim(self, database: str, generation: int) -> None:
        """Write down which state database owns this collection, and its generation: as durable as an upsert here."""

    def flush(self) -> None:
        """Return once everything so far survives a crash of the machine."""

    def drop(self) -> None:
        """Delete the whole collection from the engine, and close."""

    def close(self) -> None:
        """Flush and let go of the engine; closing twice is no fault."""


def open_store(
    location: str | Path, collection: str, dimensions: int, api_key: str | None = None, timeout: int = 10
) -> VectorStore:
    """The collection in a folder (the embedded engine), or on the Qdrant server at an http(s) address.

    Made where there is none. Raises StoreUnavailable where the engine cannot be reached.
    """
    if str(location).startswith(("http://", "https://")):
        from indexer.vectors.server import open_server_store

        return open_server_store(str(location), collection, dimensions, api_key, timeout)
    from indexer.vectors.edge import EdgeStore

    return EdgeStore(Path(location) / collection, dimensions)
