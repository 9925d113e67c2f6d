"""Pages that are there to get about a site, not to be read: no suggestion leads to them."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import parse_qsl, urlsplit

_TOP = """
search suche recherche buscar busca login log-in signin sign-in logout register signup sign-up account konto cart basket
warenkorb checkout kasse wishlist contact contact-us kontakt contacto contato imprint impressum mentions-legales privacy
privacy-policy datenschutz datenschutzerklaerung confidentialite privacidad privacidade terms terms-of-service
terms-of-use terms-and-conditions tos agb cgv cgu legal legal-notice disclaimer cookies cookie-policy subscribe
unsubscribe newsletter 404 403 500 thank-you
"""
_ALONE = frozenset(_TOP.split())
"""Names of such pages at the top of a site, or of one of its languages: deeper, a page may be about the thing."""
_ANYWHERE = {"sitemap", "site-map", "feed", "rss", "atom", "archive", "archives", "archiv", "tags", "categories"}
_LISTS = {"tag", "tags", "category", "categories", "kategorie", "kategorien", "categoria", "author", "authors", "label"}
_DATED = {"archive", "archives", "archiv", "date"}
_QUERIES = {"page", "paged", "p", "q", "s", "search", "query", "sort", "order", "filter", "tag", "cat", "replytocom"}
_LANGUAGE = re.compile(r"[a-z]{2}(?:[-_][a-z]{2,4})?")
_PAGE_NUMBER = re.compile(r"(?:page|seite|pagina)[-_/]?\d+|(?:.*/)?(?:page|seite|pagina)/\d+")
_YEAR = re.compile(r"(?:19|20)\d\d")
_MONTH_OR_DAY = re.compile(r"\d{1,2}")
_SUFFIX = re.compile(r"\.(?:html?|php|aspx?)$")


def _is_alone(steps: list[str]) -> bool:
    return steps[-1] in _ALONE and (len(steps) == 1 or (len(steps) == 2 and _LANGUAGE.fullmatch(steps[0]) is not None))


def _is_further_page(steps: list[str]) -> bool:
    return _PAGE_NUMBER.fullmatch("/".join(steps[-2:])) is not None or _PAGE_NUMBER.fullmatch(steps[-1]) is not None


def _is_date(steps: list[str]) -> bool:
    year, *rest = [step for step in steps if step not in _DATED] or [""]
    return len(steps) - len(rest) <= 2 and bool(_YEAR.fullmatch(year)) and all(map(_MONTH_OR_DAY.fullmatch, rest))


def _is_list(steps: list[str]) -> bool:
    return steps[-1] in _ANYWHERE or (len(steps) > 1 and steps[-2] in _LISTS)


_KINDS: tuple[tuple[Callable[[list[str]], bool], str], ...] = (
    (_is_further_page, "a further page of a list"),
    (_is_date, "an archive by date"),
    (_is_list, "a list of pages"),
    (_is_alone, "a page for getting about"),
)


def utility(url: str, home: str) -> str | None:
    """What kind of page the address names, where it is the home page, a list, a search or a form; else None."""
    parts = urlsplit(url)
    steps = [step for step in _SUFFIX.sub("", parts.path.lower().rstrip("/")).split("/") if step]
    if url == home or not (steps or parts.query):
        return "the home page"
    if _QUERIES & {name.lower() for name, _ in parse_qsl(parts.query, keep_blank_values=True)}:
        return "a search or a list"
    return next((kind for matches, kind in _KINDS if steps and matches(steps)), None)
