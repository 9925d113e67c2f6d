"""A real web server on 127.0.0.1 for a site that changes, fails and misbehaves while it is served."""

from __future__ import annotations

import gzip
import hashlib
import threading
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from urllib.parse import unquote, urlsplit


@dataclass(frozen=True)
class Page:
    """What the server answers for a path; with a `drip`, in ten pieces, that many seconds apart."""

    body: bytes
    type: str | None = "text/html; charset=utf-8"
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    drip: float = 0.0


def html(title: str, *paragraphs: str, head: str = "", links: tuple[str, ...] = ()) -> Page:
    """A page as people write them."""
    text = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    listed = "".join(f'<p>See also <a href="{link}">this page</a> for more.</p>' for link in links)
    return Page(
        f'<!doctype html><html lang="en"><head><title>{title}</title>{head}</head>'
        f"<body><main><h1>{title}</h1>{text}{listed}</main></body></html>".encode()
    )


def redirect(to: str, status: int = 301) -> Page:
    return Page(b"", None, status, (("Location", to),))


@dataclass
class Site:
    """The site as it is now; change anything while it is served. `statuses` counts the answers, `asked` the paths,
    `heard` the headers of each request."""

    pages: dict[str, Page] = field(default_factory=dict)
    unlisted: set[str] = field(default_factory=set)
    robots: str = ""
    down: bool = False
    failing: set[str] = field(default_factory=set)
    retry_after: str | None = None
    sitemap: str = "whole"
    etags: bool = True
    statuses: Counter[int] = field(default_factory=Counter)
    asked: list[str] = field(default_factory=list)
    heard: list[Mapping[str, str]] = field(default_factory=list)
    conditional: int = 0
    connections: int = 0

    def forget(self) -> None:
        """Start counting anew."""
        self.statuses, self.asked, self.heard, self.conditional, self.connections = Counter(), [], [], 0, 0

    def sitemap_xml(self, base: str) -> bytes:
        listed = [path for path in self.pages if path not in self.unlisted and not path.endswith((".xml", ".txt"))]
        entries = "".join(f"<url><loc>{base}{path}</loc></url>" for path in listed if self.sitemap != "empty")
        xml = f'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>'
        return xml[: len(xml) // 2].encode() if self.sitemap == "truncated" else xml.encode()


class Server:
    """Serves a Site for the length of a with statement."""

    def __init__(self, site: Site) -> None:
        self.site = site
        handler = type("Handler", (_Handler,), {"site": site})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self._server.handle_error = lambda *_: None  # type: ignore[method-assign]  # clients that hang up are no news
        self.base = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})

    def __enter__(self) -> Server:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    site: Site

    def log_message(self, *_: object) -> None:
        pass

    def setup(self) -> None:
        self.site.connections += 1
        super().setup()

    def do_GET(self) -> None:
        site, path = self.site, self.path
        site.asked.append(path)
        site.heard.append(dict(self.headers))
        base = f"http://{self.headers['Host']}"
        if site.down or unquote(path) in site.failing or path in site.failing:
            self._answer(Page(b"down", "text/plain", 503))
        elif path == "/robots.txt" and path not in site.pages:
            self._answer(Page(site.robots.encode(), "text/plain") if site.robots else Page(b"", None, 404))
        elif path == "/sitemap.xml" and path not in site.pages:
            missing = site.sitemap == "missing"
            self._answer(Page(b"", None, 404) if missing else Page(site.sitemap_xml(base), "application/xml"))
        else:
            page = site.pages.get(path) or site.pages.get(unquote(path)) or site.pages.get(urlsplit(path).path)
            self._answer(page or Page(b"<h1>Not found</h1>", status=404))

    def _answer(self, page: Page) -> None:
        site, headers = self.site, list(page.headers)
        body, status = page.body, page.status
        if status == 200 and page.type and "html" in page.type and site.etags:
            tag = f'"{hashlib.md5(body).hexdigest()}"'
            headers.append(("ETag", tag))
            if asked := self.headers.get("If-None-Match"):
                site.conditional += 1
                if asked == tag:
                    body, status = b"", 304
        if status in (429, 503) and site.retry_after:
            headers.append(("Retry-After", site.retry_after))
        if status == 200 and len(body) > 500 and not any(name == "Content-Encoding" for name, _ in headers):
            body = gzip.compress(body, 1)
            headers.append(("Content-Encoding", "gzip"))
        site.statuses[status] += 1
        self.send_response(status)
        if page.type:
            self.send_header("Content-Type", page.type)
        for name, value in headers:
            self.send_header(name, value)
        if status != 304:  # most servers send none then
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self._write(body, page.drip)

    def _write(self, body: bytes, drip: float) -> None:
        if not drip:
            self.wfile.write(body)
            return
        piece = max(1, len(body) // 10)
        for start in range(0, len(body), piece):
            self.wfile.write(body[start : start + piece])
            self.wfile.flush()
            time.sleep(drip)


def folder_pages(folder: Path) -> dict[str, Page]:
    """The files of a built site as a server would name them."""
    pages = {}
    for file in sorted(folder.rglob("*.html")):
        path = "/" + file.relative_to(folder).as_posix()
        pages[path.removesuffix("index.html") if path.endswith("/index.html") else path] = Page(
            file.read_bytes(), "text/html"
        )
    return pages
