"""Nobody may call a full recomputation incremental: what a small change costs, at 100 and at 2,000 pages."""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace
from pathlib import Path

import pytest

from indexer.neighbours import Rule
from indexer.records import Summary
from indexer.state.writing import State, open_state
from indexer.sync import Request, run
from tests.support.embedders import HashingEmbedder
from tests.support.stores import ModelStore
from tests.support.toysite import SITE, ToyPage, ToySite, toy_parts

WORDS = [f"word{n}" for n in range(300)]


def a_page(number: int, edition: int = 0) -> ToyPage:
    dice = random.Random(number * 1000 + edition)
    return ToyPage(f"Page {number}", tuple(" ".join(dice.choices(WORDS, k=12)) for _ in range(3)))


@pytest.mark.parametrize("size", [100, 2000])
def test_the_cost_of_a_change_does_not_grow_with_the_site(tmp_path: Path, size: int) -> None:
    site = ToySite({f"{SITE.base}{n}": a_page(n) for n in range(size)})
    store, embedder = ModelStore(), HashingEmbedder()
    parts = replace(toy_parts(site, embedder, lambda _: store), rule=Rule(keep=5, floor=0.0))
    with open_state(tmp_path / "indexer.db") as state:

        def sync() -> Summary:
            return asyncio.run(run(parts, state, Request()))

        sync()
        for edition in range(1, 4):
            listers = _listers(state, f"{SITE.base}7")
            store.asked = 0
            site.pages[f"{SITE.base}7"] = a_page(7, edition)
            summary = sync()
            assert summary.embedded_passages == 3
            assert summary.lists_asked == listers + 1
            assert store.asked <= 2 * summary.lists_asked
            assert summary.texts_read < 200
            assert summary.lists_asked < 60
            assert summary.lists_changed < 120


def _listers(state: State, url: str) -> int:
    return len({row.url for row in state.reads.all_neighbours() if row.neighbour_url == url})
