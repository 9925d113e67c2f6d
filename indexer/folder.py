"""A folder with a built site, looked at as a web server would serve it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from urllib.parse import quote, unquote

from indexer.records import (
    Discovered,
    Failed,
    Fetched,
    FetchOutcome,
    Found,
    Missing,
    NotModified,
    Redirected,
    Skipped,
    Validators,
)
from indexer.urls import Site, twins

_SUFFIXES = ("html", "htm", "xhtml")
_ERROR_PAGE = "404"
"""What static hosts show for addresses that do not exist; it is a file like the others, and no page."""


class FolderLooker:
    """The folder's files as pages: size and time of change stand in for a server's validators.

    Looked through once, on entering; links to other places are not followed, nor names that begin with a dot.
    """

    def __init__(self, folder: Path, site: Site, max_bytes: int) -> None:
        self._folder, self._site, self._max_bytes = folder, site, max_bytes
        self._files: dict[str, tuple[str, str, int, float]] = {}

    def discovered(self) -> Discovered:
        """Every page file, those changed last first."""
        ordered = sorted(self._files.items(), key=lambda item: (-item[1][3], item[0]))
        return Discovered(tuple(Found(url, datetime.fromtimestamp(file[3], UTC)) for url, file in ordered), ())

    async def fetch(self, url: str, validators: Validators) -> FetchOutcome:
        """The page as a server would answer for it; other spellings of a page's address lead to it."""
        file = self._files.get(url)
        if file is None:
            other = next((twin for twin in twins(url) if twin in self._files), None)
            return Redirected(url, other, other) if other is not None else self._no_page(url)
        path, tag, size, _ = file
        if validators.etag == tag:
            return NotModified(url)
        if size > self._max_bytes:
            return Skipped(url, f"is larger than {self._max_bytes} bytes")
        try:
            body = Path(path).read_bytes()
        except OSError as error:
            return Failed(url, f"cannot be read: {error}")
        kind = "application/xhtml+xml" if path.lower().endswith(".xhtml") else "text/html"
        return Fetched(url, body, kind, validators=Validators(etag=tag))

    def _no_page(self, url: str) -> FetchOutcome:
        place = unquote(url.removeprefix(self._site.base).partition("?")[0])
        file = (self._folder / place).resolve()
        if file.is_file() and file.is_relative_to(self._folder.resolve()):
            return Skipped(url, "is no page")
        return Missing(url)

    async def __aenter__(self) -> FolderLooker:
        for name, entry in _page_files(str(self._folder), ""):
            place = name.removesuffix("index.html").removesuffix("index.htm") if _is_index(name) else name
            url = self._site.page(self._site.base + quote(os.fsencode(place)))
            if url is not None:
                status = entry.stat(follow_symlinks=False)
                tag = f"{status.st_mtime_ns:x}-{status.st_size:x}"
                self._files[url] = (entry.path, tag, status.st_size, status.st_mtime)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._files = {}


def _is_index(name: str) -> bool:
    return name.rpartition("/")[2] in ("index.html", "index.htm")


def _page_files(folder: str, prefix: str) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Path below the site's folder, and entry, of each page file."""
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            stem, _, suffix = entry.name.rpartition(".")
            if entry.name.startswith(".") or stem == _ERROR_PAGE:
                continue
            if entry.is_dir(follow_symlinks=False):
                yield from _page_files(entry.path, f"{prefix}{entry.name}/")
            elif suffix.lower() in _SUFFIXES and entry.is_file(follow_symlinks=False):
                yield prefix + entry.name, entry
