"""Asking for pages over HTTP, politely: robots.txt, a limit to what goes on at once, patience with a busy server, and
giving up on a dead one."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Protocol
from urllib.parse import urljoin, urlsplit

import httpx  # noqa: TID251
from protego import Protego

from indexer.decompress import DECOMPRESSION_ERRORS, decoder
from indexer.errors import SiteUnreachable
from indexer.records import (
    NO_VALIDATORS,
    Failed,
    Fetched,
    FetchOutcome,
    Forbidden,
    Missing,
    NotModified,
    Redirected,
    Skipped,
    Validators,
)
from indexer.urls import Site

_log = logging.getLogger("indexer")

_TRIES = 3
_LONGEST_WAIT = 30.0
"""Seconds. A server that asks for more patience is asked again at the next sync."""
_LONGEST_CRAWL_DELAY = 10.0
_FAILURES_IN_A_ROW = 10
_SECONDS_OF_FAILURE = 45.0
_HOPS = 10
_OTHER_BYTES = 50_000_000
"""The sitemap protocol's limit, and then some for feeds and robots.txt."""
_DICE = random.Random()  # noqa: S311
_HTML = ("text/html", "application/xhtml+xml")


class FetchSettings(Protocol):
    """The part of the configuration that fetching needs. Seconds and bytes."""

    @property
    def user_agent(self) -> str: ...
    @property
    def concurrency(self) -> int: ...
    @property
    def delay(self) -> float: ...
    @property
    def timeout(self) -> float: ...
    @property
    def max_bytes(self) -> int: ...
    @property
    def headers(self) -> Mapping[str, str]: ...
    @property
    def obey_robots(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Timing:
    """Time and chance, as arguments."""

    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    clock: Callable[[], float] = time.monotonic
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    dice: random.Random = _DICE


REAL_TIME = Timing()


class _TooLarge(Exception):
    """A body that, decompressed, is larger than allowed."""


class _GivenUp(Exception):
    """The host has failed for too long: it is asked nothing more in this run."""


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    headers: httpx.Headers
    body: bytes


class Fetcher:
    """Asks one site for its pages. Use it as an async context manager: entering reads robots.txt.

    Raises SiteUnreachable on entering where the site's host does not resolve, refuses, or has a bad certificate.
    """

    def __init__(self, site: Site, settings: FetchSettings, timing: Timing = REAL_TIME) -> None:
        self._site, self._settings, self._timing = site, settings, timing
        self._free = asyncio.Semaphore(settings.concurrency)
        self._delay, self._next_start, self._paused_until = settings.delay, 0.0, 0.0
        self._failures, self._failing_since = 0, 0.0
        self._robots: Protego | None = None
        self._robots_fault: str | None = None
        self._client = httpx.AsyncClient(
            headers={"User-Agent": settings.user_agent, "Accept-Encoding": "gzip, deflate, br", **settings.headers},
            timeout=httpx.Timeout(settings.timeout, connect=min(10.0, settings.timeout)),
            limits=httpx.Limits(max_connections=settings.concurrency),
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),  # none: every page as a first visitor sees it
        )

    async def __aenter__(self) -> Fetcher:
        try:
            await self._read_robots()
        except BaseException:
            await self._client.aclose()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.aclose()

    @property
    def sitemaps(self) -> tuple[str, ...]:
        """The sitemaps that robots.txt names."""
        return tuple(self._robots.sitemaps) if self._robots else ()

    @property
    def robots_fault(self) -> str | None:
        """Why robots.txt could not be read, in which case no page may be asked for."""
        return self._robots_fault

    async def fetch(self, url: str, validators: Validators = NO_VALIDATORS) -> FetchOutcome:
        """What the site answers for the page `url`; a redirect is told, not followed: no page is asked for twice."""
        if self._robots_fault is not None:
            return Failed(url, self._robots_fault)
        if self._robots and not self._robots.can_fetch(url, self._settings.user_agent):
            return Forbidden(url)
        headers = _conditions(validators)
        address = self._site.address(url)
        for _ in range(_HOPS):
            outcome = await self._ask(address, headers, self._settings.max_bytes, _only_html)
            if isinstance(outcome, str):
                return Failed(url, outcome)
            location = outcome.headers.get("Location")
            if not (300 <= outcome.status < 400 and outcome.status != 304 and location):
                return _page_outcome(url, outcome, self._settings.max_bytes)
            to = self._site.page(location, on=address)
            if to != url:
                return Redirected(url, to, location)
            # Another spelling of the same page (a slash, https, a tracking parameter): asked as the server wants it.
            address = urljoin(address, location)
        return Failed(url, "redirects to itself")

    async def get(self, address: str) -> bytes | Missing | Failed:
        """The body of a sitemap, a feed or the like, decompressed, with redirects followed on the hosts of the site."""
        asked, own = address, urlsplit(address).netloc
        for _ in range(_HOPS):
            outcome = await self._ask(asked, {}, _OTHER_BYTES, None)
            if isinstance(outcome, str):
                return Failed(address, outcome)
            location = outcome.headers.get("Location")
            if 300 <= outcome.status < 400 and location:
                asked = urljoin(asked, location)
                if urlsplit(asked).netloc != own and self._site.page(asked) is None:
                    return Failed(address, f"leads to another site: {location}")
                continue
            if outcome.status == 200:
                return outcome.body
            absent = 400 <= outcome.status < 500
            return Missing(address) if absent else Failed(address, f"answers {outcome.status}")
        return Failed(address, "redirects in circles")

    # --- robots.txt -------------------------------------------------------------------------------------------------

    async def _read_robots(self) -> None:
        address = urljoin(self._site.address(self._site.base), "/robots.txt")
        answer = await self._first_contact(address)
        if isinstance(answer, str):
            self._robots_fault = f"robots.txt cannot be read ({answer}), so no page may be asked for"
            return
        if answer.status == 200 and self._settings.obey_robots:
            self._robots = Protego.parse(answer.body.decode("utf-8", "replace"))
            self._obey_delay(self._robots.crawl_delay(self._settings.user_agent))

    async def _first_contact(self, address: str) -> _Answer | str:
        """The answer, after a second try where there is none in time: two waits still leave the minute that a dead host
        may cost."""
        why = ""
        for _ in range(2):
            try:
                answer = await self._once(address, {}, _OTHER_BYTES, None)
            except httpx.ConnectError as error:
                raise SiteUnreachable(_why_unreachable(self._site, error)) from error
            except (httpx.HTTPError, TimeoutError) as error:
                why = _said(error)
            else:
                return answer if answer.status < 500 else await self._ask(address, {}, _OTHER_BYTES, None)
        return why

    def _obey_delay(self, asked: float | None) -> None:
        if asked and asked > _LONGEST_CRAWL_DELAY:
            _log.warning("robots.txt asks for %s s between requests; %s s are kept", asked, _LONGEST_CRAWL_DELAY)
        self._delay = max(self._delay, min(asked or 0.0, _LONGEST_CRAWL_DELAY))

    # --- one request, with patience ---------------------------------------------------------------------------------

    async def _ask(
        self, address: str, headers: Mapping[str, str], max_bytes: int, wants: Callable[[httpx.Response], bool] | None
    ) -> _Answer | str:
        """The answer, or why there is none after every try."""
        why = ""
        for attempt in range(_TRIES):
            try:
                answer = await self._once(address, headers, max_bytes, wants)
            except _GivenUp as error:
                return str(error)
            except httpx.InvalidURL as error:
                return f"is no address that can be asked for: {error}"
            except (httpx.HTTPError, TimeoutError, *DECOMPRESSION_ERRORS) as error:
                why, wait = _said(error), 0.0
            else:
                if answer.status != 429 and answer.status < 500:
                    self._failures = 0
                    return answer
                why, wait = f"answers {answer.status}", self._asked_to_wait(answer)
            self._failed()
            if wait > _LONGEST_WAIT:
                return f"{why} and asks to wait {wait:.0f} s"
            if attempt + 1 < _TRIES:
                await self._wait(wait or 0.5 * 2**attempt * self._timing.dice.uniform(0.5, 1.5), for_all=wait > 0)
        return why

    async def _once(
        self, address: str, headers: Mapping[str, str], max_bytes: int, wants: Callable[[httpx.Response], bool] | None
    ) -> _Answer:
        async with self._free:
            await self._turn()
            async with (
                asyncio.timeout(self._settings.timeout),
                self._client.stream("GET", address, headers=headers) as response,
            ):
                wanted = response.status_code == 200 and (wants is None or wants(response))
                body = b""
                if wanted:
                    try:
                        body = await _body(response, max_bytes)
                    except _TooLarge:
                        return _Answer(413, response.headers, b"")
                elif int(response.headers.get("Content-Length") or 65536) < 65536:
                    # Read to its end, so that the connection can serve the next page.
                    async for _ in response.aiter_raw():
                        pass
                return _Answer(response.status_code, response.headers, body)

    async def _turn(self) -> None:
        """Wait until this request may start. Raises _GivenUp where the host is given up."""
        while True:
            self._check_alive()
            now = self._timing.clock()
            start = max(self._next_start, self._paused_until)
            if start <= now:
                self._next_start = now + self._delay
                return
            if start == self._next_start and self._paused_until <= now:
                self._next_start = start + self._delay
                await self._timing.sleep(start - now)
                self._check_alive()
                return
            await self._timing.sleep(start - now)

    def _check_alive(self) -> None:
        if self._failures >= _FAILURES_IN_A_ROW or (
            self._failures and self._timing.clock() - self._failing_since > _SECONDS_OF_FAILURE
        ):
            raise _GivenUp(f"not asked: the host failed {self._failures} times in a row and was given up")

    def _failed(self) -> None:
        if not self._failures:
            self._failing_since = self._timing.clock()
        self._failures += 1

    async def _wait(self, seconds: float, for_all: bool) -> None:
        if for_all:
            self._paused_until = max(self._paused_until, self._timing.clock() + seconds)
        else:
            await self._timing.sleep(seconds)

    def _asked_to_wait(self, answer: _Answer) -> float:
        """Seconds that Retry-After asks for, as a number or a date (RFC 9110, 10.2.3)."""
        value = answer.headers.get("Retry-After", "").strip()
        if value.isdigit():
            return float(value)
        try:
            return max(0.0, (parsedate_to_datetime(value) - self._timing.now()).total_seconds())
        except (ValueError, TypeError):
            return 0.0


