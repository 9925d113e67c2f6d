"""A block's text as it grows: blanks collapsed, spans in exact characters."""

from __future__ import annotations

import re
from dataclasses import dataclass

from indexer.records import Span, SpanKind

_UNSEEN = dict.fromkeys(map(ord, "\u00ad\u200b\u2060\ufeff"))
"""Soft hyphens, zero-width spaces and joiners: places to break a line, no part of a word."""
_NO_LETTERS = re.compile(r"\W+")


def letters(text: str) -> str:
    """The letters and digits alone, in lower case: what is the same in two spellings of one text."""
    return _NO_LETTERS.sub("", text).lower()


@dataclass(slots=True, eq=False)
class Mark:
    """A stretch of text that has begun; `start` is None until the first character in it."""

    kind: SpanKind
    href: str | None = None
    start: int | None = None


class BlockText:
    """Takes text nodes and the beginnings and ends of inline elements; `finish` gives the block and starts anew.

    Blanks count when words follow them: a span neither begins nor ends with one.
    """

    def __init__(self) -> None:
        self._open: list[Mark] = []
        self._reset()

    def _reset(self) -> None:
        self._pieces: list[str] = []
        self._spans: list[Span] = []
        self._blank = False
        self._waiting = list(self._open)
        self.length = 0
        self.breaks = 0

    def write(self, text: str) -> str:
        """Add a text node, blanks collapsed; gives what it added."""
        words = (text if text.isascii() else text.translate(_UNSEEN)).split()
        if not words:
            self._blank = self._blank or bool(text)
            return ""
        blank = " " if self.length and (self._blank or text[0].isspace()) else ""
        if blank and self.breaks:
            self._spans.append(Span(SpanKind.MARKUP, self.length, self.length + 1))
        self.breaks = 0
        self._blank = text[-1].isspace()
        return self._put(blank, " ".join(words))

    def write_code(self, text: str) -> str:
        """Add a text node as it is."""
        return self._put("", text)

    def _put(self, blank: str, text: str) -> str:
        for mark in self._waiting:
            mark.start = self.length + len(blank)
        self._waiting.clear()
        self._pieces.append(blank + text)
        self.length += len(blank) + len(text)
        return blank + text

    def line_break(self) -> None:
        self.breaks += 1
        self._blank = True

    def begin(self, mark: Mark) -> None:
        self._open.append(mark)
        self._waiting.append(mark)

    def end(self, mark: Mark) -> None:
        self._open.remove(mark)
        if mark.start is None:
            self._waiting.remove(mark)
        elif mark.start < self.length:
            self._spans.append(Span(mark.kind, mark.start, self.length, mark.href))

    def finish(self) -> tuple[str, tuple[Span, ...]]:
        """The text so far and its spans in order; elements still open go on in the next block."""
        for mark in self._open:
            if mark.start is not None and mark.start < self.length:
                self._spans.append(Span(mark.kind, mark.start, self.length, mark.href))
            mark.start = None
        whole = "".join(self._pieces)
        text = whole.strip("\n").rstrip()
        spans, skipped = self._spans, len(whole) - len(whole.lstrip("\n"))
        if len(text) < len(whole):
            moved = (s._replace(start=max(s.start - skipped, 0), end=min(s.end - skipped, len(text))) for s in spans)
            spans = [span for span in moved if span.start < span.end]
        self._reset()
        return text, tuple(sorted(spans, key=_order) if len(spans) > 1 else spans)


def _order(span: Span) -> tuple[int, int, str]:
    return span.start, -span.end, span.kind
