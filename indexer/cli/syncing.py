"""A run from the command line: its parts from the configuration, its progress, and what it says at the end."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

from indexer.cli.asking import normal_url
from indexer.cli.building import parts_of
from indexer.cli.output import Bars, Lines, Silence
from indexer.config import Config
from indexer.links.review import Status
from indexer.records import PageRow, Summary
from indexer.report import Table
from indexer.state.reads import Reads
from indexer.state.writing import open_state, scratch_copy
from indexer.sync import Request, plan_run, run
from indexer.sync.holding import holding


@dataclass(frozen=True, slots=True)
class Result:
    """What a run did, and what its person should know or do next."""

    summary: Summary
    advice: tuple[str, ...]
    publishing: tuple[str, ...]


def progress(silent: bool) -> Bars | Lines:
    """Bars on a terminal, plain lines elsewhere."""
    if silent:
        return Silence()
    return Bars() if sys.stderr.isatty() else Lines()


def page_urls(config: Config, urls: Iterable[str]) -> tuple[str, ...]:
    """The normal forms of the pages a person named."""
    return tuple(dict.fromkeys(normal_url(url, config) for url in urls))


def sync(config: Config, request: Request, shown: Bars | Lines) -> Result:
    """One run, alone with the state database."""
    database = config.store.state
    with holding(database, datetime.now(UTC)), open_state(database) as state, shown:
        is_first = state.reads.last_run() is None
        last = state.reads.last_page()
        summary = asyncio.run(run(parts_of(config, shown), state, request))
        new = [] if is_first else [p for p in state.reads.pages_after(last) if p.status == "indexed"]
        advice = _advice(state.reads.held_back(), state.reads.faults())
        return Result(summary, tuple(advice), tuple(_publishing(state.reads, new)))


_NEW_PAGES = 20
_SOURCES = 5


def _publishing(reads: Reads, new: Sequence[PageRow]) -> Iterator[str]:
    """For each new page the pages that should link to it: what matters most right after publishing."""
    for page in new[:_NEW_PAGES]:
        rows = list(islice(reads.suggestions(target=page.url, statuses=[Status.OPEN]), _SOURCES))
        yield f"{page.url} is new; pages that should link to it: {len(rows) or 'none stands out'}"
        for row in rows:
            s = row.suggestion
            yield f"  {s.id}  {s.source}" + (f"  on {s.anchor!r}: " if s.anchor else ": ") + s.markdown
    if len(new) > _NEW_PAGES:
        yield f"{len(new) - _NEW_PAGES} more pages are new: `indexer links --to URL` lists who should link to one"


def plan(config: Config, request: Request, shown: Bars | Lines) -> Table:
    """What a run would do with which page, as a table; nothing is kept."""
    with tempfile.TemporaryDirectory() as directory:
        database = Path(directory) / "plan.db"
        with scratch_copy(config.store.state, database) as scratch, shown:
            planned = asyncio.run(plan_run(parts_of(config, shown), scratch, request))
    return Table(("change", "url", "reason"), [(p.change, p.url, p.reason) for p in planned])


def sentence(summary: Summary) -> str:
    """The run in one line."""
    s = summary
    parts = [f"{s.seen} pages looked at"]
    counted = {
        "new": s.new, "changed": s.changed, "moved": s.moved, "unchanged": s.unchanged, "gone": s.gone,
        "failed": s.failed, "held back": s.held,
    }  # fmt: skip
    parts += [f"{count} {name}" for name, count in counted.items() if count]
    parts.append(f"{s.embedded_passages} passages embedded")
    parts.append(f"{s.lists_changed} neighbour lists changed")
    parts.append(f"{s.links_new} new suggestions")
    return ", ".join(parts) + f" in {s.seconds:.1f} s"


def _advice(held: list[tuple[str, str]], faults: list[tuple[str, str]]) -> list[str]:
    lines = []
    if held:
        url, reason = held[0]
        lines.append(
            f"{len(held)} pages would have left the index and were held back, such as {url} ({reason})."
            " If that is right, run `indexer sync --allow-removals`; if not, mend the site and sync again."
        )
    if faults:
        url, reason = faults[0]
        lines.append(
            f"{len(faults)} addresses could not be read, such as {url} ({reason})."
            " Nothing of them was changed; the next sync tries again. All: `indexer status`"
        )
    return [f"indexer: {line}" for line in lines]
