"""MinHash signatures of texts: what share of their words in a row two texts have in common, without reading them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

NEAR = 0.8
"""Texts that agree to this share are nearly the same."""
_PERMUTATIONS = 128
_BANDS, _ROWS = 20, 6
"""Bands of the signature: texts that agree to .8 share at least one with probability .998, those at .5 with .27."""
_SHINGLE = 5
_COMPARED = 8
"""Members of a bucket that a further one is compared with: thousands of nearly equal pages cost no square."""
_TOKEN = re.compile(r"[぀-ヿ㐀-鿿가-힯]|\w+")


def sketch(text: str) -> bytes:
    """The signature: 128 little-endian uint32, over every five words in a row (characters where words are not
    written apart); b"" for a text without words."""
    tokens = _TOKEN.findall(text.lower())
    if not tokens:
        return b""
    from datasketch import MinHash

    size = min(_SHINGLE, len(tokens))
    shingles = {" ".join(tokens[i : i + size]).encode() for i in range(len(tokens) - size + 1)}
    signature = MinHash(num_perm=_PERMUTATIONS, seed=1)
    signature.update_batch(sorted(shingles))
    return signature.hashvalues.astype("<u4").tobytes()


def resemblance(one: bytes, other: bytes) -> float:
    """The estimated Jaccard index of two texts' shingles, 0 to 1; off by .035 at .8 (one standard deviation)."""
    if not one or not other:
        return 0.0
    return float(np.mean(np.frombuffer(one, dtype="<u4") == np.frombuffer(other, dtype="<u4")))


def nearly_same(one: bytes, other: bytes) -> bool:
    """Whether two texts agree to at least NEAR."""
    return resemblance(one, other) >= NEAR


def near_duplicate_groups(sketches: Sequence[bytes]) -> list[list[int]]:
    """Groups of two and more whose texts nearly agree, one with the next; numbers in ascending order.

    Locality-sensitive hashing by bands of the signature (Broder 1997; Leskovec et al., Mining of Massive Datasets, 3.4).
    """
    chief = list(range(len(sketches)))

    def find(number: int) -> int:
        while chief[number] != number:
            chief[number] = chief[chief[number]]
            number = chief[number]
        return number

    for bucket in _buckets(sketches):
        for place, number in enumerate(bucket):
            for other in bucket[max(0, place - _COMPARED) : place]:
                if find(number) != find(other) and nearly_same(sketches[number], sketches[other]):
                    chief[max(find(number), find(other))] = min(find(number), find(other))
    groups: dict[int, list[int]] = defaultdict(list)
    for number in range(len(sketches)):
        groups[find(number)].append(number)
    return [group for group in groups.values() if len(group) > 1]


def _buckets(sketches: Sequence[bytes]) -> Iterator[list[int]]:
    width = 4 * _ROWS
    for band in range(_BANDS):
        buckets: dict[bytes, list[int]] = defaultdict(list)
        for number, signature in enumerate(sketches):
            if signature:
                buckets[signature[band * width : (band + 1) * width]].append(number)
        yield from (bucket for bucket in buckets.values() if len(bucket) > 1)
