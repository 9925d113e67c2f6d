"""From pairs to suggestions: the rules are applied once over all pairs, and what people said of them is followed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from indexer.anchors import phrase
from indexer.links.choosing import Chosen, choose
from indexer.links.pairs import Pair, Spot
from indexer.links.review import Decision, Status, status_of, suggestion_id
from indexer.links.sentences import as_html, as_markdown
from indexer.records import Block, Suggestion
from indexer.state.writing import State
from indexer.sync.parts import LinkPolicy
from indexer.sync.ranker import SitePages

Decided = Mapping[tuple[str, str], Suggestion]
"""Suggestions that people decided on, by their pages' URLs."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The ids of suggestions that came, and of those that went."""

    new: frozenset[str]
    gone: frozenset[str]


def suggest(state: State, site: SitePages, policy: LinkPolicy, now: str) -> Difference:
    """Choose among all pairs, follow what was decided, and keep the outcome; in one transaction."""
    with state.transaction():
        before = state.linking.suggestions()
        decided = follow(state, site)
        writer = Writer(site, lambda page: state.pages.blocks(page)[1], before, now)
        after = {one.id: (writer.dated(one), "") for one in decided.values()}
        for one in chosen(site, policy, state.linking.pairs(), decided):
            made, digest = writer.suggestion(one)
            after[made.id] = made, digest
        gone = before.keys() - after.keys()
        state.linking.save_suggestions((entry for name, entry in after.items() if before.get(name) != entry), gone)
    opened = {name for name, (one, _) in after.items() if one.status == Status.OPEN}
    return Difference(frozenset(opened - before.keys()), frozenset(gone))


def chosen(site: SitePages, policy: LinkPolicy, pairs: Iterable[Pair], decided: Decided) -> list[Chosen]:
    """The pairs that the rules let through, beside those that people decided on; best first."""
    undecided = (pair for pair in pairs if _is_open(site, policy, pair, decided))
    return choose(undecided, _agreed(site, decided), policy.limits, _room(site, policy), _order(site, policy))


def follow(state: State, site: SitePages) -> Decided:
    """The suggestions that people decided on, with what has become of them."""
    kept = state.linking.decided()
    found = {}
    for decision in state.linking.decisions():
        pair = decision.source, decision.target
        status = _status(site, decision)
        found[pair] = kept[pair]._replace(id=suggestion_id(*pair), status=status)
    return found


def _status(site: SitePages, decision: Decision) -> Status:
    source, target = site.by_url.get(decision.source), site.by_url.get(decision.target)
    texts = (source.text_hash if source else None, target.text_hash if target else None)
    linked = source is not None and target is not None and target.page in site.targets(source.page)
    return status_of(decision, texts, linked)


def _is_open(site: SitePages, policy: LinkPolicy, pair: Pair, decided: Decided) -> bool:
    source, target = site.pages[pair.source].url, site.pages[pair.target].url
    return policy.may_be_target(target) and (source, target) not in decided


def _agreed(site: SitePages, decided: Decided) -> Iterator[Chosen]:
    """The accepted suggestions, as pairs that have their places."""
    for one in decided.values():
        if one.status == Status.ACCEPTED:
            source, target = site.by_url[one.source], site.by_url[one.target]
            words = phrase(one.anchor, source.language)
            spot = Spot(one.block, one.start, one.start + len(one.anchor), one.anchor, words)
            yield Chosen(Pair(source.page, target.page, one.score, one.similarity, one.reason, (spot,)), spot)


def _room(site: SitePages, policy: LinkPolicy) -> dict[int, int]:
    """How many suggestions each page can take; none where its links are not to be touched, or it says too little."""
    return {
        number: policy.limits.room(page.words, page.reading.set_links)
        for number, page in site.pages.items()
        if page.words >= policy.min_words and policy.may_link(page.url)
    }


def _order(site: SitePages, policy: LinkPolicy) -> dict[int, tuple[bool, str]]:
    """Pages that are to be linked to first come first, then their URLs."""
    return {number: (not policy.is_priority(page.url), page.url) for number, page in site.pages.items()}


class Writer:
    """Writes suggestions out in words, those only that were not written on the same text before. `blocks` gives the
    blocks of a page."""

    def __init__(
        self,
        site: SitePages,
        blocks: Callable[[int], Sequence[Block]],
        before: Mapping[str, tuple[Suggestion, str]],
        now: str,
    ) -> None:
        self._site, self._blocks_of, self._before, self._now = site, blocks, before, now
        self._blocks: dict[int, Sequence[Block]] = {}

    def suggestion(self, chosen: Chosen) -> tuple[Suggestion, str]:
        """The suggestion in words, and the digest of the text that it was made on."""
        pair, spot = chosen.pair, chosen.spot
        source, target = self._site.pages[pair.source], self._site.pages[pair.target].url
        name = suggestion_id(source.url, target)
        old, digest = self._before.get(name, (None, ""))
        if (
            old
            and digest == source.digest
            and (old.block, old.start, old.anchor) == (spot.block, spot.start, spot.anchor)
        ):
            made = old._replace(
                status=Status.OPEN, score=pair.score, similarity=pair.similarity, reason=_reason(chosen)
            )
        else:
            block = self._block(pair.source, spot.block)
            made = Suggestion(
                name, source.url, target, Status.OPEN, pair.score, pair.similarity, spot.anchor, block.text, spot.block,
                spot.start, as_html(block, spot.start, spot.end, target),
                as_markdown(block, spot.start, spot.end, target), _reason(chosen), self._now,
            )  # fmt: skip
        return self.dated(made), source.digest

    def dated(self, suggestion: Suggestion) -> Suggestion:
        """The suggestion with the time it was first made."""
        old = self._before.get(suggestion.id)
        return suggestion if old is None else suggestion._replace(first_seen=old[0].first_seen)

    def _block(self, page: int, number: int) -> Block:
        if page not in self._blocks:
            self._blocks = {page: self._blocks_of(page)}
        return self._blocks[page][number]


def _reason(chosen: Chosen) -> str:
    alone = "" if chosen.spot.anchor else "no words of the paragraph name it; "
    return alone + chosen.pair.reason
