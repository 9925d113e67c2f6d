"""Looking at single addresses: what the site answers, and what the answer says."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from indexer.changes import Known, Read, Seen
from indexer.discover import Frontier
from indexer.records import NO_VALIDATORS, Failed, Fetched, FetchOutcome, NotModified, Redirected
from indexer.sync.parts import Looker, Parts, Reader


async def look_at_all(frontier: Frontier, concurrency: int, look: Callable[[str], Awaitable[None]]) -> None:
    """Look at every URL of the frontier, and at those that are added meanwhile."""
    busy = 0

    async def worker() -> None:
        nonlocal busy
        while True:
            url = frontier.next()
            if url is None:
                if not busy:
                    return
                await asyncio.sleep(0.01)
                continue
            busy += 1
            try:
                await look(url)
            finally:
                busy -= 1

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(concurrency):
                group.create_task(worker())
    except ExceptionGroup as group_error:
        raise group_error.exceptions[0] from group_error


@dataclass(frozen=True)
class Looking:
    """Asks for pages and reads what comes."""

    parts: Parts
    looker: Looker
    reader: Reader

    async def at(self, url: str, known: Known | None) -> Seen:
        """What stands at `url`: not modified where it is what `known` was read from, under the same rules."""
        current = known if known and known.rules == self.parts.policy.rules else None
        outcome = await self.looker.fetch(url, current.validators if current else NO_VALIDATORS)
        return await self._understand(outcome, current)

    async def _understand(self, outcome: FetchOutcome, current: Known | None) -> Seen:
        if not isinstance(outcome, Fetched):
            return outcome
        body_hash = _hash(outcome)
        if current and current.body_hash == body_hash:
            return NotModified(outcome.url)
        document = await self.reader.read(outcome)
        if isinstance(document, Failed):
            return document
        forward = None
        if document.refresh is not None:
            target = self.parts.site.page(document.refresh, outcome.url)
            forward = None if target == outcome.url else Redirected(outcome.url, target, document.refresh)
        return Read(outcome, document, body_hash, forward)


def _hash(fetched: Fetched) -> str:
    sent = hashlib.sha256(fetched.body)
    sent.update(f"\0{fetched.content_type}\0{fetched.robots_tag}".encode())
    return sent.hexdigest()[:32]
