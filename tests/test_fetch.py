"""Asking for pages: patience, politeness, limits. Time is handed in, so that nothing here waits."""

from __future__ import annotations

import asyncio
import gzip
import random
import socket
import ssl
import subprocess
import threading
import tracemalloc
import zlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import HTTPServer, SimpleHTTPRequestHandler
from pathlib import Path
from typing import Any

import brotli
import pytest

from indexer.errors import SiteUnreachable
from indexer.fetch import Fetcher
from indexer.patience import Timing
from indexer.records import (
    Failed,
    Fetched,
    FetchOutcome,
    Forbidden,
    Missing,
    NotModified,
    Redirected,
    Skipped,
    Validators,
)  # fmt: skip
from indexer.urls import make_site
from tests.support.web import Page, Server, Site, html, redirect

NOW = datetime(2026, 1, 1, tzinfo=UTC)
_NOISE = random.Random(1).randbytes(5000).hex().encode()


@dataclass
class Settings:
    user_agent: str = "indexer-test"
    concurrency: int = 8
    delay: float = 0.0
    timeout: float = 5.0
    max_bytes: int = 1_000_000
    headers: dict[str, str] = field(default_factory=dict)
    obey_robots: bool = True


class Clock:
    """Time that passes only while somebody sleeps."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.seconds += seconds
        await asyncio.sleep(0)

    def timing(self) -> Timing:
        return Timing(self.sleep, lambda: self.seconds, lambda: NOW, random.Random(1))


def ask(server: Server, work: Callable[[Fetcher], Awaitable[Any]], clock: Clock | None = None, **settings: Any) -> Any:
    """Do the work with a fetcher for the server's site."""

    async def doing() -> Any:
        site = make_site(server.base)
        async with Fetcher(site, Settings(**settings), (clock or Clock()).timing()) as fetcher:
            return await work(fetcher)

    return asyncio.run(doing())


def outcome(server: Server, path: str, validators: Validators | None = None, **settings: Any) -> FetchOutcome:
    url = server.base + path
    found: FetchOutcome = ask(server, lambda f: f.fetch(url, validators or Validators()), **settings)
    return found


@pytest.fixture
def bare() -> Any:
    with Server(Site({"/": html("Home", "Words.")})) as running:
        yield running


def test_a_page_with_its_validators_and_then_not_modified(bare: Server) -> None:
    first = outcome(bare, "/")
    assert isinstance(first, Fetched)
    assert b"Words." in first.body
    assert outcome(bare, "/", first.validators) == NotModified(f"{bare.base}/")


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        (Page(b"", None, 404), Missing("URL")),
        (Page(b"", None, 410), Missing("URL", for_good=True)),
        (Page(b"", None, 403), Skipped("URL", "answers 403")),
        (Page(b"%PDF", "application/pdf"), Skipped("URL", "application/pdf is not HTML")),
        (Page(b"a" * 2_000_000), Skipped("URL", "is larger than 1000000 bytes")),
        (Page(b"", None, 500), Failed("URL", "answers 500")),
    ],
)
def test_every_kind_of_answer_is_a_value(bare: Server, page: Page, expected: FetchOutcome) -> None:
    bare.site.pages["/x"] = page
    found = outcome(bare, "/x")
    assert type(found) is type(expected)
    assert str(found).replace(f"{bare.base}/x", "URL") == str(expected)


def test_redirects_are_told_and_not_followed(bare: Server) -> None:
    bare.site.pages |= {"/old": redirect("/new"), "/out": redirect("https://elsewhere.example/")}
    assert outcome(bare, "/old") == Redirected(f"{bare.base}/old", f"{bare.base}/new", "/new")
    assert outcome(bare, "/out") == Redirected(f"{bare.base}/out", None, "https://elsewhere.example/")
    assert "/new" not in bare.site.asked


