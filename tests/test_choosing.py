"""The rules across pairs, each kept by whatever pairs there are."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.links.choosing import Chosen, Limits, choose
from indexer.links.pairs import Pair, Spot
from indexer.links.review import Decision, Status, Verdict, status_of
from indexer.links.sentences import as_html, as_markdown
from indexer.links.utility import utility
from indexer.records import Block, BlockKind, Span, SpanKind

WORDS = ("bee", "hive", "queen", "")


def a_spot(block: int, word: str) -> Spot:
    start = WORDS.index(word) * 10
    return Spot(block, start, start + len(word), word, (word,) if word else ())


spots = st.lists(st.builds(a_spot, st.integers(0, 2), st.sampled_from(WORDS)), min_size=1, max_size=3).map(tuple)
pairs = st.lists(
    st.builds(
        Pair,
        st.integers(0, 5),
        st.integers(0, 5),
        st.integers(1, 9).map(lambda n: n / 10),
        st.just(0.5),
        st.just(""),
        spots,
    ),
    max_size=40,
    unique_by=lambda pair: (pair.source, pair.target),
)
limits = st.builds(
    Limits, st.integers(0, 3), st.integers(0, 4), st.integers(1, 2), st.booleans(), st.none(),
    st.sets(st.sampled_from([("bee",), ("hive",)])).map(frozenset),
)  # fmt: skip
ORDER = {page: (page == 3, f"https://a.example/{page}") for page in range(6)}


def chosen(some: list[Pair], rules: Limits) -> list[Chosen]:
    return choose(some, (), rules, dict.fromkeys(range(6), rules.per_page), ORDER)


@given(pairs, limits)
def test_no_rule_is_broken(some: list[Pair], rules: Limits) -> None:
    found = chosen(some, rules)
    assert max(Counter(one.pair.source for one in found).values(), default=0) <= rules.per_page
    assert max(Counter(one.pair.target for one in found).values(), default=0) <= rules.per_target
    assert max(Counter((one.pair.source, one.spot.block) for one in found).values(), default=0) <= rules.per_paragraph
    words = Counter((one.pair.target, one.spot.key) for one in found if one.spot.key)
    assert max(words.values(), default=0) <= rules.same_words
    assert not {one.spot.key for one in found} & rules.never_anchor
    linked = {(one.pair.source, one.pair.target) for one in found}
    assert rules.both_ways or not any((target, source) in linked for source, target in linked if source != target)


@given(pairs, limits, st.randoms())
def test_the_order_of_the_pairs_makes_no_difference(some: list[Pair], rules: Limits, dice: object) -> None:
    shuffled = sorted(some, key=lambda _: dice.random())  # type: ignore[attr-defined]
    assert chosen(some, rules) == chosen(shuffled, rules)


@pytest.mark.parametrize(("words", "links", "room"), [(100, 0, 3), (100, 2, 1), (100, 9, 0), (1000, 0, 5), (10, 0, 0)])
def test_density_counts_the_links_that_exist(words: int, links: int, room: int) -> None:
    assert Limits(5, 10, 1, False, 3.0, frozenset()).room(words, links) == room


@pytest.mark.parametrize(
    ("path", "is_utility"),
    [
        ("", True), ("page/2/", True), ("blog/page/3", True), ("tag/bees/", True), ("2016/05/", True), ("login", True),
        ("de/impressum.html", True), ("archive/2016/", True), ("?s=bees", True),
        ("archive/2016/05/04/a-post.html", False),
        ("docs/how-to/login.html", False), ("bees.html", False), ("2016/05/a-post.html", False),
    ],
)  # fmt: skip
def test_pages_for_getting_about_are_told_from_pages_to_read(path: str, is_utility: bool) -> None:
    assert (utility(f"https://a.example/{path}", "https://a.example/") is not None) == is_utility


ACCEPTED = Decision("s", "t", Verdict.ACCEPT, "", "now", "1", "2")


@pytest.mark.parametrize(
    ("texts", "linked", "status"),
    [
        (("1", "2"), False, Status.ACCEPTED),
        (("1", "2"), True, Status.PLACED),
        (("9", "2"), True, Status.PLACED),
        (("9", "2"), False, Status.STALE),
        (("1", None), False, Status.STALE),
    ],
)
def test_what_becomes_of_an_accepted_suggestion(
    texts: tuple[str | None, str | None], linked: bool, status: Status
) -> None:
    assert status_of(ACCEPTED, texts, linked) is status


def test_the_sentence_keeps_its_links_and_code_and_gets_the_new_one() -> None:
    text = "First one. Use a < b, the hive tool and code here. Last one."
    code, link = text.index("code"), text.index("Use")
    block = Block(
        BlockKind.PARAGRAPH,
        text,
        (Span(SpanKind.LINK, link, link + 3, "https://a.example/u"), Span(SpanKind.CODE, code, code + 4)),
    )
    start = text.index("hive tool")
    there = "https://a.example/h"
    assert as_html(block, start, start + 9, there) == (
        '<a href="https://a.example/u">Use</a> a &lt; b, the <a href="https://a.example/h">hive tool</a> and'
        " <code>code</code> here."
    )
    assert as_markdown(block, start, start + 9, there) == (
        "[Use](https://a.example/u) a \\< b, the [hive tool](https://a.example/h) and `code` here."
    )
