"""Incremental means equal: after any sequence of events the index is what a fresh one over the same site would be."""

from __future__ import annotations

import asyncio
import random
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from indexer import neighbours
from indexer.links import ranking
from indexer.links.review import Verdict
from indexer.links.touched import Change
from indexer.records import Discovered, Found, Summary
from indexer.state.pages import Pages
from indexer.state.writing import State, open_state
from indexer.sync import Request, linking, lists, run
from indexer.sync.reviewing import review
from tests.support.embedders import HashingEmbedder
from tests.support.stores import ModelStore
from tests.support.toysite import SITE, ToyPage, ToySite, toy_parts

WORDS = ("bee", "hive", "honey", "queen")
GONE_AFTER = 2

paths = st.integers(0, 17).map(lambda n: f"{SITE.base}{'p' * (n % 3)}{n}")
titles = st.sampled_from(("Bees", "Bees", "Hives"))


def a_text(number: int) -> str:
    """Few words in any order: equal texts, and equal vectors of different texts, come by themselves."""
    dice = random.Random(number)
    return " ".join(dice.choices(WORDS, k=dice.randint(3, 4)))


def a_page(number: int) -> ToyPage:
    dice = random.Random(number)
    return ToyPage(
        title=dice.choice(("Bees", "Bees", "Hives")),
        paragraphs=tuple(a_text(dice.randrange(10**6)) for _ in range(dice.randint(1, 2))),
        language=dice.choice(("en", "en", "en", "de")),
        noindex=dice.random() < 0.1,
        canonical=f"{SITE.base}{dice.randrange(18)}" if dice.random() < 0.2 else None,
        links=tuple(f"{SITE.base}{'p' * (n % 3)}{n}" for n in dice.sample(range(18), dice.choice((0, 0, 1, 2)))),
    )


# Hypothesis likes to draw the same value many times over; from numbers like these it makes pages that differ.
paragraphs = st.integers(0, 10**6).map(a_text)
toy_pages = st.integers(0, 10**6).map(a_page)


def export(state: State) -> tuple[list[Any], list[Any], list[Any]]:
    """Everything promised to be equal: pages and suggestions without their history, and all lists to the last digit."""
    pages = [replace(page, page=0, first_seen="", changed="", note=None) for page in state.reads.pages()]
    suggestions = [row.suggestion._replace(first_seen="") for row in state.reads.suggestions()]
    return pages, list(state.reads.all_neighbours()), suggestions


def fresh_export(site: ToySite, like: State, directory: Path) -> tuple[list[Any], ...]:
    """What an index made from nothing holds, given the same known URLs, decisions and statistics."""

    async def discover(_: object, __: frozenset[str]) -> Discovered:
        found = await site.discover(None, frozenset())
        known = (Found(url) for url, page in like.pages.all_known().items() if page.listed)
        return replace(found, found=(*found.found, *known))

    with open_state(directory / "fresh.db") as state:
        store = ModelStore()
        parts = toy_parts(site, HashingEmbedder(), lambda _: store, discover=discover)
        _give(state, like)
        for _ in range(GONE_AFTER + 1):
            asyncio.run(run(parts, state, Request(allow_removals=True)))
        return export(state)


def _give(state: State, like: State) -> None:
    """Give a fresh index the statistics and the decisions of another, the statistics to keep for good."""
    for table in ("corpus", "decisions"):
        for row in like.db.execute(f"SELECT * FROM {table}").fetchall():
            state.db.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)
    state.db.execute("UPDATE corpus SET churn = -1000000")


