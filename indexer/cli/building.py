"""From the configuration to the parts of a run."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version

from indexer.anchors import phrase
from indexer.changes import Guard, Policy
from indexer.config import Config
from indexer.discover import discover, wanted
from indexer.embed import Model, SentenceTransformerEmbedder, find_model
from indexer.extract.rules import ExtractRules
from indexer.folder import FolderLooker
from indexer.links.choosing import Limits
from indexer.neighbours import Rule
from indexer.records import Discovered, SourceFault
from indexer.sync.parts import LinkPolicy, Looker, Parts, Progress
from indexer.sync.reading import ProcessReader, ReadingRules, read_draft
from indexer.vectors import VectorStore, open_store

_READING = 3
"""Counted up when pages are read in another way, so that every page is read anew."""
_RANKING = 1
"""Counted up when links are ranked or placed in another way, so that all are found anew."""


def parts_of(config: Config, progress: Progress) -> Parts:
    """Everything a run needs, nothing of it started. Raises ModelUnavailable."""
    site, model = config.site_address, find_model(config.embed.model)
    sources = config.discover
    rules = ReadingRules(site, ExtractRules(config.extract.content, config.extract.remove), model.counter)
    return Parts(
        site=site,
        policy=Policy(config.extract.min_words, config.safety.gone_after, _rules(config)),
        guard=Guard(config.safety.max_removed, config.safety.max_removed_share),
        rule=rule_of(config, model),
        links=link_policy(config),
        concurrency=config.fetch.concurrency,
        wanted=lambda url: site.page(url) == url and wanted(url, sources.include, sources.exclude),
        looker=_looker(config),
        discover=partial(_discover, config),
        reader=lambda: ProcessReader(rules),
        read_draft=partial(read_draft, rules=rules),
        fingerprint=model.fingerprint,
        embedder=SentenceTransformerEmbedder(model, config.embed.batch),
        open_store=partial(store_of, config, model),
        now=lambda: datetime.now(UTC),
        progress=progress,
    )


def rule_of(config: Config, model: Model) -> Rule:
    """How long lists are, and how near their entries: the model's own threshold where none is configured."""
    floor = config.neighbours.min_similarity
    return Rule(config.neighbours.keep, model.floor if floor is None else floor)


def link_policy(config: Config) -> LinkPolicy:
    """The rules of suggestions."""
    links, site = config.links, config.site_address

    def matching(patterns: Sequence[str]) -> Callable[[str], bool]:
        return lambda url: bool(patterns) and wanted(url, patterns, ())

    named = {page: some for page, some in ((site.page(url), some) for url, some in links.phrases.items()) if page}
    never = frozenset(key for word in links.never_anchor if (key := phrase(word, "")))
    return LinkPolicy(
        home=site.base,
        min_score=links.min_score,
        min_words=links.min_words,
        limits=Limits(links.per_page, links.per_target, links.per_paragraph, links.both_ways, links.max_density, never),
        may_link=lambda url: wanted(url, (), links.never_from),
        may_be_target=lambda url: wanted(url, (), links.never_to),
        always_target=matching(links.always_to),
        is_priority=matching(links.priority),
        phrases=named,
        fingerprint=_name([_RANKING, links.model_dump(mode="json"), site.base]),
    )


def store_of(config: Config, model: Model, collection: str) -> VectorStore:
    """The collection of this name in the configured vector store.

    A folder is one site's; on a server several sites may be at home, and each gets collections of its own.
    """
    store = config.store
    if store.vectors.startswith(("http://", "https://")):
        collection = (
            re.sub(r"[^\w.-]+", "-", config.site_address.base.partition("://")[2]).strip("-") + f"-{collection}"
        )
    return open_store(store.vectors, collection, model.dimensions, store.api_key, store.timeout)


def _looker(config: Config) -> Callable[[], AbstractAsyncContextManager[Looker]]:
    site = config.site_address
    if config.folder is not None:
        return partial(FolderLooker, config.folder, site, config.fetch.max_bytes)
    from indexer.fetch import Fetcher

    return partial(Fetcher, site, config.fetch)


async def _discover(config: Config, looker: Looker, worked_before: frozenset[str]) -> Discovered:
    if isinstance(looker, FolderLooker):
        return looker.discovered()
    from indexer.fetch import Fetcher

    assert isinstance(looker, Fetcher)  # noqa: S101 - _looker makes no others
    if looker.robots_fault is not None:
        fault = SourceFault("robots.txt", looker.robots_fault)
        return Discovered((), tuple(sorted(worked_before)), (fault,))
    # A robots.txt that cannot be read names what it named before.
    sitemaps = sorted(worked_before) if looker.sitemaps is None else looker.sitemaps
    return await discover(config.site_address, config.discover, sitemaps, looker.get, worked_before)


def _rules(config: Config) -> str:
    """Names the settings and the program that a page was read with: another name, and it is read anew."""
    return _name([_READING, version("trafilatura"), config.extract.model_dump(), config.site_address.base])


def _name(said: object) -> str:
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:16]
