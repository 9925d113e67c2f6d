"""What people say of suggestions, and what becomes of it.

    from        what happens                                          to
    ----------  ----------------------------------------------------  --------
    -           the pair is among the best                            open
    open        it is no longer                                       -
    open        a person accepts, or rejects                          accepted, rejected
    rejected    a person undoes it                                    open or -
    accepted    the link is found in the source's content             placed
    accepted    the text of source or target changes, or either goes  stale
    stale       the link is found; the old texts are back             placed, accepted
    stale       a person accepts again, rejects, undoes it            accepted, rejected, open or -
    placed      the link is taken out again                           accepted, stale

A person's word is kept with the texts it was given on, and the status is worked out from it and the site as it is:
two indexes of one site with the same decisions agree.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """What is known of a suggestion."""

    OPEN = "open"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    PLACED = "placed"
    STALE = "stale"


class Verdict(StrEnum):
    """What a person said."""

    ACCEPT = "accept"
    REJECT = "reject"
    UNDO = "undo"


@dataclass(frozen=True, slots=True)
class Decision:
    """A person's word on a pair of pages, with the texts (their hashes) it was given on."""

    source: str
    target: str
    verdict: Verdict
    reason: str
    at: str
    source_text: str
    target_text: str


def status_of(decision: Decision, texts: tuple[str | None, str | None], linked: bool) -> Status:
    """What became of a decision: `texts` are the hashes of both pages' texts as they are, None for a page that is not
    there to be linked, and `linked` says whether the source's content links to the target."""
    if decision.verdict is Verdict.REJECT:
        return Status.REJECTED
    if linked:
        return Status.PLACED
    return Status.ACCEPTED if texts == (decision.source_text, decision.target_text) else Status.STALE


def suggestion_id(source: str, target: str) -> str:
    """The name of the suggestion from one URL to another: the same on every machine."""
    return hashlib.blake2b(f"{source}\0{target}".encode(), digest_size=5).hexdigest()
