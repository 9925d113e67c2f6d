"""Opening the database: pragmas, numbered migrations, and the versions this program can read."""

from __future__ import annotations

import sqlite3  # noqa: TID251
import uuid
from importlib.resources import files
from pathlib import Path

from indexer.errors import StateError, StateVersion
from indexer.urls import page_id

_APPLICATION = 0x696E6478
"""Written into the file's header, so that nobody's other database is taken for ours."""
_MIGRATIONS = sorted(f.name for f in files(__package__).joinpath("migrations").iterdir() if f.name.endswith(".sql"))


def open_for_writing(path: Path) -> sqlite3.Connection:
    """The database at `path`, made where there is none and brought to this program's schema.

    Raises StateVersion where a newer program wrote it or it is not ours, StateError where it cannot be opened.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        db = sqlite3.connect(path, isolation_level=None)
        db.execute("PRAGMA journal_mode = WAL")
        # A crash of the machine may cost the last transactions, never the order of those that are left: the vector
        # store's marker tells when it ran ahead.
        db.execute("PRAGMA synchronous = NORMAL")
        _migrate(db, path)
    except (OSError, sqlite3.Error) as error:
        raise StateError(f"cannot open the state database {path}: {error}") from error
    return _prepared(db)


def open_for_reading(path: Path) -> sqlite3.Connection:
    """The database at `path` as it is, never written to. Raises StateError where there is none."""
    if not path.exists():
        raise StateError(f"there is no index at {path} yet: run `indexer sync` first")
    try:
        db = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, isolation_level=None)
        if _version(db, path) < len(_MIGRATIONS):
            raise StateVersion(f"{path} is from an older version of indexer: `indexer sync` brings it up to date")
    except sqlite3.Error as error:
        raise StateError(f"cannot read the state database {path}: {error}") from error
    return _prepared(db)


def _prepared(db: sqlite3.Connection) -> sqlite3.Connection:
    db.execute("PRAGMA busy_timeout = 10000")
    db.execute("PRAGMA cache_size = -65536")
    db.create_function("point_id", 1, page_id, deterministic=True)
    return db


def _version(db: sqlite3.Connection, path: Path) -> int:
    application = db.execute("PRAGMA application_id").fetchone()[0]
    version = int(db.execute("PRAGMA user_version").fetchone()[0])
    empty = db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
    if application != _APPLICATION and not empty:
        raise StateVersion(f"{path} is not a database of indexer: set store.state to another file")
    if version > len(_MIGRATIONS):
        raise StateVersion(f"{path} was written by a newer version of indexer: update the program")
    return version


def _migrate(db: sqlite3.Connection, path: Path) -> None:
    for number, name in enumerate(_MIGRATIONS[_version(db, path) :], start=_version(db, path) + 1):
        script = files(__package__).joinpath("migrations", name).read_text(encoding="utf-8")
        first = f"PRAGMA application_id = {_APPLICATION}; INSERT INTO meta VALUES ('database', '{uuid.uuid4()}');"
        db.executescript(
            f"BEGIN IMMEDIATE; {script} {first if number == 1 else ''} PRAGMA user_version = {number}; COMMIT;"
        )
