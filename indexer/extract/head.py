"""What a page says of itself to machines: its base address, canonical, robots, where it forwards to, its language."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urljoin

from lxml.html import HtmlElement  # noqa: TID251

from indexer.extract.languages import primary_language
from indexer.urls import Site, absolute

_FORWARD_WITHIN = 10.0
"""Seconds: a page that refreshes later than this is meant to be read."""
_REFRESH = re.compile(
    r"""\s*(\d*)(?:\.[\d.]*)?\s*(?:[;,\s]\s*)?(?:url\s*=\s*)?(?:"([^"]*)|'([^']*)|(.*))""", re.IGNORECASE | re.DOTALL
)
_VALUED = ("max-snippet", "max-image-preview", "max-video-preview", "unavailable_after")
_MOUNTS = frozenset(("root", "app", "application", "main", "__next", "__nuxt", "___gatsby", "svelte", "q-app"))


@dataclass(frozen=True, slots=True)
class Head:
    """Addresses are resolved, nothing is decided. `canonical` is None where it names no page of the site, and
    `elsewhere` says so; `scripted` that the page has a place for scripts to fill, or asks for scripts."""

    base: str
    title: str
    og_title: str
    site_names: tuple[str, ...]
    canonical: str | None
    elsewhere: bool
    noindex: bool
    nofollow: bool
    refresh: str | None
    language: str | None
    scripted: bool


def read_head(root: HtmlElement, url: str, site: Site, robots_tag: str) -> Head:
    """Read the elements of the head, wherever on the page they stand, but for those meant for visitors without
    scripts."""
    metas = [meta for meta in root.iter("meta") if _is_meant(meta)]
    base = _base(root, url)
    canonical = _canonical(root)
    directives = _directives(_contents(metas, "name", "robots"), robots_tag)
    own = None if canonical is None else site.page(canonical, base)
    return Head(
        base=base,
        title=next((text for e in root.iter("title") if _in_head(e) and (text := _collapsed(e.text_content()))), ""),
        og_title=next((text for c in _contents(metas, "property", "og:title") if (text := _collapsed(c))), ""),
        site_names=tuple(
            name
            for key, value in (("property", "og:site_name"), ("name", "application-name"))
            for content in _contents(metas, key, value)
            if (name := _collapsed(content))
        ),
        canonical=own,
        elsewhere=canonical is not None and own is None,
        noindex=not directives.isdisjoint(("noindex", "none")),
        nofollow=not directives.isdisjoint(("nofollow", "none")),
        refresh=_refresh(_contents(metas, "http-equiv", "refresh"), url, base, site),
        language=_language(root, _contents(metas, "http-equiv", "content-language")),
        scripted=_waits_for_scripts(root),
    )


def _waits_for_scripts(root: HtmlElement) -> bool:
    if next(root.iter("script"), None) is None:
        return False
    if any("javascript" in element.text_content().lower() for element in root.iter("noscript")):
        return True
    mounts = (e for e in root.iter() if e.get("id") in _MOUNTS or "-" in str(e.tag))
    return any(not element.text_content().strip() for element in mounts)


def _is_meant(element: HtmlElement) -> bool:
    return all(parent.tag not in ("noscript", "template") for parent in element.iterancestors())


def _in_head(element: HtmlElement) -> bool:
    return all(parent.tag not in ("svg", "symbol", "template") for parent in element.iterancestors())


def _collapsed(text: str) -> str:
    return " ".join(text.split())


def _contents(metas: list[HtmlElement], key: str, value: str) -> Iterator[str]:
    """The contents of the meta elements of this name; some write `name` where `property` is meant."""
    for meta in metas:
        names = (meta.get(key), meta.get("name") if key == "property" else None)
        if any(name is not None and name.strip().lower() == value for name in names):
            yield meta.get("content") or ""


def _base(root: HtmlElement, url: str) -> str:
    """The address that the page's links are relative to; a base that is no address counts for nothing."""
    href = next((base.get("href") for base in root.iter("base") if base.get("href")), None)
    if href is None:
        return url
    try:
        base = urljoin(url, href.strip())
    except ValueError:
        return url
    return base if absolute(base, url) is not None else url


def _canonical(root: HtmlElement) -> str | None:
    for link in root.iter("link"):
        href = (link.get("href") or "").strip()
        if href and "canonical" in (link.get("rel") or "").lower().split() and _is_meant(link):
            return href
    return None


def _directives(contents: Iterator[str], header: str) -> set[str]:
    """What all crawlers are told. In the header a crawler's name may stand before what follows it."""
    directives = {directive for content in contents for directive in re.split(r"[,\s]+", content.lower())}
    meant = True
    for part in header.lower().split(","):
        name, colon, rest = part.partition(":")
        if colon and name.strip() not in _VALUED:
            meant = name.strip() in ("*", "robots")
            part = rest
        if meant:
            directives.add(part.strip())
    return directives


def _refresh(contents: Iterator[str], url: str, base: str, site: Site) -> str | None:
    """Where a meta refresh leads at once; None for a page that only loads itself again."""
    for content in contents:
        found = _REFRESH.match(content)
        if found is None or float(found[1] or 0) > _FORWARD_WITHIN:
            continue
        href = (found[2] or found[3] or found[4] or "").strip()
        target = absolute(href, base) if href else None
        target = target and (site.page(target) or target)
        if target is not None and target != url:
            return target
    return None


def _language(root: HtmlElement, contents: Iterator[str]) -> str | None:
    """The primary subtag of the language that the page declares."""
    body = root.find("body")
    declared = [element.get(name) for element in (root, body) if element is not None for name in ("lang", "xml:lang")]
    return next((found for tag in (*declared, *contents) if tag and (found := primary_language(tag))), None)
