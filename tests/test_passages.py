"""Every word of a page reaches the model."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexer.passages import TokenCounter, cut
from indexer.records import Block, BlockKind
from tests.support.embedders import WordCounter
from tests.support.tokens import real_counter

REAL = real_counter()
SMALL = WordCounter(limit=90)
kinds = st.sampled_from(list(BlockKind))
blocks = st.lists(st.builds(Block, kinds, st.text(min_size=1, max_size=400)), max_size=12)


def squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)


def body(text: str, head: str) -> str:
    return text.removeprefix(head).removeprefix("\n") if head else text


def check(title: str, some: list[Block], counter: TokenCounter) -> None:
    passages = cut(title, some, counter)
    assert all(size <= counter.limit for size in counter.count([p.text for p in passages]))
    everything = squeezed("".join(p.text for p in passages))
    for block in some:
        assert squeezed(block.text) == "" or set(squeezed(block.text)) <= set(everything)
    if len(squeezed(title)) == 0:
        assert everything == squeezed("".join(block.text for block in some))


@given(some=blocks)
@settings(max_examples=60, deadline=None)
def test_nothing_is_left_out_and_nothing_is_too_long(some: list[Block]) -> None:
    check("", some, SMALL)


@given(title=st.text(max_size=300), some=blocks)
@settings(max_examples=60, deadline=None)
def test_the_same_with_the_models_own_tokenizer(title: str, some: list[Block]) -> None:
    check(title, some, REAL)
    check("", some, REAL)


@pytest.mark.parametrize(
    "text",
    [
        "word " * 3000,
        "x" * 10_000,
        "日本語の文章です。" * 400,
        "\n".join(f"line {n};" for n in range(2000)),
        "a.b," * 3000,
    ],
    ids=["words", "one long word", "no spaces", "code", "punctuation"],
)
def test_long_texts_are_cut_whole(text: str) -> None:
    check("", [Block(BlockKind.PARAGRAPH, text)], REAL)


def test_a_heading_goes_with_what_follows() -> None:
    some = [
        Block(BlockKind.PARAGRAPH, "word " * 60),
        Block(BlockKind.HEADING, "The heading"),
        Block(BlockKind.PARAGRAPH, "other " * 60),
    ]
    first, second = cut("Title", some, SMALL)
    assert "heading" not in first.text
    assert second.text.startswith("Title\nThe heading\n")
    assert ((first.first, first.last), (second.first, second.last)) == ((0, 0), (1, 2))


def test_a_long_title_is_read_whole_once() -> None:
    title = " ".join(f"word{n}" for n in range(120))
    passages = cut(title, [Block(BlockKind.PARAGRAPH, "text " * 20)], REAL)
    head = passages[0].text.partition("\n")[0]
    assert title.startswith(head)
    assert squeezed(title) in squeezed(head + "".join(body(p.text, head) for p in passages))


def test_an_edit_changes_the_passages_it_stands_in_only() -> None:
    some = [Block(BlockKind.PARAGRAPH, f"Paragraph {n}. " + "word " * 70) for n in range(6)]
    edited = [*some[:5], Block(BlockKind.PARAGRAPH, "Something else. " + "word " * 70)]
    before, after = ({p.hash for p in cut("T", b, SMALL)} for b in (some, edited))
    assert len(before & after) == 5
