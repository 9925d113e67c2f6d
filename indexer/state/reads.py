"""Questions that the state database answers by itself, while a run writes too."""

from __future__ import annotations

import json
import sqlite3  # noqa: TID251
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from indexer.records import Link, NeighbourRow, PageRow, RunRow, Suggestion, SuggestionRow
from indexer.state import texts
from indexer.state.pages import STANDS_FOR
from indexer.state.schema import open_for_reading

_PAGE = (
    "SELECT p.id, p.url, CASE WHEN p.status != 'live' THEN p.status WHEN p.duplicate_of IS NULL THEN 'indexed'"
    " ELSE 'duplicate' END AS status, coalesce(p.title, ''), coalesce(p.language, ''), p.words, p.redirect_to,"
    f" {STANDS_FOR}, p.note, p.first_seen, p.changed"
    " FROM pages p LEFT JOIN pages d ON d.id = p.duplicate_of"
)
_NEIGHBOUR = (
    "SELECT p.url, coalesce(p.title, ''), q.url, coalesce(q.title, ''), n.score, n.rank, n.near"
    " FROM neighbours n JOIN pages p ON p.id = n.page JOIN pages q ON q.id = n.other"
)


_SUGGESTION = (
    "SELECT s.id, s.source, s.target, s.status, s.score, s.similarity, s.anchor, s.paragraph, s.block, s.start, s.html,"
    " s.markdown, s.reason, s.first_seen, coalesce(p.title, ''), coalesce(q.title, '')"
    " FROM suggestions s LEFT JOIN pages p ON p.url = s.source LEFT JOIN pages q ON q.url = s.target"
)


