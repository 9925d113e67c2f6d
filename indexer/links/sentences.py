"""The sentence of a suggestion with its link set, ready to be pasted as HTML or Markdown."""

from __future__ import annotations

import html
import re
from collections.abc import Callable

from indexer.records import Block, Span, SpanKind

_END = re.compile(r"[.!?…]+[\"'”’»)\]]*\s+(?=[\"'“‘«(\[]?[\w])|[。！？]")


def sentence_around(text: str, start: int, end: int) -> tuple[int, int]:
    """Where the sentence that holds characters [start, end) begins and ends; without characters, the first one."""
    bounds = [0, *(found.end() for found in _END.finditer(text)), len(text)]
    first = max(bound for bound in bounds if bound <= start)
    last = min(bound for bound in bounds if bound >= max(end, first + 1) or bound == len(text))
    return first, last


def as_html(block: Block, start: int, end: int, target: str) -> str:
    """The sentence as HTML: links and code that stand in it are kept, and characters [start, end) lead to `target`."""

    def mark(span: Span, inner: str) -> str:
        inner = html.escape(inner, quote=False)
        if span.kind is SpanKind.CODE:
            return f"<code>{inner}</code>"
        return f'<a href="{html.escape(span.href or "")}">{inner}</a>'

    return _marked(block, start, end, target, lambda text: html.escape(text, quote=False), mark)


def as_markdown(block: Block, start: int, end: int, target: str) -> str:
    """The sentence as Markdown, likewise."""

    def mark(span: Span, inner: str) -> str:
        if span.kind is SpanKind.CODE:
            return f"`{inner}`"
        return f"[{_escaped(inner)}]({_address(span.href or '')})"

    return _marked(block, start, end, target, _escaped, mark)


def _marked(
    block: Block, start: int, end: int, target: str, plain: Callable[[str], str], mark: Callable[[Span, str], str]
) -> str:
    first, last = sentence_around(block.text, start, end)
    spans = [
        span for span in block.spans if span.kind is not SpanKind.MARKUP and first <= span.start and span.end <= last
    ]
    if end > start:
        spans = [span for span in spans if span.end <= start or span.start >= end]
        spans.append(Span(SpanKind.LINK, start, end, target))
    written: list[str] = []
    at = first
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        # What stands inside of what was written is part of it: code within a link stays plain.
        if span.start >= at:
            inner = block.text[span.start : span.end]
            written += [plain(block.text[at : span.start]), mark(span, inner)]
            at = span.end
    return "".join([*written, plain(block.text[at:last])]).strip()


def _escaped(text: str) -> str:
    return re.sub(r"([\\`*_\[\]<>])", r"\\\1", text)


def _address(url: str) -> str:
    return url.replace("(", "%28").replace(")", "%29").replace(" ", "%20")
