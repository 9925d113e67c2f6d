"""What the links say of the site: who links to whom, and how far a page is from the home page."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping

import numpy as np

from indexer.records import Link, LinkCounts, Zone

_DAMPING = 0.85


def link_counts(
    links: Iterable[tuple[str, Iterable[Link]]], page_behind: Callable[[str], str | None], home: str
) -> dict[str, LinkCounts]:
    """Counts for every page that links or is linked to; `page_behind` names the page that an address ends at.

    A page's links to itself do not count.
    """
    every: dict[str, set[str]] = defaultdict(set)
    content: dict[str, set[str]] = defaultdict(set)
    for source, some in links:
        every[source], content[source] = set(), set()
        for link in some:
            page = page_behind(link.target)
            if page is not None and page != source:
                every[source].add(page)
                if link.zone is Zone.CONTENT:
                    content[source].add(page)
    inward, inward_content = _reversed(every), _reversed(content)
    depth, rank = _depths(every, page_behind(home) or home), _pagerank(content)
    return {
        url: LinkCounts(
            len(inward_content[url]), len(inward[url]), len(content[url]), depth.get(url), rank.get(url, 0.0)
        )
        for url in every.keys() | inward.keys()
    }


def content_inlinks(
    links: Iterable[tuple[str, Iterable[str]]], page_behind: Callable[[str], str | None]
) -> dict[str, set[str]]:
    """For each page the other pages whose content links to it; `links` gives each page's addresses linked to."""
    content = {
        source: {page for target in targets if (page := page_behind(target)) is not None} - {source}
        for source, targets in links
    }
    return _reversed(content)


def _reversed(graph: Mapping[str, set[str]]) -> dict[str, set[str]]:
    inward: dict[str, set[str]] = defaultdict(set)
    for source, targets in graph.items():
        for target in targets:
            inward[target].add(source)
    return inward


def _depths(graph: Mapping[str, set[str]], home: str) -> dict[str, int]:
    """Clicks from the home page, by any link."""
    depth, queue = {home: 0}, deque([home])
    while queue:
        page = queue.popleft()
        for target in graph.get(page, ()):
            if target not in depth:
                depth[target] = depth[page] + 1
                queue.append(target)
    return depth


def _pagerank(graph: Mapping[str, set[str]]) -> dict[str, float]:
    """PageRank by power iteration (Page et al. 1999, damping .85), dead ends spread evenly; sums to 1."""
    pages = sorted(graph.keys() | {target for targets in graph.values() for target in targets})
    if not pages:
        return {}
    number = {page: i for i, page in enumerate(pages)}
    edges = sorted((number[s], number[t]) for s, targets in graph.items() for t in targets)
    sources, targets = np.array(edges, dtype=np.int64).reshape(-1, 2).T
    out = np.bincount(sources, minlength=len(pages))
    rank = np.full(len(pages), 1 / len(pages))
    for _ in range(100):
        flow = np.bincount(targets, weights=rank[sources] / out[sources], minlength=len(pages))
        new = (1 - _DAMPING) / len(pages) + _DAMPING * (flow + rank[out == 0].sum() / len(pages))
        if np.abs(new - rank).sum() < 1e-12:
            break
        rank = new
    return dict(zip(pages, np.round(rank, 9).tolist(), strict=True))
