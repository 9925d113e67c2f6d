"""Which zone of the page an element opens, by its name, its role and the usual class names; and what nobody sees."""

from __future__ import annotations

import re
from functools import lru_cache

from lxml.html import HtmlElement  # noqa: TID251

from indexer.records import Zone

_TAGS = {
    "nav": Zone.NAVIGATION, "search": Zone.NAVIGATION, "menu": Zone.NAVIGATION, "header": Zone.HEADER,
    "footer": Zone.FOOTER, "aside": Zone.ASIDE, "main": Zone.CONTENT,
}  # fmt: skip
_ROLES = {
    "navigation": Zone.NAVIGATION, "menu": Zone.NAVIGATION, "menubar": Zone.NAVIGATION, "search": Zone.NAVIGATION,
    "tablist": Zone.NAVIGATION, "doc-toc": Zone.NAVIGATION, "banner": Zone.HEADER, "contentinfo": Zone.FOOTER,
    "complementary": Zone.ASIDE, "dialog": Zone.ASIDE, "alertdialog": Zone.ASIDE, "note": Zone.CONTENT,
    "doc-tip": Zone.CONTENT, "doc-notice": Zone.CONTENT, "main": Zone.CONTENT,
}  # fmt: skip
_PREFIX = r"(?!(?:has|with|without|no|is|hide|show|js|open)[-_])(?:[a-z0-9]+[-_]+)*"
_SUFFIX = r"(?:[-_]+(?:area|bar|box|container|content|inner|items?|links?|list|section|wrap|wrapper))?"
_COMMENTS = re.compile(
    rf"(?:(?:article|post|user|reader)[-_])?comments?(?:[-_]?(?:form|list|thread|reply)s?)?{_SUFFIX}|commentlist"
    r"|disqus_thread|respond|giscus|utterances|isso-thread|webmentions?"
)
_NAMES = (
    (Zone.ASIDE, _COMMENTS),
    (Zone.NAVIGATION, re.compile(
        rf"{_PREFIX}(?:breadcrumbs?|(?:jump|skip)[-_]?(?:links?|nav)|menu|menubar|nav|navbar|navbox|navigation|pager"
        rf"|paging|pagination|prev[-_]?next|sidenav|sitenav|submenu|subnav|tableofcontents|table-of-contents|toc|topnav)"
        rf"{_SUFFIX}")),
    (Zone.HEADER, re.compile(
        r"(?:(?:global|main|page|site|top)[-_]?)?header|masthead|top-?bar|(?:site-?)?branding")),
    (Zone.FOOTER, re.compile(rf"{_PREFIX}(?:colophon|footer|site-?info){_SUFFIX}")),
    (Zone.ASIDE, re.compile(
        rf"{_PREFIX}(?:side-?bar|widget){_SUFFIX}|widgets"
        rf"|{_PREFIX}(?:more|popular|read|recent|recommended|related|similar)[-_]?"
        rf"(?:articles?|next|pages?|posts?|stories|topics?){_SUFFIX}"
        rf"|(?:sharing|sharedaddy|addtoany|share[-_](?:buttons?|links?)|social[-_](?:icons?|links?|media|share))"
        rf"|{_PREFIX}(?:cookie|consent)[-_]?(?:banner|bar|notice|popup)|{_PREFIX}newsletter(?:[-_]?(?:box|form|signup))?")),
)  # fmt: skip
_REMARKS = re.compile(
    r"(?:^|[-_\s])(?:admonition|alert|callout|caution|danger|hint|important|info|note|tip|warning)s?\b"
)
_PLAIN = frozenset(("html", "body", "main", "article", "p", "li", "td", "th", "tr", "tbody", "pre", "form"))
_HIDDEN_STYLE = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)
_HIDDEN_CLASSES = frozenset(
    ("sr-only", "visually-hidden", "visuallyhidden", "screen-reader-text", "screen-reader-only")
)


def is_hidden(element: HtmlElement) -> bool:
    """Whether a browser, or a screen reader beside it, does not show the element."""
    get = element.get
    if get("hidden", "until-found").lower() != "until-found" or get("aria-hidden") == "true":
        return True
    if (style := get("style")) and _HIDDEN_STYLE.search(style):
        return True
    if element.tag == "dialog" and get("open") is None:
        return True
    names = get("class")
    return names is not None and not _HIDDEN_CLASSES.isdisjoint(names.split())


def zone_of(element: HtmlElement, around: Zone, within_article: bool, page_size: float) -> Zone:
    """The zone of what stands in the element, given the zone around it.

    Element names and roles are believed; class names only where what they say may be true: a wrapper of the title or
    of half the page (`page_size` characters) is no sidebar, and something whose words are mostly no links is no menu.
    """
    tag = element.tag
    role = element.get("role")
    if role and (zone := _ROLES.get(role.strip().lower())):
        return zone
    if tag in _TAGS:
        return _zone_of_tag(element, around, within_article)
    if around is not Zone.CONTENT or tag in _PLAIN:
        return around
    names = element.get("class"), element.get("id")
    if names == (None, None):
        return around
    if (element.get("aria-label") or "").lower() == "breadcrumb":
        return Zone.NAVIGATION
    for zone, comments in _meanings(*names):
        if not _holds_title(element) if comments else _plausible(element, zone, within_article, page_size):
            return zone
    return around


@lru_cache(maxsize=4096)
def _meanings(classes: str | None, name: str | None) -> tuple[tuple[Zone, bool], ...]:
    """The zones that an element's class and id may name, and whether that is said of readers' comments."""
    names = f"{classes or ''} {name or ''}".lower().split()
    return tuple((zone, pattern is _COMMENTS) for name in names for zone, pattern in _NAMES if pattern.fullmatch(name))


def _zone_of_tag(element: HtmlElement, around: Zone, within_article: bool) -> Zone:
    match element.tag:
        case "header" if within_article:
            return around
        case "aside" if within_article and _REMARKS.search((element.get("class") or "").lower()):
            return around
        case "footer" if any(parent.tag in ("blockquote", "figure") for parent in element.iterancestors()):
            return around
        case "menu" if around is Zone.CONTENT and not _mostly_links(element):
            return around
    return _TAGS[str(element.tag)]


def _plausible(element: HtmlElement, zone: Zone, within_article: bool, page_size: float) -> bool:
    if zone is Zone.NAVIGATION:
        return _mostly_links(element)
    if zone is Zone.HEADER and within_article:
        return False
    return not _holds_title(element) and _size(element) <= page_size / 2


def _holds_title(element: HtmlElement) -> bool:
    return next(element.iter("main", "h1"), None) is not None


def _mostly_links(element: HtmlElement) -> bool:
    return 2 * sum(_size(link) for link in element.iter("a")) >= _size(element)


def _size(element: HtmlElement) -> float:
    return size_of_text(element)


def size_of_text(element: HtmlElement) -> float:
    """Characters of text in the element, runs of blanks as one."""
    return float(element.xpath("string-length(normalize-space(.))"))