def test_a_redirect_to_another_spelling_of_the_page_is_followed(bare: Server) -> None:
    bare.site.pages |= {"/a": redirect("/a?utm_source=x"), "/a?utm_source=x": html("A", "Here.")}
    found = outcome(bare, "/a")
    assert isinstance(found, Fetched)
    assert found.url == f"{bare.base}/a"
    bare.site.pages["/b"] = redirect("/b")
    assert outcome(bare, "/b") == Failed(f"{bare.base}/b", "redirects to itself")


@pytest.mark.parametrize("encoding", ["gzip", "br", "deflate"])
def test_a_bomb_is_stopped(bare: Server, encoding: str) -> None:
    zeros = b"\0" * 100_000_000
    packed = {"gzip": gzip.compress, "deflate": zlib.compress, "br": lambda body: brotli.compress(body, quality=1)}
    body = packed[encoding](zeros)
    bare.site.pages["/bomb"] = Page(body, headers=(("Content-Encoding", encoding),))
    tracemalloc.start()
    try:
        assert isinstance(outcome(bare, "/bomb"), Skipped)
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


def test_compressed_pages_are_read(bare: Server) -> None:
    text = html("T", "Words. " * 500)
    bare.site.pages["/br"] = Page(brotli.compress(text.body), headers=(("Content-Encoding", "br"),))
    bare.site.pages["/gz"] = text
    assert [outcome(bare, path).body for path in ("/br", "/gz")] == [text.body] * 2  # type: ignore[union-attr]


