"""The frozen records that flow between the steps, in the order of the flow."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

# --- discover -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Found:
    """A page address that a source named; `lastmod` orders the work and proves nothing."""

    url: str
    lastmod: datetime | None = None


@dataclass(frozen=True, slots=True)
class SourceFault:
    """A source of URLs that could not be read, wholly or in part."""

    source: str
    reason: str


@dataclass(frozen=True, slots=True)
class Discovered:
    """What the sources named. `complete` is false when any source that should have answered did not, or was cut short.

    `sources` are those that nobody configured and that may not be missing the next time; `crawl` says that the links of
    pages lead to further pages.
    """

    found: tuple[Found, ...]
    sources: tuple[str, ...]
    faults: tuple[SourceFault, ...] = ()
    crawl: bool = False

    @property
    def complete(self) -> bool:
        return not self.faults


# --- fetch ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Validators:
    """What a server (or a file system) gave to ask "changed since?" with."""

    etag: str | None = None
    last_modified: str | None = None


NO_VALIDATORS = Validators()


@dataclass(frozen=True, slots=True)
class Fetched:
    """A 200 with an HTML body, decompressed; `content_type` and `robots_tag` are the headers as sent."""

    url: str
    body: bytes
    content_type: str = "text/html"
    robots_tag: str = ""
    validators: Validators = NO_VALIDATORS


@dataclass(frozen=True, slots=True)
class NotModified:
    """The page is as it was when its validators were given."""

    url: str


@dataclass(frozen=True, slots=True)
class Redirected:
    """The URL leads to `to`, the normal form of a page of the same site, or None when it leads outside."""

    url: str
    to: str | None
    location: str


@dataclass(frozen=True, slots=True)
class Missing:
    """404 (may come back) or, with `for_good`, 410."""

    url: str
    for_good: bool = False


@dataclass(frozen=True, slots=True)
class Skipped:
    """An answer that is no page: not HTML, too large, a client error."""

    url: str
    reason: str


@dataclass(frozen=True, slots=True)
class Forbidden:
    """robots.txt forbids the URL; it was not asked."""

    url: str


@dataclass(frozen=True, slots=True)
class Failed:
    """No answer that says anything about the page: timeout, 5xx, 429, broken transfer, or a host given up on."""

    url: str
    reason: str


FetchOutcome: TypeAlias = Fetched | NotModified | Redirected | Missing | Skipped | Forbidden | Failed


# --- extract --------------------------------------------------------------------------------------------------------


class Zone(StrEnum):
    """Where on the page a link stands, by element names and roles alone."""

    CONTENT = "content"
    NAVIGATION = "navigation"
    HEADER = "header"
    FOOTER = "footer"
    ASIDE = "aside"


class BlockKind(StrEnum):
    PARAGRAPH = "paragraph"
    ITEM = "item"
    CELL = "cell"
    HEADING = "heading"
    CODE = "code"
    CAPTION = "caption"


class SpanKind(StrEnum):
    """Stretches of a block's text that are not plain words."""

    LINK = "link"
    CODE = "code"
    MARKUP = "markup"


class Span(NamedTuple):
    """Characters [start, end) of a block's text; `href` is the link's target as resolved."""

    kind: SpanKind
    start: int
    end: int
    href: str | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """One paragraph, item, cell, heading or piece of code of the main text, whitespace collapsed (kept in code)."""

    kind: BlockKind
    text: str
    spans: tuple[Span, ...] = ()


class Link(NamedTuple):
    """One <a href> of the page. `target` is the normal form inside the site, else the absolute address.

    `block` is the index of the main-text block it stands in, or None. `path` is the element path from the body
    (tag names with position), as Screaming Frog's "Link Path" shows it.
    """

    target: str
    internal: bool
    anchor: str
    zone: Zone
    follow: bool
    fragment: str = ""
    block: int | None = None
    alt: str = ""
    path: str = ""


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of blocks [first, last] that fits the model; `text` starts with the title and is what is embedded."""

    text: str
    hash: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Document:
    """What a page says, without its boilerplate.

    `refresh` is the target of a meta refresh that makes the page a mere forward. `note` says what was unusual about
    the extraction ("filled by JavaScript", a fallback, …) or is None. `text_hash` is over title and main text;
    `sketch` is the MinHash signature of the text's shingles (little-endian uint32 values), b"" for an empty text.
    """

    url: str
    title: str
    language: str
    blocks: tuple[Block, ...]
    passages: tuple[Passage, ...]
    links: tuple[Link, ...]
    words: int
    text_hash: str
    sketch: bytes
    canonical: str | None = None
    noindex: bool = False
    nofollow: bool = False
    refresh: str | None = None
    note: str | None = None


# --- vectors --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Point:
    """A page's vector in the vector store. `key` names the text it was made from, `vector` has unit length."""

    id: str
    key: str
    url: str
    language: str
    vector: npt.NDArray[np.float32]


