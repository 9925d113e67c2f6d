"""Taking a person's word on a suggestion."""

from __future__ import annotations

from indexer.errors import UnknownSuggestion
from indexer.links.review import Decision, Status, Verdict
from indexer.records import Suggestion
from indexer.state.writing import State

_BECOMES = {Verdict.ACCEPT: Status.ACCEPTED, Verdict.REJECT: Status.REJECTED, Verdict.UNDO: Status.OPEN}


def review(state: State, name: str, verdict: Verdict, reason: str, now: str) -> Suggestion:
    """Keep what a person said of the suggestion of this id; the suggestion as it is then.

    What it means for other suggestions is worked out by the next sync. Raises UnknownSuggestion.
    """
    with state.transaction():
        found = state.reads.suggestion(name)
        if found is None:
            raise UnknownSuggestion(f"there is no suggestion {name}: `indexer links` lists them with their ids")
        suggestion = found.suggestion._replace(status=_BECOMES[verdict])
        texts = state.linking.text_hashes((suggestion.source, suggestion.target))
        decision = Decision(
            suggestion.source, suggestion.target, verdict, reason, now,
            texts.get(suggestion.source, ""), texts.get(suggestion.target, ""),
        )  # fmt: skip
        state.linking.decide(decision, suggestion)
        state.linking.make_due()
    return suggestion
