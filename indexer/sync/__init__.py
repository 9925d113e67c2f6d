"""One run, from the site to the neighbour lists: puts the steps in order and decides nothing.

    discover -> look at pages -> decide -> record  (promise)
                                              |
                                    embed -> upsert -> flush -> confirm
                                                                  |
                                                     ask for the lists it touched
                                                                  |
                                                     rank the links it touched -> choose

Each arrow ends in a transaction, so that a run that is killed between any two of them is finished by the next.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import asdict, replace

from indexer.changes import Change, Decision, Keep
from indexer.discover import Frontier
from indexer.neighbours import Rule
from indexer.records import Discovered, Found, Summary
from indexer.state.writing import State
from indexer.sync.fill import Filler, repair
from indexer.sync.gather import Gathering
from indexer.sync.lists import relist
from indexer.sync.looking import Looking
from indexer.sync.lookups import look_up
from indexer.sync.parts import Looker, Parts, Progress, Request
from indexer.sync.record import Recorder
from indexer.sync.relinking import relink
from indexer.vectors import VectorStore

__all__ = ["Parts", "Request", "mend", "plan_run", "run"]


async def run(parts: Parts, state: State, request: Request) -> Summary:
    """Bring everything in step with the site, or with the URLs of the request, and say what was done."""
    started, clock = parts.now(), time.monotonic()
    number = state.journal.run_started(started.isoformat())
    model = state.embeddings.model(parts.fingerprint)
    filler = Filler(state, parts, model)
    try:
        gathering = await _gather_and_fill(parts, state, request, model, filler)
        asked, changed = relist(state, lambda: filler.store, model, parts.rule, parts.progress)
        links = relink(state, model, parts.links, started.isoformat(), parts.progress)
    finally:
        filler.close()
    _let_go_of_other_models(parts, state, model)
    summary = replace(
        summarise(gathering),
        embedded_passages=filler.embedded,
        lists_asked=asked,
        lists_changed=changed,
        texts_read=gathering.texts_read + filler.texts_read + links.texts_read,
        links_new=links.new,
        links_gone=links.gone,
        seconds=round(time.monotonic() - clock, 3),
    )
    _write_journal(state, gathering, number, summary)
    return summary


async def plan_run(parts: Parts, scratch: State, request: Request) -> list[Decision]:
    """What a run would decide about the pages, but for those unchanged; written to a scratch copy of the state only."""
    async with parts.looker() as looker, parts.reader() as reader:
        gathering = await _prepare(parts, scratch, request, looker, model=0)
        await gathering.run(Looking(parts, looker, reader))
        gathering.conclude(request.allow_removals)
    held = [Decision(url, Change.HELD, Keep(), reason) for url, reason in gathering.held.items()]
    return sorted([*gathering.recorder.decided, *held], key=lambda decision: (decision.change, decision.url))


def mend(state: State, store: VectorStore, model: int, rule: Rule, progress: Progress) -> None:
    """Make the vector store hold what the state says, and every list what the store answers then."""
    repair(state, store, model)
    relist(state, lambda: store, model, rule, progress)


async def _gather_and_fill(parts: Parts, state: State, request: Request, model: int, filler: Filler) -> Gathering:
    async with parts.looker() as looker, parts.reader() as reader:
        filler.remove()
        filler.adopt(reader)
        gathering = await _prepare(parts, state, request, looker, model)
        looking = Looking(parts, looker, reader)
        looks = asyncio.create_task(gathering.run(looking))
        try:
            await filler.beside(looks, gathering.recorder.flush)
            await looks
        finally:
            looks.cancel()
        gathering.conclude(request.allow_removals)
        await look_up(looking, state, gathering.recorder, gathering.known)
        await filler.drain(reader)
    return gathering


async def _prepare(parts: Parts, state: State, request: Request, looker: Looker, model: int) -> Gathering:
    """What to look at: the URLs of the request, or what the sources name and everything known."""
    if request.urls:
        known = state.pages.known(request.urls)
        discovered = Discovered(tuple(Found(url) for url in request.urls), tuple(sorted(state.journal.sources())))
    else:
        known = state.pages.all_known()
        discovered = await parts.discover(looker, state.journal.sources())
    frontier = Frontier(parts.wanted)
    for found in discovered.found:
        frontier.add(found.url)
    for url, page in known.items():
        if page.listed:
            frontier.add(url)
    if request.fresh:
        known = {url: replace(page, rules="") for url, page in known.items()}
    recorder = Recorder(state, parts, model)
    listed = {found.url for found in discovered.found}
    return Gathering(parts, state, recorder, known, discovered, frontier, listed=listed)


def summarise(gathering: Gathering) -> Summary:
    """The counts of one run's looks at pages."""
    counts, moved = gathering.recorder.counts, len(gathering.moved)
    return Summary(
        seen=gathering.seen,
        new=counts[Change.NEW] - moved,
        changed=counts[Change.CHANGED],
        moved=moved,
        unchanged=counts[Change.UNCHANGED],
        gone=counts[Change.GONE],
        failed=counts[Change.FAILED],
        held=len(gathering.held),
        faults=len(gathering.discovered.faults),
    )


def _let_go_of_other_models(parts: Parts, state: State, model: int) -> None:
    """Once the lists follow this model, nothing of an earlier one is needed."""
    for number, fingerprint in state.embeddings.models_besides(model):
        parts.open_store(fingerprint).drop()
        with state.transaction():
            state.embeddings.drop_model(number)


def _write_journal(state: State, gathering: Gathering, number: int, summary: Summary) -> None:
    faults = gathering.faults | {fault.source: fault.reason for fault in gathering.discovered.faults}
    with state.transaction():
        if summary.changed or summary.gone:
            state.embeddings.sweep(gathering.recorder.model)
        state.journal.remember_sources(gathering.discovered.sources)
        state.journal.hold_back(gathering.held)
        state.journal.note_faults(faults)
        state.journal.run_ended(number, summary.seconds, summary.exit_code, asdict(summary))
