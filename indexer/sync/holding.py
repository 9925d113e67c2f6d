"""One run at a time: who holds the state database, and waiting for them."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from filelock import FileLock, Timeout

_log = logging.getLogger("indexer")


@contextmanager
def holding(database: Path, now: datetime) -> Iterator[None]:
    """Hold the state database for one run; waits, and says for whom, while another run holds it.

    The operating system lets go of the lock when its holder dies, however it dies.
    """
    database.parent.mkdir(parents=True, exist_ok=True)
    lock, note = FileLock(f"{database}.lock"), database.with_name(database.name + ".holder")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        _log.warning("waiting: %s", _describe(note))
        lock.acquire()
    try:
        note.write_text(json.dumps({"process": os.getpid(), "since": now.isoformat(timespec="seconds")}))
        yield
    finally:
        note.unlink(missing_ok=True)
        lock.release()


def _describe(note: Path) -> str:
    try:
        holder = json.loads(note.read_text())
        return f"process {holder['process']} has been syncing this index since {holder['since']}"
    except (OSError, ValueError, KeyError):
        return "another process is syncing this index"
