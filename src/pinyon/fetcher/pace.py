"""Limits on the whole run's rate, from above and from below. Pure: time comes in as an argument."""

from __future__ import annotations

#: Bytes may come in bursts of so many seconds' worth.
_BURST_S = 1.0


class Bandwidth:
    """Received bytes a second, on average. None: no limit."""

    def __init__(self, bytes_s: float | None) -> None:
        self._bytes_s = bytes_s
        self._paid_until = float("-inf")

    def take(self, size: int, now: float) -> float:
        """Seconds that whoever received `size` bytes must wait before it asks for more."""
        if self._bytes_s is None:
            return 0.0
        self._paid_until = max(self._paid_until, now - _BURST_S) + size / self._bytes_s
        return max(0.0, self._paid_until - now)


class Throughput:
    """Tells when a run has become too slow to go on: fewer than `least` pages a second over a whole window."""

    def __init__(self, least: float | None, window_s: float, started: float) -> None:
        self._least = least
        self._window_s = window_s
        self._since = started
        self._pages = 0

    def too_slow(self, pages: int, now: float) -> bool:
        """`pages` is the number captured so far. To be asked now and then; windows follow each other."""
        if self._least is None or now - self._since < self._window_s:
            return False
        rate = (pages - self._pages) / (now - self._since)
        self._since, self._pages = now, pages
        return rate < self._least
