"""Printing: data to stdout in the format asked for, everything else to stderr."""

from __future__ import annotations

import sys
from enum import StrEnum
from types import TracebackType

from indexer.report import Cell, Table, csv_lines, json_document, json_lines


class Format(StrEnum):
    table = "table"
    json = "json"
    jsonl = "jsonl"
    csv = "csv"


def print_table(table: Table, form: Format) -> None:
    """Write the table to stdout."""
    match form:
        case Format.csv:
            sys.stdout.writelines(line.replace("\r\n", "\n") for line in csv_lines(table))
        case Format.json:
            sys.stdout.writelines(json_document(table))
        case Format.jsonl:
            sys.stdout.writelines(json_lines(table))
        case Format.table:
            _print_for_people(table)


def _print_for_people(table: Table) -> None:
    # rich takes as long to import as a question takes to answer.
    from rich.console import Console  # noqa: TID251
    from rich.table import Table as RichTable  # noqa: TID251

    shown = RichTable(box=None, pad_edge=False, header_style="bold")
    rows = [[_shown(cell) for cell in row] for row in table.rows]
    for number, name in enumerate(table.columns):
        numeric = all(_is_number(row[number]) for row in rows)
        shown.add_column(name, justify="right" if numeric and rows else "left", overflow="fold")
    for row in rows:
        shown.add_row(*row)
    # Elsewhere than on a terminal lines are as long as they need to be: a URL cut in two is no URL.
    width = None if sys.stdout.isatty() else 10_000
    Console(width=width, highlight=False, markup=False, soft_wrap=False).print(shown)


def _shown(cell: Cell) -> str:
    match cell:
        case None:
            return ""
        case bool():
            return "yes" if cell else ""
        case float():
            return f"{cell:.3f}"
        case _:
            return str(cell)


def _is_number(text: str) -> bool:
    return text == "" or text.replace(".", "", 1).isdigit()


class Bars:
    """A progress bar a stage on a terminal."""

    def __init__(self) -> None:
        from rich import progress  # noqa: TID251
        from rich.console import Console  # noqa: TID251

        self._progress = progress.Progress(
            progress.TextColumn("{task.description:>10}"),
            progress.BarColumn(),
            progress.MofNCompleteColumn(),
            progress.TimeElapsedColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._tasks: dict[str, progress.TaskID] = {}

    def step(self, stage: str, done: int, total: int | None) -> None:
        if stage not in self._tasks:
            self._tasks[stage] = self._progress.add_task(stage, total=total)
        self._progress.update(self._tasks[stage], completed=done, total=total)

    def __enter__(self) -> Bars:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()


class Lines:
    """A plain line to stderr each time a stage has come another tenth of its way."""

    def __init__(self) -> None:
        self._said: dict[str, int] = {}

    def step(self, stage: str, done: int, total: int | None) -> None:
        tenth = 10 * done // total if total else 0
        if tenth > self._said.get(stage, 0):
            self._said[stage] = tenth
            print(f"{stage}: {done} of {total}", file=sys.stderr, flush=True)

    def __enter__(self) -> Lines:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass


class Silence(Lines):
    """No progress at all."""

    def step(self, stage: str, done: int, total: int | None) -> None:
        pass
