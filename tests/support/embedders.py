"""An embedder that takes no time, behind the real one's interface."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from functools import cache

import numpy as np

from indexer.vectors import Vectors

DIMENSIONS = 64


class HashingEmbedder:
    """A bag of words, hashed: texts with common words are near each other, and batches make no difference.

    Whole numbers are added up, so that the order of words makes none either: equal bags give equal vectors to the bit.
    """

    def __init__(self) -> None:
        self.embedded: list[str] = []

    def warm(self) -> None:
        pass

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.embedded += texts
        bags = np.stack([sum((_word(w) for w in re.findall(r"\w+", t.lower())), _word("")) for t in texts])
        return np.asarray(bags / np.linalg.norm(bags, axis=1, keepdims=True), dtype=np.float32)


@cache
def _word(word: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    digest = hashlib.sha256(word.encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:8], "little")).integers(-8, 9, DIMENSIONS).astype(np.float64)


class WordCounter:
    """Counts words as a tokenizer counts word pieces, two special tokens included."""

    def __init__(self, limit: int = 256) -> None:
        self.limit = limit

    def count(self, texts: Sequence[str]) -> list[int]:
        return [len(re.findall(r"\w+|[^\w\s]", text)) + 2 for text in texts]

    def boundaries(self, text: str) -> list[int]:
        return [match.end() for match in re.finditer(r"\w+|[^\w\s]", text)]
