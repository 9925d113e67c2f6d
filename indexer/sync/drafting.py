"""What a text that is not published yet should link to, and which pages should link to it: the answer that the sync
after its publication will give, worked out beside the index, which stays as it is."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from indexer.corpus import PageText, bag
from indexer.errors import UsageError
from indexer.links.choosing import Chosen
from indexer.links.pairs import Pair
from indexer.links.touched import touched
from indexer.neighbours import Rule, joined, nearest
from indexer.records import Advice, Block, Document, NeighbourList, SuggestionRow
from indexer.sketches import nearly_same
from indexer.state.linking import Linkable
from indexer.state.writing import State
from indexer.sync.fill import unit_mean
from indexer.sync.linking import difference, reading
from indexer.sync.lists import entered
from indexer.sync.parts import Embedder, LinkPolicy, Parts
from indexer.sync.ranker import PassageVectors, Ranker, SitePages, StoredTexts, page_behind
from indexer.sync.suggesting import Writer, chosen, follow
from indexer.vectors import Vectors

DRAFT = 0
"""The draft's number among the pages, which are numbered from 1."""


def draft(parts: Parts, state: State, text: str, name: str) -> Advice:
    """Advice on a text in Markdown, HTML or plain words; the suffix of its name tells which, else its look.

    Raises UsageError where the text is too short to be indexed, StateError where nothing is indexed yet.
    """
    model = state.embeddings.indexed_model(parts.fingerprint)
    document = parts.read_draft(text, name)
    if document.words < max(1, parts.policy.min_words):
        raise UsageError(
            f"the draft has {document.words} words of running text: pages of fewer than extract.min_words,"
            f" {parts.policy.min_words}, are not indexed"
        )
    return advise(state, model, parts.rule, parts.links, document, _embedded(state, model, parts.embedder, document))


def _embedded(state: State, model: int, embedder: Embedder, document: Document) -> Vectors:
    """The vectors of the document's passages, a row each; those that the index keeps are not made again."""
    kept = state.embeddings.kept(model, [passage.hash for passage in document.passages])
    new = {passage.hash: passage.text for passage in document.passages if passage.hash not in kept}
    if new:
        kept |= zip(new, embedder.embed(list(new.values())), strict=True)
    return np.stack([kept[passage.hash] for passage in document.passages])


def advise(state: State, model: int, rule: Rule, policy: LinkPolicy, document: Document, vectors: Vectors) -> Advice:
    """Advice on a document, whose passages have these vectors, a row each."""
    beside = _Beside(document, vectors, StoredTexts(state, model), _linkable(state, policy, document, vectors))
    site = beside.site(model, policy)
    lists = beside.lists(rule, site)
    texts = _Texts(beside, lists)
    ranker = Ranker(site, texts, policy.min_score)
    again = _touched(state, site, lists)
    pairs = [pair for pair in state.linking.pairs() if pair.source not in again and _both_in(site, pair)]
    pairs += [pair for page in sorted(again & site.pages.keys()) for pair in ranker.pairs(page)[1]]
    concerned = [
        one for one in chosen(site, policy, pairs, follow(state, site)) if DRAFT in (one.pair.source, one.pair.target)
    ]
    rows = _written(state, site, document, concerned)
    return Advice(
        tuple(row for one, row in zip(concerned, rows, strict=True) if one.pair.source == DRAFT),
        tuple(row for one, row in zip(concerned, rows, strict=True) if one.pair.target == DRAFT),
        tuple(_notes(policy, site, texts, lists[DRAFT])),
    )


def _both_in(site: SitePages, pair: Pair) -> bool:
    """A run that is under way may have taken a page out whose pairs it has not come to."""
    return pair.source in site.pages and pair.target in site.pages


def _linkable(state: State, policy: LinkPolicy, document: Document, vectors: Vectors) -> Linkable:
    text = _text(document)
    made = reading(text, bag(text), policy, state.linking.statistics())
    if not document.url:
        made = replace(made, utility=None)
    return Linkable(
        DRAFT, document.url, document.language, document.words, document.text_hash, "draft", "draft",
        unit_mean(vectors), made,
    )  # fmt: skip


