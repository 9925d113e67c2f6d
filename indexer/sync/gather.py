"""Looking at the site's pages: whom to ask, what the answers mean, and what has to wait until all have answered."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from indexer.changes import (
    Change,
    Decision,
    Forget,
    Known,
    Read,
    Seen,
    Status,
    Write,
    decide,
    moves,
)
from indexer.discover import Frontier
from indexer.records import (
    NO_VALIDATORS,
    Discovered,
    Failed,
    Fetched,
    FetchOutcome,
    Link,
    Missing,
    NotModified,
    Redirected,
)
from indexer.state.writing import State
from indexer.sync.parts import Looker, Parts, Reader
from indexer.sync.record import Recorder


@dataclass
class Gathering:
    """One run's looks at pages. `waiting` holds what can only be decided once every page has been seen."""

    parts: Parts
    state: State
    recorder: Recorder
    known: dict[str, Known]
    discovered: Discovered
    frontier: Frontier
    texts_read: int = 0
    seen: int = 0
    listed: set[str] = field(default_factory=set)
    faults: dict[str, str] = field(default_factory=dict)
    held: dict[str, str] = field(default_factory=dict)
    moved: dict[str, str] = field(default_factory=dict)
    waiting: dict[str, tuple[Decision, Seen]] = field(default_factory=dict)

    async def run(self, looker: Looker, reader: Reader) -> None:
        """Look at every page of the frontier, and at those they lead to."""
        busy = 0

        async def worker() -> None:
            nonlocal busy
            while True:
                url = self.frontier.next()
                if url is None:
                    if not busy:
                        return
                    await asyncio.sleep(0.01)
                    continue
                busy += 1
                try:
                    await self._look(url, looker, reader)
                finally:
                    busy -= 1

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(self.parts.concurrency):
                    group.create_task(worker())
        except ExceptionGroup as group_error:
            raise group_error.exceptions[0] from group_error

    async def _look(self, url: str, looker: Looker, reader: Reader) -> None:
        known = self._knowledge(url)
        current = known is not None and known.rules == self.parts.policy.rules
        outcome = await looker.fetch(url, known.validators if known and current else NO_VALIDATORS)
        seen = await self._understand(outcome, known, reader)
        self._lead_on(seen)
        self.seen += 1
        self.parts.progress.step("pages", self.seen, self.frontier.total)
        self._take(decide(known, seen, listed=True, policy=self.parts.policy), seen)

    def _knowledge(self, url: str) -> Known | None:
        """What is known of a URL; one that a page led to may be known though nobody asked for it."""
        if url not in self.known:
            self.known |= self.state.pages.known([url])
        return self.known.get(url)

    async def _understand(self, outcome: FetchOutcome, known: Known | None, reader: Reader) -> Seen:
        if not isinstance(outcome, Fetched):
            return outcome
        body_hash = _hash(outcome)
        if known and known.body_hash == body_hash and known.rules == self.parts.policy.rules:
            return NotModified(outcome.url)
        document = await reader.read(outcome)
        if isinstance(document, Failed):
            return document
        forward = None
        if document.refresh is not None:
            target = self.parts.site.page(document.refresh, outcome.url)
            forward = None if target == outcome.url else Redirected(outcome.url, target, document.refresh)
        return Read(outcome, document, body_hash, forward)

    def _lead_on(self, seen: Seen) -> None:
        match seen:
            case Redirected(_, str(to), _) | Read(forward=Redirected(_, str(to), _)):
                self.frontier.add(to)
            case Read(_, document, _, None):
                if document.canonical:
                    self.frontier.add(document.canonical)
                if self.discovered.crawl and not document.nofollow:
                    self._crawl_on(document.links)
            case NotModified(url) if self.discovered.crawl:
                self.texts_read += 1
                self._crawl_on(self.state.pages.links(url))

    def _crawl_on(self, links: Iterable[Link]) -> None:
        targets = [link.target for link in links if link.internal and link.follow]
        self.listed.update(targets)
        self.frontier.add_linked(targets)

    def _take(self, decision: Decision, seen: Seen) -> None:
        """Write down at once what adds or changes a page; let wait what would take a live page away."""
        if decision.change is Change.FAILED:
            self.faults[decision.url] = decision.reason
        known = self.known.get(decision.url)
        if decision.leaves or (known and isinstance(seen, Missing)) or self._collides(decision, known):
            self.waiting[decision.url] = (decision, seen)
        else:
            self.recorder.add(decision, known)

    def _collides(self, decision: Decision, known: Known | None) -> bool:
        """A live page whose text has become that of another one: a site in maintenance shows one text everywhere."""
        text = _new_text(decision)
        if text is None or known is None or known.status is not Status.LIVE or known.text_hash == text:
            return False
        return text in self.recorder.texts or bool(self.state.pages.others_with_text(text, decision.url))

    # --- when all pages have been seen ----------------------------------------------------------------------------

    def conclude(self, allow_removals: bool) -> None:
        """Decide what had to wait: pages that moved, and pages that leave, as far as the guard lets them."""
        self.recorder.flush()
        decisions = {url: self._decide_again(url, seen) for url, (_, seen) in self.waiting.items()}
        decisions |= self._out_of_scope()
        self._find_moves(decisions)
        for url, decision in list(decisions.items()):
            if not self._removes(decision, decisions):
                self.recorder.add(decision, self.known.get(url))
                del decisions[url]
                self.recorder.flush()
        live = sum(known.status is Status.LIVE for known in self.known.values())
        if allow_removals or self.parts.guard.allows(len(decisions), live):
            for url, decision in decisions.items():
                self.recorder.add(decision, self.known.get(url))
        else:
            self.held = {url: decision.reason for url, decision in decisions.items()}
        self.recorder.flush()

    def _decide_again(self, url: str, seen: Seen) -> Decision:
        complete = self.discovered.complete and not (self.discovered.crawl and self.faults)
        listed = not complete or url in self.listed
        return decide(self.known.get(url), seen, listed, self.parts.policy)

    def _out_of_scope(self) -> dict[str, Decision]:
        """Known URLs that the configuration no longer counts among the site's pages."""
        return {
            url: Decision(
                url, Change.GONE, Forget(), "is not among the site's pages any more", known.status is Status.LIVE
            )
            for url, known in self.known.items()
            if not self.parts.wanted(url)
        }

    def _find_moves(self, decisions: dict[str, Decision]) -> None:
        leaving = [self.known[url] for url, decision in decisions.items() if decision.leaves]
        redirects = {
            url: decision.action.redirect_to
            for url, decision in decisions.items()
            if isinstance(decision.action, Write) and decision.action.redirect_to
        }
        self.moved = moves(leaving, self.recorder.arrived, redirects)
        for old, new in self.moved.items():
            decision = decisions[old]
            action = decision.action if old in redirects else Forget()
            decisions[old] = Decision(old, Change.MOVED, action, f"moved to {new}")
            self.state.pages.move(old, new)

    def _removes(self, decision: Decision, others: Mapping[str, Decision]) -> bool:
        """Whether carrying this decision out takes a live page from the index."""
        if decision.leaves:
            return True
        known, text = self.known.get(decision.url), _new_text(decision)
        if text is None or known is None or known.status is not Status.LIVE:
            return False
        same = self.state.pages.others_with_text(text, decision.url)
        return any(url not in others or _new_text(others[url]) == text for url in same)


def _new_text(decision: Decision) -> str | None:
    match decision.action:
        case Write(status=Status.LIVE, document=document) if document is not None:
            return document.text_hash
        case _:
            return None


def _hash(fetched: Fetched) -> str:
    sent = hashlib.sha256(fetched.body)
    sent.update(f"\0{fetched.content_type}\0{fetched.robots_tag}".encode())
    return sent.hexdigest()[:32]
