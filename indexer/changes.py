"""What we knew and what we saw, put side by side: what to write down about a page, and which page stands for its twins.

Everything here is decided from values; nothing is looked up and nothing is done.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeAlias

from indexer.records import (
    NO_VALIDATORS,
    Document,
    Failed,
    Fetched,
    Forbidden,
    Missing,
    NotModified,
    Redirected,
    Skipped,
    Validators,
)


class Status(StrEnum):
    """What a known URL is. Only LIVE pages stand in lists, and of those with the same text only one. UNLISTED pages are
    linked to, but named by no source."""

    LIVE = "live"
    THIN = "thin"
    NOINDEX = "noindex"
    REDIRECT = "redirect"
    MISSING = "missing"
    SKIPPED = "skipped"
    FORBIDDEN = "forbidden"
    UNREAD = "unread"
    UNLISTED = "unlisted"


class Change(StrEnum):
    """What a look at a page showed, as the summary counts it."""

    NEW = "new"
    CHANGED = "changed"
    MOVED = "moved"
    UNCHANGED = "unchanged"
    GONE = "gone"
    FAILED = "failed"
    HELD = "held back"
    LOOKED_UP = "looked up"


@dataclass(frozen=True, slots=True)
class Known:
    """What the state holds of a URL. `body_hash` and `rules` say which bytes were read under which settings, `listed`
    is false where it is known only because pages link to it."""

    page: int
    url: str
    status: Status
    text_hash: str | None = None
    language: str | None = None
    validators: Validators = NO_VALIDATORS
    body_hash: str | None = None
    rules: str = ""
    misses: int = 0
    redirect_to: str | None = None
    listed: bool = True


@dataclass(frozen=True, slots=True)
class Read:
    """A fetched body and the document it holds; `forward` where the page is nothing but a meta refresh."""

    fetched: Fetched
    document: Document
    body_hash: str
    forward: Redirected | None = None


Seen: TypeAlias = Read | NotModified | Redirected | Missing | Skipped | Forbidden | Failed


@dataclass(frozen=True, slots=True)
class Policy:
    """The settings that decisions depend on; `rules` names those of the extraction."""

    min_words: int
    gone_after: int
    rules: str


@dataclass(frozen=True, slots=True)
class Keep:
    """Nothing needs to be written."""


@dataclass(frozen=True, slots=True)
class Forget:
    """The record goes, with everything that hangs on it."""


@dataclass(frozen=True, slots=True)
class Write:
    """The record becomes this. `document` is what the page says now; None leaves the stored text as it was."""

    status: Status
    document: Document | None = None
    redirect_to: str | None = None
    note: str | None = None
    validators: Validators = NO_VALIDATORS
    body_hash: str | None = None
    rules: str = ""
    misses: int = 0
    listed: bool = True


@dataclass(frozen=True, slots=True)
class Decision:
    """What follows from one look at one URL. `leaves` marks a live page that would be live no longer."""

    url: str
    change: Change
    action: Keep | Forget | Write
    reason: str = ""
    leaves: bool = False


def decide(known: Known | None, seen: Seen, listed: bool, policy: Policy) -> Decision:
    """What to write down about a URL after one look at it.

    `listed` is true as long as the sources may still name the URL: false only where every source was read whole and
    none did.
    """
    url = _url(seen)
    was_live = known is not None and known.status is Status.LIVE
    match seen:
        case Failed(_, reason):
            action = Keep() if known else Write(Status.UNREAD, note=reason)
            return Decision(url, Change.FAILED, action, reason)
        case NotModified():
            return Decision(url, Change.UNCHANGED, Keep())
        case Missing(_, for_good):
            return _missing(known, url, for_good or not listed, policy)
        case Redirected():
            return _as_known(known, _led(known, seen))
        case Skipped(_, reason):
            return _as_known(known, _retired(url, known, Status.SKIPPED, reason))
        case Forbidden():
            return _as_known(known, _retired(url, known, Status.FORBIDDEN, "forbidden by robots.txt"))
        case Read(fetched, _, body_hash, Redirected() as forward):
            decision = _led(known, forward)
            # Thousands of such stubs stand on some sites: each is asked "changed since?" like a page.
            return replace(decision, action=_read_from(decision.action, fetched, body_hash, policy))
        case Read(fetched, document, body_hash):
            status = _status(document, policy)
            write = Write(status, document, None, document.note, fetched.validators, body_hash, policy.rules)
            change = _text_change(known, document, status)
            return Decision(url, change, write, status.value, leaves=was_live and status is not Status.LIVE)


def _read_from(
    action: Keep | Forget | Write, fetched: Fetched, body_hash: str, policy: Policy
) -> Keep | Forget | Write:
    if not isinstance(action, Write):
        return action
    return replace(action, validators=fetched.validators, body_hash=body_hash, rules=policy.rules)


def _url(seen: Seen) -> str:
    return seen.fetched.url if isinstance(seen, Read) else seen.url


def _status(document: Document, policy: Policy) -> Status:
    if document.noindex:
        return Status.NOINDEX
    return Status.THIN if document.words < policy.min_words else Status.LIVE


def _text_change(known: Known | None, document: Document, status: Status) -> Change:
    if known is None or not known.listed or known.text_hash is None:
        return Change.NEW
    same = (known.text_hash, known.language, known.status) == (document.text_hash, document.language, status)
    return Change.UNCHANGED if same else Change.CHANGED


def _missing(known: Known | None, url: str, for_good: bool, policy: Policy) -> Decision:
    """404 at first only hides a page: its record waits, so that a page that comes back costs nothing."""
    if known is None or not known.listed:
        return Decision(url, Change.UNCHANGED, Keep(), "answers 404")
    leaves, misses = known.status is Status.LIVE, known.misses + 1
    change = Change.GONE if leaves else Change.UNCHANGED
    if for_good or misses >= policy.gone_after:
        return Decision(url, change, Forget(), "is gone", leaves)
    action = Write(Status.MISSING, note="answers 404", misses=misses)
    return Decision(url, change, action, f"answers 404, {misses} of {policy.gone_after} looks", leaves)


def _led(known: Known | None, seen: Redirected) -> Decision:
    if seen.to is None:
        return _retired(seen.url, known, Status.SKIPPED, f"leads to another site: {seen.location}")
    return _retired(seen.url, known, Status.REDIRECT, f"leads to {seen.to}", redirect_to=seen.to)


def _as_known(known: Known | None, decision: Decision) -> Decision:
    """The decision, with nothing to write where the record says so already."""
    match decision.action:
        case Write(status, None, redirect_to) if (
            known and known.listed and (known.status, known.redirect_to, known.body_hash) == (status, redirect_to, None)
        ):
            return replace(decision, action=Keep())
        case _:
            return decision


def _retired(url: str, known: Known | None, status: Status, reason: str, redirect_to: str | None = None) -> Decision:
    leaves = known is not None and known.status is Status.LIVE
    change = Change.GONE if leaves else Change.UNCHANGED
    return Decision(url, change, Write(status, redirect_to=redirect_to, note=reason), reason, leaves)


def decide_linked(known: Known | None, seen: Seen, policy: Policy) -> Decision:
    """What to write down about a URL that pages link to and no source lists: where the links lead, and no text that
    would be offered to anybody."""
    found = decide(None, seen, True, policy)
    action = found.action
    match seen:
        case NotModified():
            action = Keep()
        case Missing():
            action = Write(Status.MISSING, note="answers 404")
        case Failed():
            action = Keep() if known else action
    if isinstance(action, Write):
        status = Status.UNLISTED if action.document else action.status
        action = replace(action, status=status, rules=policy.rules, listed=False)
        now = (status, action.redirect_to, action.body_hash, policy.rules)
        if known and (known.status, known.redirect_to, known.body_hash, known.rules) == now:
            action = Keep()
    return Decision(found.url, Change.LOOKED_UP, action, found.reason)


# --- pages that leave -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Guard:
    """How many live pages may leave the index in one run without being told so."""

    max_removed: int
    max_removed_share: float

    def allows(self, leaving: int, live: int) -> bool:
        """Up to the larger of the two limits, and never the last page of a site."""
        return leaving == 0 or (leaving < live and leaving <= max(self.max_removed, self.max_removed_share * live))


def moves(
    leaving: Iterable[Known], arrived: Mapping[str, Sequence[str]], redirects: Mapping[str, str]
) -> dict[str, str]:
    """Which leaving pages have moved: the URL that was, and the URL it is now.

    `arrived` holds the URLs that are new in this run, by the hash of their text. A page has moved to the new URL it
    redirects to, else to one with its very text; each new URL takes in one page, so that a whole site that redirects
    to a log-in page has not moved there.
    """
    free = {url for urls in arrived.values() for url in urls}
    moved: dict[str, str] = {}
    ordered = sorted(leaving, key=lambda page: page.url)
    for page in ordered:
        target = redirects.get(page.url)
        if target in free:
            moved[page.url] = target
            free.discard(target)
    for page in ordered:
        if page.url not in moved:
            target = next((url for url in sorted(arrived.get(page.text_hash or "", ())) if url in free), None)
            if target is not None:
                moved[page.url] = target
                free.discard(target)
    return moved


# --- pages with the same text ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Twin:
    """What decides which of several live pages stands for the others."""

    page: int
    url: str
    text_hash: str
    canonical: str | None
    sketch: bytes


def stands_for(twins: Collection[Twin]) -> Twin:
    """Of pages with the very same text the one that stands for all: the canonical one, else the shortest URL, else the
    first by order."""
    named = {twin.canonical for twin in twins}
    return min([t for t in twins if t.url in named] or twins, key=lambda twin: (len(twin.url), twin.url))


def standing(twins: Iterable[Twin], nearly_same: Callable[[bytes, bytes], bool]) -> dict[int, int | None]:
    """For every page the page that stands for it, None for one that stands for itself.

    `twins` holds whole groups of equal text, and the groups of the pages their canonicals name. A group whose canonical
    names a page of another group is taken for a variant of it (a print or AMP page) only where the texts nearly agree:
    canonicals that name the home page, or another page by mistake, are common. A canonical is followed one step, so
    that loops end at once: both pages stay.
    """
    groups: dict[str, list[Twin]] = defaultdict(list)
    for twin in twins:
        groups[twin.text_hash].append(twin)
    heads = {text: stands_for(group) for text, group in groups.items()}
    by_url = {twin.url: twin for group in groups.values() for twin in group}
    result: dict[int, int | None] = {}
    for text, group in groups.items():
        head = heads[text]
        original = by_url.get(head.canonical or "")
        if original is not None and original.text_hash != text and nearly_same(head.sketch, original.sketch):
            other = heads[original.text_hash]
            named = by_url.get(other.canonical or "")
            if named is None or named.text_hash == other.text_hash:
                head = other
        result |= {twin.page: None if twin.page == head.page else head.page for twin in group}
    return result


def vector_key(language: str, passage_hashes: Iterable[str]) -> str:
    """Names the vector a page asks for: the same for the same passages in the same language."""
    return hashlib.sha256("\n".join((language, *passage_hashes)).encode()).hexdigest()[:32]
