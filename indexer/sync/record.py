"""Decisions into the state database: a batch of them, and which pages stand for others after it, in one transaction."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import replace

from indexer.changes import Change, Decision, Forget, Keep, Known, Status, Write, standing
from indexer.sketches import nearly_same
from indexer.state.writing import State
from indexer.sync.parts import Parts

_BATCH = 32
"""Decisions to a transaction. A thousand pages with one text are compared with each other once a batch."""


class Recorder:
    """Writes decisions down, and counts what they were."""

    def __init__(self, state: State, parts: Parts, model: int) -> None:
        self._state, self._parts, self.model = state, parts, model
        self._batch: list[tuple[Decision, Known | None]] = []
        self.counts: Counter[Change] = Counter()
        self.decided: list[Decision] = []
        """What was decided of pages that are not as they were, without their texts."""
        self.arrived: dict[str, list[str]] = defaultdict(list)
        """URLs that became live pages in this run, by the hash of their text."""
        self.texts: set[str] = set()
        """The texts written in this run."""

    def add(self, decision: Decision, known: Known | None) -> None:
        self.counts[decision.change] += 1
        if decision.change not in (Change.UNCHANGED, Change.LOOKED_UP):
            self.decided.append(replace(decision, action=Keep()))
        if isinstance(decision.action, Write) and decision.action.document:
            self.texts.add(decision.action.document.text_hash)
        if isinstance(decision.action, Forget | Write):
            self._batch.append((decision, known))
            if len(self._batch) >= _BATCH:
                self.flush()

    def flush(self) -> None:
        """One transaction: the records, and the vectors they now ask for left pending."""
        if not self._batch:
            return
        batch, self._batch = self._batch, []
        with self._state.transaction():
            self._state.linking.make_due()
            texts = {known.text_hash for _, known in batch if known and known.text_hash}
            pages = [page for decision, known in batch if (page := self._carry_out(decision, known)) is not None]
            texts |= self._state.pages.texts_of(decision.url for decision, _ in batch)
            pending = settle(self._state, texts, [decision.url for decision, _ in batch], pages, self.model)
            self._enqueue(batch, pending)

    def _carry_out(self, decision: Decision, known: Known | None) -> int | None:
        match decision.action:
            case Forget():
                self._state.pages.forget(decision.url)
                return None
            case Write() as write:
                was_live = known is not None and known.status is Status.LIVE
                if write.status is Status.LIVE and write.document and not was_live:
                    self.arrived[write.document.text_hash].append(decision.url)
                return self._state.pages.write(decision.url, write, self.model, self._parts.now().isoformat())
            case _:
                return None

    def _enqueue(self, batch: Iterable[tuple[Decision, Known | None]], pending: set[int]) -> None:
        documents = {d.url: d.action.document for d, _ in batch if isinstance(d.action, Write) and d.action.document}
        for url, known in self._state.pages.known(documents).items():
            if known.page in pending:
                self._state.embeddings.enqueue(self.model, documents[url].passages)


def settle(state: State, texts: Iterable[str], urls: Iterable[str], pages: Iterable[int], model: int) -> set[int]:
    """Decide anew which pages stand for others where these texts or URLs are concerned.

    Returns the pages, of those given and those affected, that now ask for a vector the store may not hold.
    """
    touched = set(texts)
    touched |= state.pages.texts_naming({twin.url for twin in state.pages.twins(touched)} | set(urls))
    twins = {twin.page: twin for twin in state.pages.twins(touched)}
    # A canonical is followed one step, and what it leads to must not lead on: two more steps of groups are looked at.
    for _ in range(2):
        named = {twin.canonical for twin in twins.values() if twin.canonical}
        further = state.pages.texts_of(named) - {twin.text_hash for twin in twins.values()}
        twins |= {twin.page: twin for twin in state.pages.twins(further)}
    decided = standing(twins.values(), nearly_same)
    news = state.pages.stand({page: other for page, other in decided.items() if twins[page].text_hash in touched})
    return state.pages.expect({*news, *pages}, model)
