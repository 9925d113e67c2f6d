"""Pages that hardly anything links to."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from indexer.config import Config
from indexer.discover import wanted
from indexer.links.addresses import Addresses
from indexer.links.review import Status
from indexer.records import SuggestionRow
from indexer.report import Table, orphans_table
from indexer.state.reads import Reads
from indexer.structure import content_inlinks

_SOURCES = 3
"""Pages to link from that are shown for an orphan."""
_FEW_INLINKS = 1


def orphans(reads: Reads, config: Config) -> Table:
    """Indexed pages that no other page's content links to, or only one's, with the best pages to link from; those
    with no inlink first."""
    pages = {page.url: page for page in reads.pages()}
    addresses = Addresses(pages.get)

    def behind(address: str) -> str | None:
        page = addresses.page(address)
        return None if page is None else page.stands_for or page.url

    links = list(reads.set_links())
    inlinks = content_inlinks(((url, targets) for url, _, targets in links), behind)
    counted = [
        (pages[url], len(inlinks.get(url, ())))
        for url, is_target, _ in links
        if is_target and pages[url].status == "indexed" and wanted(url, (), config.links.ignore_orphans)
    ]
    few = sorted((o for o in counted if o[1] <= _FEW_INLINKS), key=lambda o: (o[1], o[0].url))

    def sources(url: str) -> Iterator[SuggestionRow]:
        return islice(reads.suggestions(target=url, statuses=[Status.OPEN, Status.ACCEPTED]), _SOURCES)

    return orphans_table(few, sources)
