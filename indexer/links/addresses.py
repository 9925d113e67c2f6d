"""Which page a link leads to."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain
from typing import Generic, Protocol, TypeVar

from indexer.records import Link, PageRow, Zone
from indexer.urls import twins

_HOPS = 10


class Known(Protocol):
    """What is known at an address: it may lead to another one, or another page may stand for it."""

    @property
    def redirect_to(self) -> str | None: ...

    @property
    def stands_for(self) -> str | None: ...


_Known = TypeVar("_Known", bound=Known)


class Addresses(Generic[_Known]):
    """Finds the page behind an address, as a visitor would: past redirects, with or without slash and .html; of several
    pages with one text the one that stands for all."""

    def __init__(self, find: Callable[[str], _Known | None]) -> None:
        self._find = find

    def at(self, url: str) -> _Known | None:
        """What is known at `url` itself, be it a redirect, or at another spelling of it."""
        return next(filter(None, map(self._find, chain((url,), twins(url)))), None)

    def page(self, url: str) -> _Known | None:
        """The page a link to `url` ends at; None where no such page is known, or redirects go in circles."""
        for _ in range(_HOPS):
            found = self.at(url)
            further = found and (found.redirect_to or found.stands_for)
            if not further:
                return found
            url = further
        return None


def content_targets(links: Iterable[Link], addresses: Addresses[PageRow]) -> set[str]:
    """The URLs of the pages that content links lead to."""
    pages = (addresses.page(link.target) for link in links if link.zone is Zone.CONTENT)
    return {page.url for page in pages if page is not None}
