"""Which of a page's blocks are its text, and not what stands around it."""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

import trafilatura  # noqa: TID251
from lxml import etree  # noqa: TID251
from lxml.html import HtmlElement  # noqa: TID251

from indexer.extract.walking import Element, PageBlock, Walked
from indexer.extract.writing import letters
from indexer.records import BlockKind, SpanKind, Zone
from indexer.sketches import count_words

TOO_LITTLE = 25
"""Words: what is shorter is hardly a text."""
_SMALL_SHARE = 0.3
"""Of the words that the page shows in sentences: with less, or with too little that is less than half of them, the text
was not found."""
_TOO_LARGE = 5000
"""Blocks: with more, trafilatura takes ten seconds and longer."""
_RECOGNISED = 16
"""Letters: shorter blocks stand in too many places to be recognised by their text."""
_PIECE = 48
_CONTAINER_SHARE = 0.9
_LINK_SHARE = 0.8
_LINK_RUN = 3
_LONGEST_NAME = 100
_SENTENCE_ENDS = (".", "!", "?", "。", "！", "？")
_PARTS = frozenset((
    "blockquote", "dd", "dir", "dl", "dt", "figure", "h1", "h2", "h3", "h4", "h5", "h6", "li", "menu", "ol", "p", "pre",
    "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul",
))  # fmt: skip
_INLINE = (
    "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "del", "dfn", "em", "font", "i", "ins", "kbd", "mark",
    "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr",
)  # fmt: skip
_LINE_NUMBERS = re.compile(r"\d+(?:\s+\d+)+")
_LETTER = re.compile(r"\w")

# It logs an error for every page without a text: here that is an outcome, and the note says it.
logging.getLogger("trafilatura").setLevel(logging.CRITICAL)


@dataclass(frozen=True, slots=True)
class MainText:
    """The numbers of the blocks that are a page's text, and what was unusual about finding them."""

    numbers: Sequence[int]
    note: str | None = None


def main_text(walked: Walked, root: HtmlElement, title: int | None) -> MainText:
    """The blocks that are the page's text.

    trafilatura recognises the text; its own output lacked up to a fifth of the paragraphs with links of one manual, so
    blocks that stand between those it recognised, or beside them in the same element, belong to it too. Lists of links
    do not: what they name stands elsewhere. The tree is used up. `title` is the block that is the page's title.
    """
    blocks = walked.blocks
    shown = [n for n, block in enumerate(blocks) if n != title and _may_be_text(block)]
    sentences = _without_link_lists(blocks, shown)
    if len(blocks) > _TOO_LARGE:
        return MainText(sentences or shown, "very large, and all that the page shows was taken")
    recognised = _recognised(blocks, shown, _letters_of_text(root, walked.boilerplate))
    main = _without_link_lists(blocks, _completed(blocks, shown, recognised))
    words = {n: count_words(blocks[n].block.text) for n in shown}
    found, there = (sum(words[n] for n in numbers) for numbers in (main, sentences))
    if found and found >= there * _SMALL_SHARE and (found >= TOO_LITTLE or 2 * found >= there):
        return MainText(main)
    rest = sentences or shown
    return MainText(rest, "little text was found, and all that the page shows was taken" if rest else None)


def chosen_text(walked: Walked) -> MainText:
    """The blocks in the elements that were chosen."""
    return MainText([n for n, block in enumerate(walked.blocks) if block.holder.chosen and _may_be_text(block)])


def _may_be_text(block: PageBlock) -> bool:
    text = block.block.text
    if block.holder.zone is not Zone.CONTENT or not _LETTER.search(text):
        return False
    return not (block.block.kind is BlockKind.CODE and _LINE_NUMBERS.fullmatch(text))


# --- what trafilatura recognises ------------------------------------------------------------------------------------


def _letters_of_text(root: HtmlElement, boilerplate: Iterable[HtmlElement]) -> str:
    """The letters of what trafilatura takes for the text. It is handed less than the page: it needs a millisecond for
    every hundred elements, and inline elements tell it nothing."""
    for element in boilerplate:
        if element.getparent() is not None:
            element.drop_tree()
    etree.strip_tags(root, *_INLINE)
    try:
        found = trafilatura.bare_extraction(root, fast=True, include_comments=False, with_metadata=False)
    except Exception:  # heuristics of thousands of lines: whatever they stumble over, the page has its blocks
        return ""
    return letters(getattr(found, "text", None) or "")


