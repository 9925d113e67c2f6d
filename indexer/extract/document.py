"""HTML to a Document: which of a page's blocks are its text, what it is called, in which language, and its links."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import trafilatura  # noqa: TID251
from charset_normalizer import from_bytes
from lxml import etree  # noqa: TID251
from lxml.html import HTMLParser, document_fromstring  # noqa: TID251
from w3lib.encoding import html_to_unicode

from indexer.extract.dom import Dom, DomBlock, read_dom
from indexer.extract.head import page_language, page_title, read_head
from indexer.extract.rules import ExtractRules
from indexer.records import Block, BlockKind, Document, Fetched, Link, Zone
from indexer.sketches import sketch
from indexer.urls import Site

_TOO_LITTLE = 25
"""Words: a main text shorter than this is compared with what the page shows besides."""
_MOSTLY_LINKS = 0.66
_SHORT = 12
"""Letters: a shorter block stands in too many places to be recognised by its text."""
_WORD = re.compile(r"\w+")
_WRAPPERS = re.compile(r"</?(div|span|font|section|center|b|i|em|strong|blockquote|ul|ol)\b[^>]*>", re.IGNORECASE)
_UNSPACED = re.compile(r"[぀-ヿ㐀-鿿豈-﫿]")


def extract(page: Fetched, site: Site, rules: ExtractRules) -> Document:
    """What the page says; never fails, whatever the bytes. Its passages are left to be cut."""
    root = _parse(page)
    if root is None:
        return _document(page, (), (), "", "und", note="is empty")
    head = read_head(root, page.url, site, page.robots_tag)
    for selector in rules.remove:
        for element in root.cssselect(selector):
            if element.getparent() is not None:
                element.drop_tree()
    chosen = frozenset(root.cssselect(rules.content)) if rules.content else None
    dom = read_dom(root, head.base, site, not head.nofollow, chosen)
    title = page_title(root, dom.blocks)
    main, note = _main(root, dom, chosen is not None)
    blocks = tuple(dom.blocks[n].block for n in main)
    prose = "\n".join(b.text for b in blocks if b.kind is not BlockKind.CODE) or "\n".join(b.text for b in blocks)
    if head.canonical_elsewhere and note is None:
        note = "its canonical names another site"
    return _document(
        page,
        blocks,
        _links(dom, main),
        title,
        page_language(head.declared_language, prose),
        canonical=head.canonical,
        noindex=head.noindex,
        nofollow=head.nofollow,
        refresh=head.refresh,
        note=note,
    )


def _document(
    page: Fetched, blocks: tuple[Block, ...], links: tuple[Link, ...], title: str, language: str, **more: Any
) -> Document:
    text = "\n".join(block.text for block in blocks)
    text_hash = hashlib.sha256(f"{title}\n{text}".encode("utf-8", "replace")).hexdigest()[:32]
    return Document(page.url, title, language, blocks, (), links, count_words(text), text_hash, sketch(text), **more)


def count_words(text: str) -> int:
    """Words as a reader counts them; where they are not written apart, two characters make one."""
    unspaced = len(_UNSPACED.findall(text))
    return len(_WORD.findall(_UNSPACED.sub(" ", text))) + unspaced // 2


# --- bytes to a tree ------------------------------------------------------------------------------------------------


def _parse(page: Fetched) -> Any:
    _, text = html_to_unicode(page.content_type, page.body, auto_detect_fun=_detect)
    # Control characters are no text, and libxml2 would end the document at the first NUL.
    text = re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff]", "", text)
    if not text.strip():
        return None
    try:
        return _tree(text)
    except _TooDeepError:
        # libxml2 drops whatever lies deeper than 2,048 elements: without their wrappers the texts lie less deep.
        return _tree(_WRAPPERS.sub(" ", text))
    except (etree.ParserError, etree.XMLSyntaxError):
        return None


class _TooDeepError(Exception):
    """The parser left text out because it lies too deep."""


def _tree(text: str) -> Any:
    parser = HTMLParser(encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True)
    root = document_fromstring(text.encode("utf-8"), parser=parser)
    if "Excessive depth" in str(parser.error_log.last_error) and _WRAPPERS.search(text):
        raise _TooDeepError
    return root


def _detect(body: bytes) -> str | None:
    """UTF-8 where the bytes are valid UTF-8, else what the letters make likely, else what browsers assume."""
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        best = from_bytes(body[:50_000]).best()
        return best.encoding if best else "cp1252"
    return "utf-8"


# --- which blocks are the text --------------------------------------------------------------------------------------


def _main(root: Any, dom: Dom, chosen: bool) -> tuple[list[int], str | None]:
    """The numbers of the blocks that are the page's text, and what was unusual about finding them."""
    every = range(len(dom.blocks))
    if chosen:
        return [n for n in every if dom.blocks[n].chosen], None
    shown = [n for n in every if dom.blocks[n].zone is Zone.CONTENT]
    main = _completed(dom.blocks, _recognised(dom.blocks, _main_text(root)))
    if _words(dom, main) >= _TOO_LITTLE or _words(dom, shown) <= _words(dom, main):
        return main, _unfilled(root) if _words(dom, main) < _TOO_LITTLE else None
    if _words(dom, shown) < _TOO_LITTLE and (note := _unfilled(root)):
        return shown, note
    return shown, "little text was found, and all that the page shows was taken"


def _words(dom: Dom, numbers: Sequence[int]) -> int:
    return sum(count_words(dom.blocks[n].block.text) for n in numbers)


def _main_text(root: Any) -> str:
    """The letters of what trafilatura takes for the main text. Its order and its links are not asked for: its links
    option moves text about, and its text lacks a fifth of the paragraphs with links in one manual."""
    try:
        found = trafilatura.bare_extraction(
            deepcopy(root), fast=True, include_comments=False, include_tables=True, with_metadata=False
        )
    except (RecursionError, ValueError, etree.LxmlError):
        return ""
    text = getattr(found, "text", None) or ""
    return _squeezed(text)


def _squeezed(text: str) -> str:
    return re.sub(r"\W+", "", text).lower()


def _recognised(blocks: Sequence[DomBlock], letters: str) -> list[int]:
    found = []
    for number, entry in enumerate(blocks):
        own = _squeezed(entry.block.text)
        if entry.zone is Zone.CONTENT and len(own) >= _SHORT and own in letters:
            found.append(number)
    return found


def _completed(blocks: Sequence[DomBlock], found: list[int]) -> list[int]:
    """The recognised blocks and what stands between the first and the last of them, but for lists of links."""
    if not found:
        return []
    recognised, first, last = set(found), found[0], found[-1]
    while first and blocks[first - 1].block.kind is BlockKind.HEADING and blocks[first - 1].zone is Zone.CONTENT:
        first -= 1
    return [
        n
        for n in range(first, last + 1)
        if blocks[n].zone is Zone.CONTENT and (n in recognised or blocks[n].linked < _MOSTLY_LINKS)
    ]


def _unfilled(root: Any) -> str | None:
    """A page whose scripts have yet to fill it: scripts, and next to nothing to read."""
    scripts = any(e.get("src") or (e.text or "").strip() for e in root.iter("script"))
    return "is filled by JavaScript only: nothing can be read without running it" if scripts else None


def _links(dom: Dom, main: Sequence[int]) -> tuple[Link, ...]:
    place = {number: n for n, number in enumerate(main)}
    return tuple(
        entry.link._replace(block=place.get(entry.block) if entry.block is not None else None) for entry in dom.links
    )
