"""The demo site, traps and all: what tests/site/README.md says must come out of each page, comes out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.program import Program
from tests.support.tokens import real_counter

PUBLIC = Path(__file__).parent / "site" / "public"
BASE = "https://www.lindenhill.example"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    made = Program(tmp_path_factory.mktemp("demo"), str(PUBLIC), base_url=f"{BASE}/")
    assert made.sync().exit_code == 0
    return made


@pytest.fixture(scope="module")
def pages(program: Program) -> Mapping[str, Mapping[str, Any]]:
    return program.pages()


@pytest.mark.parametrize(
    ("path", "status", "language", "title"),
    [
        ("/about/apiaries.html", "indexed", "en", "Our three apiaries"),
        ("/about/history.xhtml", "indexed", "en", "A hundred years of the cooperative"),
        ("/archive/drone-brood-removal.html", "duplicate", "en", None),
        ("/contact.html", "thin", "en", None),
        ("/courses.html", "indexed", "en", None),
        ("/courses/", "indexed", "en", None),
        ("/de/archiv/gruendung.html", "indexed", "de", "Die Gründung im Jahr 1921"),
        ("/de/archiv/satzung-1998.html", "indexed", "de", "Satzung von 1998"),
        ("/de/pflanzen/bl%C3%BChstreifen.html", "indexed", "de", None),
        ("/de/winter/wintertraube.html", "indexed", "de", None),
        ("/forage/calendar.html", "indexed", "en", None),
        ("/forage/willow.html", "indexed", "en", None),
        ("/honig.html", "redirect", "", None),
        ("/lime.html", "duplicate", "en", None),
        ("/map.html", "thin", "en", None),
        ("/members/minutes.html", "noindex", "en", None),
        ("/mites.html", "redirect", "", None),
        ("/news/archive/spring-meeting.html", "indexed", "en", None),
        ("/news/bee-walk-2023.html", "indexed", "en", ""),
        ("/news/page/2/", "indexed", "en", None),
        ("/news/page/3/", "indexed", "en", None),
        ("/news/report-2024.html", "indexed", "en", None),
        ("/news/report-2025.html", "indexed", "en", None),
        ("/news/without-scripts.html", "thin", "en", None),
        ("/notes/hive-scale.html", "indexed", "en", None),
        ("/notes/letter-1987.html", "indexed", "en", None),
        ("/notes/old-almanac.html", "indexed", "en", "Sayings from an old almanac"),
        ("/notes/telephone-chain.html", "indexed", "en", None),
        ("/print/counting-mites.html", "duplicate", "en", None),
        ("/queens/queen-age.html", "indexed", "en", None),
        ("/queens/requeening.html", "indexed", "en", None),
        ("/queens/what%20is%20a%20nucleus.html", "indexed", "en", None),
    ],
)
def test_each_trap(
    pages: Mapping[str, Mapping[str, Any]], path: str, status: str, language: str, title: str | None
) -> None:
    page = pages[path]
    assert (page["status"], page["language"]) == (status, language)
    if title is not None:
        assert page["title"] == title


def test_the_error_page_is_no_page(pages: Mapping[str, Mapping[str, Any]]) -> None:
    assert "/404.html" not in pages


def test_duplicates_and_the_pages_that_stand_for_them(program: Program) -> None:
    rows = {
        (row["url"].removeprefix(BASE), row["duplicate_of"].removeprefix(BASE), row["kind"])
        for row in program.export()["duplicates"]
    }
    assert rows == {
        ("/archive/drone-brood-removal.html", "/varroa/drone-brood-removal.html", "same text"),
        ("/lime.html", "/forage/lime-trees.html", "same text"),
        ("/print/counting-mites.html", "/varroa/counting-mites.html", "same text"),
        ("/news/report-2025.html", "/news/report-2024.html", "nearly the same text"),
    }


def test_links_lead_to_the_page_however_they_are_spelled(program: Program) -> None:
    targets = {
        row["Destination"].removeprefix(BASE)
        for row in program.export()["inlinks"]
        if row["Source"] == f"{BASE}/news/" and row["Link Position"] == "Content"
    }
    assert {"/varroa/counting-mites.html", "/law/", "/harvest/"} <= targets


def test_no_page_has_neighbours_in_another_language(program: Program, pages: Mapping[str, Mapping[str, Any]]) -> None:
    rows = program.export()["neighbours"]
    assert rows
    for row in rows:
        one, other = (pages[row[key].removeprefix(BASE)] for key in ("url", "neighbour_url"))
        assert one["language"] == other["language"]
        assert other["status"] == "indexed"


def test_no_passage_is_longer_than_the_model_reads(program: Program) -> None:
    counter = real_counter()
    assert program.embedder.embedded
    assert max(counter.count(program.embedder.embedded)) <= counter.limit
