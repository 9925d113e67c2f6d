"""One name for every page."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.urls import absolute, make_site, page_id, twins

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
    ],
)
def test_the_page_behind_an_address(href: str, page: str | None) -> None:
    assert SITE.page(href, ON) == page


@given(st.text(max_size=40))
def test_any_text_has_a_normal_form_that_stays(text: str) -> None:
    url = absolute(text, ON)
    if url is not None:
        assert absolute(url, ON) == url
        assert url.isascii()


def test_a_site_below_a_path_is_only_what_lies_below_it() -> None:
    site = make_site("https://example.com/docs")
    assert site.base == "https://example.com/docs/"
    assert site.page("/docs/a") == "https://example.com/docs/a"
    assert site.page("/blog/a") is None


def test_a_staging_host_is_asked_for_the_pages_of_the_site() -> None:
    site = make_site("https://example.com/", origin="http://127.0.0.1:8000/")
    url = site.page("http://127.0.0.1:8000/a")
    assert url == "https://example.com/a"
    assert site.address(url) == "http://127.0.0.1:8000/a"


def test_other_spellings_of_a_page() -> None:
    assert twins("https://example.com/a/") == (
        "https://example.com/a", "https://example.com/a.html", "https://example.com/a.htm",
    )  # fmt: skip
    assert twins("https://example.com/") == ()


def test_an_id_never_changes() -> None:
    assert page_id("https://example.com/") == "84d7dabc-faf9-55a4-be97-ce19fb3e21f2"
