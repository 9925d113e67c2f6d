"""What tests share: a web server, and `indexer` with everything real but the model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.program import Program
from tests.support.web import Server, Site, html

TEXT = (
    "Bees find their way home by the sun, by landmarks and by the smell of their own hive, and they tell each other"
    " where the flowers are. Page {n} of this site says so in its own words, number {n}, and then a little more."
)


def a_site(pages: int = 12) -> Site:
    """A home page that links to every other page, each with a text of its own."""
    paths = [f"/page{n}" for n in range(1, pages)]
    made = {path: html(f"Page {path[5:]}", TEXT.format(n=path[5:]), f"Only here: topic{path[5:]}.") for path in paths}
    home = html("Home", TEXT.format(n=0), "Everything about bees stands here.", links=tuple(paths))
    return Site({"/": home, **made})


@pytest.fixture
def server() -> Iterator[Server]:
    with Server(a_site()) as running:
        yield running


@pytest.fixture
def program(server: Server, tmp_path: Path) -> Program:
    """`indexer` configured for the server's site."""
    return Program(tmp_path, server.base)
