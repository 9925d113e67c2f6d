"""Sites and vectors made up by the thousand, for benchmarks that are about everything but the model."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence

import numpy as np

from indexer.vectors import Vectors
from tests.support.web import Page

_BEGINNINGS = ("bee", "hon", "wax", "lin", "sal", "tor", "mel")
_WORDS = [beginning + end for beginning in _BEGINNINGS for end in ("ra", "lo", "ti", "ken", "ster")]


class MadeUpEmbedder:
    """384-dimensional unit vectors around 200 centres, a function of the text alone; costs next to nothing."""

    def __init__(self) -> None:
        self._centres = np.random.default_rng(0).normal(size=(200, 384)).astype(np.float32)

    def warm(self) -> None:
        pass

    def embed(self, texts: Sequence[str]) -> Vectors:
        seeds = [int.from_bytes(hashlib.blake2b(t.encode(), digest_size=8).digest(), "little") for t in texts]
        noise = np.stack([np.random.default_rng(s).normal(scale=0.7, size=384).astype(np.float32) for s in seeds])
        vectors = self._centres[[s % 200 for s in seeds]] + noise
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


def text(number: int, words: int = 60) -> str:
    """A text of its own for every number."""
    return f"Page {number}. " + " ".join(random.Random(number).choices(_WORDS, k=words)) + "."


PAGES_OF_A_TOPIC = 50


def prose(number: int, paragraphs: int = 6) -> tuple[str, tuple[str, ...]]:
    """A title and paragraphs whose words are as unequal as a language's: of 20,000 words few are common (Zipf), and
    some are shared with the pages of the same topic. A paragraph begins with one of the page's own."""
    dice, topic = np.random.default_rng(number), np.random.default_rng(10**9 + number // PAGES_OF_A_TOPIC)
    ranks = np.minimum(dice.zipf(1.15, size=(paragraphs, 50)), 20_000)
    of_topic = topic.integers(300, 20_000, size=40)
    ranks[:, 40:] = dice.choice(of_topic, size=(paragraphs, 10))
    ranks[:, 0] = dice.integers(5000, 20_000, size=paragraphs)
    title = [*dice.choice(of_topic, size=2), *dice.integers(2000, 20_000, size=2)]
    return " ".join(map(_zipf_word, title)).capitalize(), tuple(" ".join(map(_zipf_word, row)) + "." for row in ranks)


def _zipf_word(rank: int) -> str:
    rank = int(rank)
    letters = "abcdefghiklmnoprstuv"
    return "".join(letters[(rank * 7919 // 20**place) % 20] for place in range(2 + min(rank // 50, 5)))


def page(number: int, edition: int = 0) -> Page:
    """A small HTML page with a navigation, as a server would send it."""
    links = "".join(f'<li><a href="/p{n}">Page {n}</a></li>' for n in range(20))
    return Page(
        f'<!doctype html><html lang="en"><head><title>Page {number}</title></head><body><nav><ul>{links}</ul></nav>'
        f"<main><h1>Page {number}</h1><p>{text(number)}</p><p>{text(number + 10**6 * (edition + 1))}</p></main>"
        "<footer><p>All rights reserved.</p></footer></body></html>".encode()
    )
