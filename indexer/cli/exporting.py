"""Writing the tables into a folder."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

from indexer.cli.asking import near_duplicates
from indexer.cli.orphans import orphans
from indexer.config import Config
from indexer.links.addresses import Addresses, content_targets
from indexer.links.review import Status
from indexer.records import NeighbourRow, PageRow
from indexer.report import (
    Table,
    broken_links_table,
    csv_lines,
    duplicates_table,
    inlinks_table,
    json_lines,
    links_table,
    neighbours_table,
    pages_table,
    related,
)
from indexer.state.reads import Reads
from indexer.structure import link_counts


def write_tables(reads: Reads, config: Config, directory: Path) -> list[str]:
    """Write every table twice, as CSV and as JSON lines, and related.json; the names of the files.

    A file is there whole or as it was before: each is written beside its place and moved there.
    """
    directory.mkdir(parents=True, exist_ok=True)
    pages = {page.url: page for page in reads.pages()}
    addresses = Addresses(pages.get)
    find = cache(addresses.page)

    def url_behind(address: str) -> str | None:
        page = find(address)
        return None if page is None else page.url

    counts = link_counts(reads.links(), url_behind, config.site_address.base)
    tables: dict[str, Callable[[], Table]] = {
        "pages": lambda: pages_table(pages.values(), counts),
        "neighbours": lambda: neighbours_table(reads.all_neighbours(), _linked(reads, addresses)),
        "duplicates": lambda: duplicates_table(pages.values(), near_duplicates(reads)),
        "links": lambda: links_table(reads.suggestions()),
        "missing_links": lambda: links_table(reads.suggestions(statuses=[Status.OPEN])),
        "orphans": lambda: orphans(reads, config),
        "broken_links": lambda: broken_links_table(reads.links(), addresses.at),
        "inlinks": lambda: inlinks_table(reads.links(), addresses.at),
    }
    for name, table in tables.items():
        _write(directory / f"{name}.csv", csv_lines(table()))
        _write(directory / f"{name}.jsonl", json_lines(table()))
    _write(directory / "related.json", [json.dumps(related(reads.all_neighbours()), ensure_ascii=False, indent=1)])
    return [*(f"{name}.{kind}" for name in tables for kind in ("csv", "jsonl")), "related.json"]


def _linked(reads: Reads, addresses: Addresses[PageRow]) -> Callable[[NeighbourRow], bool]:
    targets = {url: content_targets(links, addresses) for url, links in reads.links()}
    return lambda row: row.neighbour_url in targets.get(row.url, ())


def _write(path: Path, lines: Iterable[str]) -> None:
    beside = path.with_name(f".{path.name}.part")
    with beside.open("w", encoding="utf-8", newline="") as out:
        out.writelines(lines)
    os.replace(beside, path)  # noqa: PTH105
