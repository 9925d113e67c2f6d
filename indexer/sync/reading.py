"""Reading pages in processes of their own: pure CPU work, and a page that kills its process kills no run."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from functools import cached_property
from multiprocessing import get_context
from types import TracebackType

from indexer.extract.rules import ExtractRules
from indexer.passages import TokenCounter, cut
from indexer.records import Block, Document, Failed, Fetched, Passage
from indexer.urls import Site


@dataclass(frozen=True)
class ReadingRules:
    """What reading depends on; crosses to the processes that read. `counter` makes the model's token counter there."""

    site: Site
    extract: ExtractRules
    counter: Callable[[], TokenCounter]


_here: tuple[ReadingRules, TokenCounter] | None = None


def _start(rules: ReadingRules) -> None:
    global _here  # a process of the pool has no other place to keep it
    _here = (rules, rules.counter())


def _read(fetched: Fetched) -> Document:
    assert _here is not None  # noqa: S101 - _start has run in this process
    return read_page(fetched, *_here)


def read_page(fetched: Fetched, rules: ReadingRules, counter: TokenCounter) -> Document:
    """The page's document with its passages."""
    # The parsers take most of a second to import, and a run in which nothing changed has nothing to parse.
    from indexer.extract.document import extract

    document = extract(fetched, rules.site, rules.extract)
    return replace(document, passages=cut(document.title, document.blocks, counter))


def read_draft(text: str, name: str, rules: ReadingRules) -> Document:
    """The document, with its passages, that a text not published yet will be."""
    from indexer.extract.draft import draft_document

    document = draft_document(text, name, rules.site, rules.extract)
    return replace(document, passages=cut(document.title, document.blocks, rules.counter()))


class ProcessReader:
    """Reads pages in up to `processes` processes, started when the first page comes."""

    def __init__(self, rules: ReadingRules, processes: int | None = None) -> None:
        self.rules, self._processes = rules, processes or min(4, os.cpu_count() or 1)
        self._pool: ProcessPoolExecutor | None = None

    async def read(self, fetched: Fetched) -> Document | Failed:
        """The page's document with its passages; Failed where reading it breaks its process, twice."""
        for _ in range(2):
            pool = self._running()
            try:
                return await asyncio.get_running_loop().run_in_executor(pool, _read, fetched)
            except BrokenProcessPool:
                # All pages in flight see this, the culprit among them: each tries once more in a fresh pool.
                if self._pool is pool:
                    self._pool = None
                    pool.shutdown(wait=False)
            except Exception as error:  # whatever one page does to a parser concerns that page only
                return Failed(fetched.url, f"could not be read: {type(error).__name__}: {error}")
        return Failed(fetched.url, "could not be read: its process died twice")

    def cut(self, title: str, blocks: Sequence[Block]) -> tuple[Passage, ...]:
        """The passages of a stored text, cut in this process."""
        return cut(title, blocks, self.counter)

    @cached_property
    def counter(self) -> TokenCounter:
        """The model's token counter in this process."""
        return self.rules.counter()

    def _running(self) -> ProcessPoolExecutor:
        if self._pool is None:
            # "spawn": the embedding model's threads live in this process, and a fork would copy their locks.
            self._pool = ProcessPoolExecutor(self._processes, get_context("spawn"), _start, (self.rules,))
        return self._pool

    async def __aenter__(self) -> ProcessReader:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=error is None, cancel_futures=True)
