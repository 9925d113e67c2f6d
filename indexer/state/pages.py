"""The known URLs, what their pages say, and which vectors they ask for."""

from __future__ import annotations

import json
import sqlite3  # noqa: TID251
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from indexer.changes import Known, Status, Twin, Write, vector_key
from indexer.records import Block, Document, Link, Passage, Validators, Zone
from indexer.state import texts

_KNOWN = (
    "SELECT id, url, status, text_hash, language, etag, last_modified, body_hash, rules, misses, redirect_to, listed"
    " FROM pages"
)
_TWIN = (
    "SELECT p.id, p.url, p.text_hash, p.canonical, s.sketch FROM pages p JOIN sketches s ON s.page = p.id"
    " WHERE p.status = 'live' AND "
)
_ASKED = "CASE WHEN p.status = 'live' AND p.duplicate_of IS NULL THEN p.key END"
"""The vector a page asks for: none unless it is live and stands for itself."""
STANDS_FOR = (
    "CASE p.status WHEN 'live' THEN d.url WHEN 'unlisted' THEN coalesce("
    "(SELECT s.url FROM pages s WHERE s.text_hash = p.text_hash AND s.status = 'live' AND s.duplicate_of IS NULL),"
    " (SELECT s.url FROM pages s WHERE s.url = p.canonical AND s.status = 'live')) END"
)
"""The URL of the page `d` that stands for the duplicate `p`, and of the one that an unlisted page shows."""
_LINKED = (
    "EXISTS (SELECT 1 FROM outlinks o JOIN pages p ON p.id = o.page WHERE o.target = t.id"
    " AND p.status IN ('live', 'thin', 'noindex'))"
)


