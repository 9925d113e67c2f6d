"""How well suggestions agree with the links that people made: the figures of `evaluate`."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from indexer.links.hiding import MadeLink
from indexer.links.pairs import Spot
from indexer.records import Agreement

_FIRST = 10
_WORD = re.compile(r"\w+")


def agreement(hidden: Iterable[MadeLink], suggested: Mapping[int, Sequence[tuple[int, Spot]]]) -> Agreement:
    """`suggested` holds, for each page, its suggested targets with their places, best first."""
    made: dict[int, dict[int, list[MadeLink]]] = defaultdict(lambda: defaultdict(list))
    for link in hidden:
        made[link.source][link.target].append(link)
    pages, hits = [], []
    for source, targets in made.items():
        order = suggested.get(source, ())
        ranks = sorted(rank for rank, (target, _) in enumerate(order, start=1) if target in targets)
        pages.append(_ranked(ranks, len(targets)))
        hits += [_placed(spot, targets[target]) for target, spot in order[:_FIRST] if target in targets]
    return Agreement(*_means(pages, 5), *_means(hits, 3))


def _ranked(ranks: Sequence[int], wanted: int) -> tuple[float, ...]:
    first = ranks[0] if ranks else 0
    within = [sum(rank <= most for rank in ranks) / min(wanted, most) for most in (5, 10)]
    return *within, len(ranks) / wanted, 1 / first if first else 0.0, float(first == 1)


def _placed(spot: Spot, links: Sequence[MadeLink]) -> tuple[float, ...]:
    ours = _words(spot.anchor)
    theirs = [_words(link.anchor) for link in links]
    return (
        float(any(ours == words for words in theirs)),
        max(_overlap(ours, words) for words in theirs),
        float(any(spot.block == link.block for link in links)),
    )


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _overlap(ours: Sequence[str], theirs: Sequence[str]) -> float:
    """F1 of the words that two anchors have in common."""
    common = sum((Counter(ours) & Counter(theirs)).values())
    return 2 * common / (len(ours) + len(theirs)) if common else 0.0


def _means(rows: Sequence[tuple[float, ...]], width: int) -> list[float]:
    columns = zip(*rows, strict=True) if rows else [()] * width
    return [round(sum(column) / max(len(rows), 1), 3) for column in columns]
