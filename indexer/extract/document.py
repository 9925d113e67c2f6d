"""HTML to a Document: what the page is called, which of its blocks are its text, its language and its links."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from indexer.extract.head import Head, read_head
from indexer.extract.languages import page_language
from indexer.extract.main_text import TOO_LITTLE, MainText, chosen_text, main_text
from indexer.extract.parsing import decode, drop_wordless, parse
from indexer.extract.rules import ExtractRules
from indexer.extract.titles import page_title
from indexer.extract.walking import walk
from indexer.records import BlockKind, Document, Fetched, Link
from indexer.sketches import count_words, sketch
from indexer.urls import Site


def extract(page: Fetched, site: Site, rules: ExtractRules) -> Document:
    """What the page says, whatever its bytes are. Its passages are left to be cut."""
    root = parse(decode(page.body, page.content_type))
    if root is None:
        return Document(page.url, "", "und", (), (), (), 0, _hash("", ""), b"")
    head = read_head(root, page.url, site, page.robots_tag)
    drop_wordless(root)
    for selector in rules.remove:
        for element in root.cssselect(selector):
            if element.getparent() is not None:
                element.drop_tree()
    chosen = frozenset(root.cssselect(rules.content)) if rules.content else frozenset()
    walked = walk(root, page.url, head.base, site, chosen)
    title, heading = page_title(head, walked.blocks)
    found = chosen_text(walked) if chosen else main_text(walked, root, heading)
    blocks = tuple(walked.blocks[n].block for n in found.numbers)
    text = "\n".join(block.text for block in blocks)
    prose = "\n".join(block.text for block in blocks if block.kind is not BlockKind.CODE)
    words = count_words(text)
    return Document(
        url=page.url,
        title=title,
        language=page_language(head.language, prose),
        blocks=blocks,
        passages=(),
        links=_placed(walked.links, found.numbers, head.nofollow),
        words=words,
        text_hash=_hash(title, text),
        sketch=sketch(text),
        canonical=head.canonical,
        noindex=head.noindex,
        nofollow=head.nofollow,
        refresh=head.refresh,
        note=_note(head, rules, found, words, bool(chosen)),
    )


def _hash(title: str, text: str) -> str:
    return hashlib.sha256(f"{title}\n{text}".encode()).hexdigest()[:32]


def _placed(links: Sequence[Link], numbers: Sequence[int], nofollow: bool) -> tuple[Link, ...]:
    """The links as blocks of the main text count."""
    place = {number: n for n, number in enumerate(numbers)}
    return tuple(
        link._replace(block=None if link.block is None else place.get(link.block), follow=link.follow and not nofollow)
        for link in links
    )


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