class Pages:
    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    # --- looking --------------------------------------------------------------------------------------------------

    def all_known(self) -> dict[str, Known]:
        return _known(self._db.execute(_KNOWN))

    def known(self, urls: Iterable[str]) -> dict[str, Known]:
        return _known(self._db.execute(f"{_KNOWN} WHERE url IN (SELECT value FROM json_each(?))", (_json(urls),)))

    def others_with_text(self, text_hash: str, url: str) -> set[str]:
        """The other live pages that hold this very text."""
        rows = self._db.execute(
            "SELECT url FROM pages WHERE text_hash = ? AND url != ? AND status = 'live'", (text_hash, url)
        )
        return {found for (found,) in rows}

    def twins(self, text_hashes: Iterable[str]) -> list[Twin]:
        """Every live page that holds one of these texts."""
        rows = self._db.execute(f"{_TWIN} p.text_hash IN (SELECT value FROM json_each(?))", (_json(text_hashes),))
        return [Twin(*row) for row in rows]

    def texts_of(self, urls: Iterable[str]) -> set[str]:
        """The hashes of the texts that stand, live, at these URLs."""
        return self._texts("url", urls)

    def texts_naming(self, urls: Iterable[str]) -> set[str]:
        """The hashes of the live texts whose canonical names one of these URLs."""
        return self._texts("canonical", urls)

    def _texts(self, column: str, urls: Iterable[str]) -> set[str]:
        rows = self._db.execute(
            f"SELECT DISTINCT text_hash FROM pages WHERE status = 'live' AND text_hash IS NOT NULL"
            f" AND {column} IN (SELECT value FROM json_each(?))",
            (_json(urls),),
        )
        return {text for (text,) in rows}

    def blocks(self, page: int) -> tuple[str, tuple[Block, ...]]:
        """The page's title and its stored blocks."""
        row = self._db.execute(
            "SELECT title, blocks FROM pages JOIN documents ON page = id WHERE id = ?", (page,)
        ).fetchone()
        return row[0], texts.unpack_blocks(row[1])

    def links(self, url: str) -> tuple[Link, ...]:
        """The links of the page as last read; none where nothing was."""
        row = self._db.execute("SELECT links FROM documents JOIN pages ON page = id WHERE url = ?", (url,)).fetchone()
        return texts.unpack_links(row[0]) if row else ()

    def unknown_targets(self) -> list[str]:
        """Addresses that readable pages link to from their content, and that are not known."""
        rows = self._db.execute(
            f"SELECT url FROM targets t WHERE url NOT IN (SELECT url FROM pages) AND {_LINKED} ORDER BY url"
        )
        return [url for (url,) in rows]

    def linked_unlisted(self) -> set[str]:
        """The URLs that no source lists, and that readable pages link to from their content."""
        rows = self._db.execute(
            f"SELECT u.url FROM pages u JOIN targets t ON t.url = u.url WHERE u.listed = 0 AND {_LINKED}"
        )
        return {url for (url,) in rows}

    # --- writing --------------------------------------------------------------------------------------------------

    def write(self, url: str, write: Write, model: int, now: str) -> int:
        """Make the record of `url` this; the number of its page."""
        page = self._row(url, now)
        v = write.validators
        self._db.execute(
            "UPDATE pages SET status = ?, redirect_to = ?, note = ?, etag = ?, last_modified = ?, body_hash = ?,"
            " rules = ?, misses = ?, listed = ? WHERE id = ?",
            (write.status, write.redirect_to, write.note, v.etag, v.last_modified, write.body_hash, write.rules,
             write.misses, write.listed, page),
        )  # fmt: skip
        if write.document is not None:
            self._write_text(page, write.document, write.status, model, now)
        elif write.status in (Status.REDIRECT, Status.SKIPPED):
            self._clear_text(page)
        return page

    def recut(self, page: int, passages: Sequence[Passage], model: int) -> None:
        """The page's passages as another model reads them."""
        language = self._db.execute("SELECT language FROM pages WHERE id = ?", (page,)).fetchone()[0]
        self._write_passages(page, passages)
        self._db.execute(
            "UPDATE pages SET key = ?, model = ? WHERE id = ?",
            (vector_key(language, (p.hash for p in passages)), model, page),
        )

    def forget(self, url: str) -> None:
        """Delete the record of `url` and what hangs on it; its points are left pending."""
        self._db.execute(
            "INSERT OR IGNORE INTO pending SELECT o.model, o.page, o.id FROM points o JOIN pages p ON p.id = o.page"
            " WHERE p.url = ?",
            (url,),
        )
        self._db.execute("DELETE FROM pages WHERE url = ?", (url,))

    def move(self, old: str, new: str) -> None:
        """The page that was at `old` is at `new`: its history goes with it."""
        self._db.execute(
            "UPDATE pages SET first_seen = min(first_seen, (SELECT first_seen FROM pages WHERE url = ?))"
            " WHERE url = ? AND EXISTS (SELECT 1 FROM pages WHERE url = ?)",
            (old, new, old),
        )
        for column in ("source", "target"):
            self._db.execute(f"UPDATE OR REPLACE decisions SET {column} = ? WHERE {column} = ?", (new, old))

    def stand(self, standing: Mapping[int, int | None]) -> list[int]:
        """Write down which page stands for which; the pages for which that is news."""
        return [
            page
            for page, other in standing.items()
            if self._db.execute(
                "UPDATE pages SET duplicate_of = ? WHERE id = ? AND duplicate_of IS NOT ?", (other, page, other)
            ).rowcount
        ]

    def expect(self, pages: Iterable[int], model: int) -> set[int]:
        """Compare what the pages ask for with what the vector store is known to hold; mark the differing as pending.

        A pending page stays so until `confirm`, even when it asks for the old vector again: a crash may have left the
        new one in the store. Returns those of the pages that are pending and ask for a vector.
        """
        chosen = _json(pages)
        self._db.execute(
            "INSERT OR IGNORE INTO pending SELECT ?1, p.id, point_id(p.url) FROM pages p"
            " LEFT JOIN points o ON o.model = ?1 AND o.page = p.id"
            f" WHERE p.id IN (SELECT value FROM json_each(?2)) AND {_ASKED} IS NOT o.key",
            (model, chosen),
        )
        rows = self._db.execute(
            f"SELECT p.id FROM pending w JOIN pages p ON p.id = w.page WHERE w.model = ? AND {_ASKED} IS NOT NULL"
            " AND p.id IN (SELECT value FROM json_each(?))",
            (model, chosen),
        )
        return {page for (page,) in rows}

    def of_other_model(self, model: int) -> list[int]:
        """Live pages whose passages were cut for another model."""
        rows = self._db.execute("SELECT id FROM pages WHERE status = 'live' AND model IS NOT ?", (model,))
        return [page for (page,) in rows]

    def _row(self, url: str, now: str) -> int:
        self._db.execute(
            "INSERT OR IGNORE INTO pages (url, status, first_seen, changed) VALUES (?, 'unread', ?, ?)", (url, now, now)
        )
        return int(self._db.execute("SELECT id FROM pages WHERE url = ?", (url,)).fetchone()[0])

    def _write_text(self, page: int, document: Document, status: Status, model: int, now: str) -> None:
        passages = document.passages if status is Status.LIVE else ()
        key = vector_key(document.language, (p.hash for p in passages)) if passages else None
        self._db.execute(
            "UPDATE pages SET changed = CASE WHEN text_hash IS ? THEN changed ELSE ? END, title = ?, language = ?,"
            " words = ?, text_hash = ?, key = ?, model = ?, canonical = ? WHERE id = ?",
            (document.text_hash, now, document.title, document.language, document.words, document.text_hash, key,
             model, document.canonical, page),
        )  # fmt: skip
        blocks, links = texts.pack_blocks(document.blocks), texts.pack_links(x for x in document.links if x.internal)
        self._db.execute(
            "INSERT OR REPLACE INTO documents VALUES (?, ?, ?, ?)",
            (page, blocks, links, texts.digest(document.title, document.language, blocks, links)),
        )
        self._db.execute("INSERT OR REPLACE INTO sketches VALUES (?, ?)", (page, document.sketch))
        self._write_passages(page, passages)
        self._write_outlinks(page, () if status is Status.UNLISTED else document.links)

    def _write_outlinks(self, page: int, links: Iterable[Link]) -> None:
        targets = _json({link.target for link in links if link.internal and link.follow and link.zone is Zone.CONTENT})
        self._db.execute("DELETE FROM outlinks WHERE page = ?", (page,))
        self._db.execute("INSERT OR IGNORE INTO targets (url) SELECT value FROM json_each(?)", (targets,))
        self._db.execute(
            "INSERT INTO outlinks SELECT ?, id FROM targets WHERE url IN (SELECT value FROM json_each(?))",
            (page, targets),
        )

    def _write_passages(self, page: int, passages: Sequence[Passage]) -> None:
        self._db.execute("INSERT OR IGNORE INTO dropped SELECT hash FROM passages WHERE page = ?", (page,))
        self._db.execute("DELETE FROM passages WHERE page = ?", (page,))
        self._db.executemany(
            "INSERT INTO passages VALUES (?, ?, ?, ?, ?)",
            ((page, place, p.hash, p.first, p.last) for place, p in enumerate(passages)),
        )

    def _clear_text(self, page: int) -> None:
        self._write_passages(page, ())
        self._write_outlinks(page, ())
        self._db.execute("DELETE FROM documents WHERE page = ?", (page,))
        self._db.execute("DELETE FROM sketches WHERE page = ?", (page,))
        self._db.execute(
            "UPDATE pages SET title = NULL, language = NULL, words = 0, text_hash = NULL, key = NULL, canonical = NULL"
            " WHERE id = ?",
            (page,),
        )


def _known(rows: Iterable[Sequence[Any]]) -> dict[str, Known]:
    known = {}
    for page, url, status, text, language, etag, modified, body, rules, misses, to, listed in rows:
        asked = Validators(etag, modified)
        known[url] = Known(page, url, Status(status), text, language, asked, body, rules, misses, to, bool(listed))
    return known


def _json(values: Iterable[object]) -> str:
    return json.dumps(list(values))
