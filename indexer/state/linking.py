"""What link suggestions are made of: statistics, what each page's text says of links, pairs, and what people said."""

from __future__ import annotations

import json
import sqlite3  # noqa: TID251
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from indexer.anchors import Phrase
from indexer.corpus import PageText, Statistics
from indexer.lexical import Bag, Rarity
from indexer.links.library import Outlink
from indexer.links.pairs import Pair, Spot
from indexer.links.ranking import Candidates
from indexer.links.review import Decision, Verdict
from indexer.records import Suggestion
from indexer.state import floats, texts
from indexer.state.journal import Journal
from indexer.state.pages import STANDS_FOR

_READ = "p.status IN ('live', 'thin', 'noindex')"


@dataclass(frozen=True, slots=True)
class Reading:
    """What links need of a page's text: its own name, its bag of words, the links its author set (`set_links` of
    them), and why it is no page to link to, if it is none."""

    name: str
    bag: Bag
    outlinks: tuple[Outlink, ...]
    set_links: int
    utility: str | None


@dataclass(frozen=True, slots=True)
class Linkable:
    """An indexed page with its reading and its vector; `key` names the vector."""

    page: int
    url: str
    language: str
    words: int
    text_hash: str
    digest: str
    key: str
    vector: npt.NDArray[np.float32]
    reading: Reading


@dataclass(frozen=True, slots=True)
class Ranked:
    """A page as the pairs were last found by: fingerprints of it as a source and as a target, the pages it links to,
    and the names it gives to pages."""

    as_source: str
    as_target: str
    targets: str
    named: str


