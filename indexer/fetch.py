"""Asking for pages over HTTP, politely: robots.txt, a limit to what goes on at once, patience with a busy server, and
giving up on a dead one."""

from __future__ import annotations

import logging
import socket
import ssl
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Protocol
from urllib.parse import urljoin, urlsplit

import httpx  # noqa: TID251
from protego import Protego

from indexer.decompress import TooLarge, Unreadable, read_body
from indexer.errors import SiteUnreachable
from indexer.patience import REAL_TIME, GivenUp, Host, Timing
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
from indexer.urls import Site, joined

_log = logging.getLogger("indexer")

_TRIES = 3
_LONGEST_WAIT = 30.0
"""Seconds. A server that asks for more patience is asked again at the next sync."""
_LONGEST_CRAWL_DELAY = 10.0
_HOPS = 10
_OTHER_BYTES = 50_000_000
"""The sitemap protocol's limit, and then some for feeds and robots.txt."""
_WORTH_READING = 65_536
"""Bytes of an unwanted body that cost less to read than another connection."""
_TOO_LARGE = 413
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
class _Answer:
    status: int
    headers: httpx.Headers
    body: bytes

    @property
    def leads_to(self) -> str | None:
        """The Location of a redirect."""
        return self.headers.get("Location") if 300 <= self.status < 400 and self.status != 304 else None


@dataclass(frozen=True, slots=True)
class _Trouble:
    """Why an attempt brought no answer, and the seconds that the host asks to be left alone."""

    why: str
    wait: float = 0.0


