"""One name for every page."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from indexer.urls import absolute, joined, make_site, page_id, twins

SITE = make_site("https://www.example.com/", hosts=("mirror.example.net",))
ON = "https://www.example.com/docs/page.html"


@pytest.mark.parametrize(
    ("href", "page"),
    [
        ("HTTPS://WWW.Example.COM:443/A", "https://www.example.com/A"),
        ("http://example.com/a", "https://www.example.com/a"),
        ("//mirror.example.net/a", "https://www.example.com/a"),
        ("../a/./b/../c", "https://www.example.com/a/c"),
        ("/index.html", "https://www.example.com/"),
        ("/a/INDEX.HTM", "https://www.example.com/a/"),
        ("?b=2&utm_source=x&a=1&gclid=7", "https://www.example.com/docs/page.html?b=2&a=1"),
        ("/ä ö", "https://www.example.com/%C3%A4%20%C3%B6"),
        ("/%7euser/%e4", "https://www.example.com/~user/%E4"),
        ("/100%", "https://www.example.com/100%25"),
        ("\\a\\b", "https://www.example.com/a/b"),
        (" /a\n ", "https://www.example.com/a"),
        ("#part", "https://www.example.com/docs/page.html"),
        ("mailto:x@example.com", None),
        ("javascript:void(0)", None),
        ("https://other.example.com/", None),
        ("https://[bad", None),
        ("http://www.example.com:99999999/", None),
        ("/a/%2e%2E/b", "https://www.example.com/b"),
        ("?%75tm_source=x", "https://www.example.com/docs/page.html"),
        ("http://:80/x", None),
        ("/\ud800", None),
    ],
)
def test_the_page_behind_an_address(href: str, page: str | None) -> None:
    assert SITE.page(href, ON) == page


PIECES = [*"/.%?&=#:@\\", "..", "//", "%2e", "%2F", "%zz", "index.html", "utm_x", "%75tm_x"]
HREFS = st.lists(st.sampled_from(PIECES) | st.text(st.characters(), max_size=5), max_size=12).map("".join)


@given(st.sampled_from(["", "/", "//", "http:", "http://", "https://www.example.com"]), HREFS)
@example("/a/%2e%2e/", "b")
@example("http:", "//:80/x")
def test_any_text_has_a_normal_form_that_stays(start: str, text: str) -> None:
    url = absolute(start + text, ON)
    if url is not None:
        assert absolute(url, ON) == url
        assert absolute(url, "http://elsewhere.example/x/") == url
        assert url.isascii()


@given(HREFS)
def test_a_page_of_the_site_is_its_own_name_and_has_one_address(text: str) -> None:
    site = make_site("https://example.com/docs/", origin="http://127.0.0.1:8000/staging")
    url = site.page(text)
    if url is not None:
        assert site.page(url) == url
        assert site.page(site.address(url)) == url


def test_a_site_below_a_path_is_only_what_lies_below_it() -> None:
    site = make_site("https://example.com/docs")
    assert site.base == "https://example.com/docs/"
    assert site.page("/docs/a") == "https://example.com/docs/a"
    assert site.page("/docs") == site.base
    assert site.page("/blog/a") is None
    assert site.serves("https://www.example.com/sitemap.xml")
    assert not site.serves("https://cdn.example.com/sitemap.xml")


def test_a_staging_host_is_asked_for_the_pages_of_the_site() -> None:
    site = make_site("https://example.com/", origin="http://127.0.0.1:8000/")
    url = site.page("http://127.0.0.1:8000/a")
    assert url == "https://example.com/a"
    assert site.address(url) == "http://127.0.0.1:8000/a"


def test_a_staging_host_may_keep_the_pages_elsewhere() -> None:
    site = make_site("https://example.com/docs/", origin="http://127.0.0.1:8000/staging")
    assert site.page("http://127.0.0.1:8000/staging/a") == "https://example.com/docs/a"
    assert site.page("https://example.com/docs/a") == "https://example.com/docs/a"
    assert site.address("https://example.com/docs/a") == "http://127.0.0.1:8000/staging/a"


def test_addresses_of_other_things_stay_as_they_are_written() -> None:
    assert joined(" maps/index.html?utm_id=1\n", ON) == "https://www.example.com/docs/maps/index.html?utm_id=1"
    assert [joined(bad, ON) for bad in ("ftp://x/y", "http://[bad", "http:///x", "http://x:99y/")] == [None] * 4


def test_other_spellings_of_a_page() -> None:
    assert twins("https://example.com/a/") == (
        "https://example.com/a", "https://example.com/a.html", "https://example.com/a.htm",
    )  # fmt: skip
    assert twins("https://example.com/") == ()


def test_an_id_never_changes() -> None:
    assert page_id("https://example.com/") == "84d7dabc-faf9-55a4-be97-ce19fb3e21f2"
