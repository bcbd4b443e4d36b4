"""Brings turns and idle workers together, with one timer for the next host whose time comes."""

from __future__ import annotations

import asyncio
from collections import deque

from pinyon.fetcher.frontier import Frontier
from pinyon.fetcher.jobs import Job
from pinyon.fetcher.politeness import Turn


class Dispatcher:
    """Workers wait here. `hungry` is set while more items are wanted: there is room, or somebody has nothing to do."""

    def __init__(self, frontier: Frontier, workers: int, max_idle_s: float) -> None:
        self.hungry = asyncio.Event()
        #: Set when every host left wants to be let alone for longer than `max_idle_s`.
        self.all_asleep = False
        self._frontier = frontier
        self._workers = workers
        self._max_idle_s = max_idle_s
        self._loop = asyncio.get_running_loop()
        self._idle: deque[asyncio.Future[Turn[Job] | None]] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._fed = False
        self._closed = False

    async def next(self) -> Turn[Job] | None:
        """The next turn, waiting for it; None when there will be none any more."""
        if self._closed:
            return None
        turn = self._frontier.acquire(self._loop.time())
        if turn is None:
            future: asyncio.Future[Turn[Job] | None] = self._loop.create_future()
            self._idle.append(future)
            self.wake()
            turn = await future
        elif self._frontier.has_room:
            self.hungry.set()
        return turn

    def wake(self) -> None:
        """To be called whenever a turn was given back or a job added: hands out what may be handed out now."""
        if self._closed:
            return
        now = self._loop.time()
        while self._idle and (turn := self._frontier.acquire(now)) is not None:
            self._idle.popleft().set_result(turn)
        if self._frontier.has_room or self._idle:
            self.hungry.set()
        if self._idle:
            self._sleep(now)

    def _sleep(self, now: float) -> None:
        """Somebody is idle: sets the timer for the next host, or sends everybody home if there is none."""
        if self._fed and self._frontier.empty:
            self.close()
            return
        at = self._frontier.politeness.next_at()
        if self._timer is not None and self._timer.when() != at:
            self._timer.cancel()
            self._timer = None
        if at is None:
            return
        if self._fed and len(self._idle) == self._workers and at - now > self._patience():
            self.all_asleep = True
            self.close()
        elif self._timer is None:
            self._timer = self._loop.call_at(at, self._ring)

    def _patience(self) -> float:
        return max(self._max_idle_s, self._frontier.politeness.longest_pause_s)

    def _ring(self) -> None:
        self._timer = None
        self.wake()

    def nothing_more(self) -> None:
        """The list was read to its end."""
        self._fed = True
        self.wake()

    def close(self) -> None:
        """No more turns: who waits goes home."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        while self._idle:
            future = self._idle.popleft()
            if not future.done():
                future.set_result(None)