def _conditions(validators: Validators) -> dict[str, str]:
    headers = {}
    if validators.etag:
        headers["If-None-Match"] = validators.etag
    if validators.last_modified:
        headers["If-Modified-Since"] = validators.last_modified
    return headers


def _page_outcome(url: str, answer: _Answer, max_bytes: int) -> FetchOutcome:
    headers = answer.headers
    match answer.status:
        case 200 if not _is_html(headers.get("Content-Type", "")):
            return Skipped(url, f"{headers['Content-Type'].partition(';')[0].strip()} is not HTML")
        case 200:
            validators = Validators(headers.get("ETag"), headers.get("Last-Modified"))
            robots_tag = ", ".join(headers.get_list("X-Robots-Tag"))
            return Fetched(url, answer.body, headers.get("Content-Type", ""), robots_tag, validators)
        case 304:
            return NotModified(url)
        case 404:
            return Missing(url)
        case 410:
            return Missing(url, for_good=True)
        case 413:
            return Skipped(url, f"is larger than {max_bytes} bytes")
        case status:
            return Skipped(url, f"answers {status}")


def _only_html(response: httpx.Response) -> bool:
    return _is_html(response.headers.get("Content-Type", ""))


def _is_html(content_type: str) -> bool:
    """Whether a body may be a page; servers that name no type mean HTML more often than not."""
    return not content_type.strip() or content_type.partition(";")[0].strip().lower() in _HTML