def _text(document: Document) -> PageText:
    return PageText(document.url, document.title, document.language, document.blocks, document.links)


@dataclass(frozen=True)
class _Beside:
    """The draft, and the index that it is laid beside."""

    document: Document
    vectors: Vectors
    stored: StoredTexts
    linkable: Linkable

    def site(self, model: int, policy: LinkPolicy) -> SitePages:
        """The site as if the draft were one of its pages."""
        linking = self.stored.state.linking
        pages = {page.page: page for page in linking.linkable(model)}
        return SitePages(pages | {DRAFT: self.linkable}, page_behind(linking), linking.statistics(), policy.phrases)

    def lists(self, rule: Rule, site: SitePages) -> dict[int, NeighbourList]:
        """The draft's own list, and the lists that it would come into, by page."""
        page = self.linkable
        picture = self.stored.state.lists.picture(self.stored.model, {page.language})
        picture = joined(picture, DRAFT, page.url, page.language, page.vector)
        others = entered(self.stored.state, picture, [DRAFT], [DRAFT], rule)
        own = nearest(picture, len(picture.pages) - 1, rule)
        return {new.page: new for new in (own, *others) if new.page in site.pages}


@dataclass(frozen=True)
class _Texts:
    """What pages say and how they lie to each other, the draft among them."""

    beside: _Beside
    lists: Mapping[int, NeighbourList]

    def text(self, page: int) -> PageText:
        return _text(self.beside.document) if page == DRAFT else self.beside.stored.text(page)

    def passages(self, page: int) -> PassageVectors:
        if page != DRAFT:
            return self.beside.stored.passages(page)
        passages = self.beside.document.passages
        return [(p.first, p.last, vector) for p, vector in zip(passages, self.beside.vectors, strict=True)]

    def neighbours(self, page: int) -> Sequence[tuple[int, float]]:
        if page in self.lists:
            return [(entry.page, entry.score) for entry in self.lists[page].neighbours]
        return self.beside.stored.neighbours(page)

    def sketch(self, page: int) -> bytes:
        return self.beside.document.sketch if page == DRAFT else self.beside.stored.sketch(page)


def _touched(state: State, site: SitePages, lists: Mapping[int, NeighbourList]) -> set[int]:
    """The pages whose links the draft's publication would touch, the draft among them."""

    def listing(pages: Collection[int]) -> set[int]:
        return state.linking.listing(pages) | (lists.keys() if DRAFT in pages else set())

    before = {page: ranked for page, ranked in site.now.items() if page != DRAFT}
    change = difference(before, site.now)
    return touched(change, site.library, state.linking.candidates(), listing) | lists.keys()


def _written(state: State, site: SitePages, document: Document, some: Sequence[Chosen]) -> list[SuggestionRow]:
    def blocks(page: int) -> Sequence[Block]:
        return document.blocks if page == DRAFT else state.pages.blocks(page)[1]

    writer = Writer(site, blocks, {}, "")
    titles = {DRAFT: document.title}

    def title(page: int) -> str:
        if page not in titles:
            titles[page] = state.linking.text(page)[0].title
        return titles[page]

    return [SuggestionRow(writer.suggestion(one)[0], title(one.pair.source), title(one.pair.target)) for one in some]


def _notes(policy: LinkPolicy, site: SitePages, texts: _Texts, own: NeighbourList) -> list[str]:
    """What the writer should know of the draft beside its links."""
    page = site.pages[DRAFT]
    notes = [
        f"nearly the same text stands at {site.pages[entry.page].url}: neither is suggested to link to the other"
        for entry in own.neighbours
        if entry.page in site.pages and nearly_same(texts.sketch(DRAFT), texts.sketch(entry.page))
    ]
    if page.words < policy.min_words:
        notes.append(f"the draft has {page.words} words: links.min_words asks {policy.min_words} of a page that links")
    elif not policy.limits.room(page.words, page.reading.set_links):
        notes.append("the draft links as much as links.max_density lets it: nothing more is suggested to link to")
    return notes
