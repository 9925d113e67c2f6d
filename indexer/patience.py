"""Patience with a host: how many requests at once, how far apart, how long to wait, and when to give it up."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import UTC, datetime

_FAILURES_IN_A_ROW = 10
_SECONDS_OF_FAILURE = 40.0
_MOST_SECONDS = 60.0
"""What a dead host may cost, from the first request that it left unanswered: in the last third none is begun."""
_DICE = random.Random()  # noqa: S311


@dataclass(frozen=True, slots=True)
class Timing:
    """Time and chance, as arguments."""

    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    clock: Callable[[], float] = time.monotonic
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    dice: random.Random = _DICE
    limit: Callable[[float], AbstractAsyncContextManager[object]] = asyncio.timeout


REAL_TIME = Timing()


class GivenUp(Exception):
    """The host has failed for too long: it is asked nothing more in this run."""


class Host:
    """What a run owes one host, and has seen of it. `free` bounds the requests under way, `delay` is between starts."""

    def __init__(self, concurrency: int, delay: float, timing: Timing) -> None:
        self.free = asyncio.Semaphore(concurrency)
        self.delay = delay
        self._timing = timing
        self._door = asyncio.Lock()
        self._next_start, self._paused_until = 0.0, 0.0
        self._failures = 0
        self._silent_since: float | None = None

    async def turn(self) -> float:
        """Wait until the next request may start; the seconds that the host may keep it waiting. Raises GivenUp, without
        a wait that the host is not worth."""
        # One waits at the door, the others behind it: when the host is given up, nobody holds a place in time.
        async with self._door:
            while (wait := max(self._next_start, self._paused_until) - self._timing.clock()) > 0:
                self._check_alive(self._timing.clock() + wait)
                await self._timing.sleep(wait)
            now = self._timing.clock()
            self._check_alive(now)
            self._next_start = now + self.delay
            if self._silent_since is None:
                self._silent_since = now
            return self._silent_since + _MOST_SECONDS - now

    def answered(self) -> None:
        """The host is well."""
        self._failures, self._silent_since = 0, None

    def failed(self) -> None:
        """A request brought no answer."""
        self._failures += 1

    def pause(self, seconds: float) -> None:
        """Start nothing for so long."""
        self._paused_until = max(self._paused_until, self._timing.clock() + seconds)

    async def back_off(self, failed: int) -> None:
        """Wait before a request is tried again that failed so often, longer each time and never at the same moment as
        others. Raises GivenUp, without a wait that the host is not worth."""
        wait = 0.25 * 2**failed * self._timing.dice.uniform(0.5, 1.5)
        self._check_alive(self._timing.clock() + wait)
        await self._timing.sleep(wait)

    def _check_alive(self, at: float) -> None:
        silence = 0.0 if self._silent_since is None else at - self._silent_since
        if self._failures >= _FAILURES_IN_A_ROW or (self._failures and silence > _SECONDS_OF_FAILURE):
            raise GivenUp(f"not asked: the host failed {self._failures} times in a row and was given up")
