"""How fast and how big: each benchmark runs what it measures beside what it is measured against, and prints the ratio.

python -m tests.bench.bench first-sync SITE_FOLDER   the model's own share of a first sync
python -m tests.bench.bench unchanged [--pages N]    a sync with nothing changed, over HTTP and on a folder
python -m tests.bench.bench one-change [--pages N]   one page changed; and `indexer neighbours` as a process
python -m tests.bench.bench links [--pages N]        suggestions: a first run's, and those of one changed page
python -m tests.bench.bench large [--pages N]        made-up vectors: a first run, and ten changed pages
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx

from indexer.cli.building import parts_of
from indexer.cli.output import Silence
from indexer.config import load
from indexer.embed import SentenceTransformerEmbedder, find_model
from indexer.links.choosing import Limits
from indexer.records import Summary
from indexer.state.writing import State, open_state
from indexer.sync import Request, lists, run
from indexer.vectors import open_store
from tests.bench.made_up import PAGES_OF_A_TOPIC, MadeUpEmbedder, page, prose, text
from tests.support.toysite import SITE, TOY_LINKS, ToyPage, ToySite, toy_parts

INDEXER = Path(sys.executable).with_name("indexer")
MODEL = "all-MiniLM-L6-v2"
SHIPPED = replace(TOY_LINKS, min_score=0.12, min_words=50, limits=Limits(5, 10, 1, False, 3.0, frozenset()))
"""The rules of suggestions as they are shipped."""


def say(what: str, **figures: float | str) -> None:
    shown = {name: round(value, 4) if isinstance(value, float) else value for name, value in figures.items()}
    print(json.dumps({"what": what, **shown}), flush=True)


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    done = work()
    return time.perf_counter() - start, done


def process(*arguments: str | Path) -> float:
    return timed(lambda: subprocess.run([INDEXER, *map(str, arguments)], check=True, capture_output=True))[0]


# --- a first sync against the model alone -----------------------------------------------------------------------------


class Timed(SentenceTransformerEmbedder):
    """The real embedder, that says how long it worked."""

    seconds = 0.0

    def embed(self, texts: Any) -> Any:
        self.warm()
        spent, vectors = timed(lambda: super(Timed, self).embed(texts))
        self.seconds += spent
        return vectors


def first_sync(folder: Path) -> None:
    """A whole first sync of a folder with the real model, then a bare encode of the same passages."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "config.yaml"
        path.write_text(json.dumps({"site": str(folder.resolve())}))
        config, embedder = load(path, {}), Timed(find_model(MODEL), 8)
        texts: list[str] = []
        remember = embedder.embed

        def remembering(some: Any) -> Any:
            texts.extend(some)
            return remember(some)

        embedder.embed = remembering  # type: ignore[method-assign]
        with open_state(config.store.state) as state:
            parts = replace(parts_of(config, Silence()), embedder=embedder)
            wall, summary = timed(lambda: asyncio.run(run(parts, state, Request())))
        bare: dict[int, float] = {}
        sample = texts[: max(256, len(texts) // 4)]
        model = embedder._loaded
        assert model is not None
        for batch in (4, 8, 16, 32):
            bare[batch] = timed(lambda b=batch: model.encode(sample, batch_size=b, show_progress_bar=False))[0]
        best = min(bare, key=lambda batch: bare[batch])
        whole = timed(lambda: model.encode(texts, batch_size=best, show_progress_bar=False))[0]
        say(
            "first sync",
            pages=summary.seen,
            passages=len(texts),
            wall_s=wall,
            model_s=embedder.seconds,
            model_share=embedder.seconds / wall,
            bare_s=whole,
            bare_batch=best,
            speed_against_bare=whole / embedder.seconds,
            whole_against_bare=whole / wall,
        )


# --- a sync with nothing changed --------------------------------------------------------------------------------------


@contextmanager
def published(directory: Path, pages: int) -> Iterator[Path]:
    """A folder with so many pages, and a configuration for it beside, indexed with made-up vectors."""
    site = directory / "site"
    site.mkdir()
    for number in range(pages):
        (site / f"p{number}.html").write_bytes(page(number).body)
    yield site


def index(path: Path) -> Summary:
    config = load(path, {})
    with open_state(config.store.state) as state:
        parts = replace(parts_of(config, Silence()), embedder=MadeUpEmbedder())
        return asyncio.run(run(parts, state, Request(allow_removals=True)))


SERVER = """
import sys
from pathlib import Path
from tests.support.web import Server, Site, folder_pages
with Server(Site(folder_pages(Path(sys.argv[1])))) as server:
    print(server.base, flush=True)
    sys.stdin.read()
"""


@contextmanager
def served(site: Path) -> Iterator[str]:
    """The folder over HTTP, by a process of its own."""
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER, site], stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True
    )
    assert server.stdout
    assert server.stdin
    try:
        yield server.stdout.readline().strip()
    finally:
        server.stdin.close()
        server.wait()


