"""The look-ahead into the list: what waits in memory, what waits on disk, and whose turn it is.

A list of millions comes in hosts interleaved, and most hosts have to wait most of the time. Items are read while
fewer than `max_queued` are in memory, or while somebody could work and no host may be asked: then those whose host
has items waiting already go to disk, until its turn comes. So the run neither fills the memory nor stands still
behind hosts that wait. Beyond the bound, memory grows by one item a host that was met.
"""

from __future__ import annotations

from pinyon.fetcher.jobs import Job, PageJob
from pinyon.fetcher.model import FetchItem
from pinyon.fetcher.politeness import Politeness, Turn
from pinyon.fetcher.spill import Spill

#: Items of a host brought back from disk at a time.
_REFILL = 16


class Frontier:
    """`Politeness`, with the disk behind it."""

    def __init__(self, politeness: Politeness[Job], max_queued: int) -> None:
        self.politeness = politeness
        self._max_queued = max_queued
        self._spill: Spill[tuple[FetchItem, float | None, float | None]] = Spill()

    @property
    def has_room(self) -> bool:
        return self.politeness.queued < self._max_queued

    @property
    def spilled(self) -> int:
        """Items on disk."""
        return self._spill.count

    @property
    def empty(self) -> bool:
        """Nothing waits, nothing is under way."""
        return not (self.politeness.queued or self.politeness.active or self._spill.count)

    def offer(self, key: str, item: FetchItem, delay_s: float | None, not_before: float | None) -> None:
        """Takes an item; those of one key come out in the order they were offered."""
        behind = key in self._spill or (not self.has_room and self.politeness.jobs_of(key) > 0)
        if behind:
            self._spill.append(key, (item, delay_s, not_before))
        else:
            self.politeness.add(key, PageJob(item, item.url), delay_s=delay_s, not_before=not_before)

    def acquire(self, now: float) -> Turn[Job] | None:
        """As `Politeness.acquire`."""
        turn = self.politeness.acquire(now)
        if turn is not None and turn.key in self._spill and not self.politeness.jobs_of(turn.key):
            for item, delay_s, not_before in self._spill.take(turn.key, _REFILL):
                self.politeness.add(turn.key, PageJob(item, item.url), delay_s=delay_s, not_before=not_before)
        return turn

    def has_more(self, key: str) -> bool:
        """Whether anything waits for `key`."""
        return self.politeness.jobs_of(key) > 0 or key in self._spill

    def close(self) -> None:
        self._spill.close()
