"""Patience with a host, in a time that passes only while everybody waits."""

from __future__ import annotations

import asyncio
import heapq
import itertools
from collections.abc import Coroutine
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from indexer.patience import GivenUp, Host, Timing


class Waiting:
    """Time that goes to the next moment somebody waits for, once all do."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._alarms: list[tuple[float, int, asyncio.Future[None]]] = []
        self._numbers = itertools.count()

    async def sleep(self, seconds: float) -> None:
        alarm = asyncio.get_running_loop().create_future()
        heapq.heappush(self._alarms, (self.seconds + seconds, next(self._numbers), alarm))
        await alarm

    def pass_until_done(self, work: Coroutine[Any, Any, None]) -> None:
        async def driving() -> None:
            task = asyncio.ensure_future(work)
            while not task.done():
                for _ in range(20):
                    await asyncio.sleep(0)
                if self._alarms and not task.done():
                    self.seconds, _, alarm = heapq.heappop(self._alarms)
                    alarm.set_result(None)
            await task

        asyncio.run(driving())

    def host(self, concurrency: int, delay: float) -> Host:
        return Host(concurrency, delay, Timing(self.sleep, lambda: self.seconds))


async def _request(host: Host, time: Waiting, timeout: float, answers_after: float | None = None) -> bool:
    """Ask for one page, which takes so long or is never answered; whether the host may be asked for more."""
    async with host.free:
        try:
            limit = min(timeout, await host.turn())
        except GivenUp:
            return False
        if answers_after is not None and answers_after < limit:
            await time.sleep(answers_after)
            host.answered()
        else:
            await time.sleep(limit)
            host.failed()
    return True


@given(
    timeout=st.floats(1, 60),
    concurrency=st.integers(1, 16),
    delay=st.floats(0, 10),
    alive_for=st.floats(0, 100),
    takes=st.floats(0, 5),
)
@example(timeout=60.0, concurrency=8, delay=10.0, alive_for=0.0, takes=0.0)
@example(timeout=45.0, concurrency=1, delay=0.0, alive_for=30.0, takes=1.0)
@settings(deadline=None, max_examples=30)
def test_a_host_that_dies_costs_no_more_than_a_minute(
    timeout: float, concurrency: int, delay: float, alive_for: float, takes: float
) -> None:
    time = Waiting()
    host = time.host(concurrency, delay)
    silent_from: list[float] = []

    async def one_after_the_other() -> None:
        while True:
            alive = time.seconds < alive_for
            if not await _request(host, time, timeout, 0.1 + takes if alive else None):
                return
            if not alive and not silent_from:
                silent_from.append(time.seconds)

    async def all_together() -> None:
        await asyncio.gather(*(one_after_the_other() for _ in range(concurrency)))

    time.pass_until_done(all_together())
    assert time.seconds <= alive_for + delay * (concurrency + 1) + 0.1 + takes + 60


def test_a_page_that_hangs_while_others_answer_is_no_dead_host() -> None:
    time = Waiting()
    host = time.host(2, 0.0)
    good: list[bool] = []

    async def hanging_and_answering() -> None:
        hanging = asyncio.ensure_future(_request(host, time, timeout=60))
        good.extend([await _request(host, time, timeout=60, answers_after=5) for _ in range(20)])
        await hanging

    time.pass_until_done(hanging_and_answering())
    assert good == [True] * 20


@pytest.mark.parametrize(("since", "left"), [(0, 60), (30, 30), (39, 21)])
def test_a_request_gets_what_is_left_of_the_minute(since: float, left: float) -> None:
    time = Waiting()
    host = time.host(1, 0.0)
    limits: list[float] = []

    async def asking() -> None:
        limits.append(await host.turn())
        host.failed()
        await time.sleep(since)
        limits.append(await host.turn())

    time.pass_until_done(asking())
    assert limits == [60, left]
