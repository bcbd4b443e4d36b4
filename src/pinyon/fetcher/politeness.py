"""Who may be asked when: host queues ordered by the time of their next request. Pure: time comes in as an argument.

A queue is a host (or a domain, or an address): its jobs in order, and the earliest time of its next request.
`acquire` removes the job whose turn it is and returns it as a `Turn`; `release` gives the turn back and says how it
went, and only then is the next turn of that queue set: **the delay lies between the end of one request and the start
of the next**. A server that logs a request when it arrives, or when it has answered, sees at least that distance in
either case.

The pause after a request is the largest of `min_delay_s`, the Crawl-delay, what failures have doubled it to, and the
queue's own delay (`server_delay_s` where it has none). With more than one connection to a host the server's delay is
given up by its owner's wish, the others are kept, from start to start as well.

Cost: one heap entry a queue, so that a host that waits costs nothing until its time has come.
"""

from __future__ import annotations

import heapq
from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Generic, TypeVar

Job = TypeVar("Job")


class Verdict(Enum):
    """How a turn went: nothing was asked, an answer came, or none did (or one that says: not now)."""

    UNUSED = "unused"
    ANSWERED = "answered"
    FAILED = "failed"


class Wait(Enum):
    """What a queue with jobs waits for."""

    READY = "ready"
    DELAY = "delay"
    BACK_OFF = "back_off"
    RETRY_AFTER = "retry_after"
    ACTIVE = "active"


@dataclass(frozen=True, slots=True)
class Policy:
    """The delays that hold for every queue, in seconds; see `FetcherConfig` for what each means."""

    server_delay_s: float = 5.0
    min_delay_s: float = 0.0
    first_back_off_s: float = 1.0
    max_back_off_s: float = 3600.0
    connections_per_host: int = 1
    max_failures: int = 10
    pause_first: bool = False


class _Queue(Generic[Job]):
    """State of one key. `serial` of its newest heap entry tells the older ones are stale."""

    __slots__ = (
        "active",
        "asked",
        "crawl_delay_s",
        "ended",
        "failures",
        "jobs",
        "key",
        "own_delay_s",
        "ready_at",
        "scheduled_at",
        "serial",
        "wait",
    )

    def __init__(self, key: str, ready_at: float) -> None:
        self.key = key
        self.jobs: deque[Job] = deque()
        self.ready_at = ready_at
        self.active = 0
        self.asked = False
        self.failures = 0
        self.crawl_delay_s = 0.0
        self.own_delay_s: float | None = None
        self.ended: str | None = None
        self.wait = Wait.READY
        self.serial = -1
        self.scheduled_at = ready_at


@dataclass(slots=True, eq=False)
class Turn(Generic[Job]):
    """The right to ask one host once. `ended` says why the host's queue was given up: then nothing is to be asked."""

    key: str
    job: Job
    ended: str | None
    released: bool = False