class Reads:
    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def page(self, urls: Iterable[str]) -> PageRow | None:
        """The first of these URLs that is known."""
        for url in urls:
            row = self._db.execute(f"{_PAGE} WHERE p.url = ?", (url,)).fetchone()
            if row is not None:
                return PageRow(*row)
        return None

    def pages(self) -> Iterator[PageRow]:
        """Every known URL, in their order."""
        return (PageRow(*row) for row in self._db.execute(f"{_PAGE} ORDER BY p.url"))

    def last_page(self) -> int:
        """The highest number that a page has; 0 where there is none."""
        return int(self._db.execute("SELECT coalesce(max(id), 0) FROM pages").fetchone()[0])

    def pages_after(self, page: int) -> list[PageRow]:
        """The pages that became known after the page of this number, in the order of their URLs."""
        return [PageRow(*row) for row in self._db.execute(f"{_PAGE} WHERE p.id > ? ORDER BY p.url", (page,))]

    def urls_like(self, words: Iterable[str], limit: int) -> list[str]:
        """URLs of readable pages that contain one of the words, or any where no word is given."""
        patterns = [f"%{word}%" for word in words] or ["%"]
        rows = self._db.execute(
            "SELECT DISTINCT url FROM pages JOIN json_each(?) ON url LIKE json_each.value"
            " WHERE status = 'live' ORDER BY url LIMIT ?",
            (json.dumps(patterns), limit),
        )
        return [url for (url,) in rows]

    def neighbours(self, page: int) -> list[NeighbourRow]:
        """The page's list, best first."""
        return [_neighbour(row) for row in self._db.execute(f"{_NEIGHBOUR} WHERE n.page = ? ORDER BY n.rank", (page,))]

    def all_neighbours(self) -> Iterator[NeighbourRow]:
        """Every list, in the order of the pages' URLs."""
        return (_neighbour(row) for row in self._db.execute(f"{_NEIGHBOUR} ORDER BY p.url, n.rank"))

    def links(self) -> Iterator[tuple[str, tuple[Link, ...]]]:
        """Every readable page's URL and its links inside the site, in the order of the URLs."""
        rows = self._db.execute(
            "SELECT p.url, d.links FROM pages p JOIN documents d ON d.page = p.id"
            " WHERE p.status IN ('live', 'thin', 'noindex') ORDER BY p.url"
        )
        return ((url, texts.unpack_links(links)) for url, links in rows)

    def set_links(self) -> Iterator[tuple[str, bool, tuple[str, ...]]]:
        """For each indexed page its URL, whether it is one to link to, and the addresses its author linked to."""
        rows = self._db.execute(
            "SELECT p.url, r.utility IS NULL, r.outlinks FROM readings r JOIN pages p ON p.id = r.page"
            " WHERE p.status IN ('live', 'thin', 'noindex') AND p.duplicate_of IS NULL ORDER BY p.url"
        )
        return ((url, bool(is_target), _addresses(outlinks)) for url, is_target, outlinks in rows)

    def set_links_of(self, page: int) -> tuple[str, ...]:
        """The addresses that the page's author linked to from its content; none where it was not read for links."""
        row = self._db.execute("SELECT outlinks FROM readings WHERE page = ?", (page,)).fetchone()
        return _addresses(row[0]) if row else ()

    def suggestions(
        self, source: str | None = None, target: str | None = None, statuses: Iterable[str] = ()
    ) -> Iterator[SuggestionRow]:
        """Suggestions from one page, to one page, or all, of these statuses or of any; best first."""
        rows = self._db.execute(
            f"{_SUGGESTION} WHERE (?1 IS NULL OR s.source = ?1) AND (?2 IS NULL OR s.target = ?2)"
            " AND (?3 = '[]' OR s.status IN (SELECT value FROM json_each(?3)))"
            " ORDER BY s.score DESC, s.source, s.target",
            (source, target, json.dumps(list(statuses))),
        )
        return (_suggestion(row) for row in rows)

    def suggestion(self, name: str) -> SuggestionRow | None:
        """The suggestion of this id."""
        row = self._db.execute(f"{_SUGGESTION} WHERE s.id = ?", (name,)).fetchone()
        return None if row is None else _suggestion(row)

    def sketches(self) -> tuple[list[str], list[bytes]]:
        """URLs and sketches of the indexed pages, in the order of the URLs."""
        rows = self._db.execute(
            "SELECT p.url, s.sketch FROM pages p JOIN sketches s ON s.page = p.id"
            " WHERE p.status = 'live' AND p.duplicate_of IS NULL ORDER BY p.url"
        ).fetchall()
        return [url for url, _ in rows], [sketch for _, sketch in rows]

    def counts(self) -> dict[str, int]:
        """How many known URLs are of each status."""
        rows = self._db.execute(f"SELECT status, count(*) FROM ({_PAGE}) GROUP BY status ORDER BY status")
        return dict(rows.fetchall())

    def waiting(self) -> int:
        """How many passages wait for their embedding."""
        return int(self._db.execute("SELECT count(*) FROM to_embed").fetchone()[0])

    def held_back(self) -> list[tuple[str, str]]:
        """URL and reason of the removals that were held back."""
        return self._db.execute("SELECT url, reason FROM held JOIN pages ON id = page ORDER BY url").fetchall()

    def faults(self) -> list[tuple[str, str]]:
        """URL and reason of what the last run could not read."""
        return self._db.execute("SELECT url, reason FROM faults ORDER BY url").fetchall()

    def last_run(self) -> RunRow | None:
        row = self._db.execute(
            "SELECT started, seconds, exit_code, summary FROM runs ORDER BY id DESC LIMIT 1"
        ).fetchone()
        return RunRow(*row) if row else None


@contextmanager
def open_reads(path: Path) -> Iterator[Reads]:
    """The state database at `path`, for questions only. Raises StateError where there is none."""
    db = open_for_reading(path)
    try:
        yield Reads(db)
    finally:
        db.close()


def _addresses(outlinks: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(target for target, _ in json.loads(outlinks)))


def _suggestion(row: Sequence[Any]) -> SuggestionRow:
    return SuggestionRow(Suggestion(*row[:-2]), row[-2], row[-1])


def _neighbour(row: Sequence[Any]) -> NeighbourRow:
    url, title, other_url, other_title, score, rank, near = row
    return NeighbourRow(url, title, other_url, other_title, score, rank, bool(near))
