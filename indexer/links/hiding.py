"""A site's own links, some of them taken away: what suggestions are judged by."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from indexer.corpus import PageText
from indexer.records import SpanKind


class MadeLink(NamedTuple):
    """A link that an author set in running text: the pages' numbers, and its block and words."""

    source: int
    target: int
    block: int
    anchor: str


@dataclass(frozen=True)
class Hidden:
    """The links between some pairs of pages, all of which were taken away."""

    links: Sequence[MadeLink]

    @cached_property
    def pairs(self) -> frozenset[tuple[int, int]]:
        return frozenset((link.source, link.target) for link in self.links)


def chosen(pairs: Iterable[tuple[str, str]], share: float, seed: int) -> set[tuple[str, str]]:
    """A share (0 to 1) of pairs of URLs, the same for the same seed, whatever other pairs there are."""
    return {pair for pair in pairs if _draw(f"{seed}\0{pair[0]}\0{pair[1]}") < share}


def _draw(text: str) -> float:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big") / 2**64


def without(text: PageText, addresses: Collection[str]) -> PageText:
    """The text with its links to these addresses taken away, the words left standing."""
    blocks = tuple(
        replace(b, spans=tuple(s for s in b.spans if s.kind is not SpanKind.LINK or s.href not in addresses))
        for b in text.blocks
    )
    return replace(text, blocks=blocks, links=tuple(link for link in text.links if link.target not in addresses))
