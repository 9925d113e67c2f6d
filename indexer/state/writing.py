"""The state database opened for writing: one connection with a part for each concern.

Whoever writes several things that belong together does so inside `transaction()`.
"""

from __future__ import annotations

import sqlite3  # noqa: TID251
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from indexer.state.embeddings import Embeddings
from indexer.state.journal import Journal
from indexer.state.linking import Linking
from indexer.state.lists import Lists
from indexer.state.pages import Pages
from indexer.state.reads import Reads
from indexer.state.schema import open_for_reading, open_for_writing


class State:
    """The database opened for writing. One process at a time writes; see `sync.holding`."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db
        self.pages = Pages(db)
        self.embeddings = Embeddings(db)
        self.lists = Lists(db)
        self.linking = Linking(db)
        self.journal = Journal(db)
        self.reads = Reads(db)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All that is written inside is kept together, or not at all."""
        self.db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self.db.execute("ROLLBACK")
            raise
        self.db.execute("COMMIT")

    def close(self) -> None:
        self.db.close()

    def __enter__(self) -> State:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_state(path: Path) -> State:
    """The state database at `path`, made where there is none. Raises StateError, StateVersion."""
    return State(open_for_writing(path))


@contextmanager
def snapshot(path: Path) -> Iterator[State]:
    """The state database as it is now, whatever a run writes meanwhile; nothing can be written to it.

    Raises StateError where there is none.
    """
    db = open_for_reading(path)
    try:
        db.execute("BEGIN")
        yield State(db)
    finally:
        db.close()


def scratch_copy(path: Path, to: Path) -> State:
    """A copy of the database to try things on: what it holds of pages, without vectors."""
    copy = open_state(to)
    if path.exists():
        copy.db.execute("ATTACH DATABASE ? AS source", (str(path),))
        for table in ("pages", "documents", "sketches", "sources", "decisions"):
            copy.db.execute(f"INSERT INTO main.{table} SELECT * FROM source.{table}")
        copy.db.execute("DETACH DATABASE source")
    return copy
