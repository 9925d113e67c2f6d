"""The blocks of a page in which a link may be set, word by word."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from indexer.corpus import LINKED, Statistics, is_repeated, linked_share
from indexer.records import Block, BlockKind, Span, SpanKind
from indexer.words import Word, is_function_word, words

LONGEST = 8
"""Words in an anchor, at most."""
_LEAST_WORDS = 4
_JOINED = re.compile(r"[ \n]?|[-‐‑/.&+@'’:]| [&+/] ")
"""What may stand between two words of one anchor: no punctuation that parts a sentence."""
_HALF = "-‐‑.@"
"""Joints at which an anchor would begin or end within a word."""
_CONTRACTED = ("'t", "’t")


@dataclass(frozen=True)
class Prose:
    """A block in which a link may be set, and its words."""

    index: int
    block: Block
    language: str
    words: tuple[Word, ...]

    @property
    def text(self) -> str:
        return self.block.text

    @cached_property
    def places(self) -> Mapping[str, Sequence[int]]:
        """At which numbers each word stands."""
        found: dict[str, list[int]] = defaultdict(list)
        for number, word in enumerate(self.words):
            found[word.key].append(number)
        return found

    @cached_property
    def content(self) -> list[str]:
        """The words that say what the block is about."""
        return [word.key for word in self.words if not is_function_word(word.key, self.language)]

    def is_function(self, number: int) -> bool:
        """Whether the word only holds the sentence together."""
        return is_function_word(self.words[number].key, self.language)

    def is_free(self, number: int) -> bool:
        """Whether the word may be part of an anchor: it stands in no link, and no markup begins or ends inside it."""
        around = self._around[number] if self.block.spans else ()
        return around is not None and not any(span.kind is SpanKind.LINK for span in around)

    def runs_on(self, number: int) -> bool:
        """Whether an anchor may run on from the word to the next, across no punctuation and no markup."""
        if number + 1 >= len(self.words) or (self.block.spans and self._around[number] != self._around[number + 1]):
            return False
        return _JOINED.fullmatch(self.text, self.words[number].end, self.words[number + 1].start) is not None

    def code(self, number: int) -> tuple[int, int] | None:
        """The first and last word of the piece of code that the word stands in: it is linked whole or not at all."""
        spans = self._around[number] if self.block.spans else None
        code = next((span for span in spans or () if span.kind is SpanKind.CODE), None)
        if code is None:
            return None
        inside = [n for n, word in enumerate(self.words) if code.start <= word.start and word.end <= code.end]
        return inside[0], inside[-1]

    def may_be_anchor(self, first: int, last: int) -> bool:
        """Whether words first to last make an anchor by themselves: whole words that run on, none of them linked, the
        first and the last of which say something."""
        if not all(map(self.is_free, range(first, last + 1))) or not all(map(self.runs_on, range(first, last))):
            return False
        if (code := self.code(first)) is not None:
            return code == (first, last)
        if last - first >= LONGEST or self.is_function(first) or self.is_function(last):
            return False
        before, after = self.text[: self.words[first].start], self.text[self.words[last].end :]
        begins_half = before[-1:] in _HALF and before[-2:-1].isalnum() if before else False
        ends_half = after[:2] in _CONTRACTED or (after[:1] in _HALF and after[1:2].isalnum()) if after else False
        return not begins_half and not ends_half

    @cached_property
    def _around(self) -> list[tuple[Span, ...] | None]:
        """For each word the spans that hold it; None where one begins or ends inside of it."""
        return [_spans_around(word, self.block.spans) for word in self.words]


def prose(blocks: Sequence[Block], language: str, statistics: Statistics) -> list[Prose]:
    """The blocks in which a link may be set: paragraphs, items and cells that are neither links already nor the
    template's, and more than a label."""
    return [
        made
        for index, block in enumerate(blocks)
        if block.kind in (BlockKind.PARAGRAPH, BlockKind.ITEM, BlockKind.CELL)
        and linked_share(block) < LINKED
        and not is_repeated(block, statistics)
        and len((made := Prose(index, block, language, tuple(words(block.text, language)))).words) >= _LEAST_WORDS
    ]


def _spans_around(word: Word, spans: Sequence[Span]) -> tuple[Span, ...] | None:
    around = tuple(span for span in spans if span.start < word.end and span.end > word.start)
    whole = all(span.start <= word.start and span.end >= word.end for span in around)
    return around if whole else None
