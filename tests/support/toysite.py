"""A site in memory behind the interfaces of a run, for tests that need hundreds of runs: it answers as a server would,
with validators, redirects, 404s and failures, and its pages are read without a browser's worth of HTML around them."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from indexer.changes import Guard, Policy
from indexer.links.choosing import Limits
from indexer.neighbours import Rule
from indexer.records import (
    Block,
    BlockKind,
    Discovered,
    Document,
    Failed,
    Fetched,
    FetchOutcome,
    Found,
    Link,
    Missing,
    NotModified,
    Passage,
    Redirected,
    SourceFault,
    Span,
    SpanKind,
    Validators,
    Zone,
)
from indexer.sketches import sketch
from indexer.sync import Parts
from indexer.sync.parts import LinkPolicy
from indexer.urls import make_site

SITE = make_site("https://toy.example/")
PASSAGE_WORDS = 12


@dataclass(frozen=True)
class ToyPage:
    title: str
    paragraphs: tuple[str, ...]
    language: str = "en"
    canonical: str | None = None
    noindex: bool = False
    links: tuple[str, ...] = ()

    def body(self) -> bytes:
        return json.dumps(asdict(self)).encode()


@dataclass
class ToySite:
    """The pages as they are now. `unlisted` pages stand in no sitemap, `failing` ones answer 503."""

    pages: dict[str, ToyPage] = field(default_factory=dict)
    redirects: dict[str, str] = field(default_factory=dict)
    failing: set[str] = field(default_factory=set)
    unlisted: set[str] = field(default_factory=set)
    sitemap_broken: bool = False
    crawl: bool = False
    log: Counter[str] = field(default_factory=Counter)

    async def __aenter__(self) -> ToySite:
        return self

    async def __aexit__(self, *_: object) -> None:
        pass

    async def fetch(self, url: str, validators: Validators) -> FetchOutcome:
        if url in self.failing:
            return Failed(url, "503")
        if url in self.redirects:
            self.log["redirect"] += 1
            return Redirected(url, self.redirects[url], self.redirects[url])
        page = self.pages.get(url)
        if page is None:
            self.log["404"] += 1
            return Missing(url)
        tag = hashlib.md5(page.body()).hexdigest()
        self.log["conditional" if validators.etag else "plain"] += 1
        if validators.etag == tag:
            self.log["304"] += 1
            return NotModified(url)
        self.log["200"] += 1
        return Fetched(url, page.body(), validators=Validators(etag=tag))

    async def discover(self, _: object, __: frozenset[str]) -> Discovered:
        if self.crawl:
            return Discovered((Found(SITE.base),), (), crawl=True)
        listed = sorted((self.pages.keys() | self.redirects.keys()) - self.unlisted)
        if self.sitemap_broken:
            half = tuple(Found(url) for url in listed[: len(listed) // 2])
            return Discovered(half, (), (SourceFault("sitemap", "cut short"),))
        return Discovered(tuple(Found(url) for url in listed), ("sitemap",))


class ToyReader:
    """Reads toy pages in place."""

    async def __aenter__(self) -> ToyReader:
        return self

    async def __aexit__(self, *_: object) -> None:
        pass

    async def read(self, fetched: Fetched) -> Document | Failed:
        return toy_document(fetched.url, ToyPage(**json.loads(fetched.body)))

    def cut(self, title: str, blocks: Sequence[Block]) -> tuple[Passage, ...]:
        """A passage a block."""
        texts = [f"{title}\n{block.text}" for block in blocks]
        return tuple(
            Passage(text, hashlib.sha256(text.encode()).hexdigest()[:32], i, i) for i, text in enumerate(texts)
        )


def toy_document(url: str, page: ToyPage) -> Document:
    """What reading the page at this address says."""
    text = "\n".join(page.paragraphs)
    links = toy_links(page.paragraphs, page.links)
    blocks = tuple(
        Block(BlockKind.PARAGRAPH, paragraph, toy_spans(paragraph, number, page))
        for number, paragraph in enumerate(page.paragraphs)
    )
    return Document(
        url=url,
        title=page.title,
        language=page.language,
        blocks=blocks,
        passages=ToyReader().cut(page.title, blocks),
        links=links,
        words=len(text.split()),
        text_hash=hashlib.sha256(f"{page.title}\n{text}".encode()).hexdigest()[:32],
        sketch=sketch(text),
        canonical=page.canonical,
        noindex=page.noindex,
    )


def toy_links(paragraphs: Sequence[str], targets: Sequence[str]) -> tuple[Link, ...]:
    """A page's links, each on one word: the first on the first paragraph's first, the second on the second's, …; an
    empty target leaves its word unlinked."""
    return tuple(
        Link(target, True, paragraphs[n % len(paragraphs)].split()[n // len(paragraphs)], Zone.CONTENT, True,
             block=n % len(paragraphs))
        for n, target in enumerate(targets)
        if target
    )  # fmt: skip


def toy_spans(paragraph: str, number: int, page: ToyPage) -> tuple[Span, ...]:
    """Where in a paragraph its links stand."""
    here = page.links[number :: len(page.paragraphs)]
    words = re.finditer(r"\S+", paragraph)
    return tuple(
        Span(SpanKind.LINK, word.start(), word.end(), target)
        for word, target in zip(words, here, strict=False)
        if target
    )


def toy_draft(text: str, _name: str) -> Document:
    """A draft: its first line is the title, each further one a paragraph."""
    title, *paragraphs = text.splitlines()
    return toy_document("", ToyPage(title, tuple(paragraphs)))


class Quiet:
    def step(self, stage: str, done: int, total: int | None) -> None:
        pass


TOY_LINKS = LinkPolicy(
    home=SITE.base,
    min_score=0.0,
    min_words=0,
    limits=Limits(2, 3, 1, False, None, frozenset()),
    may_link=lambda _: True,
    may_be_target=lambda _: True,
    always_target=lambda _: False,
    is_priority=lambda _: False,
    phrases={},
    fingerprint="toy",
)


def toy_parts(site: ToySite, embedder: Any, open_store: Any, **changes: Any) -> Parts:
    """The parts of a run over a toy site; every field of Parts can be replaced by name."""
    parts = Parts(
        site=SITE,
        policy=Policy(min_words=3, gone_after=2, rules="toy"),
        guard=Guard(max_removed=1000, max_removed_share=1.0),
        rule=Rule(keep=3, floor=0.0),
        links=TOY_LINKS,
        concurrency=4,
        wanted=lambda url: url.startswith(SITE.base),
        looker=lambda: site,
        discover=site.discover,
        reader=ToyReader,
        read_draft=toy_draft,
        fingerprint="toy",
        embedder=embedder,
        open_store=open_store,
        now=lambda: datetime(2026, 1, 1, tzinfo=UTC),
        progress=Quiet(),
    )
    return replace(parts, **changes)