class Fetcher:
    """Asks one site for its pages. Use it as an async context manager: entering reads robots.txt.

    Raises SiteUnreachable on entering where the site's host does not resolve, refuses, or has a bad certificate.
    """

    def __init__(self, site: Site, settings: FetchSettings, timing: Timing = REAL_TIME) -> None:
        self._site, self._settings, self._timing = site, settings, timing
        self._own = Host(settings.concurrency, settings.delay, timing)
        self._others: dict[str, Host] = {}
        self._met = False
        self._robots: Protego | None = None
        self._robots_fault: str | None = None
        self._sitemaps: tuple[str, ...] | None = None
        self._client = httpx.AsyncClient(
            headers={"User-Agent": settings.user_agent, "Accept-Encoding": "gzip, deflate, br"},
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
    def sitemaps(self) -> tuple[str, ...] | None:
        """The addresses of the sitemaps that robots.txt names; None where it cannot be read."""
        return self._sitemaps

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
        headers = {**self._settings.headers, **_conditions(validators)}
        address = self._site.address(url)
        for _ in range(_HOPS):
            outcome = await self._ask(self._own, address, headers, self._settings.max_bytes, _only_html)
            if isinstance(outcome, str):
                return Failed(url, outcome)
            location = outcome.leads_to
            if not location:
                return _page_outcome(url, outcome, self._settings.max_bytes)
            to = self._site.page(location, on=address)
            if to != url:
                return Redirected(url, to, location)
            # Another spelling of the same page (a slash, https, a tracking parameter): asked as the server wants it.
            address = urljoin(address, location)
        return Failed(url, "redirects to itself")

    async def get(self, address: str) -> bytes | Missing | Failed:
        """The body of a sitemap, a feed or the like, decompressed, with redirects followed on the hosts of the site."""
        match await self._followed(address):
            case str(why):
                return Failed(address, why)
            case _Answer(status=200, body=body):
                return body
            case _Answer(status=status) if status == _TOO_LARGE:
                return Failed(address, f"is larger than {_OTHER_BYTES} bytes")
            case _Answer(status=status) if 400 <= status < 500:
                return Missing(address)
            case _Answer(status=status):
                return Failed(address, f"answers {status}")

    async def _followed(self, address: str) -> _Answer | str:
        """What stands at the end of redirects, as long as they stay on the first address's host or the site's."""
        asked = joined(address, "")
        first = urlsplit(asked).netloc if asked else ""
        for _ in range(_HOPS):
            if asked is None:
                return "is no http:// or https:// address"
            # The configured headers may hold secrets: they are the site's alone.
            own = self._site.serves(asked)
            headers = self._settings.headers if own else {}
            outcome = await self._ask(self._own if own else self._other(asked), asked, headers, _OTHER_BYTES, None)
            location = None if isinstance(outcome, str) else outcome.leads_to
            if not location:
                return outcome
            asked = joined(location, asked)
            if asked and urlsplit(asked).netloc != first and not self._site.serves(asked):
                return f"leads to another site: {location}"
        return "redirects in circles"

    def _other(self, address: str) -> Host:
        """A host that is not the site's: its failures and pauses are its own."""
        name = urlsplit(address).netloc
        if name not in self._others:
            self._others[name] = Host(self._settings.concurrency, self._settings.delay, self._timing)
        return self._others[name]

    # --- robots.txt -------------------------------------------------------------------------------------------------

    async def _read_robots(self) -> None:
        """Redirects are followed, and a server that has no time (429) is none without rules (RFC 9309, 2.3.1)."""
        address = urljoin(self._site.address(self._site.base), "/robots.txt")
        answer = await self._followed(address)
        self._met = True
        if isinstance(answer, str):
            if self._settings.obey_robots:
                self._robots_fault = f"robots.txt cannot be read ({answer}), so no page may be asked for"
            return
        self._sitemaps = ()
        if answer.status != 200:
            return
        # Some editors write a byte order mark, which would hide the first group of rules.
        robots = Protego.parse(answer.body.decode("utf-8-sig", "replace"))
        self._sitemaps = tuple(filter(None, (joined(named, address) for named in robots.sitemaps)))
        if self._settings.obey_robots:
            self._robots = robots
            self._obey_delay(robots.crawl_delay(self._settings.user_agent))

    def _obey_delay(self, asked: float | None) -> None:
        if asked and asked > _LONGEST_CRAWL_DELAY:
            _log.warning("robots.txt asks for %s s between requests; %s s are kept", asked, _LONGEST_CRAWL_DELAY)
        self._own.delay = max(self._own.delay, min(asked or 0.0, _LONGEST_CRAWL_DELAY))

    # --- one request, with patience ---------------------------------------------------------------------------------

    async def _ask(
        self,
        host: Host,
        address: str,
        headers: Mapping[str, str],
        max_bytes: int,
        wants: Callable[[httpx.Response], bool] | None,
    ) -> _Answer | str:
        """The answer, or why there is none after every try."""
        try:
            httpx.URL(address)
        except httpx.InvalidURL as error:
            return f"is no address that can be asked for: {error}"
        trouble = _Trouble("")
        for attempt in range(_TRIES):
            try:
                if attempt and not trouble.wait:
                    await host.back_off(attempt)
                async with host.free:
                    outcome = await self._attempt(host, address, headers, max_bytes, wants)
            except GivenUp as error:
                return f"{trouble.why}; {error}" if attempt else str(error)
            if isinstance(outcome, _Answer):
                return outcome
            trouble = outcome
            if trouble.wait > _LONGEST_WAIT:
                return f"{trouble.why} and asks to wait {trouble.wait:.0f} s"
            host.pause(trouble.wait)
        return trouble.why

    async def _attempt(
        self,
        host: Host,
        address: str,
        headers: Mapping[str, str],
        max_bytes: int,
        wants: Callable[[httpx.Response], bool] | None,
    ) -> _Answer | _Trouble:
        seconds = min(self._settings.timeout, await host.turn())
        try:
            answer = await self._once(address, headers, max_bytes, wants, seconds)
        except Unreadable as error:
            host.answered()
            return _Trouble(str(error))
        except (httpx.HTTPError, TimeoutError) as error:
            if isinstance(error, httpx.ConnectError) and not self._met:
                raise SiteUnreachable(_why_unreachable(urlsplit(address).netloc, error)) from error
            host.failed()
            return _Trouble(_said(error))
        if answer.status == 429 or answer.status >= 500:
            host.failed()
            return _Trouble(f"answers {answer.status}", self._asked_to_wait(answer))
        host.answered()
        return answer

    async def _once(
        self,
        address: str,
        headers: Mapping[str, str],
        max_bytes: int,
        wants: Callable[[httpx.Response], bool] | None,
        seconds: float,
    ) -> _Answer:
        async with (
            self._timing.limit(seconds),
            self._client.stream("GET", address, headers=headers) as response,
        ):
            if response.status_code != 200 or (wants is not None and not wants(response)):
                await _read_away(response)
                return _Answer(response.status_code, response.headers, b"")
            encoding = response.headers.get("Content-Encoding", "")
            try:
                return _Answer(200, response.headers, await read_body(response.aiter_raw(), encoding, max_bytes))
            except TooLarge:
                return _Answer(_TOO_LARGE, response.headers, b"")

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
    # What is not ASCII was sent against the rules, and cannot be sent back.
    if validators.etag and validators.etag.isascii():
        headers["If-None-Match"] = validators.etag
    if validators.last_modified:
        headers["If-Modified-Since"] = validators.last_modified
    return headers


def _page_outcome(url: str, answer: _Answer, max_bytes: int) -> FetchOutcome:
    headers = answer.headers
    match answer.status:
        case 200 if not _is_html(headers.get("Content-Type", "")):
            return Skipped(url, f"{headers['Content-Type'].partition(';')[0].strip()} is not HTML")
        case 200 if not headers.get("Content-Type", "").strip() and not _looks_like_markup(answer.body):
            return Skipped(url, "is of no named type and does not look like HTML")
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
        case status if status == _TOO_LARGE:
            return Skipped(url, f"is larger than {max_bytes} bytes")
        case status:
            return Skipped(url, f"answers {status}")


def _only_html(response: httpx.Response) -> bool:
    return _is_html(response.headers.get("Content-Type", ""))


def _is_html(content_type: str) -> bool:
    """Whether a body may be a page; one without a type has to be looked at."""
    return not content_type.strip() or content_type.partition(";")[0].strip().lower() in _HTML


def _looks_like_markup(body: bytes) -> bool:
    return body[:1024].lstrip(b"\xef\xbb\xbf\xff\xfe\0 \t\r\n")[:1] in (b"<", b"")


def _said(error: Exception) -> str:
    match error:
        case TimeoutError() | httpx.TimeoutException():
            return "did not answer in time"
        case _:
            return f"{type(error).__name__}: {error}".rstrip(": ")


def _why_unreachable(host: str, error: Exception) -> str:
    causes = list(_causes(error))
    if any(isinstance(cause, ssl.SSLCertVerificationError) for cause in causes):
        return f"{host} has a bad certificate ({error}): mend it, or check `site` in the configuration"
    if any(isinstance(cause, socket.gaierror) for cause in causes):
        return f"{host} does not resolve: check `site` in the configuration, and the network"
    return f"{host} cannot be reached ({error}): check `site` in the configuration, and that the server is up"


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


async def _read_away(response: httpx.Response) -> None:
    """Read a body that nobody wants to its end, unless it is long: the connection can serve the next page then.

    Also where there is no body: a 304 without Content-Length, as most servers send it, is only over once it is read.
    """
    if int(response.headers.get("Content-Length") or 0) > _WORTH_READING:
        return
    size = 0
    async for chunk in response.aiter_raw():
        size += len(chunk)
        if size > _WORTH_READING:
            return