class Publishing(RuleBasedStateMachine):
    """People edit a site of a dozen pages and more, things fail, and syncs run in between."""

    def __init__(self) -> None:
        super().__init__()
        self.directory = tempfile.TemporaryDirectory()
        self.site = ToySite()
        self.state = open_state(Path(self.directory.name) / "indexer.db")
        self.store = ModelStore()
        self.parts = toy_parts(self.site, HashingEmbedder(), lambda _: self.store)

    def sync(self, *urls: str) -> Summary:
        return asyncio.run(run(self.parts, self.state, Request(urls=urls, allow_removals=True)))

    @initialize(seed=st.integers(0, 10**6), size=st.integers(12, 18))
    def publish_the_site(self, seed: int, size: int) -> None:
        self.site.pages = {f"{SITE.base}{'p' * (n % 3)}{n}": a_page(seed + n) for n in range(size)}
        self.sync()

    def some(self, data: st.DataObject) -> str:
        return data.draw(st.sampled_from(sorted(self.site.pages)), "page")

    @rule(url=paths, page=toy_pages)
    def publish_or_replace_a_page(self, url: str, page: ToyPage) -> None:
        self.site.redirects.pop(url, None)
        self.site.pages[url] = page

    @precondition(lambda self: self.site.pages)
    @rule(data=st.data(), text=paragraphs)
    def edit_a_paragraph(self, data: st.DataObject, text: str) -> None:
        url = self.some(data)
        page = self.site.pages[url]
        self.site.pages[url] = replace(page, paragraphs=(text, *page.paragraphs[1:]))

    @precondition(lambda self: self.site.pages)
    @rule(data=st.data(), title=titles)
    def rename_a_title(self, data: st.DataObject, title: str) -> None:
        url = self.some(data)
        self.site.pages[url] = replace(self.site.pages[url], title=title)

    @precondition(lambda self: self.site.pages)
    @rule(data=st.data(), language=st.sampled_from(("en", "de")))
    def change_a_language(self, data: st.DataObject, language: str) -> None:
        url = self.some(data)
        self.site.pages[url] = replace(self.site.pages[url], language=language)

    @precondition(lambda self: self.site.pages)
    @rule(data=st.data())
    def turn_noindex(self, data: st.DataObject) -> None:
        url = self.some(data)
        self.site.pages[url] = replace(self.site.pages[url], noindex=not self.site.pages[url].noindex)

    @precondition(lambda self: self.site.pages)
    @rule(data=st.data(), canonical=st.one_of(st.none(), paths))
    def set_a_canonical(self, data: st.DataObject, canonical: str | None) -> None:
        url = self.some(data)
        self.site.pages[url] = replace(self.site.pages[url], canonical=canonical)

    @precondition(lambda self: len(self.site.pages) > 1)
    @rule(data=st.data())
    def swap_two_texts(self, data: st.DataObject) -> None:
        one, two = self.some(data), self.some(data)
        self.site.pages[one], self.site.pages[two] = self.site.pages[two], self.site.pages[one]

    @precondition(lambda self: self.site.pages)
    @rule(data=st.data(), url=paths)
    def copy_a_page(self, data: st.DataObject, url: str) -> None:
        self.site.redirects.pop(url, None)
        self.site.pages[url] = self.site.pages[self.some(data)]

    @precondition(lambda self: len(self.site.pages) > 12)
    @rule(data=st.data())
    def delete_a_page(self, data: st.DataObject) -> None:
        del self.site.pages[self.some(data)]

    @precondition(lambda self: self.site.pages)
    @rule(data=st.data(), url=paths, forward=st.booleans())
    def move_a_page(self, data: st.DataObject, url: str, forward: bool) -> None:
        old = self.some(data)
        self.site.redirects.pop(url, None)
        self.site.pages[url] = self.site.pages.pop(old)
        if forward and old != url:
            self.site.redirects[old] = url

    @rule(url=paths)
    def fail_at_a_page(self, url: str) -> None:
        self.site.failing.add(url)

    @rule()
    def mend_the_server(self) -> None:
        self.site.failing.clear()

    @rule(broken=st.booleans())
    def break_or_mend_the_sitemap(self, broken: bool) -> None:
        self.site.sitemap_broken = broken

    @rule(url=paths)
    def leave_out_of_the_sitemap(self, url: str) -> None:
        self.site.unlisted ^= {url}

    @rule()
    def sync_the_site(self) -> None:
        self.sync()

    @rule(url=paths)
    def sync_one_url(self, url: str) -> None:
        self.sync(url)

    @rule(data=st.data(), verdict=st.sampled_from(("accept", "accept", "reject", "undo")))
    def review_a_suggestion(self, data: st.DataObject, verdict: str) -> None:
        rows = list(self.state.reads.suggestions())
        if rows:
            review(
                self.state, data.draw(st.sampled_from(rows), "suggestion").suggestion.id, Verdict(verdict), "", "now"
            )

    @precondition(lambda self: self.site.pages)
    @rule(data=st.data(), linked=st.lists(paths, max_size=2))
    def set_the_links_of_a_page(self, data: st.DataObject, linked: list[str]) -> None:
        url = self.some(data)
        self.site.pages[url] = replace(self.site.pages[url], links=tuple(linked))

    @rule()
    def compare_with_a_fresh_index(self) -> None:
        self.site.failing.clear()
        self.site.sitemap_broken = False
        for _ in range(GONE_AFTER + 1):
            self.sync()
        ours = export(self.state)
        with tempfile.TemporaryDirectory() as directory:
            fresh = fresh_export(self.site, self.state, Path(directory))
        assert ours == fresh

    def teardown(self) -> None:
        try:
            self.compare_with_a_fresh_index()
        finally:
            self.state.close()
            self.directory.cleanup()


