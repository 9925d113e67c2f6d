"""The words of a text, in any script."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.words import content_keys, is_function_word, words


def keys(text: str, language: str = "en") -> list[str]:
    return [word.key for word in words(text, language)]


@given(st.text(max_size=200), st.sampled_from(("en", "de", "ja", "zh", "th")))
def test_words_stand_in_the_text_in_order_and_apart(text: str, language: str) -> None:
    found = list(words(text, language))
    assert all(text[word.start : word.end] for word in found)
    assert all(a.end <= b.start for a, b in pairwise(found))


@given(st.text(st.characters(max_codepoint=127), max_size=100))
def test_ascii_is_read_as_any_other_text(text: str) -> None:
    assert keys(text) == keys(f"{text} é")[:-1]


def test_case_and_accents_make_no_difference() -> None:
    assert keys("Élan ÜBER Straße") == keys("elan uber strasse")


def test_a_version_is_one_word_however_many_zeros_it_ends_in() -> None:
    assert keys("Rust 1.39.0 and v1.39") == ["rust", "1.39", "and", "1.39"]


def test_signs_that_belong_to_a_name_stay_with_it() -> None:
    assert keys("C++ and C# and mod_rewrite") == ["c++", "and", "c#", "and", "mod_rewrite"]


def test_scripts_without_blanks_are_cut_where_the_script_changes() -> None:
    assert keys("設定ファイルの書き方", "ja")[:3] == ["設定", "ファイル", "の"]
    assert keys("配置文件", "zh") == list("配置文件")


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "the of with"), ("de", "der die über für"), ("fr", "le l d à"), ("es", "el más según"),
        ("pt", "não são às"), ("ja", "のはを"),
    ],
)  # fmt: skip
def test_function_words_name_nothing(language: str, text: str) -> None:
    assert all(is_function_word(key, language) for key in keys(text, language) if key != "as")
    assert not is_function_word("kernel", language)


def test_content_words_are_what_is_left() -> None:
    assert content_keys("The queen of the hive", "en") == ["queen", "hive"]