def _said(error: Exception) -> str:
    match error:
        case TimeoutError() | httpx.TimeoutException():
            return "did not answer in time"
        case _:
            return f"{type(error).__name__}: {error}".rstrip(": ")


def _why_unreachable(site: Site, error: Exception) -> str:
    host, said = urlsplit(site.address(site.base)).netloc, str(error)
    if "CERTIFICATE" in said.upper():
        return f"{host} has a bad certificate ({said}): mend it, or check `site` in the configuration"
    if "name" in said.lower() or "getaddrinfo" in said or "nodename" in said:
        return f"{host} does not resolve: check `site` in the configuration, and the network"
    return f"{host} cannot be reached ({said}): check `site` in the configuration, and that the server is up"


# --- bodies, decompressed no further than allowed -------------------------------------------------------------------


async def _body(response: httpx.Response, max_bytes: int) -> bytes:
    """The whole body, decompressed. Raises _TooLarge as soon as it is larger than `max_bytes`.

    httpx would decompress a chunk whole before anybody could look at its size: 64 KB of brotli can hold gigabytes.
    """
    parts: list[bytes] = []
    size = 0
    decode = decoder(response.headers.get("Content-Encoding", ""), max_bytes)
    async for chunk in response.aiter_raw():
        for part in decode(chunk):
            parts.append(part)
            size += len(part)
            if size > max_bytes:
                raise _TooLarge
    return b"".join(parts)
