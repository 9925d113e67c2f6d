"""Texts as MinHash signatures: how much of its wording one page shares with another, without reading either again.

A text is the set of its runs of five words; two texts resemble each other as far as these sets overlap (Jaccard), and
signatures of 128 values estimate that with a standard error of .035 at .8 (Broder, "On the resemblance and containment
of documents", 1997). Signatures are stored: the same text has the same one on every machine and in every release.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

NEARLY_SAME = 0.8
"""Two texts that share this much of their wording count as one with small changes."""
_VALUES = 128
_SHINGLE = 5
_AT_ONCE = 8192
_BANDS, _ROWS = 20, 6
"""A pair at .8 shares at least one of 20 bands of 6 values with probability .998; a pair at .4 with .08."""
_COMPARED = 3

NO_SPACES = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
)
"""Thai, Lao, Burmese, Khmer, kana and Chinese characters, for a regular expression: scripts without word spaces."""
_UNSPACED = re.compile(rf"[{NO_SPACES}]")
_TOKEN = re.compile(rf"[{NO_SPACES}]|[^\W{NO_SPACES}]+")

_Signatures = npt.NDArray[np.uint32]


def tokens(text: str) -> list[str]:
    """The words of a text in lower case; in scripts that put no spaces between words, its characters."""
    return _TOKEN.findall(text.lower())


def count_words(text: str) -> int:
    """Words as a reader counts them; where no spaces stand between them, two characters make one."""
    unspaced = len(_UNSPACED.findall(text))
    return len(_TOKEN.findall(text)) - (unspaced + 1) // 2


def sketch(text: str) -> bytes:
    """The text's signature: 128 little-endian uint32 values; b"" for a text without words.

    A text of fewer than five words is one run.
    """
    # datasketch takes a second to import (it brings scipy); those who only compare signatures do without.
    from datasketch import MinHash  # type: ignore[import-untyped]

    words = tokens(text)
    if not words:
        return b""
    size = min(_SHINGLE, len(words))
    shingles = sorted({" ".join(words[i : i + size]) for i in range(len(words) - size + 1)})
    # The scheme is named because only named schemes keep their values from release to release.
    minhash = MinHash(_VALUES, seed=1, scheme="affine32", hashfunc=zlib.crc32)
    for start in range(0, len(shingles), _AT_ONCE):
        minhash.update_batch([s.encode("utf-8", "replace") for s in shingles[start : start + _AT_ONCE]])
    return bytes(minhash.hashvalues.astype("<u4").tobytes())


def resemblance(a: bytes, b: bytes) -> float:
    """The estimated share of the wording that two texts have in common, from their signatures; 0.0 for empty texts."""
    if not a or not b:
        return 0.0
    return float(np.mean(np.frombuffer(a, "<u4") == np.frombuffer(b, "<u4")))


def nearly_same(a: bytes, b: bytes) -> bool:
    """Whether two signatures belong to texts that nearly agree."""
    return resemblance(a, b) >= NEARLY_SAME


def near_duplicate_groups(sketches: Sequence[bytes]) -> list[list[int]]:
    """The places of signatures whose texts nearly agree, grouped: every member nearly agrees with another of its group.

    Locality-sensitive hashing in bands (Leskovec, Rajaraman, Ullman, "Mining of Massive Datasets", 3.4). In a band's
    bucket each member is compared with the first few only, so that ten thousand copies of a page cost no more than
    ten thousand pages. Groups, and the places in them, are in ascending order.
    """
    places = [place for place, signature in enumerate(sketches) if signature]
    signatures = np.frombuffer(b"".join(sketches[place] for place in places), "<u4").reshape(len(places), _VALUES)
    leader = list(range(len(places)))
    for first, second in _agreeing(signatures, _meeting(signatures)):
        first, second = _find(leader, first), _find(leader, second)
        leader[max(first, second)] = min(first, second)
    groups: dict[int, list[int]] = {}
    for row, place in enumerate(places):
        groups.setdefault(_find(leader, row), []).append(place)
    return [group for group in groups.values() if len(group) > 1]


def _meeting(signatures: _Signatures) -> npt.NDArray[np.int64]:
    """Pairs of rows that meet in a bucket of any band, each pair once: of a bucket the first few, with every other."""
    rows = len(signatures)
    met = [np.empty(0, np.int64)]
    for band in range(_BANDS):
        values = np.ascontiguousarray(signatures[:, band * _ROWS : (band + 1) * _ROWS])
        _, bucket = np.unique(values.view(f"V{4 * _ROWS}").ravel(), return_inverse=True)
        order = np.argsort(bucket, kind="stable")
        ordered = bucket[order]
        start = np.searchsorted(ordered, ordered, "left")
        for nth in range(_COMPARED):
            later = np.flatnonzero(np.arange(len(order)) > start + nth)
            met.append(order[start[later] + nth] * rows + order[later])
    return np.column_stack(np.divmod(np.unique(np.concatenate(met)), max(rows, 1)))


def _agreeing(signatures: _Signatures, pairs: npt.NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    for chunk in np.array_split(pairs, len(pairs) // _AT_ONCE + 1):
        agree = (signatures[chunk[:, 0]] == signatures[chunk[:, 1]]).mean(axis=1)
        yield from chunk[agree >= NEARLY_SAME].tolist()


def _find(leader: list[int], row: int) -> int:
    while leader[row] != row:
        leader[row] = leader[leader[row]]
        row = leader[row]
    return row
