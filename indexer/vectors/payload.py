"""What both engines keep beside a vector, and how much of it goes into one request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, TypeVar
from uuid import NAMESPACE_URL, uuid5

import numpy as np

from indexer.records import Point

T = TypeVar("T")

MARKER = str(uuid5(NAMESPACE_URL, "indexer/owner"))
"""The id of the point that says whose collection this is. It lies in the collection itself, so that it is as durable
as the points written before it, and no more; without a vector and a language no search finds it."""


def payload_of(point: Point) -> dict[str, str]:
    """What is kept beside the point's vector."""
    return {"key": point.key, "url": point.url, "language": point.language}


def point_of(identifier: object, payload: Mapping[str, Any] | None, vector: object) -> Point:
    """The point as it was given to the engine."""
    kept = payload or {}
    return Point(str(identifier), kept["key"], kept["url"], kept["language"], np.asarray(vector, dtype=np.float32))


def owner_payload(database: str, generation: int) -> dict[str, str | int]:
    """What the marker says."""
    return {"database": database, "generation": generation}


def owner_of(payload: Mapping[str, Any] | None) -> tuple[str, int]:
    """Which state database the marker names, and its generation."""
    kept = payload or {}
    return str(kept["database"]), int(kept["generation"])


def chunks(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """The items in lists of at most `size`, in order."""
    rest = iter(items)
    while chunk := list(islice(rest, size)):
        yield chunk
