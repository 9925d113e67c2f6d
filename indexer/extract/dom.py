"""A page's DOM as blocks of text with their spans, and as links with their zones. Walks without recursion: real pages
nest thousands of elements deep."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from lxml import etree  # noqa: TID251
from lxml.html import HtmlElement  # noqa: TID251

from indexer.records import Block, BlockKind, Link, Span, SpanKind, Zone
from indexer.urls import Site, absolute, fragment

_KINDS = {
    "li": BlockKind.ITEM, "dt": BlockKind.ITEM, "dd": BlockKind.ITEM,
    "td": BlockKind.CELL, "th": BlockKind.CELL,
    "h1": BlockKind.HEADING, "h2": BlockKind.HEADING, "h3": BlockKind.HEADING,
    "h4": BlockKind.HEADING, "h5": BlockKind.HEADING, "h6": BlockKind.HEADING,
    "pre": BlockKind.CODE, "listing": BlockKind.CODE, "xmp": BlockKind.CODE,
    "figcaption": BlockKind.CAPTION, "caption": BlockKind.CAPTION,
}  # fmt: skip
_BLOCKS = frozenset(_KINDS) | frozenset(
    [
        "address",
        "article",
        "aside",
        "blockquote",
        "body",
        "center",
        "details",
        "dialog",
        "dir",
        "div",
        "dl",
        "fieldset",
        "figure",
        "footer",
        "form",
        "header",
        "hgroup",
        "hr",
        "legend",
        "main",
        "menu",
        "nav",
        "ol",
        "p",
        "search",
        "section",
        "summary",
        "table",
        "tbody",
        "tfoot",
        "thead",
        "tr",
        "ul",
    ]
)
_SILENT = frozenset(
    [
        "applet",
        "audio",
        "button",
        "canvas",
        "datalist",
        "embed",
        "head",
        "iframe",
        "input",
        "map",
        "math",
        "meter",
        "noembed",
        "noframes",
        "noscript",
        "object",
        "option",
        "progress",
        "rp",
        "rt",
        "script",
        "select",
        "style",
        "svg",
        "template",
        "textarea",
        "video",
    ]
)
_CODE = frozenset(("code", "kbd", "samp", "tt", "var"))
_MARKUP = frozenset(
    [
        "abbr",
        "b",
        "big",
        "cite",
        "del",
        "dfn",
        "em",
        "i",
        "ins",
        "mark",
        "q",
        "s",
        "small",
        "strike",
        "strong",
        "sub",
        "sup",
        "u",
    ]
)
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_BLANKS = re.compile(r"[ \t\r\n\f\xa0\u200b]+")
_NOT_FOLLOWED = frozenset(("nofollow", "ugc", "sponsored"))

_TAG_ZONES = {"nav": Zone.NAVIGATION, "footer": Zone.FOOTER, "header": Zone.HEADER, "aside": Zone.ASIDE}
_ROLE_ZONES = {
    "navigation": Zone.NAVIGATION, "menu": Zone.NAVIGATION, "menubar": Zone.NAVIGATION, "banner": Zone.HEADER,
    "contentinfo": Zone.FOOTER, "complementary": Zone.ASIDE, "search": Zone.HEADER, "doc-toc": Zone.NAVIGATION,
}  # fmt: skip
_NAME_ZONES = (
    (
        re.compile(
            r"((main|site|top|primary|secondary|global|page|post|nav|sub|mobile|side|left|right|user|lang|language)[-_]?)?"
            r"(nav|navbar|navigation|navbox|nav-links|navlinks|menu|submenu|breadcrumbs?|pagination|pager|paging|toc"
            r"|table-of-contents|skip-links?)([-_]?(bar|list|links?|wrap|wrapper|container|inner|menu|box))?"
        ),
        Zone.NAVIGATION,
    ),
    (re.compile(r"(site|page|global|main|top)[-_]?(header|banner)|masthead|topbar|top-bar"), Zone.HEADER),
    (re.compile(r"((site|page|global|main|blog)[-_]?)?(footer|footers)|colophon|copyright|foot"), Zone.FOOTER),
    (
        re.compile(
            r"((left|right|primary|secondary|main|page|site|blog)[-_]?)?(sidebar|side-bar|sidenav)([-_]?\w+)?|widgets?"
            r"|widget-area|(related|recommended|more|recent|popular|similar)[-_]?(posts?|articles?|links?|pages?|content|stories)"
            r"|comments?([-_]?(area|list|section|thread|wrapper|container))?|disqus_thread|respond|giscus|utterances"
            r"|share|sharing|share-buttons|social([-_]?(links?|share|icons|media))?|sharedaddy"
            r"|cookie([-_]?(banner|notice|bar|consent))|newsletter([-_]?(signup|form|box))?|subscribe([-_]?(form|box))?"
        ),
        Zone.ASIDE,
    ),
)
_PAGE_ITSELF = frozenset(("html", "body", "main", "article"))


@dataclass(frozen=True, slots=True)
class DomBlock:
    """A block, the zone it stands in, whether it lies inside the chosen content, and how much of it is links."""

    block: Block
    zone: Zone
    chosen: bool
    linked: float


@dataclass(frozen=True, slots=True)
class DomLink:
    """A link, and the number of the DOM block it stands in."""

    link: Link
    block: int | None


@dataclass(frozen=True, slots=True)
class Dom:
    blocks: tuple[DomBlock, ...]
    links: tuple[DomLink, ...]


@dataclass
class _Open:
    """An element that has begun and not ended."""

    element: Any
    zone: Zone
    kind: BlockKind
    is_block: bool
    chosen: bool
    name: str
    silent: bool = False
    children: Counter[str] = field(default_factory=Counter)
    span_start: int | None = None


@dataclass
class _OpenLink:
    element: Any
    href: str
    texts: list[str]
    alts: list[str]
    block: int
    zone: Zone
    path: str


def read_dom(root: HtmlElement, base: str, site: Site, page_followed: bool, chosen: frozenset[Any] | None) -> Dom:
    """All blocks and links below the root. `base` resolves addresses; `chosen` are the elements whose text is wanted,
    None for all."""
    return _Walk(base, site, page_followed, chosen, root).run()


class _Walk:
    def __init__(
        self, base: str, site: Site, page_followed: bool, chosen: frozenset[Any] | None, root: HtmlElement
    ) -> None:
        self._base, self._site, self._page_followed, self._chosen = base, site, page_followed, chosen
        self._root = root
        self._stack: list[_Open] = []
        self._blocks: list[DomBlock] = []
        self._links: list[DomLink] = []
        self._open_links: list[_OpenLink] = []
        self._text: list[str] = []
        self._length = 0
        self._spans: list[Span] = []
        self._breaks = 0
        self._silent = 0
        self._size = 0

    def run(self) -> Dom:
        walker = etree.iterwalk(self._root, events=("start", "end"))
        for event, element in walker:
            if not isinstance(element.tag, str):
                if event == "end":
                    self._add(element.tail)
                continue
            if event == "start":
                self._start(element, walker.skip_subtree)
            else:
                self._end(element)
        self._flush()
        return Dom(tuple(self._blocks), tuple(self._links))

    # --- elements ---------------------------------------------------------------------------------------------------

    def _start(self, element: Any, skip: Callable[[], None]) -> None:
        # Broken markup makes names such as "p:a" that no XML name may be: only what stands last counts.
        name = re.split(r"[}:]", element.tag)[-1].lower()
        parent = self._stack[-1] if self._stack else None
        if parent:
            parent.children[name] += 1
        if name in _SILENT or _is_hidden(element):
            skip()
            self._stack.append(_Open(element, Zone.CONTENT, BlockKind.PARAGRAPH, False, False, name, silent=True))
            return
        is_block = name in _BLOCKS
        if is_block:
            self._flush()
        zone = parent.zone if parent else Zone.CONTENT
        if zone is Zone.CONTENT:
            zone = self._own_zone(element, name) or zone
        kind = _KINDS.get(name) or (parent.kind if parent else BlockKind.PARAGRAPH)
        chosen = (parent.chosen if parent else self._chosen is None) or (
            self._chosen is not None and element in self._chosen
        )
        opened = _Open(element, zone, kind, is_block, chosen, name)
        self._stack.append(opened)
        self._begin_inline(element, name, opened)
        self._add(element.text)

    def _begin_inline(self, element: Any, name: str, opened: _Open) -> None:
        match name:
            case "br":
                self._breaks += 1
                self._add(" ")
            case "img":
                for link in self._open_links:
                    link.alts.append(element.get("alt") or "")
            case "a" if element.get("href") is not None:
                opened.span_start = self._length
                link = _OpenLink(element, element.get("href"), [], [], len(self._blocks), opened.zone, self._path())
                self._open_links.append(link)
            case _ if name in _CODE or name in _MARKUP:
                opened.span_start = self._length

    def _end(self, element: Any) -> None:
        opened = self._stack.pop()
        if opened.name == "a" and self._open_links and self._open_links[-1].element is element:
            self._end_link(opened)
        elif opened.span_start is not None and self._length > opened.span_start:
            kind = SpanKind.CODE if opened.name in _CODE else SpanKind.MARKUP
            self._spans.append(Span(kind, opened.span_start, self._length))
        if opened.is_block:
            self._stack.append(opened)
            self._flush()
            self._stack.pop()
        if self._stack:
            self._add(element.tail)

    def _end_link(self, opened: _Open) -> None:
        link = self._open_links.pop()
        made = self._make_link(link)
        if made is None:
            return
        within = link.block == len(self._blocks)
        start = opened.span_start or 0
        if within and self._length > start:
            self._spans.append(Span(SpanKind.LINK, start, self._length, made.target))
        self._links.append(DomLink(made, link.block if within and self._length > start else None))

    def _make_link(self, link: _OpenLink) -> Link | None:
        href = link.href.strip()
        if not href or href.startswith("#"):
            return None
        target = self._site.page(href, self._base)
        address = target or absolute(href, self._base)
        if address is None:
            return None
        relations = set((link.element.get("rel") or "").lower().split())
        return Link(
            target=address,
            internal=target is not None,
            anchor=" ".join("".join(link.texts).split()),
            zone=link.zone,
            follow=self._page_followed and not relations & _NOT_FOLLOWED,
            fragment=fragment(href),
            alt=" ".join(" ".join(link.alts).split()),
            path=link.path,
        )

    def _path(self) -> str:
        steps = []
        for outer, inner in zip(self._stack, self._stack[1:], strict=False):
            steps.append(f"{inner.name}[{outer.children[inner.name]}]")
        return "/" + "/".join([self._stack[0].name, *steps])

    # --- text -------------------------------------------------------------------------------------------------------

    def _add(self, text: str | None) -> None:
        if not text or not self._stack or self._stack[-1].silent:
            return
        if self._stack[-1].kind is not BlockKind.CODE:
            if self._breaks > 1 and text.strip():
                self._flush()
            text = _BLANKS.sub(" ", text)
            if self._length == 0 or self._text[-1].endswith(" "):
                text = text.lstrip(" ")
        if not text:
            return
        if text.strip():
            self._breaks = 0
        for link in self._open_links:
            link.texts.append(text if link.block == len(self._blocks) else f" {text}")
        self._text.append(text)
        self._length += len(text)

    def _flush(self) -> None:
        """End the block that is being read, if it holds any text."""
        self._breaks = 0
        if not self._length:
            return
        opened = self._stack[-1]
        text = "".join(self._text).rstrip()
        if text.strip():
            self._close_open_links()
            spans = tuple(
                Span(s.kind, s.start, min(s.end, len(text)), s.href)
                for s in sorted(self._spans, key=lambda s: (s.start, s.end))
                if s.start < min(s.end, len(text))
            )
            linked = sum(s.end - s.start for s in spans if s.kind is SpanKind.LINK) / len(text)
            block = next((o for o in reversed(self._stack) if o.is_block), opened)
            self._blocks.append(DomBlock(Block(block.kind, text, spans), block.zone, block.chosen, linked))
        self._text, self._length, self._spans = [], 0, []
        for entry in self._stack:
            if entry.span_start is not None:
                entry.span_start = 0

    def _close_open_links(self) -> None:
        """A link around several blocks covers what it holds of each."""
        for entry in self._stack:
            if entry.name == "a" and entry.span_start is not None and self._length > entry.span_start:
                href = self._site.page(entry.element.get("href"), self._base)
                self._spans.append(Span(SpanKind.LINK, entry.span_start, self._length, href))

    # --- zones ------------------------------------------------------------------------------------------------------

    def _own_zone(self, element: Any, name: str) -> Zone | None:
        role = (element.get("role") or "").lower()
        if role in _ROLE_ZONES:
            return _ROLE_ZONES[role]
        if name in _TAG_ZONES and not (name in ("header", "footer") and self._inside_article()):
            return _TAG_ZONES[name]
        if name in _PAGE_ITSELF or name not in _BLOCKS:
            return None
        names = [*(element.get("class") or "").split(), element.get("id") or ""]
        for zone in (zone for n in names if n for pattern, zone in _NAME_ZONES if pattern.fullmatch(n.lower())):
            # A wrapper called "page-menu" that holds most of the page is no menu.
            return zone if self._holds_little(element) else None
        return None

    def _inside_article(self) -> bool:
        return any(entry.name in ("article", "main", "section") for entry in self._stack)

    def _holds_little(self, element: Any) -> bool:
        if not self._size:
            self._size = sum(map(len, self._root.itertext(tag=etree.Element)))
        size = 0
        for text in element.itertext(tag=etree.Element):
            size += len(text)
            if size * 2 > self._size:
                return False
        return True


def _is_hidden(element: Any) -> bool:
    get = element.get
    return get("hidden") is not None or get("aria-hidden") == "true" or bool(_HIDDEN.search(get("style") or ""))