async def bare_requests(urls: list[tuple[str, str]]) -> None:
    """What httpx needs for the same conditional requests, eight at a time."""
    queue = list(urls)
    async with httpx.AsyncClient(limits=httpx.Limits(max_connections=8)) as client:

        async def worker() -> None:
            while queue:
                url, tag = queue.pop()
                answer = await client.get(url, headers={"If-None-Match": tag})
                assert answer.status_code == 304

        await asyncio.gather(*(worker() for _ in range(8)))


def unchanged(pages: int) -> None:
    with tempfile.TemporaryDirectory() as name, published(Path(name), pages) as site:
        directory = Path(name)
        path = directory / "folder.yaml"
        path.write_text(json.dumps({"site": str(site), "store": {"state": "folder.db", "vectors": "folder"}}))
        index(path)
        small = directory / "small.yaml"
        (directory / "few").mkdir()
        shutil.copy(site / "p0.html", directory / "few")
        small.write_text(json.dumps({"site": "few", "store": {"state": "few.db", "vectors": "few-vectors"}}))
        index(small)
        for _ in range(3):
            start, whole = process("sync", "--config", small, "-q"), process("sync", "--config", path, "-q")
            say("unchanged folder", pages=pages, start_s=start, wall_s=whole, ms_a_page=1000 * (whole - start) / pages)
        with served(site) as base:
            path = directory / "http.yaml"
            path.write_text(json.dumps({"site": base, "store": {"state": "http.db", "vectors": "http"}}))
            index(path)
            with open_state(directory / "http.db") as state:
                urls = state.db.execute("SELECT url, etag FROM pages WHERE etag IS NOT NULL").fetchall()
            for _ in range(3):
                whole = process("sync", "--config", path, "-q")
                bare = timed(lambda: asyncio.run(bare_requests(urls)))[0]
                say("unchanged http", pages=len(urls), wall_s=whole, bare_httpx_s=bare, ratio=whole / bare)


# --- one page changed -------------------------------------------------------------------------------------------------


def one_change(pages: int) -> None:
    with tempfile.TemporaryDirectory() as name, published(Path(name), pages) as site:
        path = Path(name) / "config.yaml"
        path.write_text(json.dumps({"site": str(site), "base_url": "https://bench.example/"}))
        index(path)
        for edition in range(1, 4):
            (site / "p7.html").write_bytes(page(7, edition).body)
            config = load(path, {})
            spent = []
            with open_state(config.store.state) as state, timing("relist", spent):
                parts = replace(parts_of(config, Silence()), embedder=MadeUpEmbedder())
                summary = asyncio.run(run(parts, state, Request()))
            say("one change", pages=pages, lists_s=spent[0], run_s=summary.seconds, lists_asked=summary.lists_asked)
        for _ in range(5):
            say("neighbours as a process", wall_s=process("neighbours", "/p7.html", "--config", path))


@contextmanager
def timing(step: str, spent: list[float]) -> Iterator[None]:
    """Note how long one step of a run takes: `relist`, or `relink`."""
    import indexer.sync as sync

    whole = getattr(sync, step)

    def timed_step(*arguments: Any) -> Any:
        seconds, result = timed(lambda: whole(*arguments))
        spent.append(seconds)
        return result

    setattr(sync, step, timed_step)
    try:
        yield
    finally:
        setattr(sync, step, whole)


