"""What a page is called: by its own heading, not by what its browser tab shows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

from indexer.extract.head import Head
from indexer.extract.walking import PageBlock
from indexer.extract.writing import letters
from indexer.records import BlockKind, SpanKind, Zone

_WORD = re.compile(r"\w+")
_SEPARATOR = re.compile(r"\s+[-|–—·•»«:/~]+\s+|\s*[|»•]\s*|:\s+")


def page_title(head: Head, blocks: Sequence[PageBlock]) -> tuple[str, int | None]:
    """The page's title, and the number of the block that it is, if it is one.

    That is the h1, of several the one whose words stand in <title>; else the heading that <title> repeats beside the
    site's name; else og:title or <title>, without the site's name where the page tells it; else the first heading.
    """
    titles = [title for title in (head.og_title, head.title) if title]
    headings = [n for n, b in enumerate(blocks) if b.block.kind is BlockKind.HEADING and _WORD.search(b.block.text)]
    best = _main_heading(blocks, headings, titles, {letters(name) for name in head.site_names})
    if best is not None:
        return blocks[best].block.text, best
    if titles:
        return next((t for title in titles if (t := _without_site(title, head.site_names))), titles[0]), None
    first = next((n for n in headings if blocks[n].holder.zone is Zone.CONTENT), None)
    return ("", None) if first is None else (blocks[first].block.text, first)


def _main_heading(
    blocks: Sequence[PageBlock], headings: Sequence[int], titles: Sequence[str], names: set[str]
) -> int | None:
    wanted = {word for title in titles for word in _words(title)}
    own = [n for n in headings if blocks[n].holder.is_within("h1") and not _is_logo(blocks[n], names)]
    content = [n for n in own if blocks[n].holder.zone is Zone.CONTENT]
    if len(content) == 1 or (content and not wanted):
        return content[0]
    for zone in (Zone.CONTENT, Zone.HEADER):
        shared = {n: len(wanted & _words(blocks[n].block.text)) for n in own if blocks[n].holder.zone is zone}
        if any(shared.values()):
            return max(shared, key=lambda n: shared[n])
    parts = {letters(part) for title in titles for part in _parts(title)} - names
    repeated = (n for n in headings if letters(blocks[n].block.text) in parts and not _is_logo(blocks[n], names))
    return next((n for n in repeated if blocks[n].holder.zone in (Zone.CONTENT, Zone.HEADER)), None)


def _is_logo(heading: PageBlock, names: set[str]) -> bool:
    """Whether the heading is the site's name, or nothing but a link to a home page."""
    text = heading.block.text
    if letters(text) in names:
        return True
    return any(
        span.kind is SpanKind.LINK and span.end - span.start == len(text) and urlsplit(span.href or "/x").path == "/"
        for span in heading.block.spans
    )


def _parts(title: str) -> Iterator[str]:
    """The title, and what stands before and behind each of its separators."""
    yield title
    for separator in _SEPARATOR.finditer(title):
        yield title[: separator.start()]
        yield title[separator.end() :]


def _without_site(title: str, names: Sequence[str]) -> str:
    """The title without a site's name at its end or beginning; "" where it is nothing else."""
    for name in map(letters, names):
        if letters(title) == name:
            return ""
        for separator in _SEPARATOR.finditer(title):
            if letters(title[separator.end() :]) == name:
                return title[: separator.start()].strip()
            if letters(title[: separator.start()]) == name:
                return title[separator.end() :].strip()
    return title


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))
