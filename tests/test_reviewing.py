"""What people say of suggestions, over runs in which the site changes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from indexer.errors import UnknownSuggestion
from indexer.links.review import Verdict
from indexer.records import Suggestion, Summary
from indexer.state.writing import State, open_state
from indexer.sync import Request, run
from indexer.sync.explaining import Explanation, explain
from indexer.sync.reviewing import review
from tests.support.embedders import HashingEmbedder
from tests.support.stores import ModelStore
from tests.support.toysite import SITE, TOY_LINKS, ToyPage, ToySite, toy_parts

HIVES, QUEENS = f"{SITE.base}hives", f"{SITE.base}queens"


class Desk:
    """A site about bees, its index, and an editor's questions to it."""

    def __init__(self, state: State) -> None:
        self.state, self.store = state, ModelStore()
        self.site = ToySite(
            {
                HIVES: ToyPage("Hives", ("A hive holds queen rearing frames and honey.", "Paint the hive white.")),
                QUEENS: ToyPage("Queen rearing", ("Queen rearing begins in May with young larvae.",)),
                f"{SITE.base}honey": ToyPage("Honey", ("Honey is taken in July and strained twice.",)),
            }
        )

    def sync(self) -> Summary:
        parts = toy_parts(self.site, HashingEmbedder(), lambda _: self.store)
        return asyncio.run(run(parts, self.state, Request(allow_removals=True)))

    def suggestion(self, source: str = HIVES, target: str = QUEENS) -> Suggestion | None:
        return next((row.suggestion for row in self.state.reads.suggestions(source, target)), None)

    def review(self, verdict: Verdict) -> None:
        found = self.suggestion()
        assert found is not None
        review(self.state, found.id, verdict, "", "2026-01-01")

    def status(self) -> str | None:
        found = self.suggestion()
        return found and found.status

    def explain(self, source: str, target: str) -> Explanation:
        return explain(self.state, self.state.embeddings.model("toy"), TOY_LINKS, source, target)

    def edit(self, url: str, **changes: tuple[str, ...]) -> None:
        self.site.pages[url] = replace(self.site.pages[url], **changes)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with open_state(tmp_path / "indexer.db") as state:
        made = Desk(state)
        made.sync()
        yield made


def test_the_words_that_name_the_page_are_suggested(desk: Desk) -> None:
    found = desk.suggestion()
    assert found is not None
    assert found.anchor == "queen rearing"
    assert found.html == f'A hive holds <a href="{QUEENS}">queen rearing</a> frames and honey.'


def test_a_rejected_pair_stays_away_until_it_is_undone(desk: Desk) -> None:
    desk.review(Verdict.REJECT)
    desk.edit(QUEENS, paragraphs=("Queen rearing begins in April with young larvae.",))
    desk.sync()
    assert desk.status() == "rejected"
    desk.review(Verdict.UNDO)
    desk.sync()
    assert desk.status() == "open"


def test_a_rejected_pair_follows_a_page_that_moves(desk: Desk) -> None:
    desk.review(Verdict.REJECT)
    moved = f"{SITE.base}queens-of-may"
    desk.site.pages[moved] = desk.site.pages.pop(QUEENS)
    desk.sync()
    desk.sync()
    found = desk.suggestion(HIVES, moved)
    assert found is not None
    assert found.status == "rejected"


def test_an_accepted_link_that_is_found_is_placed(desk: Desk) -> None:
    desk.review(Verdict.ACCEPT)
    desk.sync()
    assert desk.status() == "accepted"
    desk.edit(HIVES, links=(QUEENS,))
    desk.sync()
    assert desk.status() == "placed"


def test_an_accepted_link_whose_text_changes_is_stale(desk: Desk) -> None:
    desk.review(Verdict.ACCEPT)
    desk.edit(HIVES, paragraphs=("A hive holds frames.", "Paint the hive blue."))
    desk.sync()
    assert desk.status() == "stale"


def test_an_accepted_link_to_a_page_that_goes_is_stale(desk: Desk) -> None:
    desk.review(Verdict.ACCEPT)
    del desk.site.pages[QUEENS]
    for _ in range(3):
        desk.sync()
    assert desk.status() == "stale"


def test_what_is_linked_is_not_suggested(desk: Desk) -> None:
    desk.edit(HIVES, links=(QUEENS,))
    desk.sync()
    assert desk.status() is None


def test_a_pair_is_explained_by_what_each_feature_adds(desk: Desk) -> None:
    found = desk.explain(HIVES, QUEENS)
    assert found.verdict.startswith("open")
    assert max(found.features, key=lambda feature: feature[2])[2] > 0
    assert found.score == desk.suggestion().score  # type: ignore[union-attr]


def test_a_pair_that_a_rule_keeps_out_is_explained_by_the_rule(desk: Desk) -> None:
    desk.edit(HIVES, links=(QUEENS,))
    desk.sync()
    assert "linked already" in desk.explain(HIVES, QUEENS).verdict
    assert "itself" in desk.explain(HIVES, HIVES).verdict
    assert "not indexed" in desk.explain(HIVES, f"{SITE.base}nowhere").verdict


def test_an_unknown_suggestion_is_named(desk: Desk) -> None:
    with pytest.raises(UnknownSuggestion, match="nix"):
        review(desk.state, "nix", Verdict.ACCEPT, "", "now")
