"""A text that is not published yet, to the Document that it will be."""

from __future__ import annotations

import re
from dataclasses import replace
from enum import Enum, auto
from pathlib import PurePath
from typing import NamedTuple

from indexer.extract.document import blocks_and_links, document_of, read_page, titled
from indexer.extract.head import read_head
from indexer.extract.languages import primary_language
from indexer.extract.main_text import chosen_text
from indexer.extract.markdown import to_html, without_shortcodes
from indexer.extract.parsing import drop, drop_wordless, parse
from indexer.extract.rules import ExtractRules
from indexer.extract.titles import page_title
from indexer.extract.walking import walk
from indexer.extract.writing import letters
from indexer.records import Block, BlockKind, Document
from indexer.urls import Site

_FRONT_MATTER = re.compile(
    r"(---|\+\+\+)[ \t]*\n(?=\s*(?:#|[\w\"'-]+\s*[:=]|\1))(.*?)^\1[ \t]*$\n?", re.DOTALL | re.MULTILINE
)
_FRONT_LINE = re.compile(r"^(title|lang|language)[ \t]*[:=][ \t]*(\S.*?)[ \t]*$", re.MULTILINE | re.IGNORECASE)
_FOLDED = re.compile(r"[>|][-+\d]*$")
_WHOLE_PAGE = re.compile(
    r"\s*+(?:<!--(?:(?!-->).)*-->\s*+)*+<(?:!doctype|\?xml|html|head|body)\b", re.IGNORECASE | re.DOTALL
)
_TAG_FIRST = re.compile(r"\s*<(?:!--|[a-z][a-z0-9-]*[\s/>])", re.IGNORECASE)
_HEADING_OR_FENCE = re.compile(r"^ {0,3}(?:#{1,6}[ \t]+\S|```|~~~)", re.MULTILINE)
_MARKS = re.compile(r"^ {0,3}(?:>[ \t]|[-*+][ \t]+\S|(?:=+|-{3,})[ \t]*$)|\]\([^)\s]*\)|\*\*\S|`[^`\n]+`", re.MULTILINE)
_LONGEST_TITLE = 100
_SENTENCE_ENDS = (".", ",", ";", ":", "。")


class _Kind(Enum):
    MARKDOWN = auto()
    HTML = auto()
    PLAIN = auto()


_KINDS = {
    ".md": _Kind.MARKDOWN, ".markdown": _Kind.MARKDOWN, ".mdown": _Kind.MARKDOWN, ".mkd": _Kind.MARKDOWN,
    ".html": _Kind.HTML, ".htm": _Kind.HTML, ".xhtml": _Kind.HTML, ".txt": _Kind.PLAIN, ".text": _Kind.PLAIN,
}  # fmt: skip


class _Front(NamedTuple):
    """What a draft says of itself before it begins."""

    title: str = ""
    language: str | None = None


def draft_document(text: str, name: str, site: Site, rules: ExtractRules) -> Document:
    """The document that a draft will be, whatever it is written in: the suffix of its name tells, else its look.

    It has no URL yet: "". Its links are relative to the home page. Of a whole HTML page the boilerplate is left out;
    of a part of one, `rules.content` does not hold, for that is about the page around it.
    """
    text = re.sub(r"\r\n?", "\n", text.removeprefix("\ufeff")).encode("utf-8", "replace").decode()
    front, body = _front_matter(text)
    match _kind(name, body, body is not text):
        case _Kind.PLAIN:
            return _plain(text)
        case _Kind.MARKDOWN:
            return _part(to_html(body), front, site, rules)
        case _Kind.HTML if _WHOLE_PAGE.match(body):
            return _page(without_shortcodes(body), front, site, rules)
        case _Kind.HTML:
            return _part(without_shortcodes(body), front, site, rules)


def _kind(name: str, body: str, has_front_matter: bool) -> _Kind:
    if kind := _KINDS.get(PurePath(name).suffix.lower()):
        return kind
    if _WHOLE_PAGE.match(body):
        return _Kind.HTML
    if has_front_matter or _HEADING_OR_FENCE.search(body):
        return _Kind.MARKDOWN
    if _TAG_FIRST.match(body):
        return _Kind.HTML
    return _Kind.MARKDOWN if _MARKS.search(body) else _Kind.PLAIN


def _front_matter(text: str) -> tuple[_Front, str]:
    """What a draft says of itself in its first lines (YAML or TOML), of which only simple ones are understood, and
    what follows them."""
    found = _FRONT_MATTER.match(text)
    if found is None:
        return _Front(), text
    said: dict[str, str] = {}
    for line in _FRONT_LINE.finditer(found[2]):
        if not _FOLDED.match(line[2]):
            said.setdefault(line[1].lower(), _unquoted(line[2]))
    language = primary_language(said.get("lang") or said.get("language") or "")
    return _Front(" ".join(said.get("title", "").split()), language), text[found.end() :]


def _unquoted(value: str) -> str:
    for quote, escaped in (('"', '\\"'), ("'", "''")):
        if found := re.match(rf"{quote}((?:{re.escape(escaped)}|[^{quote}])*){quote}", value):
            return found[1].replace(escaped, quote)
    return re.sub(r"\s+#.*", "", value)


def _plain(text: str) -> Document:
    """Blank lines part paragraphs; a short first one that is no sentence is the title."""
    paragraphs = [paragraph for part in re.split(r"\n\s*\n", text) if (paragraph := " ".join(part.split()))]
    kinds = [BlockKind.PARAGRAPH] * len(paragraphs)
    if len(paragraphs) > 1 and len(paragraphs[0]) <= _LONGEST_TITLE and not paragraphs[0].endswith(_SENTENCE_ENDS):
        kinds[0] = BlockKind.HEADING
    return document_of("", _first_line(text), None, tuple(map(Block, kinds, paragraphs)), ())


def _page(html: str, front: _Front, site: Site, rules: ExtractRules) -> Document:
    root = parse(html)
    if root is None:
        return document_of("", front.title, front.language, (), ())
    head = read_head(root, site.base, site, "")
    document = read_page(root, "", replace(head, language=front.language or head.language), site, rules)
    return titled(document, front.title or document.title or _opening(document.blocks))


def _part(html: str, front: _Front, site: Site, rules: ExtractRules) -> Document:
    root = parse(html)
    if root is None:
        return document_of("", front.title, front.language, (), ())
    head = read_head(root, site.base, site, "")
    drop_wordless(root)
    drop(root, rules.remove)
    walked = walk(root, "", head.base, site, frozenset())
    heading, number = page_title(head, walked.blocks)
    title = front.title or heading
    repeated = number if letters(heading) == letters(title) else None
    blocks, links = blocks_and_links(walked, [n for n in chosen_text(walked).numbers if n != repeated])
    return document_of("", title or _opening(blocks), front.language or head.language, blocks, links)


def _opening(blocks: tuple[Block, ...]) -> str:
    return _first_line(blocks[0].text) if blocks else ""


def _first_line(text: str) -> str:
    """The first line that says anything, its beginning if it is long."""
    line = next((" ".join(line.split()) for line in text.split("\n") if line.strip()), "")
    beginning = line[:_LONGEST_TITLE]
    return line if line == beginning else (beginning.rpartition(" ")[0] or beginning) + "…"
