"""Near-duplicates by their words."""

from __future__ import annotations

import random

from indexer.sketches import near_duplicate_groups, nearly_same, resemblance, sketch

WORDS = [f"word{n}" for n in range(500)]


def a_text(seed: int, words: int = 400) -> list[str]:
    return random.Random(seed).choices(WORDS, k=words)


def edited(text: list[str], edits: int, seed: int = 0) -> list[str]:
    dice, text = random.Random(seed), list(text)
    for place in dice.sample(range(len(text)), edits):
        text[place] = "edited"
    return text


def jaccard(one: list[str], other: list[str]) -> float:
    a, b = ({tuple(t[i : i + 5]) for i in range(len(t) - 4)} for t in (one, other))
    return len(a & b) / len(a | b)


def test_the_estimate_is_near_the_truth() -> None:
    for edits in (0, 4, 10, 30, 80):
        one = a_text(1)
        other = edited(one, edits)
        assert abs(resemblance(sketch(" ".join(one)), sketch(" ".join(other))) - jaccard(one, other)) < 0.12


def test_nothing_is_near_an_empty_text() -> None:
    assert sketch(" .,! ") == b""
    assert not nearly_same(b"", b"")
    assert not nearly_same(b"", sketch("some words stand here and there"))


def test_groups_are_found_among_many() -> None:
    texts = [a_text(seed) for seed in range(60)]
    texts += [edited(texts[3], 2, seed) for seed in (1, 2)] + [edited(texts[9], 3)]
    groups = near_duplicate_groups([sketch(" ".join(text)) for text in texts])
    assert sorted(groups) == [[3, 60, 61], [9, 62]]


def test_texts_without_spaces_have_sketches_too() -> None:
    text = "蜜蜂は太陽と匂いで巣に帰る。仲間に花の場所を教える踊りをする。" * 5
    assert nearly_same(sketch(text), sketch(text[:-1] + "！"))
    assert not nearly_same(sketch(text), sketch("まったく別の話題についての文章がここにあります。" * 5))
