"""The words of a text: where they stand, how they compare, and which of them only hold a sentence together.

Words are runs of letters, marks and digits (Unicode TR 29, without its dictionaries). Scripts that put no blanks
between words are cut where the script changes, and Chinese at every character: coarse, but no word is lost and what
is found stands in the text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import regex

from indexer.function_words import FUNCTION_WORDS

_WORD = regex.compile(
    r"[\p{Script=Katakana}ー]+|\p{Script=Hiragana}+|\p{Script=Han}+"
    r"|[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]+"
    r"|[vV]?\p{N}+(?:[.]\p{N}+)+(?![\p{L}_])"
    r"|(?:(?![\p{Script=Katakana}\p{Script=Hiragana}\p{Script=Han}ー])[\p{L}\p{M}\p{N}_])+(?:[+#]+(?![\p{L}\p{N}]))?"
)
# The same for plain ASCII, in a third of the time.
_ASCII_WORD = re.compile(r"[vV]?\d+(?:\.\d+)+(?![A-Za-z_])|\w+(?:[+#]+(?![A-Za-z0-9]))?", re.ASCII)
_VERSION = regex.compile(r"^v?(\d+\.\d+?)(?:\.0)*$")
_HIRAGANA = regex.compile(r"[\p{Script=Hiragana}ー\u3099\u309a]+")
_HAN = regex.compile(r"\p{Script=Han}")
_ACCENTS = regex.compile(r"[\u0300-\u036f]")


class Word(NamedTuple):
    """A word of a text at [start, end); `key` is what it is compared by, without case and accents."""

    key: str
    start: int
    end: int


def words(text: str, language: str) -> Iterator[Word]:
    """The words of the text, in their order."""
    if text.isascii():
        for plain in _ASCII_WORD.finditer(text):
            yield Word(key(plain[0]), plain.start(), plain.end())
        return
    for found in _WORD.finditer(text):
        start, end = found.span()
        if language == "zh" and _HAN.match(text, start):
            yield from (Word(text[at], at, at + 1) for at in range(start, end))
        else:
            yield Word(key(found[0]), start, end)


@lru_cache(maxsize=262_144)
def key(word: str) -> str:
    """The word without case and accents: "Élan" and "elan" are one, and so are "v1.39.0" and "1.39"."""
    if word.isascii():
        return _VERSION.sub(r"\1", word.lower()) if word[-1].isdigit() else word.lower()
    return _ACCENTS.sub("", unicodedata.normalize("NFKD", word.casefold()))


def is_function_word(key: str, language: str) -> bool:
    """Whether the word only holds sentences together. In Japanese those are the runs of hiragana."""
    return key in FUNCTION_WORDS.get(language, ()) or not (key.isascii() or _HIRAGANA.fullmatch(key) is None)


def content_keys(text: str, language: str) -> list[str]:
    """The keys of the words that say what a text is about."""
    return [word.key for word in words(text, language) if not is_function_word(word.key, language)]
