"""The last step of a run: links are looked at only where something happened that may concern them."""

from __future__ import annotations

from dataclasses import dataclass

from indexer.state.writing import State
from indexer.sync.linking import rank
from indexer.sync.parts import LinkPolicy, Progress
from indexer.sync.suggesting import suggest


@dataclass(frozen=True, slots=True)
class Relinked:
    """What became of the suggestions: how many are new and how many went, and the texts that were read for it."""

    new: int = 0
    gone: int = 0
    texts_read: int = 0


def relink(state: State, model: int, policy: LinkPolicy, now: str, progress: Progress) -> Relinked:
    """Bring all suggestions in step with the pages, the lists, the rules and what people decided."""
    if not state.linking.is_due(f"{model} {policy.fingerprint}"):
        return Relinked()
    site, texts_read = rank(state, model, policy, progress)
    difference = suggest(state, site, policy, now)
    with state.transaction():
        state.linking.settle(f"{model} {policy.fingerprint}")
    return Relinked(len(difference.new), len(difference.gone), texts_read)
