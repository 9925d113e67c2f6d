"""A page's tree as blocks of text with their spans, and its links with their zones; without recursion, for pages nest
thousands of elements deep."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from lxml import etree  # noqa: TID251
from lxml.html import HtmlElement  # noqa: TID251

from indexer.extract.writing import BlockText, Mark
from indexer.extract.zones import is_hidden, size_of_text, zone_of
from indexer.records import Block, BlockKind, Link, SpanKind, Zone
from indexer.urls import Site, absolute, fragment

_KINDS = {
    "li": BlockKind.ITEM, "dt": BlockKind.ITEM, "dd": BlockKind.ITEM,
    "td": BlockKind.CELL, "th": BlockKind.CELL,
    "h1": BlockKind.HEADING, "h2": BlockKind.HEADING, "h3": BlockKind.HEADING,
    "h4": BlockKind.HEADING, "h5": BlockKind.HEADING, "h6": BlockKind.HEADING,
    "pre": BlockKind.CODE, "listing": BlockKind.CODE, "xmp": BlockKind.CODE, "plaintext": BlockKind.CODE,
    "caption": BlockKind.CAPTION, "figcaption": BlockKind.CAPTION,
    "article": BlockKind.PARAGRAPH, "blockquote": BlockKind.PARAGRAPH, "body": BlockKind.PARAGRAPH,
    "main": BlockKind.PARAGRAPH, "section": BlockKind.PARAGRAPH,
}  # fmt: skip
_BLOCKS = frozenset(_KINDS) | frozenset((
    "address", "aside", "center", "dd", "details", "dialog", "dir", "div", "dl", "fieldset", "figure", "footer",
    "form", "header", "hgroup", "hr", "html", "legend", "menu", "nav", "noframes", "ol", "p", "search", "summary",
    "table", "tbody", "tfoot", "thead", "tr", "ul",
))  # fmt: skip
_SILENT = frozenset(("annotation", "button", "head", "label", "svg"))
_CODE = frozenset(("code", "kbd", "samp", "tt", "var"))
_ARTICLES = frozenset(("article", "main", "section"))
_NOT_FOLLOWED = frozenset(("nofollow", "ugc", "sponsored"))
_LETTER = re.compile(r"\w")


@dataclass(slots=True, eq=False)
class Element:
    """An element of the page on the walk: what holds in it, and where it stands.

    `number` counts the parent's children of this name, `children` its own by their names.
    """

    tag: str
    parent: Element | None
    number: int
    zone: Zone
    kind: BlockKind
    is_block: bool
    silent: bool = False
    within_article: bool = False
    chosen: bool = True
    mark: Mark | None = None
    children: dict[str, int] = field(default_factory=dict)

    def is_within(self, tag: str) -> bool:
        element: Element | None = self
        while element is not None and element.tag != tag:
            element = element.parent
        return element is not None

    def path(self) -> str:
        """The element's place from the body on, as in an XPath: a number only where there are several of its name."""
        steps = []
        element = self
        while (parent := element.parent) is not None:
            steps.append(f"{element.tag}[{element.number}]" if parent.children[element.tag] > 1 else element.tag)
            element = parent
        return "/" + "/".join(reversed(steps))


@dataclass(frozen=True, slots=True)
class PageBlock:
    """A block anywhere on the page, the element that holds it, and how many of its characters are links, of these how
    many lead to a place on the same page."""

    block: Block
    holder: Element
    linked: int
    linked_here: int


@dataclass(frozen=True, slots=True)
class Walked:
    """All blocks and links of a page; a link's `block` counts these blocks. `boilerplate` are the elements that open
    another zone than content, or are not seen."""

    blocks: tuple[PageBlock, ...]
    links: tuple[Link, ...]
    boilerplate: tuple[HtmlElement, ...]


@dataclass(slots=True)
class _OpenLink:
    element: HtmlElement
    place: Element
    href: str
    target: str | None
    pieces: list[str] = field(default_factory=list)
    alts: list[str] = field(default_factory=list)
    block: int | None = None


def walk(root: HtmlElement, url: str, base: str, site: Site, chosen: Collection[HtmlElement]) -> Walked:
    """Read the tree of the page `url`, whose links are relative to `base`.

    With `chosen` elements, what stands outside them is no content, and the zone around them counts for nothing.
    """
    return _Walk(root, url, base, site, chosen).run()


