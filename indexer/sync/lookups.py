"""Asking the addresses that pages link to and no source lists: only then is it known what is linked already, and which
links are broken. They are looked at after all listed pages, and what stands there leads to no further page."""

from __future__ import annotations

from collections.abc import Mapping

from indexer.changes import Change, Decision, Forget, Known, Read, Seen, Status, decide_linked
from indexer.discover import Frontier
from indexer.records import Redirected
from indexer.state.writing import State
from indexer.sync.looking import Looking, look_at_all
from indexer.sync.record import Recorder

_SETTLED = (Status.SKIPPED, Status.FORBIDDEN)
"""What is no page, as a picture or a PDF, is asked once: an answer that is not read costs a connection."""


async def look_up(looking: Looking, state: State, recorder: Recorder, known: Mapping[str, Known]) -> None:
    """Look at what pages link to, and what that redirects to: what is not known yet, and again what `known` holds of
    unlisted addresses. Forget those that nobody links to any more."""
    parts, seen_so_far = looking.parts, 0
    unlisted = {url: page for url, page in known.items() if not page.listed}
    linked = _reached(state.pages.linked_unlisted(), unlisted)
    for url in sorted(unlisted.keys() - linked):
        recorder.add(Decision(url, Change.LOOKED_UP, Forget(), "nobody links to it"), unlisted[url])
    frontier = Frontier(parts.wanted)
    for url in sorted(unlisted.keys() & linked):
        if unlisted[url].status not in _SETTLED or unlisted[url].rules != parts.policy.rules:
            frontier.add(url)
    frontier.add_linked(state.pages.unknown_targets())

    async def look(url: str) -> None:
        nonlocal seen_so_far
        seen = await looking.at(url, unlisted.get(url))
        recorder.add(decide_linked(unlisted.get(url), seen, parts.policy), unlisted.get(url))
        to = _leads_to(seen)
        if to is not None and to not in state.pages.known([to]):
            frontier.add_linked([to])
        seen_so_far += 1
        parts.progress.step("linked addresses", seen_so_far, frontier.total)

    await look_at_all(frontier, parts.concurrency, look)
    recorder.flush()


def _reached(linked: set[str], unlisted: Mapping[str, Known]) -> set[str]:
    """The linked addresses, and the unlisted ones that they redirect to."""
    reached: set[str] = set()
    waiting = list(linked)
    while waiting:
        url = waiting.pop()
        if url not in reached:
            reached.add(url)
            to = unlisted[url].redirect_to if url in unlisted else None
            waiting += [to] if to is not None else []
    return reached


def _leads_to(seen: Seen) -> str | None:
    match seen:
        case Redirected(_, to, _) | Read(forward=Redirected(_, to, _)):
            return to
        case _:
            return None
