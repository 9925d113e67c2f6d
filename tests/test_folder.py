"""A folder with a built site, seen as a web server would serve it."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from indexer.folder import FolderLooker
from indexer.records import Discovered, Fetched, FetchOutcome, Missing, NotModified, Redirected, Skipped, Validators
from indexer.urls import make_site

BASE = "https://example.com/"


def look(folder: Path, *paths: str, validators: Validators | None = None) -> tuple[Discovered, list[FetchOutcome]]:
    async def doing() -> tuple[Discovered, list[FetchOutcome]]:
        async with FolderLooker(folder, make_site(BASE), 1000) as looker:
            outcomes = [await looker.fetch(BASE + path, validators or Validators()) for path in paths]
            return looker.discovered(), outcomes

    return asyncio.run(doing())


def urls(folder: Path) -> set[str]:
    return {found.url.removeprefix(BASE) for found in look(folder)[0].found}


def test_files_have_the_addresses_a_server_gives_them(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    for name in ("index.html", "a/index.htm", "b.html", "c.xhtml", "404.html", ".hidden.html", "style.css"):
        (tmp_path / name).write_text("<p>x")
    assert urls(tmp_path) == {"", "a/", "b.html", "c.xhtml"}
    _, outcomes = look(tmp_path, "a", "a.html", "b", "nowhere", "style.css")
    assert outcomes == [
        Redirected(f"{BASE}a", f"{BASE}a/", f"{BASE}a/"),
        Redirected(f"{BASE}a.html", f"{BASE}a/", f"{BASE}a/"),
        Redirected(f"{BASE}b", f"{BASE}b.html", f"{BASE}b.html"),
        Missing(f"{BASE}nowhere"),
        Skipped(f"{BASE}style.css", "is no page"),
    ]


def test_names_that_no_url_may_hold_are_encoded(tmp_path: Path) -> None:
    for name in ("100%.html", "a?b#c.html", "a b.html", "ü.html"):
        (tmp_path / name).write_text("<p>x")
    found = urls(tmp_path)
    assert found == {"100%25.html", "a%3Fb%23c.html", "a%20b.html", "%C3%BC.html"}
    assert all(isinstance(outcome, Fetched) for outcome in look(tmp_path, *found)[1])


def test_a_name_that_is_no_text_is_a_page_like_others(tmp_path: Path) -> None:
    try:
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.html")).write_text("<p>x")
    except OSError:
        pytest.skip("this file system takes no such names")
    assert urls(tmp_path) == {"caf%E9.html"}
    assert isinstance(look(tmp_path, "caf%E9.html")[1][0], Fetched)


def test_a_file_is_read_again_only_when_it_has_changed(tmp_path: Path) -> None:
    file = tmp_path / "a.html"
    file.write_text("<p>one")
    [first] = look(tmp_path, "a.html")[1]
    assert isinstance(first, Fetched)
    assert look(tmp_path, "a.html", validators=first.validators)[1] == [NotModified(f"{BASE}a.html")]
    file.write_text("<p>two!")
    [second] = look(tmp_path, "a.html", validators=first.validators)[1]
    assert isinstance(second, Fetched)
    assert second.body == b"<p>two!"
    file.write_text("x" * 1001)
    assert isinstance(look(tmp_path, "a.html")[1][0], Skipped)


def test_nothing_outside_the_folder_is_read(tmp_path: Path) -> None:
    site, outside = tmp_path / "site", tmp_path / "outside"
    site.mkdir()
    outside.mkdir()
    (outside / "secret.html").write_text("<p>secret")
    (site / "linked.html").symlink_to(outside / "secret.html")
    (site / "linked").symlink_to(outside)
    assert urls(site) == set()
    asked = ("linked.html", "linked/secret.html", "../outside/secret.html", "%2e%2e/outside/secret.html")
    assert all(isinstance(outcome, Missing) for outcome in look(site, *asked)[1])
