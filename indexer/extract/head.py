"""What a page says about itself: title, language, canonical, robots, where it forwards to."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import urljoin

from lxml import etree  # noqa: TID251

from indexer.extract.dom import DomBlock
from indexer.records import BlockKind, Zone
from indexer.urls import Site, absolute

_FORWARD_WITHIN = 10.0
"""Seconds: a page that refreshes later than this is meant to be read."""
_REFRESH = re.compile(r"\s*([\d.]*)\s*(?:[;,]\s*(?:url\s*=\s*)?[\"']?([^\"']*)[\"']?)?\s*$", re.IGNORECASE | re.DOTALL)
_SEPARATORS = re.compile(r"\s+[|\-–—·•»:/]\s+|\s*[|»•]\s*|:\s+")
_LANGUAGE = re.compile(r"([A-Za-z]{2,3})(?:[-_].*)?$")
_CERTAIN = 0.995
_ENOUGH_WORDS = 60
_MOST_CHARACTERS = 4000


@dataclass(frozen=True, slots=True)
class Head:
    """The page's own words about itself; addresses resolved, nothing decided."""

    base: str
    canonical: str | None
    canonical_elsewhere: bool
    noindex: bool
    nofollow: bool
    refresh: str | None
    declared_language: str | None


def read_head(root: Any, url: str, site: Site, robots_tag: str) -> Head:
    base = _base(root, url)
    canonical = next(
        (e.get("href") for e in root.iter("link") if "canonical" in _words(e.get("rel")) and e.get("href")), None
    )
    inside = site.page(canonical, base) if canonical else None
    robots = _robots(root, robots_tag)
    return Head(
        base=base,
        canonical=inside,
        canonical_elsewhere=bool(canonical) and inside is None,
        noindex=bool(robots & {"noindex", "none"}),
        nofollow=bool(robots & {"nofollow", "none"}),
        refresh=_refresh(root, url, base, site),
        declared_language=_declared_language(root),
    )


def _base(root: Any, url: str) -> str:
    href = next((e.get("href") for e in root.iter("base") if e.get("href")), None)
    try:
        base = urljoin(url, href.strip()) if href else url
    except ValueError:
        return url
    return base if absolute(base, url) else url


def _words(text: str | None) -> set[str]:
    return set((text or "").lower().split())


def _robots(root: Any, header: str) -> set[str]:
    """The directives of robots meta elements and of X-Robots-Tag, those for a named crawler left out."""
    directives: set[str] = set()
    for element in root.iter("meta"):
        if (element.get("name") or "").strip().lower() == "robots":
            directives |= set(re.split(r"[,\s]+", (element.get("content") or "").lower()))
    for part in header.lower().split(","):
        agent, colon, rest = part.partition(":")
        if not colon:
            directives.add(part.strip())
        elif agent.strip() in ("*", "robots"):
            directives.add(rest.strip())
    return directives


def _refresh(root: Any, url: str, base: str, site: Site) -> str | None:
    """Where a meta refresh leads at once. Inside <noscript> it concerns visitors without scripts only: sites put it on
    every page, to one and the same address."""
    for element in root.iter("meta"):
        if (element.get("http-equiv") or "").strip().lower() != "refresh":
            continue
        if any(parent.tag in ("noscript", "template") for parent in element.iterancestors()):
            continue
        found = _REFRESH.match(element.get("content") or "")
        if not found or not (found[2] or "").strip() or float(found[1].strip(".") or 0) > _FORWARD_WITHIN:
            continue
        target = absolute(found[2], base)
        if target and (site.page(target) or target) != url:
            return site.page(target) or target
    return None


def _declared_language(root: Any) -> str | None:
    tags = [root.get("lang"), root.get("{http://www.w3.org/XML/1998/namespace}lang"), root.get("xml:lang")]
    tags += [e.get("content") for e in root.iter("meta") if (e.get("http-equiv") or "").lower() == "content-language"]
    for tag in filter(None, tags):
        if found := _LANGUAGE.match(tag.strip()):
            return found[1].lower()
    return None


# --- title ----------------------------------------------------------------------------------------------------------


def page_title(root: Any, blocks: Sequence[DomBlock]) -> str:
    """The page's own title: its h1, else og:title, else <title>, without the site's name where the page gives it."""
    whole = _text(next(root.iter("title"), None))
    names = _meta(root, "og:site_name", "application-name")
    title = _meta(root, "og:title") or [whole] if whole else _meta(root, "og:title")
    if heading := _main_heading(root, whole):
        return heading
    if title and title[0]:
        return without_site_name(title[0], names)
    return next((b.block.text for b in blocks if b.block.kind is BlockKind.HEADING and b.zone is Zone.CONTENT), "")


def without_site_name(title: str, names: Sequence[str]) -> str:
    """The title without a site's name that stands at its end or beginning, set off by a separator."""
    for name in filter(None, names):
        for cut in _SEPARATORS.finditer(title):
            if _same(title[cut.end() :], name) and title[: cut.start()].strip():
                return title[: cut.start()].strip()
            if _same(title[: cut.start()], name) and title[cut.end() :].strip():
                return title[cut.end() :].strip()
    return title


def _main_heading(root: Any, whole: str) -> str:
    """The h1 that is the page's: not a logo in the header; of several, the one whose words stand in <title>."""
    headings = [(e, _text(e)) for e in root.iter("h1")]
    own = [text for element, text in headings if text and not _is_logo(element)]
    if not own:
        return ""
    wanted = set(re.findall(r"\w+", whole.lower()))
    return max(own, key=lambda text: len(wanted & set(re.findall(r"\w+", text.lower())))) if wanted else own[0]


def _is_logo(element: Any) -> bool:
    link = next(element.iter("a"), None)
    home = (
        link is not None
        and (link.get("href") or "").rstrip("/").count("/") in (0, 2)
        and not (link.get("href") or "").startswith("#")
    )
    for parent in element.iterancestors():
        if parent.tag in ("article", "main", "section"):
            return False
        if parent.tag in ("header", "nav", "footer", "aside"):
            return True
    return home and link is not None and _text(link) == _text(element)


def _meta(root: Any, *names: str) -> list[str]:
    named = (e for e in root.iter("meta") if (e.get("property") or e.get("name") or "").lower() in names)
    return list(filter(None, (" ".join((e.get("content") or "").split()) for e in named)))


def _text(element: Any) -> str:
    if element is None:
        return ""
    return " ".join("".join(element.itertext(tag=etree.Element)).split())


def _same(one: str, other: str) -> bool:
    return re.sub(r"\W+", "", one).lower() == re.sub(r"\W+", "", other).lower()


# --- language -------------------------------------------------------------------------------------------------------


def page_language(declared: str | None, prose: str) -> str:
    """The language a page is written in: as declared, but for a long text that clearly is in another; "und" where
    nothing tells."""
    words = len(re.findall(r"\w+", prose))
    if declared and words < _ENOUGH_WORDS and len(prose) < 4 * _ENOUGH_WORDS:
        return declared
    if not prose.strip():
        return declared or "und"
    found, certainty = _identifier().classify(prose[:_MOST_CHARACTERS])
    if declared is None:
        return str(found) if certainty > 0.5 else "und"
    return str(found) if certainty > _CERTAIN else declared


@cache
def _identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # type: ignore[import-untyped]

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
