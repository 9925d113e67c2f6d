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
    moved = find({"/new.xml": urlset("/a")}, robots=(f"{BASE}/new.xml",), before=(f"{BASE}/sitemap.xml",))
    assert not moved.complete


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
