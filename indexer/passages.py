"""Blocks to passages that fit the model, which reads a text up to its limit and drops the rest in silence."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from indexer.records import Block, BlockKind, Passage

_LONGEST_TITLE = 48
"""Word pieces of a title that stand before each passage; what goes beyond stands in the first passage's text."""
_SENTENCE_END = re.compile(r"[.!?…]+[\"'»”)\]]*\s|[。！？]+|\n")


class TokenCounter(Protocol):
    """Counts as the model's own tokenizer does; `limit` is the most the model reads, special tokens included."""

    @property
    def limit(self) -> int: ...

    def count(self, texts: Sequence[str]) -> list[int]:
        """Word pieces of each text, special tokens included."""
        ...

    def boundaries(self, text: str) -> list[int]:
        """Where each word piece ends, in characters."""
        ...


@dataclass(frozen=True, slots=True)
class _Piece:
    """A block or a part of one: its text, its size in word pieces, and the block it is of."""

    text: str
    size: int
    block: int
    is_heading: bool


def cut(title: str, blocks: Sequence[Block], counter: TokenCounter) -> tuple[Passage, ...]:
    """The blocks as passages of at most `counter.limit` word pieces, each with the title before it.

    Nothing is left out: blocks that do not fit are cut between sentences, else between words, else anywhere.
    """
    head, rest = _shortened(title, counter)
    special, head_size = counter.count(["", head])
    room = counter.limit - max(special, head_size)
    sources = [(rest, 0, False)] if rest else []
    sources += [
        (block.text, n, block.kind is BlockKind.HEADING) for n, block in enumerate(blocks) if block.text.strip()
    ]
    sizes = [size - special for size in counter.count([text for text, _, _ in sources])] if sources else []
    pieces = [
        piece
        for (text, n, is_heading), size in zip(sources, sizes, strict=True)
        for piece in _fitting(text, size, n, is_heading, room, counter)
    ]
    return tuple(_passage(head, some) for some in _packed(pieces, room))


def _shortened(title: str, counter: TokenCounter) -> tuple[str, str]:
    ends = counter.boundaries(title)
    if len(ends) <= _LONGEST_TITLE:
        return title, ""
    at = ends[_LONGEST_TITLE - 1]
    return title[:at].rstrip(), title[at:].strip()


def _fitting(text: str, size: int, block: int, is_heading: bool, room: int, counter: TokenCounter) -> Iterator[_Piece]:
    if size <= room:
        yield _Piece(text, size, block, is_heading)
        return
    ends = counter.boundaries(text)
    sentences = [match.end() for match in _SENTENCE_END.finditer(text)]
    start = used = 0
    while used < len(ends):
        last = min(used + room, len(ends))
        at = len(text) if last == len(ends) else _best_cut(text, start, ends[last - 1], sentences)
        used = _first_beyond(ends, at, used)
        if part := text[start:at].strip():
            yield _Piece(part, counter.count([part])[0] - counter.count([""])[0], block, False)
        start = at


def _best_cut(text: str, start: int, furthest: int, sentences: Sequence[int]) -> int:
    """The last sentence end in the second half of what fits, else the last blank, else the last word piece's end."""
    half = start + (furthest - start) // 2
    ends = [end for end in sentences if half < end <= furthest]
    if ends:
        return ends[-1]
    blank = max(text.rfind(c, half, furthest + 1) for c in " \n\t")
    return blank + 1 if blank >= half and blank + 1 > start and blank + 1 <= furthest + 1 else furthest


def _first_beyond(ends: Sequence[int], at: int, used: int) -> int:
    """The number of the first word piece that ends beyond `at`; at least one is used up."""
    number = used
    while number < len(ends) and ends[number] <= at:
        number += 1
    return max(number, used + 1)


def _packed(pieces: Sequence[_Piece], room: int) -> Iterator[list[_Piece]]:
    """Fill passages in order; a heading moves on to the passage of what follows it."""
    some: list[_Piece] = []
    size = 0
    for piece in pieces:
        if some and size + piece.size > room:
            moved = _trailing_headings(some)
            if sum(p.size for p in moved) + piece.size > room:
                moved = []
            yield some[: len(some) - len(moved)]
            some, size = moved, sum(p.size for p in moved)
        some.append(piece)
        size += piece.size
    if some:
        yield some


def _trailing_headings(pieces: list[_Piece]) -> list[_Piece]:
    kept = len(pieces)
    while kept > 1 and pieces[kept - 1].is_heading:
        kept -= 1
    return pieces[kept:]


def _passage(head: str, pieces: Sequence[_Piece]) -> Passage:
    body = "\n".join(piece.text for piece in pieces)
    text = f"{head}\n{body}" if head else body
    digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:32]
    return Passage(text, digest, pieces[0].block, pieces[-1].block)