class Politeness(Generic[Job]):
    """All queues of one run. Not one of its methods looks at a clock: `now` is seconds of any steady clock."""

    def __init__(self, policy: Policy, started: float = 0.0) -> None:
        self.policy = policy
        self.queued = 0
        self.active = 0
        self.longest_pause_s = 0.0
        self._started = started
        self._queues: dict[str, _Queue[Job]] = {}
        self._heap: list[tuple[float, int, _Queue[Job]]] = []
        self._serial = 0

    # -- in -------------------------------------------------------------------------------------------------------

    def add(
        self, key: str, job: Job, *, delay_s: float | None = None, not_before: float | None = None
    ) -> None:
        """Puts `job` last in the queue of `key`, whose delay is at least `delay_s` (None: the server's delay)."""
        queue = self._queue(key)
        self._settle(queue, delay_s, not_before)
        queue.jobs.append(job)
        self.queued += 1
        self._schedule(queue)

    def put_back(self, key: str, jobs: Iterable[Job], *, delay_s: float | None = None) -> None:
        """Puts `jobs` in front, in the order given: they were acquired before, or must come before the others.

        `delay_s` counts as in `add`, except that None says nothing.
        """
        queue = self._queue(key)
        if delay_s is not None or queue.own_delay_s is None:
            self._settle(queue, delay_s, None)
        before = len(queue.jobs)
        queue.jobs.extendleft(reversed(list(jobs)))
        self.queued += len(queue.jobs) - before
        self._schedule(queue)

    def _queue(self, key: str) -> _Queue[Job]:
        queue = self._queues.get(key)
        if queue is None:
            queue = self._queues[key] = _Queue(key, self._started)
        return queue

    def _settle(self, queue: _Queue[Job], delay_s: float | None, not_before: float | None) -> None:
        """A queue of several hosts keeps the longest of their delays."""
        own = self.policy.server_delay_s if delay_s is None else delay_s
        if queue.own_delay_s is None:
            queue.own_delay_s = own
            self.longest_pause_s = max(self.longest_pause_s, self._pause(queue))
            if self.policy.pause_first:
                queue.ready_at = max(queue.ready_at, self._started + self._pause(queue))
        elif own > queue.own_delay_s:
            queue.own_delay_s = own
        if not_before is not None and not_before > queue.ready_at:
            queue.ready_at, queue.wait = not_before, Wait.RETRY_AFTER

    def set_crawl_delay(self, key: str, delay_s: float) -> None:
        """A Crawl-delay was read for (a host of) this queue: it holds from the next pause on, the longest wins."""
        queue = self._queue(key)
        queue.crawl_delay_s = max(queue.crawl_delay_s, delay_s)

    def hold(self, key: str, until: float) -> None:
        """Somebody else has asked the host: it is not asked before `until`."""
        queue = self._queue(key)
        if until > queue.ready_at:
            queue.ready_at, queue.wait = until, Wait.DELAY

    def too_early(self, turn: Turn[Job], now: float) -> bool:
        """Whether a Crawl-delay read since the turn was handed out, from a robots.txt that a run before had left,
        has not passed yet since the start (`pause_first`). Then the turn is to be given back unused."""
        queue = self._queues[turn.key]
        if not self.policy.pause_first or queue.asked:
            return False
        queue.ready_at = max(queue.ready_at, self._started + self._pause(queue))
        return queue.ready_at > now

    # -- out ------------------------------------------------------------------------------------------------------

    def acquire(self, now: float) -> Turn[Job] | None:
        """The job whose host has waited longest beyond its time, or None if no host may be asked now."""
        while self._heap and self._heap[0][0] <= now:
            _, serial, queue = heapq.heappop(self._heap)
            if serial != queue.serial:
                continue
            queue.serial = -1
            if queue.jobs:
                return self._hand_out(queue, now)
            self._forget(queue)
        return None

    def _hand_out(self, queue: _Queue[Job], now: float) -> Turn[Job]:
        job = queue.jobs.popleft()
        self.queued -= 1
        self.active += 1
        queue.active += 1
        if queue.ended is None and queue.active < self.policy.connections_per_host:
            queue.ready_at = max(queue.ready_at, now + self._pause(queue))
        self._schedule(queue)
        return Turn(queue.key, job, queue.ended)

    def release(
        self, turn: Turn[Job], now: float, verdict: Verdict, retry_after_s: float | None = None
    ) -> None:
        """Gives a turn back at the end of its request. `retry_after_s` is what the server asked for, if it did."""
        if turn.released:
            raise ValueError(f"the turn of {turn.key} was released before")
        turn.released = True
        queue = self._queues[turn.key]
        queue.active -= 1
        self.active -= 1
        if verdict is not Verdict.UNUSED and queue.ended is None:
            self._rest(queue, now, verdict, retry_after_s)
        self._schedule(queue)

    def _rest(self, queue: _Queue[Job], now: float, verdict: Verdict, retry_after_s: float | None) -> None:
        queue.asked = True
        queue.failures = queue.failures + 1 if verdict is Verdict.FAILED else 0
        pause = self._pause(queue)
        queue.wait = Wait.BACK_OFF if queue.failures else Wait.DELAY
        if not queue.failures:
            self.longest_pause_s = max(self.longest_pause_s, pause)
        if retry_after_s is not None:
            asked = min(retry_after_s, self.policy.max_back_off_s)
            if asked > pause:
                pause, queue.wait = asked, Wait.RETRY_AFTER
        queue.ready_at = max(queue.ready_at, now + pause)
        if 0 < self.policy.max_failures <= queue.failures:
            queue.ended = f"{queue.failures} failures in a row"
            queue.ready_at = float("-inf")

    def _pause(self, queue: _Queue[Job]) -> float:
        policy = self.policy
        pause = max(policy.min_delay_s, queue.crawl_delay_s)
        if policy.connections_per_host == 1 and queue.own_delay_s is not None:
            pause = max(pause, queue.own_delay_s)
        if queue.failures:
            # The exponent is bounded so that a host failing for days does not overflow a float.
            doubled = max(pause, policy.first_back_off_s) * 2.0 ** min(queue.failures, 64)
            pause = max(pause, min(doubled, policy.max_back_off_s))
        return pause

    def _schedule(self, queue: _Queue[Job]) -> None:
        """One live heap entry for a queue that may be asked; also for an empty one, to be forgotten at its time."""
        if queue.ended is None and queue.active >= self.policy.connections_per_host:
            return
        if queue.serial >= 0 and queue.scheduled_at == queue.ready_at:
            return
        self._serial += 1
        queue.serial, queue.scheduled_at = self._serial, queue.ready_at
        heapq.heappush(self._heap, (queue.ready_at, queue.serial, queue))

    def _forget(self, queue: _Queue[Job]) -> None:
        """An idle queue whose pause is over says nothing that a new one would not."""
        if not queue.active and not queue.failures and queue.ended is None:
            del self._queues[queue.key]

    # -- how it stands --------------------------------------------------------------------------------------------

    def next_at(self) -> float | None:
        """When the next queue may be asked (it may lie in the past), or None if none waits."""
        while self._heap and self._heap[0][1] != self._heap[0][2].serial:
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def pause_s(self, key: str) -> float:
        """The pause that would follow a request to `key` now."""
        queue = self._queues.get(key)
        return self._pause(queue) if queue is not None else self.policy.server_delay_s

    def jobs_of(self, key: str) -> int:
        """Jobs queued for `key`, those in flight not counted."""
        queue = self._queues.get(key)
        return len(queue.jobs) if queue is not None else 0

    def waiting(self, now: float) -> dict[str, int]:
        """How many queues with jobs wait for what. Looks at every queue: to be asked for now and then only."""
        counts = Counter(self._wait_of(queue, now).value for queue in self._queues.values() if queue.jobs)
        return dict(counts)

    def _wait_of(self, queue: _Queue[Job], now: float) -> Wait:
        if queue.ready_at > now:
            return queue.wait
        return Wait.ACTIVE if queue.active else Wait.READY