# --- links ------------------------------------------------------------------------------------------------------------


def links(pages: int) -> None:
    """What suggestions take: all of a first run's, and those of one changed page, beside a site of 1,000."""
    for size in (1000, pages):
        with tempfile.TemporaryDirectory() as name, open_state(Path(name) / "indexer.db") as state:
            site = ToySite({f"{SITE.base}p{n}": prose_page(n, size) for n in range(size)})
            spent: list[float] = []
            with timing("relink", spent):
                summary = a_run(name, site, state, Request(), links=SHIPPED)
                say("links of a first run", pages=size, links_ms_a_page=1000 * spent[0] / size, new=summary.links_new)
                for edition in range(1, 4):
                    site.pages[f"{SITE.base}p7"] = prose_page(10**7 + edition, size)
                    summary = a_run(name, site, state, Request((f"{SITE.base}p7",)), links=SHIPPED)
                    say("links of one change", pages=size, links_s=spent[-1], texts_read=summary.texts_read)


def prose_page(number: int, pages: int) -> ToyPage:
    title, paragraphs = prose(number)
    first = number % pages // PAGES_OF_A_TOPIC * PAGES_OF_A_TOPIC
    near = random.Random(number).randrange(first, min(first + PAGES_OF_A_TOPIC, pages))
    return ToyPage(title, paragraphs, links=(f"{SITE.base}p{near}",))


# --- many pages -------------------------------------------------------------------------------------------------------


def large(pages: int) -> None:
    """A first run over so many pages whose vectors are there, then ten changed pages, beside a site of 1,000."""
    for size in (1000, pages):
        with tempfile.TemporaryDirectory() as name, open_state(Path(name) / "indexer.db") as state:
            site = ToySite({f"{SITE.base}{n}": ToyPage(f"Page {n}", (text(n),)) for n in range(size)})
            wall, summary = timed(lambda n=name, s=site, st=state: a_run(n, s, st, Request()))
            say("first run, made-up vectors", pages=size, wall_s=wall, lists=summary.lists_changed, memory_mb=memory())
            for edition in range(2):
                changed = [f"{SITE.base}{n}" for n in range(10)]
                site.pages |= {url: ToyPage("New", (text(10**7 + 100 * edition + n),)) for n, url in enumerate(changed)}
                spent: list[float] = []
                with timing("relist", spent):
                    request = Request(tuple(changed))
                    wall, summary = timed(lambda n=name, s=site, st=state, r=request: a_run(n, s, st, r))
                say("ten changes", pages=size, lists_s=spent[0], run_s=wall, lists_asked=summary.lists_asked)
        say("memory at most", memory_mb=memory())
    real_embedding(find_model(MODEL))


def a_run(name: str, site: ToySite, state: State, request: Request, **changes: Any) -> Summary:
    def store(fingerprint: str) -> Any:
        return open_store(Path(name) / "vectors", fingerprint, 384)

    parts = toy_parts(site, MadeUpEmbedder(), store, **changes)
    return asyncio.run(run(replace(parts, rule=lists.Rule(keep=20, floor=0.3)), state, request))


def real_embedding(model: Any) -> None:
    """What the model needs for ten pages of four passages, loading included: the rest of a sync of ten changes."""
    texts = [text(n, 150) for n in range(40)]
    say("embedding ten pages", wall_s=timed(lambda: SentenceTransformerEmbedder(model, 8).embed(texts))[0])


def memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["first-sync", "unchanged", "one-change", "links", "large"])
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--pages", type=int, default=0)
    arguments = parser.parse_args()
    match arguments.what:
        case "first-sync":
            first_sync(arguments.folder)
        case "unchanged":
            unchanged(arguments.pages or 10_000)
        case "one-change":
            one_change(arguments.pages or 10_000)
        case "links":
            links(arguments.pages or 10_000)
        case "large":
            large(arguments.pages or 100_000)


if __name__ == "__main__":
    main()
