"""`indexer` in this process, on a real site, database and embedded engine; only the model is a stand-in."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from indexer.cli.building import parts_of, store_of
from indexer.cli.exporting import write_tables
from indexer.cli.output import Silence
from indexer.config import Config, load
from indexer.embed import find_model
from indexer.records import Fetched, Summary
from indexer.state.reads import open_reads
from indexer.state.writing import open_state
from indexer.sync import Request, run
from indexer.sync.holding import holding
from indexer.sync.reading import read_page
from tests.support.embedders import DIMENSIONS, HashingEmbedder


class Program:
    """A configuration in a folder, and the runs over it."""

    def __init__(self, folder: Path, site: str, **settings: Any) -> None:
        self.folder, self.path = folder, folder / "config.yaml"
        self.embedder: Any = HashingEmbedder()
        self.fingerprint, self.dimensions = "hashing", DIMENSIONS
        self.configure(site=site, **settings)

    def configure(self, **settings: Any) -> None:
        """Write the configuration; JSON is YAML."""
        self.path.write_text(json.dumps({"store": {"vectors": "vectors"}} | settings))

    @property
    def config(self) -> Config:
        return load(self.path, {})

    def sync(self, *urls: str, **request: bool) -> Summary:
        """One run."""
        config = self.config
        whole = parts_of(config, Silence())
        parts = replace(
            whole,
            reader=lambda: InPlace(whole.reader()),
            fingerprint=self.fingerprint,
            embedder=self.embedder,
            open_store=partial(store_of, config, replace(find_model("all-MiniLM-L6-v2"), dimensions=self.dimensions)),
        )
        with holding(config.store.state, datetime.now(UTC)), open_state(config.store.state) as state:
            return asyncio.run(run(parts, state, Request(urls=urls, **request)))

    def export(self) -> Mapping[str, list[dict[str, Any]]]:
        """Every exported table, its rows by name of the table."""
        with open_reads(self.config.store.state) as reads:
            write_tables(reads, self.config, self.folder / "export")
        files = (self.folder / "export").glob("*.jsonl")
        return {file.stem: [json.loads(line) for line in file.read_text().splitlines()] for file in files}

    def pages(self) -> dict[str, dict[str, Any]]:
        """The known pages, by path."""
        base = self.config.site_address.base.rstrip("/")
        return {row["url"].removeprefix(base): row for row in self.export()["pages"]}


class InPlace:
    """The reader of the configuration, without processes: their start would be most of a test's time."""

    def __init__(self, reader: Any) -> None:
        self._reader = reader

    async def __aenter__(self) -> InPlace:
        return self

    async def __aexit__(self, *_: object) -> None:
        pass

    async def read(self, fetched: Fetched) -> Any:
        return read_page(fetched, self._reader.rules, self._reader.counter)

    def cut(self, title: str, blocks: Any) -> Any:
        return self._reader.cut(title, blocks)
