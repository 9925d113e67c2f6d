"""What a run is made of: the edges, behind the few methods a run calls, and the settings it passes on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from indexer.changes import Guard, Policy
from indexer.links.choosing import Limits
from indexer.neighbours import Rule
from indexer.records import Block, Discovered, Document, Failed, Fetched, FetchOutcome, Passage, Validators
from indexer.urls import Site
from indexer.vectors import Vectors, VectorStore


class Looker(Protocol):
    """Looks at one page of the site, over the network or in a folder."""

    async def fetch(self, url: str, validators: Validators) -> FetchOutcome: ...


class Reader(Protocol):
    """Reads what fetched bodies say, outside the event loop."""

    async def read(self, fetched: Fetched) -> Document | Failed: ...

    def cut(self, title: str, blocks: Sequence[Block]) -> tuple[Passage, ...]: ...


class Embedder(Protocol):
    """Turns texts into unit vectors, a row each. Loads what it needs at the first call, or at `warm`."""

    def warm(self) -> None: ...

    def embed(self, texts: Sequence[str]) -> Vectors: ...


class Progress(Protocol):
    """Is told how far a stage is; `total` is None where nobody knows yet."""

    def step(self, stage: str, done: int, total: int | None) -> None: ...


@dataclass(frozen=True)
class LinkPolicy:
    """What the configuration says of suggestions. `fingerprint` names all of it."""

    home: str
    min_score: float
    min_words: int
    limits: Limits
    may_link: Callable[[str], bool]
    may_be_target: Callable[[str], bool]
    always_target: Callable[[str], bool]
    is_priority: Callable[[str], bool]
    phrases: Mapping[str, tuple[str, ...]]
    fingerprint: str


@dataclass(frozen=True)
class Parts:
    """Everything a run needs but the state database. `wanted` is the configuration's word on which URLs count, and
    `read_draft` makes a document of a text and its name."""

    site: Site
    policy: Policy
    guard: Guard
    rule: Rule
    links: LinkPolicy
    concurrency: int
    wanted: Callable[[str], bool]
    looker: Callable[[], AbstractAsyncContextManager[Looker]]
    discover: Callable[[Looker, frozenset[str]], Awaitable[Discovered]]
    reader: Callable[[], AbstractAsyncContextManager[Reader]]
    read_draft: Callable[[str, str], Document]
    fingerprint: str
    embedder: Embedder
    open_store: Callable[[str], VectorStore]
    now: Callable[[], datetime]
    progress: Progress


@dataclass(frozen=True, slots=True)
class Request:
    """What a run is asked to do: every page or only `urls`; `fresh` reads pages anew that say they have not changed;
    `allow_removals` lets any number of pages leave."""

    urls: tuple[str, ...] = ()
    fresh: bool = False
    allow_removals: bool = False
