"""Hiding a site's own links: what is left is the site without them, and the figures count what they say."""

from __future__ import annotations

import asyncio
import tempfile
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from indexer.errors import UsageError
from indexer.links.agreement import agreement
from indexer.links.hiding import MadeLink, chosen
from indexer.links.pairs import Spot
from indexer.records import Agreement
from indexer.state.writing import State, open_state
from indexer.sync import Request, run
from indexer.sync.evaluating import BareSite, evaluate, hide, made_links
from indexer.sync.ranker import Ranker, StoredTexts, site_pages
from tests.support.embedders import HashingEmbedder
from tests.support.stores import ModelStore
from tests.support.toysite import SITE, TOY_LINKS, Quiet, ToyPage, ToySite, toy_parts
from tests.test_incremental import a_page


def an_index(stack: ExitStack, pages: dict[str, ToyPage]) -> tuple[State, int]:
    directory = stack.enter_context(tempfile.TemporaryDirectory())
    state = stack.enter_context(open_state(Path(directory) / "indexer.db"))
    store = ModelStore()
    asyncio.run(run(toy_parts(ToySite(pages), HashingEmbedder(), lambda _: store), state, Request()))
    return state, state.embeddings.model("toy")


def linked_pages(seed: int, size: int) -> dict[str, ToyPage]:
    """Pages with texts long enough to be prose, most of which link."""
    urls = [f"{SITE.base}bees-{n}" for n in range(size)]
    pages = {}
    for n, url in enumerate(urls):
        page = a_page(seed + n)
        links = tuple(urls[int(link.rsplit("/", 1)[1].lstrip("p")) % size] for link in (*page.links, f"/{seed + n}"))
        words = tuple(f"{text} and {text} again {n} {m}" for m, text in enumerate(page.paragraphs))
        pages[url] = replace(page, canonical=None, noindex=False, paragraphs=words, links=tuple(dict.fromkeys(links)))
    return pages


@settings(max_examples=30, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6), size=st.integers(8, 14), share=st.sampled_from((0.3, 0.6, 1.0)))
def test_a_site_with_hidden_links_is_ranked_as_the_site_without_them(seed: int, size: int, share: float) -> None:
    pages = linked_pages(seed, size)
    with ExitStack() as stack:
        state, model = an_index(stack, pages)
        site, texts = site_pages(state.linking, model, {}), StoredTexts(state, model)
        hidden = hide(site, made_links(site, texts, Quiet()), share, seed)
        bare = BareSite(site, texts, hidden)
        gone = {(site.pages[s].url, site.pages[t].url) for s, t in hidden.pairs}
        cut = {
            # The words that other links stand on stay where they are.
            url: replace(page, links=tuple("" if (url, link) in gone else link for link in page.links))
            for url, page in pages.items()
        }
        other, model = an_index(stack, cut)
        assume(hidden.links)
        without, words = site_pages(other.linking, model, {}), StoredTexts(other, model)
        ours, theirs = Ranker(bare.pages, bare, 0.0), Ranker(without, words, 0.0)
        assert [ours.pairs(page)[1] for page in site.pages] == [theirs.pairs(page)[1] for page in without.pages]


@given(st.sets(st.tuples(st.text("abc", max_size=3), st.text("abc", max_size=3)), max_size=30), st.integers(0, 99))
def test_what_is_hidden_does_not_depend_on_what_else_is_there(pairs: set[tuple[str, str]], seed: int) -> None:
    assert chosen(pairs, 0.5, seed) == set().union(*(chosen([pair], 0.5, seed) for pair in pairs))
    assert chosen(pairs, 1.0, seed) == pairs


def a_spot(anchor: str, block: int) -> Spot:
    return Spot(block, 0, len(anchor), anchor, tuple(anchor.split()))


def test_the_figures_of_two_pages() -> None:
    hidden = [MadeLink(1, 5, 0, "queen rearing"), MadeLink(1, 6, 1, "hives"), MadeLink(2, 7, 0, "wax")]
    suggested = {
        1: [(9, a_spot("bees", 0)), (5, a_spot("rearing", 0)), (6, a_spot("Hives", 2))],
        2: [(7, a_spot("", 0))],
    }
    assert agreement(hidden, suggested) == Agreement(
        recall_at_5=1.0,
        recall_at_10=1.0,
        recall=1.0,
        mrr=0.75,
        precision_at_1=0.5,
        anchor_exact=round(1 / 3, 3),
        anchor_f1=round((2 / 3 + 1 + 0) / 3, 3),
        paragraph=round(2 / 3, 3),
    )


def test_a_page_without_suggestions_counts_as_nothing_found() -> None:
    assert agreement([MadeLink(1, 5, 0, "hives")], {}) == Agreement(0, 0, 0, 0, 0, 0, 0, 0)


def test_more_hidden_links_than_there_is_room_for_can_all_be_found() -> None:
    hidden = [MadeLink(1, n, 0, "") for n in range(20)]
    found = agreement(hidden, {1: [(n, a_spot("", 0)) for n in range(10)]})
    assert (found.recall_at_5, found.recall_at_10, found.recall) == (1.0, 1.0, 0.5)


def test_a_site_whose_texts_link_nowhere_has_nothing_to_hide() -> None:
    pages = {f"{SITE.base}{n}": ToyPage(f"Page {n}", (f"Nothing is linked on page {n} here.",)) for n in range(4)}
    with ExitStack() as stack:
        state, model = an_index(stack, pages)
        with pytest.raises(UsageError, match="nothing to hide"):
            evaluate(state, model, TOY_LINKS, 0.3, 7, Quiet())


def test_the_rows_are_the_ranking_the_rules_and_other_thresholds() -> None:
    with ExitStack() as stack:
        state, model = an_index(stack, linked_pages(1, 14))
        found = evaluate(state, model, TOY_LINKS, 0.5, 7, Quiet())
        assert 0 < found.hidden < found.pairs
        assert [row.what for row in found.rows][:3] == [
            "ten best, no rules",
            "your rules, as they are",
            "your rules, links.min_score 0.05",
        ]
        assert found.rows[0].agreement.recall_at_10 > 0
        by_score = [row.per_page for row in found.rows[2:]]
        assert by_score == sorted(by_score, reverse=True)
