"""Why a link is suggested, or is not."""

from __future__ import annotations

from dataclasses import dataclass

from indexer.links.ranking import FEATURES, above_average, candidates, contributions, features, scores
from indexer.links.review import suggestion_id
from indexer.state.writing import State
from indexer.sync.parts import LinkPolicy
from indexer.sync.ranker import Ranker, SitePages, StoredTexts, site_pages


@dataclass(frozen=True, slots=True)
class Explanation:
    """What speaks for a link: for each feature its value and what it adds to the score's logit against the source's
    average candidate. Empty where the pair is not scored. `verdict` says what became of it."""

    verdict: str
    score: float | None
    features: tuple[tuple[str, float, float], ...]


def explain(state: State, model: int, policy: LinkPolicy, source: str, target: str) -> Explanation:
    """Why the page at one URL should, or should not, link to the page at another."""
    site = site_pages(state.linking, model, policy.phrases)
    if (barred := _barred(site, policy, source, target)) is not None:
        return Explanation(barred, None, ())
    made, _ = Ranker(site, StoredTexts(state, model), policy.min_score).source(site.by_url[source].page)
    found = candidates(site.library, made)
    row = site.library.row_of_page[site.by_url[target].page]
    place = next((n for n, one in enumerate(found.rows.tolist()) if one == row), None)
    if place is None:
        return Explanation("not suggested: they share no neighbours, names or rare words", None, ())
    table = features(site.library, made, found)
    given = contributions(table)
    score = float(scores(given)[place])
    listed = zip(FEATURES, table[place].tolist(), above_average(given)[place].tolist(), strict=True)
    return Explanation(_outcome(state, policy, source, target, score), score, tuple(listed))


def _barred(site: SitePages, policy: LinkPolicy, source: str, target: str) -> str | None:
    """The rule that keeps the pair out whatever it scores, if one does."""
    one, other = site.by_url.get(source), site.by_url.get(target)
    if one is None or other is None:
        return f"not suggested: {source if one is None else target} is not indexed"
    rules = (
        (one == other, "a page does not link to itself"),
        (one.language != other.language, f"they are in two languages, {one.language} and {other.language}"),
        (other.page in site.targets(one.page), "it is linked already"),
        (other.reading.utility is not None, f"the target is {other.reading.utility}: links.always_to overrides this"),
        (not policy.may_link(source), "links.never_from names the source"),
        (not policy.may_be_target(target), "links.never_to names the target"),
        (one.words < policy.min_words, f"the source has {one.words} words, links.min_words asks for more"),
        (not policy.limits.room(one.words, one.reading.set_links), "the source links enough: links.max_density"),
    )
    return next((f"not suggested: {reason}" for holds, reason in rules if holds), None)


def _outcome(state: State, policy: LinkPolicy, source: str, target: str, score: float) -> str:
    found = state.reads.suggestion(suggestion_id(source, target))
    if found is not None:
        return f"{found.suggestion.status}: suggestion {found.suggestion.id}"
    if score < policy.min_score:
        return f"not suggested: the score is below links.min_score, {policy.min_score}"
    return "not suggested: better links took its place (links.per_page, per_target, per_paragraph), or the texts agree"
