"""The commands about links: what is suggested, what people say of it, and which pages nobody links to."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import chain, islice
from typing import Annotated

import typer  # noqa: TID251

from indexer.cli.commands import (
    DEFAULT_CONFIG,
    ConfigOption,
    FormatOption,
    ProgressOption,
    QuietOption,
    VerboseOption,
    app,
    load_config,
    speak,
)
from indexer.cli.output import Format, print_table
from indexer.config import Config
from indexer.links.review import Status, Verdict
from indexer.records import SuggestionRow
from indexer.report import Table, draft_table, evaluation_table, links_table
from indexer.state.reads import Reads, open_reads

_HIDDEN = (
    "source_title", "target_title", "similarity", "paragraph", "paragraph_index", "context_before", "context_after",
    "first_seen", "offset", "occurrence", "html",
)  # fmt: skip
"""Columns that have no room on a terminal."""


@app.command()
def links(
    url: Annotated[str | None, typer.Argument(help="Suggestions from and to this page.")] = None,
    source: Annotated[str | None, typer.Option("--from", help="Links that this page should set.")] = None,
    target: Annotated[str | None, typer.Option("--to", help="Links to this page that others should set.")] = None,
    status: Annotated[list[Status] | None, typer.Option("--status", help="Only of this status.")] = None,
    min_score: Annotated[float, typer.Option("--min-score", help="Only with this score and more.")] = 0.0,
    limit: Annotated[int, typer.Option("--limit", min=1, help="At most so many.")] = 1000,
    config: ConfigOption = DEFAULT_CONFIG,
    form: FormatOption = Format.table,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    _: ProgressOption = False,
) -> None:
    """Print suggested links, best first: from which page to which, in which paragraph, on which words."""
    speak(quiet, verbose)
    settings = load_config(config)
    with open_reads(settings.store.state) as reads:
        found = _chosen(reads, settings, url, source, target, status or [Status.OPEN, Status.ACCEPTED])
        rows = islice((row for row in found if row.suggestion.score >= min_score), limit)
        table = links_table(rows)
        print_table(table.without(*_HIDDEN) if form is Format.table else table, form)


def _chosen(
    reads: Reads, config: Config, url: str | None, source: str | None, target: str | None, statuses: list[Status]
) -> Iterator[SuggestionRow]:
    from indexer.cli.asking import page_for

    def known(address: str | None) -> str | None:
        return None if address is None else page_for(address, config, reads).url

    if url is None:
        return reads.suggestions(known(source), known(target), statuses)
    page = known(url)
    both = chain(reads.suggestions(source=page, statuses=statuses), reads.suggestions(target=page, statuses=statuses))
    return iter(sorted(both, key=lambda row: -row.suggestion.score))


@app.command()
def draft(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Markdown, HTML or plain text; - reads from stdin.")],
    config: ConfigOption = DEFAULT_CONFIG,
    form: FormatOption = Format.table,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    _: ProgressOption = False,
) -> None:
    """Print what a text not published yet should link to, and which pages should link to it; nothing is kept."""
    from indexer.cli.drafting import advice, draft_text

    speak(quiet, verbose)
    found = advice(load_config(config), draft_text(file), file)
    for note in found.notes:
        print(f"indexer: {note}", file=sys.stderr)
    table = draft_table(found)
    print_table(table.without(*_HIDDEN) if form is Format.table else table, form)


@app.command()
def review(
    name: Annotated[str, typer.Argument(metavar="ID", help="The suggestion, as `indexer links` names it.")],
    verdict: Annotated[Verdict, typer.Argument(help="What you say of it.")],
    reason: Annotated[str, typer.Option("--reason", help="Why, for whoever asks later.")] = "",
    config: ConfigOption = DEFAULT_CONFIG,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Accept or reject a suggestion, or undo that."""
    from indexer.state.writing import open_state
    from indexer.sync.reviewing import review as keep

    speak(quiet, verbose)
    with open_state(load_config(config).store.state) as state:
        kept = keep(state, name, verdict, reason, datetime.now(UTC).isoformat())
    if not quiet:
        print(f"{kept.status}: {kept.source} -> {kept.target}")


@app.command()
def why(
    source: Annotated[str, typer.Argument(help="The page that would link.")],
    target: Annotated[str, typer.Argument(help="The page that would be linked to.")],
    config: ConfigOption = DEFAULT_CONFIG,
    form: FormatOption = Format.table,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    _: ProgressOption = False,
) -> None:
    """Print what speaks for a link between two pages, or the rule that keeps it out."""
    from indexer.cli.asking import page_for
    from indexer.cli.explaining import explanation

    speak(quiet, verbose)
    settings = load_config(config)
    with open_reads(settings.store.state) as reads:
        pair = page_for(source, settings, reads).url, page_for(target, settings, reads).url
    found = explanation(settings, *pair)
    if not quiet:
        print(found.verdict, file=sys.stderr)
    rows = [*found.features, *([("score", found.score, None)] if found.score is not None else [])]
    print_table(Table(("feature", "value", "adds"), rows or [(found.verdict, None, None)]), form)


@app.command()
def orphans(
    config: ConfigOption = DEFAULT_CONFIG,
    form: FormatOption = Format.table,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    _: ProgressOption = False,
) -> None:
    """Print pages that no content links to, or only one page's, and the best pages to link from."""
    from indexer.cli.orphans import orphans as table_of

    speak(quiet, verbose)
    settings = load_config(config)
    with open_reads(settings.store.state) as reads:
        print_table(table_of(reads, settings), form)


@app.command()
def evaluate(
    share: Annotated[float, typer.Option("--share", min=0.01, max=1, help="Which share of the links is hidden.")] = 0.3,
    seed: Annotated[int, typer.Option("--seed", help="Another number hides others.")] = 7,
    config: ConfigOption = DEFAULT_CONFIG,
    form: FormatOption = Format.table,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    no_progress: ProgressOption = False,
) -> None:
    """Hide a share of the site's own links, and print how many of them the suggestions bring back."""
    from indexer.cli.evaluating import evaluation
    from indexer.cli.syncing import progress

    speak(quiet, verbose)
    found = evaluation(load_config(config), share, seed, progress(no_progress or quiet))
    if not quiet:
        said = f"hid the links of {found.hidden} of the {found.pairs} pairs of pages that link, on {found.pages} pages"
        print(said, file=sys.stderr)
    print_table(evaluation_table(found), form)
