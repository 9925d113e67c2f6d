"""Killed at any moment: the next sync gives what a fresh index holds, and embeds nothing again that was kept."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from indexer.state.schema import open_for_writing
from indexer.state.writing import State, open_state
from indexer.sync import Request, run
from indexer.vectors import open_store
from tests.support.embedders import HashingEmbedder
from tests.support.stores import ModelStore
from tests.support.toysite import SITE, ToyPage, ToySite, toy_parts
from tests.test_incremental import export, fresh_export

Tick = Callable[[], None]
_STORE_STEPS = ("upsert", "delete", "claim", "flush", "close")


class Killed(BaseException):
    """The process ends here."""


class TickingState(State):
    """A state that ticks before and after every commit."""

    def __init__(self, path: Path, tick: Tick) -> None:
        super().__init__(open_for_writing(path))
        self.tick = tick

    @contextmanager
    def transaction(self) -> Iterator[None]:
        with super().transaction():
            yield
            self.tick()
        self.tick()


class TickingStore:
    """A store that ticks before and after every step that writes."""

    def __init__(self, store: Any, tick: Tick) -> None:
        self._store, self._tick = store, tick

    def __getattr__(self, name: str) -> Any:
        step = getattr(self._store, name)
        if name not in _STORE_STEPS:
            return step

        def ticking(*arguments: Any) -> Any:
            self._tick()
            done = step(*arguments)
            self._tick()
            return done

        return ticking


def a_site(pages: int = 16) -> ToySite:
    words = ("bee", "hive", "honey", "queen", "swarm", "wax", "frame", "smoke", "law", "tax", "market", "flower")
    dice = random.Random(5)
    texts = [tuple(" ".join(dice.choices(words, k=8)) for _ in range(3)) for _ in range(pages)]
    site = ToySite({f"{SITE.base}{n}": ToyPage(f"Page {n}", text) for n, text in enumerate(texts)})
    site.pages[f"{SITE.base}copy"] = site.pages[f"{SITE.base}10"]
    return site


def after_edits(site: ToySite, round_: int = 0) -> ToySite:
    """Everything at once: new, changed, gone, moved, swapped, and a duplicate whose original goes."""
    pages, base = dict(site.pages), SITE.base
    at = [f"{base}{(n + 3 * round_) % 10}" for n in range(6)]
    pages[f"{base}new{round_}"] = ToyPage(f"New {round_}", (f"a queen and her smoke {round_}", "wax and tax"))
    for url in at[:2]:
        pages[url] = replace(pages[url], paragraphs=(f"edited in round {round_}", *pages[url].paragraphs[1:]))
    pages[at[2]], pages[at[3]] = pages[at[3]], pages[at[2]]
    gone = pages.pop(f"{base}1{round_ % 5}", None)
    if gone is not None and round_ % 2:
        pages[f"{base}moved{round_}"] = gone
    return replace(site, pages=pages)


def sync(site: ToySite, state: State, open_it: Callable[[str], Any], embedder: HashingEmbedder) -> None:
    asyncio.run(run(toy_parts(site, embedder, open_it), state, Request(allow_removals=True)))


def kept_embeddings(path: Path) -> set[str]:
    with open_state(path) as state:
        return {text for (text,) in state.db.execute("SELECT hash FROM embeddings")}


def assert_whole(path: Path, site: ToySite, open_it: Callable[[str], Any], tmp_path: Path) -> None:
    """One more good sync, and the index is the fresh one; what was kept is not embedded again."""
    kept, embedder = kept_embeddings(path), HashingEmbedder()
    with open_state(path) as state:
        sync(site, state, open_it, embedder)
        ours = export(state)
        again = {passage for (passage,) in state.db.execute("SELECT hash FROM embeddings")} & kept
        hashes = dict(state.db.execute("SELECT hash, hash FROM passages"))
        fresh = fresh_export(site, state, tmp_path)
    assert ours == fresh
    embedded = {_hash(text) for text in embedder.embedded}
    assert not embedded & kept, "embedded again what was kept"
    assert again or not kept or hashes


def _hash(text: str) -> str:
    import hashlib

    return hashlib.sha256(text.encode()).hexdigest()[:32]


def test_every_step_cut_in_a_store_that_loses_unflushed_writes(tmp_path: Path) -> None:
    before, after, cut = a_site(), after_edits(a_site()), 0
    while True:
        directory = tmp_path / str(cut)
        directory.mkdir()
        path, store, left = directory / "indexer.db", ModelStore(), cut

        with open_state(path) as state:
            sync(before, state, lambda _, store=store: store, HashingEmbedder())

        def tick() -> None:
            nonlocal left
            left -= 1
            if left < 0:
                raise Killed

        state = TickingState(path, tick)
        try:
            sync(after, state, lambda _, store=store: TickingStore(store, tick), HashingEmbedder())
        except Killed:
            store.crash()
        finally:
            state.close()
        assert_whole(path, after, lambda _, store=store: store, directory)
        if left >= 0:
            break
        cut += 1
    assert cut > 20, "the scenario has fewer steps than it should"


def in_a_child(work: Callable[[], None]) -> int:
    """Run the work in a forked process; its id. The engine's threads are only ever started there."""
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(0)
    return child


def killed_child(work: Callable[[], None]) -> bool:
    _, status = os.waitpid(in_a_child(work), 0)
    return os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL


def edge(directory: Path) -> Callable[[str], Any]:
    return lambda fingerprint: open_store(directory / "vectors", fingerprint, dimensions=64)


def test_sigkill_before_and_after_every_commit_upsert_and_flush(tmp_path: Path) -> None:
    before, after, cut = a_site(), after_edits(a_site()), 0
    killed = True
    while killed:
        directory = tmp_path / str(cut)
        directory.mkdir()
        path = directory / "indexer.db"

        def whole_then_cut(path: Path = path, directory: Path = directory, left: int = cut) -> None:
            with open_state(path) as state:
                sync(before, state, edge(directory), HashingEmbedder())

            def tick() -> None:
                nonlocal left
                left -= 1
                if left < 0:
                    os.kill(os.getpid(), signal.SIGKILL)

            state = TickingState(path, tick)
            sync(after, state, lambda name: TickingStore(edge(directory)(name), tick), HashingEmbedder())

        killed = killed_child(whole_then_cut)
        assert_whole(path, after, edge(directory), directory)
        cut += 1
    assert cut > 20, "the scenario has fewer steps than it should"


def test_a_hundred_kills_at_random_moments(tmp_path: Path) -> None:
    dice, site, path = random.Random(11), a_site(), tmp_path / "indexer.db"

    def one_sync() -> None:
        with open_state(path) as state:
            sync(site, state, edge(tmp_path), HashingEmbedder())

    started = time.monotonic()
    killed_child(one_sync)
    usual = time.monotonic() - started
    killed = 0
    for round_ in range(100):
        site = after_edits(site, round_)
        child = in_a_child(one_sync)
        time.sleep(dice.uniform(0, 1.2 * usual))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        killed += os.WIFSIGNALED(status)
        if round_ % 5 == 4:
            directory = tmp_path / f"fresh{round_}"
            directory.mkdir()
            assert_whole(path, site, edge(tmp_path), directory)
    assert killed > 50, "most of the children should have been killed in the middle"


if not hasattr(os, "fork"):
    pytest.skip("needs fork and SIGKILL", allow_module_level=True)