def _recognised(blocks: Sequence[PageBlock], shown: Sequence[int], text: str) -> list[int]:
    return [n for n in shown if _stands_in(letters(blocks[n].block.text), text)]


def _stands_in(own: str, text: str) -> bool:
    """Whether a text is part of another, or its beginning or end is: trafilatura leaves single elements out."""
    if len(own) < _RECOGNISED:
        return False
    return own in text or (len(own) > 2 * _PIECE and (own[:_PIECE] in text or own[-_PIECE:] in text))


# --- what belongs to it ---------------------------------------------------------------------------------------------


def _completed(blocks: Sequence[PageBlock], shown: Sequence[int], recognised: Sequence[int]) -> list[int]:
    """The recognised blocks, those between them, those beside them in the same element, and the heading before."""
    if not recognised:
        return []
    outside = _ancestors(_container(blocks, recognised))[1:]
    places = {id(_place(blocks[n].holder)) for n in recognised}
    kept = set(recognised)
    for before, after in pairwise(recognised):
        if _common(blocks[before].holder, blocks[after].holder) not in outside:
            kept.update(range(before + 1, after))
    kept.update(n for n in shown if id(_place(blocks[n].holder)) in places)
    if (first := shown.index(min(kept))) and blocks[shown[first - 1]].block.kind is BlockKind.HEADING:
        kept.add(shown[first - 1])
    return [n for n in shown if n in kept]


def _ancestors(element: Element) -> list[Element]:
    """The element and those around it, inside out."""
    around = [element]
    while (parent := around[-1].parent) is not None:
        around.append(parent)
    return around


def _container(blocks: Sequence[PageBlock], numbers: Sequence[int]) -> Element:
    """The smallest element around nine tenths of the blocks' text."""
    sizes: Counter[Element] = Counter()
    for n in numbers:
        for element in _ancestors(blocks[n].holder):
            sizes[element] += len(blocks[n].block.text)
    needed = _CONTAINER_SHARE * max(sizes.values())
    return max((e for e, size in sizes.items() if size >= needed), key=lambda e: len(_ancestors(e)))


def _common(one: Element, other: Element) -> Element:
    around = {id(element) for element in _ancestors(one)}
    return next(element for element in _ancestors(other) if id(element) in around)


def _place(element: Element) -> Element:
    """The element in which a paragraph, a list or a table stands."""
    while element.parent is not None and element.tag in _PARTS:
        element = element.parent
    return element


# --- lists of links -------------------------------------------------------------------------------------------------


def _without_link_lists(blocks: Sequence[PageBlock], numbers: Sequence[int]) -> list[int]:
    """The blocks but for tables of contents, navigation boxes and "see also" lists, with the headings over them."""
    dropped: set[int] = set()
    for are_links, group in groupby(numbers, key=lambda n: _is_link(blocks[n])):
        run = list(group)
        if are_links and _is_list([blocks[n] for n in run]):
            dropped.update(run)
    kept: list[int] = []
    for n in reversed(numbers):
        if n in dropped:
            continue
        is_heading = blocks[n].block.kind is BlockKind.HEADING
        over_nothing = n + 1 in dropped and (not kept or blocks[kept[-1]].block.kind is BlockKind.HEADING)
        if not (is_heading and over_nothing):
            kept.append(n)
    return kept[::-1]


def _is_link(block: PageBlock) -> bool:
    """Whether the block is a name that leads somewhere, or several. A sentence is none, link or not."""
    text, kind = block.block.text, block.block.kind
    if not block.linked or kind in (BlockKind.HEADING, BlockKind.CODE) or text.endswith(_SENTENCE_ENDS):
        return False
    links = [text[span.start : span.end] for span in block.block.spans if span.kind is SpanKind.LINK]
    linked = sum(len(letters(link)) for link in links)
    return len(text) <= _LONGEST_NAME * len(links) and linked >= _LINK_SHARE * len(letters(text))


def _is_list(run: Sequence[PageBlock]) -> bool:
    names = sum(span.kind is SpanKind.LINK for block in run for span in block.block.spans)
    return names >= _LINK_RUN or any(2 * block.linked_here > len(block.block.text) for block in run)