QUICK = settings(
    max_examples=40,
    stateful_step_count=25,
    deadline=None,
    derandomize=True,
    print_blob=False,
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(autouse=True)
def _limits_that_bind(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a dozen pages no list of candidates is full, and each change would make the statistics anew."""
    monkeypatch.setattr(ranking, "LEXICAL", 2)
    monkeypatch.setattr(ranking, "TITLED", 2)
    monkeypatch.setattr(linking, "_STALE", 1.0)


def test_any_sequence_of_events_gives_the_fresh_index() -> None:
    run_state_machine_as_test(Publishing, settings=QUICK)


@contextmanager
def sabotaged(owner: Any, name: str, broken: Callable[..., Any]) -> Iterator[None]:
    """Replace one function by a broken one, to see that the machine above notices."""
    whole = getattr(owner, name)
    setattr(owner, name, broken)
    try:
        yield
    finally:
        setattr(owner, name, whole)


def _no_reverse_update(state: State, _: object, pages: list[int], *__: object) -> int:
    with state.transaction():
        state.lists.unmark("spread", pages)
    return 0


def _ties_as_they_come(picture: neighbours.Picture, scored: Any, rule: neighbours.Rule) -> Any:
    near = sorted(((row, score) for row, score in scored if score >= rule.floor), key=lambda entry: -entry[1])
    return [neighbours.Neighbour(int(picture.pages[row]), score) for row, score in near[: rule.keep]]


def _no_takeover(pages: Pages, standing: dict[int, int | None]) -> list[int]:
    return _stand(pages, {page: other for page, other in standing.items() if other is not None})


_stand = Pages.stand


def _names_that_came_unheard(change: Change, *rest: Any) -> set[int]:
    return _touched(replace(change, named=frozenset()), *rest)


def _only_the_changed_pages_ranked(change: Change, *_: Any) -> set[int]:
    return set(change.sources)


_touched = linking.touched

SABOTAGE = {
    "names that came are not looked for": (linking, "touched", _names_that_came_unheard),
    "only the changed pages are ranked": (linking, "touched", _only_the_changed_pages_ranked),
    "no reverse update": (lists, "_spread", _no_reverse_update),
    "ties as they come": (neighbours, "_best", _ties_as_they_come),
    "no takeover of a duplicate": (Pages, "stand", _no_takeover),
}


@pytest.mark.parametrize("what", SABOTAGE)
def test_the_machine_notices(what: str) -> None:
    without_shrinking = settings(QUICK, phases=[Phase.generate], report_multiple_bugs=False)
    with sabotaged(*SABOTAGE[what]), pytest.raises(AssertionError):
        run_state_machine_as_test(Publishing, settings=without_shrinking)