class _Walk:
    def __init__(self, root: HtmlElement, url: str, base: str, site: Site, chosen: Collection[HtmlElement]) -> None:
        self._root, self._url, self._base, self._site, self._chosen = root, url, base, site, chosen
        self._size = size_of_text(root)
        self._stack: list[Element] = []
        self._text = BlockText()
        self._blocks: list[PageBlock] = []
        self._links: list[_OpenLink] = []
        self._open_links: list[_OpenLink] = []
        self._boilerplate: list[HtmlElement] = []

    def run(self) -> Walked:
        for event, element in etree.iterwalk(self._root, events=("start", "end")):
            if event == "start":
                self._start(element)
                text = element.text
            else:
                self._end(element)
                text = element.tail
            if text and self._stack and not self._stack[-1].silent:
                self._add(text)
        self._flush()
        return Walked(tuple(self._blocks), tuple(self._links_of_page()), tuple(self._boilerplate))

    # --- elements ---------------------------------------------------------------------------------------------------

    def _start(self, element: HtmlElement) -> None:
        opened = self._entered(element)
        if opened.is_block and opened.parent is not None and opened.parent.kind is BlockKind.CODE:
            self._text.write_code("\n")
        elif opened.is_block:
            self._flush()
        self._stack.append(opened)
        match opened.tag:
            case "br" if opened.kind is BlockKind.CODE:
                self._text.write_code("\n")
            case "br":
                self._text.line_break()
            case "img":
                for link in self._open_links:
                    link.alts.append(element.get("alt") or "")
            case "a" | "area" if (href := _href(element)) is not None:
                link = _OpenLink(element, opened, href.strip(), self._address(href.strip()))
                self._open_links.append(link)
                opened.mark = Mark(SpanKind.LINK, link.target)
                # The signs beside headings that link to the heading itself.
                opened.silent |= href.startswith("#") and not _LETTER.search(element.text_content())
            case tag if not opened.is_block and opened.kind is not BlockKind.CODE:
                opened.mark = Mark(SpanKind.CODE if tag in _CODE else SpanKind.MARKUP)
        if opened.mark is not None:
            self._text.begin(opened.mark)

    def _entered(self, element: HtmlElement) -> Element:
        tag = str(element.tag)
        parent = self._stack[-1] if self._stack else None
        if parent is None:
            return Element(tag, None, 1, Zone.CONTENT, BlockKind.PARAGRAPH, is_block=True, chosen=not self._chosen)
        number = parent.children[tag] = parent.children.get(tag, 0) + 1
        opened = Element(
            tag,
            parent,
            number,
            zone_of(element, parent.zone, parent.within_article, self._size),
            self._kind(tag, parent),
            tag in _BLOCKS,
            parent.silent or is_hidden(element) or (tag in _SILENT and parent.kind is not BlockKind.HEADING),
            parent.within_article or tag in _ARTICLES,
            parent.chosen,
        )
        if element in self._chosen:
            opened.chosen, opened.zone = True, Zone.CONTENT
        if (opened.zone is not Zone.CONTENT and parent.zone is Zone.CONTENT) or (opened.silent and not parent.silent):
            self._boilerplate.append(element)
        return opened

    def _kind(self, tag: str, parent: Element) -> BlockKind:
        if parent.kind is BlockKind.CODE:
            return BlockKind.CODE
        if tag == "p" and parent.tag in ("td", "th"):
            return BlockKind.PARAGRAPH
        return _KINDS.get(tag) or parent.kind

    def _end(self, element: HtmlElement) -> None:
        opened = self._stack[-1]
        if opened.mark is not None:
            self._text.end(opened.mark)
        if self._open_links and self._open_links[-1].element is element:
            self._links.append(self._open_links.pop())
        if opened.is_block and not (opened.parent is not None and opened.parent.kind is BlockKind.CODE):
            self._flush()
        self._stack.pop()

    # --- text -------------------------------------------------------------------------------------------------------

    def _add(self, text: str) -> None:
        if self._stack[-1].kind is BlockKind.CODE:
            added = self._text.write_code(text)
        else:
            if self._text.breaks > 1 and not text.isspace():
                self._flush()
            added = self._text.write(text)
        if added and self._open_links:
            self._note(added)

    def _note(self, added: str) -> None:
        for link in self._open_links:
            if link.block is None and not added.isspace():
                link.block = len(self._blocks)
            link.pieces.append(added)

    def _flush(self) -> None:
        """End the block that is being read."""
        if not self._text.length:
            self._text.breaks = 0
            return
        text, spans = self._text.finish()
        holder = next(element for element in reversed(self._stack) if element.is_block)
        for link in self._open_links:
            link.pieces.append(" ")
        if not text:
            return
        links = [span for span in spans if span.kind is SpanKind.LINK]
        here = sum(span.end - span.start for span in links if span.href == self._url)
        linked = sum(span.end - span.start for span in links)
        self._blocks.append(PageBlock(Block(holder.kind, text, spans), holder, linked, here))

    # --- links ------------------------------------------------------------------------------------------------------

    def _address(self, href: str) -> str | None:
        if href.startswith("#"):
            return self._url
        return self._site.page(href, self._base) or absolute(href, self._base)

    def _links_of_page(self) -> Iterator[Link]:
        """Those that lead to another page, or to the whole of this one."""
        for link in self._links:
            if link.href and link.target is not None and not (link.target == self._url and "#" in link.href):
                yield _record(link, internal=self._site.page(link.target) is not None)


def _record(link: _OpenLink, internal: bool) -> Link:
    rel = (link.element.get("rel") or "").lower().split()
    return Link(
        target=link.target or "",
        internal=internal,
        anchor=_collapsed("".join(link.pieces) or link.element.text_content()),
        zone=link.place.zone,
        follow=_NOT_FOLLOWED.isdisjoint(rel),
        fragment=fragment(link.href),
        block=link.block,
        alt=_collapsed(" ".join([link.element.get("alt") or "", *link.alts])),
        path=link.place.path(),
    )


def _href(element: HtmlElement) -> str | None:
    href: str | None = element.get("href", element.get("xlink:href"))
    return href


def _collapsed(text: str) -> str:
    return " ".join(text.split())
