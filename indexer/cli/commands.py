"""The commands, one function each."""

from __future__ import annotations

import json
import logging
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer  # noqa: TID251

from indexer.cli.output import Format, print_table
from indexer.config import Config, load, starter
from indexer.errors import IndexerError, UsageError
from indexer.links.addresses import Addresses
from indexer.report import Table, duplicates_table, neighbours_table
from indexer.state.reads import open_reads

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Keeps a live picture of a web site: every page's nearest neighbours, kept true as the site changes.",
)

ConfigOption = Annotated[Path, typer.Option("--config", help="The configuration file.", show_default=True)]
FormatOption = Annotated[Format, typer.Option("--format", help="How to print.")]
QuietOption = Annotated[bool, typer.Option("-q", "--quiet", help="Print nothing but data and errors.")]
VerboseOption = Annotated[bool, typer.Option("-v", "--verbose", help="Say on stderr what is done and why.")]
ProgressOption = Annotated[bool, typer.Option("--no-progress", help="No progress on stderr.")]
DEFAULT_CONFIG = Path("config.yaml")

_log = logging.getLogger("indexer")


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"indexer {version('indexer')}")
        raise typer.Exit


@app.callback()
def _root(
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


def speak(quiet: bool, verbose: bool) -> None:
    level = logging.ERROR if quiet else logging.INFO if verbose else logging.WARNING
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="indexer: %(message)s")
    logging.getLogger("indexer").setLevel(level)


def load_config(path: Path) -> Config:
    return load(path, os.environ)


@app.command()
def init(
    site: Annotated[str, typer.Argument(help="The site's address, or the folder it is built into.")],
    config: ConfigOption = DEFAULT_CONFIG,
) -> None:
    """Write a commented config.yaml for a site."""
    if config.exists():
        raise UsageError(f"{config} is there already: edit it, or name another file with --config")
    text = starter(site)
    if "://" not in site:
        # Paths in a configuration are relative to its file, not to where the command was given.
        here = os.path.relpath(site, config.resolve().parent)
        text = text.replace(f"\nsite: {site}\n", f"\nsite: {here}\n")
    config.write_text(text, encoding="utf-8")
    load_config(config)
    print(f"wrote {config}; now run: indexer sync" + ("" if config == DEFAULT_CONFIG else f" --config {config}"))


@app.command()
def sync(
    urls: Annotated[list[str] | None, typer.Argument(help="Only these pages; new ones need not be listed yet.")] = None,
    config: ConfigOption = DEFAULT_CONFIG,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what would be done, and change nothing.")] = False,
    full: Annotated[bool, typer.Option("--full", help="Read every page anew, changed or not.")] = False,
    allow_removals: Annotated[
        bool, typer.Option("--allow-removals", help="Let any number of pages leave the index.")
    ] = False,
    form: FormatOption = Format.table,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    no_progress: ProgressOption = False,
) -> None:
    """Bring everything in step with the site; with URLs, only those pages."""
    from indexer.cli import syncing
    from indexer.sync.parts import Request

    speak(quiet, verbose)
    settings = load_config(config)
    request = Request(syncing.page_urls(settings, urls or ()), full, allow_removals)
    progress = syncing.progress(no_progress or quiet)
    if dry_run:
        print_table(syncing.plan(settings, request, progress), form)
        return
    result = syncing.sync(settings, request, progress)
    if form in (Format.json, Format.jsonl):
        print(json.dumps(asdict(result.summary)))
    elif not quiet:
        print(syncing.sentence(result.summary))
        for line in result.publishing:
            print(line)
    for line in result.advice:
        print(line, file=sys.stderr)
    raise typer.Exit(result.summary.exit_code)


@app.command()
def neighbours(
    url: Annotated[str, typer.Argument(help="A page, spelled as the site knows it.")],
    config: ConfigOption = DEFAULT_CONFIG,
    count: Annotated[int, typer.Option("-n", "--count", min=1, help="At most so many.")] = 20,
    min_similarity: Annotated[float, typer.Option("--min-similarity", help="Only pages at least this near.")] = -1.0,
    form: FormatOption = Format.table,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    _: ProgressOption = False,
) -> None:
    """Print the pages nearest to one page, best first."""
    from indexer.cli.asking import page_for

    speak(quiet, verbose)
    settings = load_config(config)
    with open_reads(settings.store.state) as reads:
        page = page_for(url, settings, reads)
        if page.stands_for is not None:
            _log.warning("%s has the text of %s: these are the neighbours of that page", page.url, page.stands_for)
            page = reads.page([page.stands_for]) or page
        addresses = Addresses(lambda address: reads.page([address]))
        linked = {target.url for link in reads.set_links_of(page.page) if (target := addresses.page(link))}
        rows = [row for row in reads.neighbours(page.page)[:count] if row.similarity >= min_similarity]
        if page.status != "indexed":
            _log.warning("%s is not indexed: %s", page.url, page.note or page.status)
        table = neighbours_table(rows, lambda row: row.neighbour_url in linked)
        print_table(table.without("url", "title") if form is Format.table else table, form)


app.command("neighbors", hidden=True)(neighbours)


@app.command()
def duplicates(
    config: ConfigOption = DEFAULT_CONFIG,
    form: FormatOption = Format.table,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    _: ProgressOption = False,
) -> None:
    """Print pages whose text stands, or nearly stands, on another page too."""
    from indexer.cli.asking import near_duplicates

    speak(quiet, verbose)
    with open_reads(load_config(config).store.state) as reads:
        print_table(duplicates_table(list(reads.pages()), near_duplicates(reads)), form)


@app.command()
def status(
    config: ConfigOption = DEFAULT_CONFIG,
    form: FormatOption = Format.table,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    _: ProgressOption = False,
) -> None:
    """Print what the index holds, how the last run went, and what it could not do."""
    from indexer.cli.asking import status_table

    speak(quiet, verbose)
    with open_reads(load_config(config).store.state) as reads:
        print_table(status_table(reads), form)


@app.command()
def export(
    directory: Annotated[Path, typer.Argument(help="Where to write; made where it does not exist.")],
    config: ConfigOption = DEFAULT_CONFIG,
    _form: FormatOption = Format.table,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    _: ProgressOption = False,
) -> None:
    """Write all tables as CSV and JSON lines."""
    from indexer.cli.exporting import write_tables

    speak(quiet, verbose)
    settings = load_config(config)
    with open_reads(settings.store.state) as reads:
        names = write_tables(reads, settings, directory)
    if not quiet:
        print(f"wrote {', '.join(names)} to {directory}")


@app.command()
def verify(
    config: ConfigOption = DEFAULT_CONFIG,
    repair: Annotated[bool, typer.Option("--repair", help="Mend the vector store from the state database.")] = False,
    form: FormatOption = Format.table,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    _: ProgressOption = False,
) -> None:
    """Compare the vector store with the state database."""
    from indexer.cli import verifying

    speak(quiet, verbose)
    found = verifying.verify(load_config(config), repair)
    if form is Format.table:
        print(found.sentence)
    else:
        print_table(Table(("whole", "found"), [(found.whole, found.sentence)]), form)
    if not found.whole:
        raise typer.Exit(IndexerError.exit_code)
