"""A vector store in memory that behaves like the real ones, down to losing what was not flushed."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from indexer.records import Hit, Point
from indexer.vectors import Vectors


class ModelStore:
    """Exact, forgetful on demand, and, as the real engines, in no particular order among equal scores."""

    def __init__(self) -> None:
        self._points: dict[str, Point] = {}
        self._owner: tuple[str, int] | None = None
        self._kept: tuple[dict[str, Point], tuple[str, int] | None] = ({}, None)
        self._dice = random.Random(1)
        self.asked = 0

    def crash(self) -> None:
        """Lose everything that was not flushed."""
        points, self._owner = self._kept
        self._points = dict(points)

    def upsert(self, points: Iterable[Point]) -> None:
        self._points |= {point.id: point for point in points}

    def delete(self, ids: Iterable[str]) -> None:
        for point in ids:
            self._points.pop(point, None)

    def get(self, ids: Iterable[str]) -> Mapping[str, Point]:
        return {point: self._points[point] for point in ids if point in self._points}

    def nearest(self, vectors: Vectors, language: str, limit: int) -> Sequence[Sequence[Hit]]:
        self.asked += len(vectors)
        points = [point for point in self._points.values() if point.language == language]
        if not points:
            return [[] for _ in vectors]
        self._dice.shuffle(points)
        scores = np.asarray(vectors, dtype=np.float32) @ np.stack([p.vector for p in points]).astype(np.float32).T
        best = np.argsort(-scores, axis=1, kind="stable")[:, :limit]
        return [
            [Hit(points[n].id, float(row[n])) for n in order] for row, order in zip(scores, best.tolist(), strict=True)
        ]

    def keys(self) -> Mapping[str, str]:
        return {point.id: point.key for point in self._points.values()}

    def owner(self) -> tuple[str, int] | None:
        return self._owner

    def claim(self, database: str, generation: int) -> None:
        self._owner = (database, generation)

    def flush(self) -> None:
        self._kept = (dict(self._points), self._owner)

    def drop(self) -> None:
        self._points, self._owner, self._kept = {}, None, ({}, None)

    def close(self) -> None:
        self.flush()
