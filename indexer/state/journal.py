"""What happened in the runs: sources to be missed, faults, removals held back, summaries; and single settings."""

from __future__ import annotations

import json
import sqlite3  # noqa: TID251
from collections.abc import Iterable, Mapping
from typing import Any


class Journal:
    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def get(self, key: str) -> str | None:
        row = self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    def put(self, key: str, value: str) -> None:
        self._db.execute(
            "INSERT INTO meta VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value", (key, value)
        )

    def sources(self) -> frozenset[str]:
        """The addresses of the sources of URLs that may not be missing."""
        return frozenset(url for (url,) in self._db.execute("SELECT url FROM sources"))

    def remember_sources(self, urls: Iterable[str]) -> None:
        """Remember which sources may not be missing in the next run, in place of those remembered before."""
        self._db.execute("DELETE FROM sources")
        self._db.executemany("INSERT INTO sources VALUES (?)", ((url,) for url in urls))

    def hold_back(self, removals: Mapping[str, str]) -> None:
        """Remember which pages (URL and reason) would have gone, in place of those remembered before."""
        self._db.execute("DELETE FROM held")
        self._db.executemany(
            "INSERT INTO held SELECT id, ? FROM pages WHERE url = ?", ((why, url) for url, why in removals.items())
        )

    def note_faults(self, faults: Mapping[str, str]) -> None:
        """Remember what could not be read in this run, in place of the run before."""
        self._db.execute("DELETE FROM faults")
        self._db.executemany("INSERT OR REPLACE INTO faults VALUES (?, ?)", faults.items())

    def run_started(self, at: str) -> int:
        run = self._db.execute("INSERT INTO runs (started) VALUES (?)", (at,)).lastrowid
        self._db.execute("DELETE FROM runs WHERE id <= ?", ((run or 0) - 1000,))
        return run or 0

    def run_ended(self, run: int, seconds: float, exit_code: int, summary: Mapping[str, Any]) -> None:
        self._db.execute(
            "UPDATE runs SET seconds = ?, exit_code = ?, summary = ? WHERE id = ?",
            (seconds, exit_code, json.dumps(summary), run),
        )
