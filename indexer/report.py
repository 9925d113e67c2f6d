"""Tables of what the index holds, and how they are written: CSV (RFC 4180), JSON, JSON lines."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from itertools import chain
from typing import Any
from urllib.parse import urlsplit

from indexer.records import (
    Advice,
    Evaluation,
    Link,
    LinkCounts,
    NeighbourRow,
    PageRow,
    Suggestion,
    SuggestionRow,
    Zone,
)

Cell = str | int | float | bool | None


@dataclass(frozen=True)
class Table:
    """Named columns and rows of cells, read once."""

    columns: tuple[str, ...]
    rows: Iterable[Sequence[Cell]]

    def without(self, *names: str) -> Table:
        """The table without these columns."""
        kept = [n for n, name in enumerate(self.columns) if name not in names]
        return Table(tuple(self.columns[n] for n in kept), ([row[n] for n in kept] for row in self.rows))

    def records(self) -> Iterator[dict[str, Cell]]:
        return (dict(zip(self.columns, row, strict=True)) for row in self.rows)


def csv_lines(table: Table) -> Iterator[str]:
    yield _csv_line(table.columns)
    for row in table.rows:
        yield _csv_line(["" if cell is None else str(cell).lower() if isinstance(cell, bool) else cell for cell in row])


def json_lines(table: Table) -> Iterator[str]:
    return (json.dumps(record, ensure_ascii=False) + "\n" for record in table.records())


def json_document(table: Table) -> Iterator[str]:
    yield json.dumps(list(table.records()), ensure_ascii=False, indent=1) + "\n"


def _csv_line(cells: Iterable[Any]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\r\n").writerow(cells)
    return out.getvalue()


# --- the tables -----------------------------------------------------------------------------------------------------


def pages_table(pages: Iterable[PageRow], counts: Mapping[str, LinkCounts]) -> Table:
    columns = (
        "url", "title", "language", "words", "inlinks_content", "inlinks_all", "outlinks_content", "depth", "pagerank",
        "cluster", "status", "first_seen", "changed",
    )  # fmt: skip
    nothing = LinkCounts(0, 0, 0, None, 0.0)

    def row(page: PageRow) -> Sequence[Cell]:
        c = counts.get(page.url, nothing)
        links = (c.inlinks_content, c.inlinks_all, c.outlinks_content, c.depth, c.pagerank)
        return page.url, page.title, page.language, page.words, *links, None, page.status, page.first_seen, page.changed

    return Table(columns, map(row, pages))


def neighbours_table(rows: Iterable[NeighbourRow], linked: Callable[[NeighbourRow], bool]) -> Table:
    columns = ("url", "title", "neighbour_url", "neighbour_title", "similarity", "rank", "linked", "near_duplicate")
    return Table(
        columns,
        (
            (r.url, r.title, r.neighbour_url, r.neighbour_title, r.similarity, r.rank, linked(r), r.near_duplicate)
            for r in rows
        ),
    )


def related(rows: Iterable[NeighbourRow]) -> dict[str, list[dict[str, Cell]]]:
    """For each page's path its neighbours, near-duplicates left out: what a static site's template shows."""
    pages: dict[str, list[dict[str, Cell]]] = {}
    for r in rows:
        if not r.near_duplicate:
            entry: dict[str, Cell] = {"url": r.neighbour_url, "title": r.neighbour_title, "similarity": r.similarity}
            pages.setdefault(urlsplit(r.url).path, []).append(entry)
    return pages


_CONTEXT = 80
"""Characters of the paragraph shown before and after an anchor."""


def links_table(rows: Iterable[SuggestionRow]) -> Table:
    """Suggestions with their places; `occurrence` says which of the anchor's occurrences in the paragraph is meant,
    `offset` at which of its characters."""
    columns = (
        "id", "source_url", "source_title", "target_url", "target_title", "score", "similarity", "anchor", "paragraph",
        "paragraph_index", "context_before", "context_after", "reason", "status", "first_seen", "offset", "occurrence",
        "html", "markdown",
    )  # fmt: skip

    def row(found: SuggestionRow) -> Sequence[Cell]:
        s = found.suggestion
        context, place = _place(s)
        return (
            s.id, s.source, found.source_title, s.target, found.target_title, s.score, s.similarity, s.anchor,
            s.paragraph, s.block, *context, s.reason, s.status, s.first_seen, *place, s.html, s.markdown,
        )  # fmt: skip

    return Table(columns, map(row, rows))


def _place(s: Suggestion) -> tuple[tuple[Cell, Cell], tuple[Cell, Cell]]:
    """The words before and after the anchor, and its offset and occurrence; nothing of it where there is no anchor."""
    if not s.anchor:
        return ("", ""), (None, None)
    before, after = s.paragraph[: s.start], s.paragraph[s.start + len(s.anchor) :]
    return (before[-_CONTEXT:], after[:_CONTEXT]), (s.start, before.count(s.anchor) + 1)


def draft_table(advice: Advice) -> Table:
    """What a draft should link to (`direction` out) and which pages should link to it (in): `url` is the page at the
    other end, and the place stands in the page that would link."""
    columns = (
        "direction", "url", "title", "score", "similarity", "anchor", "paragraph", "paragraph_index", "context_before",
        "context_after", "reason", "offset", "occurrence", "html", "markdown",
    )  # fmt: skip

    def row(direction: str, url: str, title: str, s: Suggestion) -> Sequence[Cell]:
        context, place = _place(s)
        return (
            direction, url, title, s.score, s.similarity, s.anchor, s.paragraph, s.block, *context, s.reason, *place,
            s.html, s.markdown,
        )  # fmt: skip

    out = (row("out", f.suggestion.target, f.target_title, f.suggestion) for f in advice.outgoing)
    into = (row("in", f.suggestion.source, f.source_title, f.suggestion) for f in advice.incoming)
    return Table(columns, chain(out, into))


def evaluation_table(found: Evaluation) -> Table:
    """How suggestions agree with hidden links, a row for each way to choose them."""
    columns = (
        "what", "per_page", "recall@5", "recall@10", "recall", "mrr", "precision@1", "anchor_exact", "anchor_f1",
        "paragraph",
    )  # fmt: skip
    return Table(columns, [(row.what, row.per_page, *astuple(row.agreement)) for row in found.rows])


def orphans_table(orphans: Iterable[tuple[PageRow, int]], sources: Callable[[str], Iterable[SuggestionRow]]) -> Table:
    """Pages with few content inlinks, each with the best pages to link from, a row for each; one row where there is
    none."""
    columns = ("url", "title", "inlinks_content", "source_url", "source_title", "anchor", "score", "id")

    def rows() -> Iterator[Sequence[Cell]]:
        for page, count in orphans:
            some = list(sources(page.url))
            for found in some:
                s = found.suggestion
                yield page.url, page.title, count, s.source, found.source_title, s.anchor, s.score, s.id
            if not some:
                yield page.url, page.title, count, None, None, None, None, None

    return Table(columns, rows())


def broken_links_table(links: Iterable[tuple[str, Iterable[Link]]], find: Callable[[str], PageRow | None]) -> Table:
    """Links inside the site that lead to a page that is missing, or to one that redirects."""
    columns = ("source_url", "target_url", "anchor", "position", "status", "redirects_to")

    def rows() -> Iterator[Sequence[Cell]]:
        for source, some in links:
            for link in some:
                page = find(link.target)
                if page is not None and page.status in ("missing", "redirect"):
                    yield source, link.target, link.anchor, _POSITIONS[link.zone], page.status, page.redirect_to

    return Table(columns, rows())


_STATUS_CODES = {
    **dict.fromkeys(("indexed", "duplicate", "thin", "noindex", "unlisted"), (200, "OK")),
    "redirect": (301, "Moved Permanently"),
    "missing": (404, "Not Found"),
}
_POSITIONS = {
    Zone.CONTENT: "Content",
    Zone.NAVIGATION: "Navigation",
    Zone.HEADER: "Header",
    Zone.FOOTER: "Footer",
    Zone.ASIDE: "Aside",
}


def inlinks_table(links: Iterable[tuple[str, Iterable[Link]]], find: Callable[[str], PageRow | None]) -> Table:
    """Every link inside the site, in the columns and words of Screaming Frog's "All Inlinks"."""
    columns = (
        "Type", "Source", "Destination", "Alt Text", "Anchor", "Status Code", "Status", "Follow", "Link Path",
        "Link Position",
    )  # fmt: skip

    def row(source: str, link: Link) -> Sequence[Cell]:
        destination = find(link.target)
        code, status = (None, None) if destination is None else _STATUS_CODES.get(destination.status, (None, None))
        target = link.target + (f"#{link.fragment}" if link.fragment else "")
        return (
            "Hyperlink", source, target, link.alt, link.anchor, code, status, link.follow, link.path,
            _POSITIONS[link.zone],
        )  # fmt: skip

    return Table(columns, (row(source, link) for source, some in links for link in some))


def duplicates_table(pages: Iterable[PageRow], near: Iterable[tuple[PageRow, PageRow, float]]) -> Table:
    """Pages whose text stands, or nearly stands, on another page: the page kept first, then the other.

    `near` holds pairs with the estimated share of their texts that agrees.
    """
    columns = ("url", "title", "duplicate_of", "kind", "resemblance")
    same = ((p.url, p.title, p.stands_for, "same text", 1.0) for p in pages if p.status == "duplicate")
    nearly = ((p.url, p.title, of.url, "nearly the same text", round(share, 2)) for p, of, share in near)
    return Table(columns, sorted([*same, *nearly], key=lambda row: (row[2] or "", row[0])))
