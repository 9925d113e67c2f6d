"""What is the same all over a site, counted once and kept as one version: how rare its words are, the site's name at
the end of titles, and the blocks, links and places of links that repeat from page to page and so belong to no page."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from indexer.lexical import Bag, Rarity, bag_of, rarity_of
from indexer.records import Block, BlockKind, Link, SpanKind, Zone
from indexer.words import content_keys

_Counted = TypeVar("_Counted", int, str)
_SEPARATOR = re.compile(r"\s+[|\-–—:·•»›/]+\s+")
_PARTS = re.compile(r":\s|\s[-–—|]\s|[()（）]")
_INDEX = re.compile(r"\[\d+\]")
LINKED = 0.8
"""From this share of linked text on, a block is a list of links and no prose."""

_REPEATED_LINK = 0.1
"""A link with the same words to the same page on more than this share of the pages is part of the template."""
_REPEATED_BLOCK = 0.02
_REPEATED_PLACE = 0.5
_SUFFIX = 0.2
_FEW = 3
"""Fewer repetitions than this prove nothing, on the smallest site."""


@dataclass(frozen=True, slots=True)
class PageText:
    """What a page says, as it is kept."""

    url: str
    title: str
    language: str
    blocks: tuple[Block, ...]
    links: tuple[Link, ...]


@dataclass(frozen=True)
class Statistics:
    """One version of what repeats on the site: on how many pages words stand, and in how many titles; hashes of
    `blocks`, `links` and `places` of links; and, by URL, how many pages link to a page from their content."""

    rarity: Rarity
    titles: Rarity
    suffixes: frozenset[str]
    blocks: frozenset[int]
    links: frozenset[int]
    places: frozenset[int]
    inlinks: Mapping[str, int]


def bag(text: PageText) -> Bag:
    """The content words of title and text, code left out."""
    return bag_of(
        key
        for part in (text.title, *(b.text for b in text.blocks if b.kind is not BlockKind.CODE))
        for key in content_keys(part, text.language)
    )


def gather(texts: Iterable[tuple[PageText, Bag]]) -> Statistics:
    """The statistics of these pages, each with its bag, but for `inlinks`: these need to know where links lead."""
    bags: list[Bag] = []
    titles: list[Bag] = []
    blocks: Counter[int] = Counter()
    links: Counter[int] = Counter()
    places: Counter[int] = Counter()
    endings: Counter[str] = Counter()
    for text, words in texts:
        bags.append(words)
        titles.append(bag_of(content_keys(text.title, text.language)))
        blocks.update({_hash(block.text) for block in text.blocks if len(block.text) >= _SHORT})
        outer = [link for link in text.links if link.zone is Zone.CONTENT]
        links.update({_link(link) for link in outer})
        places.update(_template_like(text.blocks, outer))
        endings.update({text.title[m.start() :] for m in _SEPARATOR.finditer(text.title)})
    return Statistics(
        rarity_of(bags),
        rarity_of(titles),
        _often(endings, _SUFFIX * len(bags)),
        _often(blocks, _REPEATED_BLOCK * len(bags)),
        _often(links, _REPEATED_LINK * len(bags)),
        _often(places, _REPEATED_PLACE * len(bags)),
        {},
    )


_SHORT = 40
"""Characters below which a block repeats by chance: "See also", "Example"."""


def content_links(text: PageText, statistics: Statistics) -> list[Link]:
    """The links that the page's author set: not in navigation, header, footer or aside, and no part of the template."""
    placed = {number for number, place in _places(text.blocks, text.links) if place in statistics.places}
    return [
        link
        for number, link in enumerate(text.links)
        if link.zone is Zone.CONTENT and number not in placed and _link(link) not in statistics.links
    ]


def own_name(title: str, statistics: Statistics) -> str:
    """The title without the site's name at its end."""
    for found in _SEPARATOR.finditer(title):
        if found.start() and title[found.start() :] in statistics.suffixes:
            return title[: found.start()]
    return title


def name_parts(name: str) -> tuple[str, ...]:
    """A title, and the parts of it that stand before or after a colon, a dash or a bracket: each may name the page."""
    parts = (part.strip() for part in _PARTS.split(name))
    return tuple(dict.fromkeys((name, *(part for part in parts if part))))


def is_repeated(block: Block, statistics: Statistics) -> bool:
    """Whether the block's text stands on many pages, as a licence or a call to subscribe does."""
    return _hash(block.text) in statistics.blocks


def linked_share(block: Block) -> float:
    """How much of a block's text is links."""
    linked = sum(span.end - span.start for span in block.spans if span.kind is SpanKind.LINK)
    return linked / max(len(block.text), 1)


def _often(counted: Counter[_Counted], share: float) -> frozenset[_Counted]:
    return frozenset(what for what, count in counted.items() if count > max(_FEW, share))


def _template_like(blocks: tuple[Block, ...], links: list[Link]) -> set[int]:
    """Places whose links may be the template's on this page: outside the text, or a few links that stand alone."""
    inside: Counter[int] = Counter()
    outside: set[int] = set()
    for number, place in _places(blocks, links):
        if links[number].block is None:
            outside.add(place)
        else:
            inside[place] += 1
    return outside | {place for place, count in inside.items() if count <= _FEW}


def _places(blocks: tuple[Block, ...], links: Iterable[Link]) -> Iterator[tuple[int, int]]:
    """Number and place of the links that stand in no prose; a place is the path of elements, whichever of them."""
    for number, link in enumerate(links):
        if link.block is None or linked_share(blocks[link.block]) >= LINKED:
            yield number, _hash(_INDEX.sub("", link.path))


def _link(link: Link) -> int:
    return _hash(f"{link.target}\0{link.anchor or link.alt}")


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=6).digest(), "big")
