"""HTML to a Document: what the page is called, which of its blocks are its text, its language and its links."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import replace

from lxml.html import HtmlElement  # noqa: TID251

from indexer.extract.head import Head, read_head
from indexer.extract.languages import page_language
from indexer.extract.main_text import TOO_LITTLE, MainText, chosen_text, main_text
from indexer.extract.parsing import decode, drop, drop_wordless, parse
from indexer.extract.rules import ExtractRules
from indexer.extract.titles import page_title
from indexer.extract.walking import Walked, walk
from indexer.records import Block, BlockKind, Document, Fetched, Link
from indexer.sketches import count_words, sketch
from indexer.urls import Site


def extract(page: Fetched, site: Site, rules: ExtractRules) -> Document:
    """What the page says, whatever its bytes are. Its passages are left to be cut."""
    root = parse(decode(page.body, page.content_type))
    if root is None:
        return document_of(page.url, "", None, (), ())
    return read_page(root, page.url, read_head(root, page.url, site, page.robots_tag), site, rules)


def read_page(root: HtmlElement, url: str, head: Head, site: Site, rules: ExtractRules) -> Document:
    """What a whole page says, boilerplate and all. The tree is used up."""
    drop_wordless(root)
    drop(root, rules.remove)
    chosen = frozenset(root.cssselect(rules.content)) if rules.content else frozenset()
    walked = walk(root, url, head.base, site, chosen)
    title, heading = page_title(head, walked.blocks)
    found = chosen_text(walked) if chosen else main_text(walked, root, heading)
    blocks, links = blocks_and_links(walked, found.numbers)
    document = document_of(url, title, head.language, blocks, links)
    return replace(
        document,
        links=tuple(link._replace(follow=link.follow and not head.nofollow) for link in links),
        canonical=head.canonical,
        noindex=head.noindex,
        nofollow=head.nofollow,
        refresh=head.refresh,
        note=_note(head, rules, found, document.words, bool(chosen)),
    )


def blocks_and_links(walked: Walked, numbers: Sequence[int]) -> tuple[tuple[Block, ...], tuple[Link, ...]]:
    """The blocks of these numbers, and all links, as these blocks count."""
    place = {number: n for n, number in enumerate(numbers)}
    links = (link._replace(block=None if link.block is None else place.get(link.block)) for link in walked.links)
    return tuple(walked.blocks[n].block for n in numbers), tuple(links)


def document_of(
    url: str, title: str, declared: str | None, blocks: tuple[Block, ...], links: tuple[Link, ...]
) -> Document:
    """The document with this text, in the language that it is declared to be in or looks like."""
    text = "\n".join(block.text for block in blocks)
    prose = "\n".join(block.text for block in blocks if block.kind is not BlockKind.CODE)
    return Document(
        url=url,
        title=title,
        language=page_language(declared, prose),
        blocks=blocks,
        passages=(),
        links=links,
        words=count_words(text),
        text_hash=_hash(title, blocks),
        sketch=sketch(text),
    )


def titled(document: Document, title: str) -> Document:
    """The document under another title."""
    return replace(document, title=title, text_hash=_hash(title, document.blocks))


def _hash(title: str, blocks: Iterable[Block]) -> str:
    text = "\n".join(block.text for block in blocks)
    return hashlib.sha256(f"{title}\n{text}".encode()).hexdigest()[:32]


def _note(head: Head, rules: ExtractRules, found: MainText, words: int, chosen: bool) -> str | None:
    notes = []
    if rules.content and not chosen:
        notes.append(f"nothing on it matches {rules.content}")
    if head.scripted and words < TOO_LITTLE:
        notes.append("is filled by JavaScript only: nothing can be read without running it")
    elif found.note is not None:
        notes.append(found.note)
    if head.elsewhere:
        notes.append("its canonical names another site")
    return "; ".join(notes) or None
