"""Patience with a host: how many requests at once, how far apart, how long to wait, and when to give it up."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime

_FAILURES_IN_A_ROW = 10
_SECONDS_OF_FAILURE = 40.0
"""From the start of the first request that failed: one more, begun just before, ends within the minute."""
_DICE = random.Random()  # noqa: S311


@dataclass(frozen=True, slots=True)
class Timing:
    """Time and chance, as arguments."""

    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    clock: Callable[[], float] = time.monotonic
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    dice: random.Random = _DICE


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
        self._failures, self._failing_since = 0, 0.0

    async def turn(self) -> float:
        """Wait until the next request may start; the time at which it does. Raises GivenUp, without a wait that the
        host is not worth."""
        # One waits at the door, the others behind it: when the host is given up, nobody holds a place in time.
        async with self._door:
            while (wait := max(self._next_start, self._paused_until) - self._timing.clock()) > 0:
                self._check_alive(self._timing.clock() + wait)
                await self._timing.sleep(wait)
            now = self._timing.clock()
            self._check_alive(now)
            self._next_start = now + self.delay
            return now

    def answered(self) -> None:
        """The host is well."""
        self._failures = 0

    def failed(self, began: float) -> None:
        """A request that began at this time brought no answer."""
        if not self._failures:
            self._failing_since = began
        self._failures += 1

    def pause(self, seconds: float) -> None:
        """Start nothing for so long."""
        self._paused_until = max(self._paused_until, self._timing.clock() + seconds)

    async def back_off(self, attempt: int) -> None:
        """Wait before one request is tried again, longer each time and never at the same moment as others."""
        await self._timing.sleep(0.5 * 2**attempt * self._timing.dice.uniform(0.5, 1.5))

    def _check_alive(self, at: float) -> None:
        if self._failures >= _FAILURES_IN_A_ROW or (self._failures and at - self._failing_since > _SECONDS_OF_FAILURE):
            raise GivenUp(f"not asked: the host failed {self._failures} times in a row and was given up")
