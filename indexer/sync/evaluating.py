"""How many of a site's own links come back when they are taken away: what to expect of suggestions on this site.

made links -> some hidden -> the site without them -> pairs of every page -> the ranking, and the rules, measured
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from indexer.corpus import PageText, content_links
from indexer.errors import UsageError
from indexer.links.agreement import agreement
from indexer.links.hiding import Hidden, MadeLink, chosen, without
from indexer.links.pairs import Pair, Spot
from indexer.prose import prose
from indexer.records import Evaluated, Evaluation
from indexer.state.linking import Linkable
from indexer.state.writing import State
from indexer.sync import suggesting
from indexer.sync.parts import LinkPolicy, Progress
from indexer.sync.ranker import PassageVectors, Ranker, SitePages, StoredTexts, site_pages

THRESHOLDS = (0.05, 0.1, 0.2, 0.3, 0.5)
"""Minimum scores that are tried beside the configured one."""


def evaluate(state: State, model: int, policy: LinkPolicy, share: float, seed: int, progress: Progress) -> Evaluation:
    """Hide a share (0 to 1) of the links that the site's authors set in running text, and look for them.

    Raises UsageError where there is nothing to hide.
    """
    site = site_pages(state.linking, model, policy.phrases)
    texts = StoredTexts(state, model)
    made = made_links(site, texts, progress)
    hidden = hide(site, made, share, seed)
    if not hidden.links:
        raise UsageError("the site's texts link to none of its pages, or the share is too small: nothing to hide")
    bare = BareSite(site, texts, hidden)
    pairs = list(_pairs(bare, min(policy.min_score, *THRESHOLDS), progress))
    scores = {"your rules, as they are": policy.min_score}
    scores |= {f"your rules, links.min_score {least:g}": least for least in THRESHOLDS}
    rules = [_by_rules(what, bare.pages, policy, hidden, pairs, least) for what, least in scores.items()]
    everything = {(link.source, link.target) for link in made}
    return Evaluation(
        len(hidden.pairs), len(everything), len({s for s, _ in hidden.pairs}), (_ranking(hidden, pairs), *rules)
    )


def made_links(site: SitePages, texts: StoredTexts, progress: Progress) -> list[MadeLink]:
    """The links in running text from indexed pages to indexed pages of their language that may be linked to."""
    found: list[MadeLink] = []
    for done, page in enumerate(site.pages, start=1):
        found += _made_on(site, page, texts.text(page))
        progress.step("texts", done, len(site.pages))
    return found


def _made_on(site: SitePages, page: int, text: PageText) -> Iterator[MadeLink]:
    running = {block.index for block in prose(text.blocks, text.language, site.statistics)}
    for link in content_links(text, site.statistics):
        target = site.behind(link.target)
        if link.block in running and target is not None and _may_be_hidden(site, page, target):
            yield MadeLink(page, target, link.block or 0, link.anchor)


def _may_be_hidden(site: SitePages, page: int, target: int) -> bool:
    other = site.pages.get(target)
    return (
        other is not None
        and page != target
        and other.reading.utility is None
        and other.language == site.pages[page].language
    )


def hide(site: SitePages, made: Iterable[MadeLink], share: float, seed: int) -> Hidden:
    """All links between a share of the pairs of pages that link."""
    made = list(made)
    pairs = {(site.pages[link.source].url, site.pages[link.target].url) for link in made}
    some = chosen(pairs, share, seed)
    return Hidden([link for link in made if (site.pages[link.source].url, site.pages[link.target].url) in some])


@dataclass(frozen=True)
class BareSite:
    """The site as it would be without the hidden links: its texts, its readings, and its counts of inlinks."""

    site: SitePages
    stored: StoredTexts
    hidden: Hidden

    @cached_property
    def pages(self) -> SitePages:
        inlinks = Counter(self.site.statistics.inlinks)
        inlinks.subtract(self.site.pages[target].url for _, target in self.hidden.pairs)
        statistics = replace(self.site.statistics, inlinks=+inlinks)
        pages = {page: self._without(linkable) for page, linkable in self.site.pages.items()}
        return SitePages(pages, self.site.behind, statistics, self.site.phrases)

    def _without(self, linkable: Linkable) -> Linkable:
        gone = self.addresses.get(linkable.page)
        if not gone:
            return linkable
        reading = linkable.reading
        outlinks = tuple(link for link in reading.outlinks if link.target not in gone)
        lost = sum(link.target in gone for link in content_links(self.stored.text(linkable.page), self.site.statistics))
        return replace(linkable, reading=replace(reading, outlinks=outlinks, set_links=reading.set_links - lost))

    @cached_property
    def addresses(self) -> Mapping[int, frozenset[str]]:
        """The addresses of each page's content links that lead to a page they are hidden for."""
        pairs = self.hidden.pairs
        return {
            page: frozenset(
                link.target
                for link in self.site.pages[page].reading.outlinks
                if (page, self.site.behind(link.target)) in pairs
            )
            for page in {source for source, _ in pairs}
        }

    def text(self, page: int) -> PageText:
        return without(self.stored.text(page), self.addresses.get(page, frozenset()))

    def passages(self, page: int) -> PassageVectors:
        return self.stored.passages(page)

    def neighbours(self, page: int) -> Sequence[tuple[int, float]]:
        return self.stored.neighbours(page)

    def sketch(self, page: int) -> bytes:
        return self.stored.sketch(page)


def _pairs(bare: BareSite, least: float, progress: Progress) -> Iterator[Pair]:
    """The best pairs of every page: all of those that lost a link, of the others those of the least score and more."""
    losing = {source for source, _ in bare.hidden.pairs}
    everything, likely = Ranker(bare.pages, bare, 0.0), Ranker(bare.pages, bare, least)
    for done, page in enumerate(bare.pages.pages, start=1):
        yield from (everything if page in losing else likely).pairs(page)[1]
        progress.step("links", done, len(bare.pages.pages))


def _ranking(hidden: Hidden, pairs: Iterable[Pair]) -> Evaluated:
    losing = {source for source, _ in hidden.pairs}
    suggested: dict[int, list[tuple[int, Spot]]] = defaultdict(list)
    for pair in pairs:
        if pair.source in losing:
            suggested[pair.source].append((pair.target, pair.spots[0]))
    first = {source: some[:10] for source, some in suggested.items()}
    per_page = sum(map(len, first.values())) / len(losing)
    return Evaluated("ten best, no rules", round(per_page, 2), agreement(hidden.links, first))


def _by_rules(
    what: str, site: SitePages, policy: LinkPolicy, hidden: Hidden, pairs: Iterable[Pair], least: float
) -> Evaluated:
    suggested: dict[int, list[tuple[int, Spot]]] = defaultdict(list)
    for one in suggesting.chosen(site, policy, (pair for pair in pairs if pair.score >= least), {}):
        suggested[one.pair.source].append((one.pair.target, one.spot))
    per_page = sum(map(len, suggested.values())) / len(site.pages)
    return Evaluated(what, round(per_page, 2), agreement(hidden.links, suggested))