class Linking:
    def __init__(self, db: sqlite3.Connection) -> None:
        self._db, self._journal = db, Journal(db)

    # --- when to look -----------------------------------------------------------------------------------------------

    def make_due(self) -> None:
        """Something is being written that may concern links."""
        self._journal.put("links due", "yes")

    def settle(self, rules: str) -> None:
        """All suggestions are in step with what is stored, under these rules."""
        self._journal.put("links due", "no")
        self._journal.put("links follow", rules)

    def follows(self, rules: str) -> bool:
        """Whether these are the rules that links were last found by."""
        return self._journal.get("links follow") == rules

    def is_due(self, rules: str) -> bool:
        """Whether suggestions may be out of step."""
        return self._journal.get("links due") != "no" or not self.follows(rules) or bool(self.marked())

    # --- statistics -----------------------------------------------------------------------------------------------

    def version(self) -> tuple[int, int, int]:
        """Number, pages and churn of the statistics in force; zeros where there are none."""
        row = self._db.execute("SELECT version, pages, churn FROM corpus").fetchone()
        return (0, 0, 0) if row is None else (row[0], row[1], row[2])

    def statistics(self) -> Statistics:
        row = self._db.execute(
            "SELECT pages, terms, frequencies, title_terms, title_frequencies, repeated FROM corpus"
        ).fetchone()
        repeated = json.loads(row[5])
        return Statistics(
            rarity=Rarity(row[0], np.frombuffer(row[1], "<u4"), np.frombuffer(row[2], "<u4")),
            titles=Rarity(row[0], np.frombuffer(row[3], "<u4"), np.frombuffer(row[4], "<u4")),
            suffixes=frozenset(repeated["suffixes"]),
            blocks=frozenset(repeated["blocks"]),
            links=frozenset(repeated["links"]),
            places=frozenset(repeated["places"]),
            inlinks=repeated["inlinks"],
        )

    def put_statistics(self, new: Statistics) -> None:
        """Put the next version of the statistics in force."""
        version, _, _ = self.version()
        repeated = {part: sorted(getattr(new, part)) for part in ("suffixes", "blocks", "links", "places")}
        self._db.execute("DELETE FROM corpus")
        self._db.execute(
            "INSERT INTO corpus VALUES (?, ?, ?, ?, ?, ?, ?, 0)",
            (version + 1, new.rarity.pages, _blob(new.rarity.terms), _blob(new.rarity.frequencies),
             _blob(new.titles.terms), _blob(new.titles.frequencies),
             json.dumps(repeated | {"inlinks": dict(new.inlinks)})),
        )  # fmt: skip

    def count_churn(self, pages: int) -> None:
        self._db.execute("UPDATE corpus SET churn = churn + ?", (pages,))

    # --- readings -------------------------------------------------------------------------------------------------

    def unread(self, version: int) -> list[int]:
        """Indexed pages whose text was not read for links, or under other statistics."""
        rows = self._db.execute(
            "SELECT p.id FROM pages p JOIN documents d ON d.page = p.id LEFT JOIN readings r ON r.page = p.id"
            f" WHERE {_READ} AND p.duplicate_of IS NULL AND (r.digest IS NOT d.digest OR r.version IS NOT ?)"
            " ORDER BY p.id",
            (version,),
        )
        return [page for (page,) in rows]

    def text(self, page: int) -> tuple[PageText, str]:
        """What the page says, and the digest of it."""
        url, title, language, blocks, links, digest = self._db.execute(
            "SELECT p.url, coalesce(p.title, ''), coalesce(p.language, ''), d.blocks, d.links, d.digest"
            " FROM pages p JOIN documents d ON d.page = p.id WHERE p.id = ?",
            (page,),
        ).fetchone()
        text = PageText(url, title, language, texts.unpack_blocks(blocks), texts.unpack_links(links))
        return text, digest or texts.digest(title, language, blocks, links)

    def save_reading(self, page: int, digest: str, version: int, reading: Reading) -> None:
        outlinks = json.dumps([[link.target, " ".join(link.phrase)] for link in reading.outlinks], ensure_ascii=False)
        self._db.execute("UPDATE documents SET digest = ? WHERE page = ? AND digest IS NULL", (digest, page))
        self._db.execute(
            "INSERT OR REPLACE INTO readings VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (page, digest, version, reading.name, _blob(reading.bag.terms), reading.bag.counts.astype("<u2").tobytes(),
             outlinks, reading.set_links, reading.utility),
        )  # fmt: skip

    def linkable(self, model: int) -> Iterator[Linkable]:
        """Every page that the vector store holds, with its reading."""
        rows = self._db.execute(
            "SELECT p.id, p.url, o.language, p.words, p.text_hash, r.digest, o.key, o.vector, r.name, r.terms,"
            " r.counts, r.outlinks, r.set_links, r.utility FROM points o JOIN pages p ON p.id = o.page"
            " JOIN readings r ON r.page = p.id WHERE o.model = ? AND p.status = 'live' AND p.duplicate_of IS NULL"
            " ORDER BY p.id",
            (model,),
        )
        for page, url, language, words, text, digest, key, vector, name, terms, counts, links, set_links, kind in rows:
            bag = Bag(np.frombuffer(terms, "<u4"), np.frombuffer(counts, "<u2"))
            outlinks = tuple(Outlink(target, tuple(said.split())) for target, said in json.loads(links))
            reading = Reading(name, bag, outlinks, set_links, kind)
            yield Linkable(page, url, language, words, text, digest, key, floats.unpack_vectors([vector])[0], reading)

    def addresses(self) -> Iterator[tuple[str, int, str | None, str | None]]:
        """Every known URL, its page, where it redirects to, and the URL of the page that stands for it."""
        yield from self._db.execute(
            f"SELECT p.url, p.id, p.redirect_to, {STANDS_FOR} FROM pages p LEFT JOIN pages d ON d.id = p.duplicate_of"
        )

    # --- what pairs were found by ---------------------------------------------------------------------------------

    def ranked(self) -> dict[int, Ranked]:
        rows = self._db.execute("SELECT page, as_source, as_target, targets, named FROM ranked")
        return {page: Ranked(*rest) for page, *rest in rows}

    def save_ranked(self, pages: Mapping[int, Ranked], gone: Iterable[int]) -> None:
        """Take these pages in, and let those go with everything found for them."""
        self._db.executemany(
            "INSERT OR REPLACE INTO ranked VALUES (?, ?, ?, ?, ?)",
            ((page, r.as_source, r.as_target, r.targets, r.named) for page, r in pages.items()),
        )
        for page in gone:
            for table, column in (("ranked", "page"), ("candidates", "page"), ("pairs", "source"), ("pairs", "target")):
                self._db.execute(f"DELETE FROM {table} WHERE {column} = ?", (page,))

    def forget_ranked(self) -> None:
        """Let every page's links be found anew."""
        for table in ("ranked", "candidates", "pairs"):
            self._db.execute(f"DELETE FROM {table}")

    def candidates(self) -> Iterator[tuple[int, npt.NDArray[np.int64], float, float]]:
        """For each page the numbers of its candidates and with which scores a page becomes one."""
        for page, targets, lexical, title in self._db.execute("SELECT * FROM candidates"):
            yield page, np.frombuffer(targets, "<i8"), lexical, title

    def save_pairs(self, page: int, targets: npt.NDArray[np.int64], found: Candidates, pairs: Iterable[Pair]) -> None:
        """Put these in place of what was found for the page before."""
        self._db.execute(
            "INSERT OR REPLACE INTO candidates VALUES (?, ?, ?, ?)",
            (page, targets.astype("<i8").tobytes(), found.lexical_bar, found.title_bar),
        )
        self._db.execute("DELETE FROM pairs WHERE source = ?", (page,))
        self._db.executemany(
            "INSERT INTO pairs VALUES (?, ?, ?, ?, ?, ?)",
            (
                (p.source, p.target, p.score, p.similarity, p.reason, json.dumps([_packed(s) for s in p.spots]))
                for p in pairs
            ),
        )

    def pairs(self) -> Iterator[Pair]:
        for source, target, score, similarity, reason, spots in self._db.execute("SELECT * FROM pairs"):
            yield Pair(source, target, score, similarity, reason, tuple(_spot(*spot) for spot in json.loads(spots)))

    def listing(self, pages: Collection[int]) -> set[int]:
        """The pages that have one of these among their neighbours."""
        rows = self._db.execute(
            "SELECT DISTINCT page FROM neighbours WHERE other IN (SELECT value FROM json_each(?))",
            (json.dumps(sorted(pages)),),
        )
        return {page for (page,) in rows}

    def passages(self, page: int, model: int) -> list[tuple[int, int, npt.NDArray[np.float32]]]:
        """First block, last block and vector of each passage."""
        rows = self._db.execute(
            "SELECT s.first, s.last, e.vector FROM passages s JOIN embeddings e ON e.model = ? AND e.hash = s.hash"
            " WHERE s.page = ? ORDER BY s.place",
            (model, page),
        )
        return [(first, last, floats.unpack_vectors([vector])[0]) for first, last, vector in rows]

    # --- suggestions and decisions --------------------------------------------------------------------------------

    def decisions(self) -> list[Decision]:
        rows = self._db.execute(
            "SELECT source, target, verdict, reason, at, source_text, target_text FROM decisions"
            " ORDER BY source, target"
        )
        return [Decision(s, t, Verdict(verdict), *rest) for s, t, verdict, *rest in rows]

    def text_hashes(self, urls: Iterable[str]) -> dict[str, str]:
        """The hashes of the texts that stand, live, at these URLs."""
        rows = self._db.execute(
            "SELECT url, text_hash FROM pages WHERE status = 'live' AND url IN (SELECT value FROM json_each(?))",
            (json.dumps(list(urls)),),
        )
        return dict(rows.fetchall())

    def decide(self, decision: Decision, suggestion: Suggestion) -> None:
        """Keep a person's word, with the suggestion as it is by it; an undone one is forgotten."""
        self._db.execute("DELETE FROM decisions WHERE source = ? AND target = ?", (decision.source, decision.target))
        self._db.execute("UPDATE suggestions SET status = ? WHERE id = ?", (suggestion.status, suggestion.id))
        if decision.verdict is not Verdict.UNDO:
            self._db.execute(
                "INSERT INTO decisions VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (decision.source, decision.target, decision.verdict, decision.reason, decision.at,
                 decision.source_text, decision.target_text, json.dumps(suggestion)),
            )  # fmt: skip

    def decided(self) -> dict[tuple[str, str], Suggestion]:
        """The suggestions that were decided, as they were then."""
        rows = self._db.execute("SELECT source, target, suggestion FROM decisions")
        return {
            (source, target): Suggestion(*json.loads(kept))._replace(source=source, target=target)
            for source, target, kept in rows
        }

    def suggestions(self) -> dict[str, tuple[Suggestion, str]]:
        """Every suggestion by its id, with the digest of the text that it was made on."""
        rows = self._db.execute(f"SELECT {_COLUMNS}, digest FROM suggestions")
        return {row[0]: (Suggestion(*row[:-1]), row[-1]) for row in rows}

    def save_suggestions(self, new: Iterable[tuple[Suggestion, str]], gone: Iterable[str]) -> None:
        self._db.executemany("DELETE FROM suggestions WHERE id = ?", ((one,) for one in gone))
        self._db.executemany(
            f"INSERT OR REPLACE INTO suggestions ({_COLUMNS}, digest) VALUES ({', '.join('?' * 15)})",
            ((*suggestion, digest) for suggestion, digest in new),
        )

    # --- marks ----------------------------------------------------------------------------------------------------

    def mark(self, pages: Iterable[int]) -> None:
        """The links of these pages have to be found anew."""
        self._db.executemany("INSERT OR IGNORE INTO marks VALUES (?, 'link')", ((page,) for page in pages))

    def marked(self) -> list[int]:
        return [page for (page,) in self._db.execute("SELECT page FROM marks WHERE what = 'link' ORDER BY page")]

    def unmark(self, pages: Iterable[int]) -> None:
        self._db.executemany("DELETE FROM marks WHERE page = ? AND what = 'link'", ((page,) for page in pages))


_COLUMNS = (
    "id, source, target, status, score, similarity, anchor, paragraph, block, start, html, markdown, reason, first_seen"
)


def _blob(values: npt.NDArray[np.uint32]) -> bytes:
    return values.astype("<u4").tobytes()


def _packed(spot: Spot) -> tuple[int, int, int, str, str]:
    return spot.block, spot.start, spot.end, spot.anchor, " ".join(spot.key)


def _spot(block: int, start: int, end: int, anchor: str, key: str) -> Spot:
    words: Phrase = tuple(key.split())
    return Spot(block, start, end, anchor, words)