@pytest.mark.parametrize("encoding", ["gzip", "br", "deflate"])
def test_a_compressed_page_that_breaks_off_is_not_half_a_page(bare: Server, encoding: str) -> None:
    packed = {"gzip": gzip.compress, "deflate": zlib.compress, "br": brotli.compress}[encoding](_NOISE)
    half = packed[: len(packed) // 2]
    bare.site.pages["/half"] = Page(half, headers=(("Content-Encoding", encoding),))
    found = outcome(bare, "/half")
    assert isinstance(found, Failed)
    assert "breaks off" in found.reason


@pytest.mark.parametrize("encoding", ["gzip", "br", "zstd"])
def test_pages_that_cannot_be_decompressed_do_not_condemn_the_host(bare: Server, encoding: str) -> None:
    bare.site.pages |= {f"/p{n}": Page(b"plain" * 9, headers=(("Content-Encoding", encoding),)) for n in range(8)}

    async def one_by_one(fetcher: Fetcher) -> list[FetchOutcome]:
        return [await fetcher.fetch(f"{bare.base}{path}") for path in (*(f"/p{n}" for n in range(8)), "/")]

    *bad, good = ask(bare, one_by_one)
    assert all(isinstance(one, Failed) and encoding in one.reason for one in bad)
    assert isinstance(good, Fetched)


def test_a_body_that_only_drips_is_hung_up_on(bare: Server) -> None:
    bare.site.pages["/drip"] = Page(b"x" * 100, drip=0.1)
    assert outcome(bare, "/drip", timeout=0.2) == Failed(f"{bare.base}/drip", "did not answer in time")


@pytest.mark.parametrize(("body", "kind"), [(b"%PDF-1.4 \0", Skipped), (b"\n<p>x", Fetched), (b"", Fetched)])
def test_a_page_of_no_named_type_is_looked_at(bare: Server, body: bytes, kind: type) -> None:
    bare.site.pages["/x"] = Page(body, None)
    assert isinstance(outcome(bare, "/x"), kind)


def test_the_bytes_of_a_page_are_left_alone(bare: Server) -> None:
    body = "<p>Füße".encode("latin-1")
    bare.site.pages["/x"] = Page(body, "text/html; charset=utf-8")
    found = outcome(bare, "/x")
    assert isinstance(found, Fetched)
    assert (found.body, found.content_type) == (body, "text/html; charset=utf-8")


def test_a_tag_that_cannot_be_sent_back_is_not(bare: Server) -> None:
    assert isinstance(outcome(bare, "/", Validators('"\xe9"', "Thu, 01 Jan 2026 00:00:00 GMT")), Fetched)


def test_answers_without_a_page_keep_the_connection(bare: Server) -> None:
    """Most servers send no Content-Length with a 304: unread, it would cost a connection a page."""
    first = outcome(bare, "/")
    assert isinstance(first, Fetched)
    bare.site.pages |= {"/pdf": Page(b"%PDF" * 99, "application/pdf"), "/old": redirect("/")}
    bare.site.forget()

    async def one_by_one(fetcher: Fetcher) -> list[str]:
        asked = [*["/"] * 20, "/gone", "/pdf", "/old", "/"]
        return [type(await fetcher.fetch(bare.base + path, first.validators)).__name__ for path in asked]

    assert ask(bare, one_by_one) == [*["NotModified"] * 20, "Missing", "Skipped", "Redirected", "NotModified"]
    assert bare.site.connections == 1


# --- other hosts ------------------------------------------------------------------------------------------------------


def test_another_host_is_told_no_secrets_and_speaks_only_for_itself(bare: Server) -> None:
    with Server(Site({"/map.xml": Page(b"<urlset/>", "application/xml")})) as cdn:

        async def doing(fetcher: Fetcher) -> Any:
            body = await fetcher.get(f"{cdn.base}/map.xml")
            cdn.site.down = True
            failed = [await fetcher.get(f"{cdn.base}/{n}.xml") for n in range(5)]
            return body, failed, await fetcher.fetch(f"{bare.base}/")

        body, failed, page = ask(bare, doing, headers={"Authorization": "secret"})
        heard = cdn.site.heard
    assert body == b"<urlset/>"
    assert all(isinstance(one, Failed) for one in failed)
    assert isinstance(page, Fetched)
    assert heard
    assert not any("Authorization" in headers for headers in heard)
    assert all(headers["Authorization"] == "secret" for headers in bare.site.heard)


@pytest.mark.parametrize("address", ["/map.xml", "ftp://example.com/x", "http://[bad/x"])
def test_what_is_no_address_is_a_value_too(bare: Server, address: str) -> None:
    found = ask(bare, lambda fetcher: fetcher.get(address))
    assert found == Failed(address, "is no http:// or https:// address")


# --- patience ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("asked", ["7", format_datetime(NOW + timedelta(seconds=7), usegmt=True)])
def test_retry_after_is_waited_for(bare: Server, asked: str) -> None:
    clock = Clock()
    bare.site.retry_after = asked
    bare.site.pages["/busy"] = Page(b"", None, 429)

    async def sleep(seconds: float) -> None:
        await clock.sleep(seconds)
        bare.site.pages["/busy"] = html("Back", "Here again.")

    async def doing() -> FetchOutcome:
        timing = Timing(sleep, lambda: clock.seconds, lambda: NOW, random.Random(1))
        async with Fetcher(make_site(bare.base), Settings(), timing) as fetcher:
            return await fetcher.fetch(f"{bare.base}/busy")

    assert isinstance(asyncio.run(doing()), Fetched)
    assert sum(clock.slept) == pytest.approx(7)


def test_a_server_that_wants_an_hour_is_left_alone(bare: Server) -> None:
    clock = Clock()
    bare.site.retry_after = "3600"
    bare.site.failing = {"/busy"}
    found = ask(bare, lambda f: f.fetch(f"{bare.base}/busy"), clock)
    assert found == Failed(f"{bare.base}/busy", "answers 503 and asks to wait 3600 s")
    assert clock.slept == []


def test_a_dead_host_is_given_up_within_a_minute(bare: Server) -> None:
    clock = Clock()
    bare.site.robots = "User-agent: *\nAllow: /\n"
    bare.site.failing = {f"/p{n}" for n in range(10_000)}

    async def everything(fetcher: Fetcher) -> list[FetchOutcome]:
        return await asyncio.gather(*(fetcher.fetch(f"{bare.base}/p{n}") for n in range(10_000)))

    found = ask(bare, everything, clock)
    assert all(isinstance(one, Failed) for one in found)
    assert sum("given up" in one.reason for one in found) > 9_900
    assert bare.site.statuses[503] < 30
    assert clock.seconds < 60


@pytest.mark.parametrize(("robots", "retry_after"), [("User-agent: *\nCrawl-delay: 10\n", None), ("", "30")])
def test_a_dead_host_that_asks_for_patience_is_given_up_within_a_minute(
    bare: Server, robots: str, retry_after: str | None
) -> None:
    clock = Clock()
    bare.site.robots, bare.site.retry_after = robots, retry_after
    bare.site.failing = {f"/p{n}" for n in range(50)}

    async def everything(fetcher: Fetcher) -> list[FetchOutcome]:
        return await asyncio.gather(*(fetcher.fetch(f"{bare.base}/p{n}") for n in range(50)))

    found = ask(bare, everything, clock, concurrency=1 if retry_after else 8)
    assert all(isinstance(one, Failed) for one in found)
    assert clock.seconds < 60


class Silence:
    """A limit that is over at once, and takes its seconds of a Clock's time."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock, self._seconds, self._real = clock, seconds, asyncio.timeout(0.05)

    async def __aenter__(self) -> None:
        await self._real.__aenter__()

    async def __aexit__(self, kind: Any, error: Any, trace: Any) -> None:
        self._clock.seconds += self._seconds
        await self._real.__aexit__(kind, error, trace)


@pytest.mark.parametrize("timeout", [5.0, 25.0, 45.0, 60.0])
def test_a_host_that_never_answers_is_given_up_within_a_minute(timeout: float) -> None:
    clock = Clock()
    timing = replace(clock.timing(), limit=lambda seconds: Silence(clock, seconds))
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        base = f"http://127.0.0.1:{silent.getsockname()[1]}"

        async def doing() -> list[bytes | Missing | Failed]:
            async with Fetcher(make_site(base), Settings(timeout=timeout, obey_robots=False), timing) as fetcher:
                return [await fetcher.get(f"{base}/{n}.xml") for n in range(20)]

        found = asyncio.run(doing())
    assert all(isinstance(one, Failed) for one in found)
    assert clock.seconds <= 60


def test_one_good_answer_among_failures_keeps_the_host_alive(bare: Server) -> None:
    bare.site.failing = {f"/p{n}" for n in range(0, 40, 2)}
    bare.site.pages |= {f"/p{n}": html("T", "x") for n in range(1, 40, 2)}

    async def one_by_one(fetcher: Fetcher) -> list[FetchOutcome]:
        return [await fetcher.fetch(f"{bare.base}/p{n}") for n in range(40)]

    found = ask(bare, one_by_one)
    assert [isinstance(one, Fetched) for one in found] == [n % 2 == 1 for n in range(40)]


# --- robots.txt -------------------------------------------------------------------------------------------------------


def test_robots_forbid_delay_and_name_sitemaps(bare: Server) -> None:
    clock = Clock()
    bare.site.robots = "User-agent: *\nDisallow: /private\nCrawl-delay: 4\nSitemap: https://cdn.example/map.xml\n"

    async def doing(fetcher: Fetcher) -> Any:
        forbidden = await fetcher.fetch(f"{bare.base}/private/x")
        await asyncio.gather(*(fetcher.fetch(f"{bare.base}/?{n}") for n in range(3)))
        return forbidden, fetcher.sitemaps

    forbidden, sitemaps = ask(bare, doing, clock)
    assert forbidden == Forbidden(f"{bare.base}/private/x")
    assert sitemaps == ("https://cdn.example/map.xml",)
    assert clock.seconds == pytest.approx(8)


def test_an_absurd_crawl_delay_is_capped_and_said(bare: Server, caplog: pytest.LogCaptureFixture) -> None:
    clock = Clock()
    bare.site.robots = "User-agent: *\nCrawl-delay: 3600\n"

    async def doing(fetcher: Fetcher) -> None:
        await fetcher.fetch(f"{bare.base}/")
        await fetcher.fetch(f"{bare.base}/")

    ask(bare, doing, clock)
    assert clock.seconds == pytest.approx(10)
    assert "3600" in caplog.text


def test_robots_that_cannot_be_read_allow_nothing(bare: Server) -> None:
    bare.site.failing = {"/robots.txt"}
    found = outcome(bare, "/")
    assert isinstance(found, Failed)
    assert "robots.txt cannot be read" in found.reason
    assert "/" not in bare.site.asked


@pytest.mark.parametrize(
    "robots",
    [
        redirect("/rules.txt"),
        Page(b"\xef\xbb\xbfUser-agent: *\nDisallow: /private\n", "text/plain"),
        Page(b"User-agent: indexer-test\nDisallow: /private\n\nUser-agent: *\nDisallow:\n", "text/plain"),
    ],
    ids=["redirected", "byte order mark", "named"],
)
def test_rules_hold_however_they_are_served(bare: Server, robots: Page) -> None:
    rules = Page(b"User-agent: *\nDisallow: /private\n", "text/plain")
    bare.site.pages |= {"/robots.txt": robots, "/rules.txt": rules, "/private": html("P", "x")}
    assert outcome(bare, "/private") == Forbidden(f"{bare.base}/private")
    assert isinstance(outcome(bare, "/"), Fetched)


@pytest.mark.parametrize(
    "robots",
    [
        Page(b"", None, 429),
        Page(b"User-agent: *", "text/plain", headers=(("Content-Encoding", "gzip"),)),
        redirect("https://elsewhere.example/robots.txt"),
        redirect("/robots.txt"),
    ],
    ids=["429", "garbled", "elsewhere", "in circles"],
)
def test_rules_that_cannot_be_read_are_not_no_rules(bare: Server, robots: Page) -> None:
    bare.site.pages["/robots.txt"] = robots
    found = outcome(bare, "/")
    assert isinstance(found, Failed)
    assert "robots.txt cannot be read" in found.reason


def test_sitemaps_of_robots_are_known_as_addresses_also_where_rules_are_not_obeyed(bare: Server) -> None:
    bare.site.robots = "User-agent: *\nDisallow: /\nCrawl-delay: 9\nSitemap: /maps/one.xml\nSitemap: http://[bad\n"

    async def doing(fetcher: Fetcher) -> Any:
        return fetcher.sitemaps, await fetcher.fetch(f"{bare.base}/")

    sitemaps, page = ask(bare, doing, obey_robots=False)
    assert sitemaps == (f"{bare.base}/maps/one.xml",)
    assert isinstance(page, Fetched)
    bare.site.failing = {"/robots.txt"}
    assert isinstance(outcome(bare, "/", obey_robots=False), Fetched)


# --- hosts that cannot be reached -------------------------------------------------------------------------------------


def test_a_bad_certificate_is_one_clear_line(tmp_path: Path) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, "-days", "1",
         "-subj", "/CN=localhost"],
        check=True, capture_output=True,
    )  # fmt: skip
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server = HTTPServer(("127.0.0.1", 0), SimpleHTTPRequestHandler)
    server.handle_error = lambda *_: None  # type: ignore[method-assign,assignment]
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        with pytest.raises(SiteUnreachable, match="bad certificate") as raised:
            asyncio.run(_enter(f"https://127.0.0.1:{server.server_address[1]}/"))
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    assert "\n" not in str(raised.value)


def test_a_host_that_refuses_or_has_no_address_is_one_clear_line() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and nobody listens
        with pytest.raises(SiteUnreachable, match=r"cannot be reached .*check `site`"):
            asyncio.run(_enter(f"http://127.0.0.1:{taken.getsockname()[1]}/"))
    with pytest.raises(SiteUnreachable, match=r"no-such-host\.invalid does not resolve: check `site`"):
        asyncio.run(_enter("http://no-such-host.invalid/"))


def test_a_host_that_never_answers_is_a_failure_in_time() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        base = f"http://127.0.0.1:{silent.getsockname()[1]}"

        async def doing() -> FetchOutcome:
            async with Fetcher(make_site(base), Settings(timeout=0.2), Clock().timing()) as fetcher:
                return await fetcher.fetch(f"{base}/")

        found = asyncio.run(doing())
    assert isinstance(found, Failed)
    assert "in time" in found.reason


async def _enter(base: str) -> None:
    async with Fetcher(make_site(base), Settings(), Clock().timing()):
        pass