class Hit(NamedTuple):
    """A point of the vector store found near another, with their cosine similarity."""

    id: str
    score: float


# --- neighbours -----------------------------------------------------------------------------------------------------


class Neighbour(NamedTuple):
    """An entry of a page's list: the other page's number, their cosine, and whether their texts nearly agree."""

    page: int
    score: float
    near_duplicate: bool = False


@dataclass(frozen=True, slots=True)
class NeighbourList:
    """A page's whole list, best first. `kth` is the score an entry must reach to get in: None while there is room."""

    page: int
    neighbours: tuple[Neighbour, ...]
    kth: float | None


# --- links ----------------------------------------------------------------------------------------------------------


class Suggestion(NamedTuple):
    """A link that a page should set: in which paragraph and on which of its words, at character `start`; no anchor
    where the paragraph alone is meant. `html` and `markdown` are the sentence with the link set."""

    id: str
    source: str
    target: str
    status: str
    score: float
    similarity: float
    anchor: str
    paragraph: str
    block: int
    start: int
    html: str
    markdown: str
    reason: str
    first_seen: str


# --- sync -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Summary:
    """What one sync saw and did: `seen` URLs looked at, `held` removals held back, `faults` sources that failed."""

    seen: int = 0
    new: int = 0
    changed: int = 0
    moved: int = 0
    unchanged: int = 0
    gone: int = 0
    failed: int = 0
    held: int = 0
    faults: int = 0
    embedded_passages: int = 0
    lists_asked: int = 0
    lists_changed: int = 0
    texts_read: int = 0
    links_new: int = 0
    links_gone: int = 0
    seconds: float = 0.0

    @property
    def exit_code(self) -> int:
        """0 done; 3 some pages failed or a source could not be read; 4 removals were held back."""
        if self.held:
            return 4
        return 3 if self.failed or self.faults else 0


# --- what is read out -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PageRow:
    """A known URL as it is read out. `stands_for` is the URL of the page that stands for this one: a duplicate, or one
    that no source lists and that shows another page's text, or names it as canonical."""

    page: int
    url: str
    status: str
    title: str
    language: str
    words: int
    redirect_to: str | None
    stands_for: str | None
    note: str | None
    first_seen: str
    changed: str


@dataclass(frozen=True, slots=True)
class NeighbourRow:
    """An entry of a page's list as it is read out; `near_duplicate` marks texts that nearly agree."""

    url: str
    title: str
    neighbour_url: str
    neighbour_title: str
    similarity: float
    rank: int
    near_duplicate: bool


@dataclass(frozen=True, slots=True)
class SuggestionRow:
    """A suggestion as it is read out, with both pages' titles."""

    suggestion: Suggestion
    source_title: str
    target_title: str


@dataclass(frozen=True, slots=True)
class Advice:
    """For a text that is not published yet: the links that it should set, those that pages should set to it, best
    first, and what its writer should know."""

    outgoing: tuple[SuggestionRow, ...]
    incoming: tuple[SuggestionRow, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Agreement:
    """Means over the pages that lost links: the share of a page's hidden links among its five and ten best suggestions
    and among all, the mean reciprocal rank of the first (MRR), and how often the very first suggestion is one. Of the
    hidden links among the ten best: how often the anchor is the person's, how far their words overlap (F1), and how
    often the paragraph is the person's."""

    recall_at_5: float
    recall_at_10: float
    recall: float
    mrr: float
    precision_at_1: float
    anchor_exact: float
    anchor_f1: float
    paragraph: float


@dataclass(frozen=True, slots=True)
class Evaluated:
    """One way to choose suggestions, how many it makes for a page, and how they agree with the hidden links."""

    what: str
    per_page: float
    agreement: Agreement


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Of how many pairs of pages that link the links were hidden, on how many pages; and the rows of figures."""

    hidden: int
    pairs: int
    pages: int
    rows: tuple[Evaluated, ...]


@dataclass(frozen=True, slots=True)
class LinkCounts:
    """How many pages link to a page, from their content and at all, and to how many it links from its content."""

    inlinks_content: int
    inlinks_all: int
    outlinks_content: int
    depth: int | None
    pagerank: float


@dataclass(frozen=True, slots=True)
class RunRow:
    """A past run: when it began, how long it took and what it said; no exit code where it was killed."""

    started: str
    seconds: float | None
    exit_code: int | None
    summary: str | None
