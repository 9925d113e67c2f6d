"""Where pages are named."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.discover import Frontier, discover, read_date, wanted
from indexer.records import Discovered, Failed, Missing
from indexer.urls import make_site

BASE = "https://example.com"
SITE = make_site(BASE)
NS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


@dataclass
class Sources:
    sitemaps: tuple[str, ...] = ()
    feeds: tuple[str, ...] = ()
    urls: Path | None = None
    crawl: bool = False


def urlset(*paths: str, lastmod: str = "") -> bytes:
    dated = f"<lastmod>{lastmod}</lastmod>" if lastmod else ""
    entries = "".join(f"<url><loc>\n {BASE}{path} </loc>{dated}</url>" for path in paths)
    return f"<?xml version='1.0'?><urlset {NS}>{entries}</urlset>".encode()


def index(*names: str) -> bytes:
    entries = "".join(f"<sitemap><loc>{BASE}/{name}</loc></sitemap>" for name in names)
    return f"<sitemapindex {NS}>{entries}</sitemapindex>".encode()


def find(
    files: Mapping[str, bytes | Failed], robots: tuple[str, ...] = (), before: tuple[str, ...] = (), **sources: Any
) -> Discovered:
    async def get(address: str) -> bytes | Missing | Failed:
        return files.get(address.removeprefix(BASE), Missing(address))

    return asyncio.run(discover(SITE, Sources(**sources), robots, get, frozenset(before)))


def paths(found: Discovered) -> list[str]:
    return sorted(one.url.removeprefix(BASE) for one in found.found)


def test_the_usual_sitemap() -> None:
    found = find({"/sitemap.xml": urlset("/a", "/b?utm_source=x", "/b")})
    assert (paths(found), found.complete, found.crawl) == (["/a", "/b"], True, False)


def test_nested_gzipped_and_self_naming_indexes() -> None:
    files = {
        "/sitemap.xml": index("one.xml.gz", "inner.xml", "sitemap.xml"),
        "/one.xml.gz": gzip.compress(urlset("/a")),
        "/inner.xml": index("two.xml", "sitemap.xml"),
        "/two.xml": urlset("/b"),
    }
    assert paths(find(files)) == ["/a", "/b"]


def test_sitemaps_named_by_robots_stand_in_for_the_usual_one() -> None:
    files = {"/map.xml": urlset("/a"), "/sitemap.xml": urlset("/b")}
    assert paths(find(files, robots=(f"{BASE}/map.xml",))) == ["/a"]


@pytest.mark.parametrize("cut", [0.4, 0.6, 0.9])
def test_what_stands_before_the_fault_of_a_broken_sitemap_counts(cut: float) -> None:
    whole = urlset(*(f"/p{n}" for n in range(1000)))
    found = find({"/sitemap.xml": whole[: int(len(whole) * cut)]})
    assert 300 < len(found.found) < 1000
    assert not found.complete
    gzipped = gzip.compress(whole)
    assert not find({"/sitemap.xml": gzipped[: int(len(gzipped) * cut)]}).complete


def test_a_list_of_addresses_is_a_sitemap_too() -> None:
    assert paths(find({"/sitemap.xml": f"{BASE}/a\n{BASE}/b\n".encode()})) == ["/a", "/b"]


def test_what_an_index_names_no_more_is_not_missed() -> None:
    files = {"/sitemap.xml": index("one.xml", "two.xml"), "/one.xml": urlset("/a"), "/two.xml": urlset("/b")}
    before = find(files).sources
    assert before == (f"{BASE}/sitemap.xml",)
    found = find({"/sitemap.xml": index("two.xml"), "/two.xml": urlset("/b")}, before=before)
    assert (paths(found), found.complete) == (["/b"], True)
    assert not find({"/sitemap.xml": index("one.xml", "two.xml"), "/two.xml": urlset("/b")}, before=before).complete


def test_an_index_that_names_no_address_is_broken_and_the_rest_of_it_counts() -> None:
    body = index("one.xml").replace(b"</sitemapindex>", b"<sitemap><loc>https://[bad</loc></sitemap></sitemapindex>")
    found = find({"/sitemap.xml": body, "/one.xml": urlset("/a")})
    assert (paths(found), found.complete) == (["/a"], False)


SOURCES = {
    "/one.xml": urlset("/a", "/b", lastmod="2026-01-01"),
    "/two.xml": urlset("/b", "/c", lastmod="2025-01-01"),
    "/same.xml": urlset("/a", "/b"),
    "/cut.xml": urlset("/c", "/d")[:-40],
    "/index.xml": index("one.xml", "gone.xml", "index.xml"),
}


@given(
    st.lists(st.sampled_from(sorted(SOURCES)), unique=True).flatmap(
        lambda names: st.tuples(st.just(names), st.permutations(names))
    )
)
def test_the_order_of_sources_makes_no_difference(orders: tuple[list[str], list[str]]) -> None:
    one, other = (find(SOURCES, sitemaps=tuple(BASE + name for name in order)) for order in orders)
    assert one == other


def test_other_sites_pages_do_not_count() -> None:
    body = urlset("/a").replace(b"</urlset>", b"<url><loc>https://elsewhere.example/x</loc></url></urlset>")
    assert paths(find({"/sitemap.xml": body})) == ["/a"]


def test_entities_are_not_expanded() -> None:
    bomb = b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">' + b"".join(
        f'<!ENTITY {chr(99 + n)} "{f"&{chr(98 + n)};" * 10}">'.encode() for n in range(9)
    )
    found = find({"/sitemap.xml": bomb + b"]><urlset><url><loc>&k;</loc></url></urlset>"})
    assert not found.complete


def test_a_site_without_any_source_is_crawled() -> None:
    found = find({})
    assert (paths(found), found.crawl, found.complete) == (["/"], True, True)
    page = find({"/sitemap.xml": b"<!doctype html><html><body>Not found</body></html>"})
    assert (page.crawl, page.complete) == (True, True)
    text = {"/sitemap.xml": b"Page not found"}
    assert (find(text).crawl, find(text).complete) == (True, True)
    assert not find(text, before=(f"{BASE}/sitemap.xml",)).complete


def test_a_source_that_worked_before_may_not_be_missing() -> None:
    found = find({}, before=(f"{BASE}/sitemap.xml",))
    assert (found.crawl, found.complete) == (False, False)


NEW, OLD, LISTED = f"{BASE}/new.xml", f"{BASE}/sitemap.xml", f"{BASE}/listed.xml"


@pytest.mark.parametrize(
    ("robots", "sources"),
    [((NEW,), {}), ((), {"sitemaps": (NEW,)}), ((), {"crawl": True})],
    ids=["robots.txt names another", "another is configured", "a crawl is configured"],
)
def test_a_sitemap_is_missed_no_more_once_something_stands_in_for_it(
    robots: tuple[str, ...], sources: dict[str, Any]
) -> None:
    found = find({"/new.xml": urlset("/a")}, robots=robots, before=(OLD,), **sources)
    assert (found.complete, set(found.sources)) == (True, set(robots))


@pytest.mark.parametrize(
    "body", [{}, {"/new.xml": b"<html></html>"}, {"/new.xml": urlset()}], ids=["no", "page", "empty"]
)
def test_a_sitemap_that_does_not_work_stands_in_for_nothing(body: dict[str, bytes]) -> None:
    found = find(body, robots=(NEW,), before=(OLD,))
    assert (found.complete, found.crawl, found.sources) == (False, False, (OLD,))
    again = find(body | {"/sitemap.xml": urlset("/a")}, robots=(NEW,), before=found.sources)
    assert (paths(again), again.complete, again.sources) == (["/a"], True, (OLD,))


def test_what_robots_names_must_answer_once_it_worked() -> None:
    one, both = {"/new.xml": urlset("/a")}, (NEW, LISTED)
    assert find(one, robots=both).complete
    assert not find(one, robots=both, before=both).complete
    assert find(one, robots=(NEW,), before=both).sources == (NEW,)


def test_a_robots_txt_that_names_nothing_any_more_loses_no_sitemap() -> None:
    found = find({"/listed.xml": urlset("/a")}, before=(LISTED,))
    assert (paths(found), found.complete, found.sources) == (["/a"], True, (LISTED,))
    assert not find({}, before=(LISTED,)).complete
    moved = find({"/sitemap.xml": urlset("/a")}, before=(LISTED,))
    assert (moved.complete, moved.sources) == (True, (OLD,))


@pytest.mark.parametrize("kind", ["sitemaps", "feeds"])
def test_a_configured_source_must_answer_only_while_it_is_configured(kind: str) -> None:
    feed = f"<rss version='2.0'><channel><item><link>{BASE}/a</link></item></channel></rss>".encode()
    body = urlset("/a") if kind == "sitemaps" else feed
    found = find({"/extra": body}, **{kind: (f"{BASE}/extra",)})
    assert (found.complete, found.sources) == (True, ())
    assert not find({}, before=found.sources, **{kind: (f"{BASE}/extra",)}).complete
    without = find({}, before=found.sources)
    assert (without.complete, without.crawl) == (True, True)


def test_an_empty_sitemap_that_worked_before_is_still_missed_when_it_goes() -> None:
    emptied = find({"/sitemap.xml": urlset()}, before=(OLD,))
    assert (emptied.complete, emptied.sources) == (True, (OLD,))
    assert not find({}, before=emptied.sources).complete


def test_after_a_partial_discovery_nothing_that_worked_is_forgotten() -> None:
    broken = Failed(LISTED, "answers 503")
    found = find({"/new.xml": urlset("/a"), "/listed.xml": broken}, robots=(NEW, LISTED), before=(LISTED,))
    assert (found.complete, found.sources) == (False, (LISTED, NEW))


def test_a_sitemap_that_fails_makes_the_discovery_partial() -> None:
    found = find({"/sitemap.xml": Failed(f"{BASE}/sitemap.xml", "answers 503")})
    assert [fault.reason for fault in found.faults] == ["answers 503"]


def test_feeds_and_files_of_addresses(tmp_path: Path) -> None:
    rss = f"<rss version='2.0'><channel><title>t</title><item><link>{BASE}/a</link></item></channel></rss>".encode()
    atom = (
        f'<feed xmlns="http://www.w3.org/2005/Atom"><title>t</title><id>x</id><entry><id>y</id><title>b</title>'
        f'<link href="{BASE}/b"/><updated>2026-01-02T00:00:00Z</updated></entry></feed>'
    ).encode()
    listed = tmp_path / "urls.txt"
    listed.write_text(f"\ufeff{BASE}/c\n# ours\n\n/d\n", encoding="utf-8")
    found = find({"/rss": rss, "/atom": atom}, feeds=(f"{BASE}/rss", f"{BASE}/atom"), urls=listed)
    assert paths(found) == ["/a", "/b", "/c", "/d"]
    assert not find({}, feeds=(f"{BASE}/gone",)).complete
    assert not find({}, urls=tmp_path / "none.txt").complete


def test_what_changed_last_comes_first() -> None:
    files = {
        "/one.xml": urlset("/old", lastmod="2020-01-01"),
        "/two.xml": urlset("/new", lastmod="2026-01-01T10:00:00+02:00"),
        "/three.xml": urlset("/undated", lastmod="yesterday"),
    }
    found = find(files, sitemaps=tuple(BASE + name for name in files))
    assert [one.url.removeprefix(BASE) for one in found.found] == ["/new", "/old", "/undated"]


def test_dates_as_people_write_them() -> None:
    assert [read_date(text) is not None for text in ("2026", "2026-03", "2026-03-01", "2026-03-01 10:00", "", "x")] == [
        True, True, True, True, False, False,
    ]  # fmt: skip


def test_globs() -> None:
    url = f"{BASE}/blog/2026/post?page=2"
    assert wanted(url, (), ())
    assert wanted(url, ("/blog/*",), ())
    assert not wanted(url, ("/docs/*",), ())
    assert not wanted(url, ("/blog/*",), ("*page=*",))
    assert wanted(url, ("https://example.com/*",), ())
    assert not wanted(f"{BASE}/%C3%BCber/uns", (), ("/über/*",))
    assert not wanted(f"{BASE}/%C3%BCber/uns", (), ("/%C3%BCber/*",))


def test_the_frontier_keeps_out_of_traps() -> None:
    frontier = Frontier(lambda url: "private" not in url)
    frontier.add_linked([f"{BASE}/list?page={n}" for n in range(500)])
    frontier.add_linked([f"{BASE}/a/b/a/b/a/b/a/b", f"{BASE}/private/x", f"{BASE}/ok", f"{BASE}/ok"])
    taken = list(iter(frontier.next, None))
    assert len(taken) == 101
    assert taken[-1] == f"{BASE}/ok"
    assert frontier.next() is None


def test_links_that_do_not_count_use_nothing_up() -> None:
    frontier = Frontier(lambda url: "reply" not in url)
    frontier.add_linked([*(f"{BASE}/post?reply={n}" for n in range(500)), f"{BASE}/post?page=2"])
    assert list(iter(frontier.next, None)) == [f"{BASE}/post?page=2"]
