"""Looking at the site's pages: whom to ask, what the answers mean, and what has to wait until all have answered."""

from __future__ import annotations

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
    Discovered,
    Link,
    Missing,
    NotModified,
    Redirected,
)
from indexer.state.writing import State
from indexer.sync.looking import Looking, look_at_all
from indexer.sync.parts import Parts
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

    async def run(self, looking: Looking) -> None:
        """Look at every page of the frontier, and at those they lead to."""

        async def look(url: str) -> None:
            known = self._knowledge(url)
            # What was known only as a link's target was not read as a page that is listed.
            seen = await looking.at(url, known if known and known.listed else None)
            self._lead_on(seen)
            self.seen += 1
            self.parts.progress.step("pages", self.seen, self.frontier.total)
            self._take(decide(known, seen, listed=True, policy=self.parts.policy), seen)

        await look_at_all(self.frontier, self.parts.concurrency, look)

    def _knowledge(self, url: str) -> Known | None:
        """What is known of a URL; one that a page led to may be known though nobody asked for it."""
        if url not in self.known:
            self.known |= self.state.pages.known([url])
        return self.known.get(url)

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
            if known.listed and not self.parts.wanted(url)
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
