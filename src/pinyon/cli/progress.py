"""Progress of long steps: a bar on a terminal, now and then a plain line elsewhere, nothing when quiet."""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType
from typing import Any

from pinyon.cli.common import Out
from pinyon.store import Segment

_PLAIN_EVERY_S = 10.0
_POLL_S = 0.5


class Watch:
    """Context manager around steps of a crawl. `heard` is told which segment is fetched or how far it is parsed; the
    counters that fetching processes leave are polled."""

    def __init__(self, out: Out) -> None:
        self._out = out
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._fetched: Segment | None = None
        self._bar: Any = None
        self._task: Any = None
        self._what = ""
        self._last_line = 0.0

    def __enter__(self) -> Watch:
        if self._out.quiet or (self._out.as_json and not sys.stderr.isatty()):
            return self
        if sys.stderr.isatty():
            self._bar = _bar()
            self._bar.start()
        self._thread = threading.Thread(target=self._poll, name="progress", daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
        if self._bar is not None:
            self._bar.stop()

    def heard(self, segment: Segment, done: int = 0, total: int = 0) -> None:
        """From fetch without numbers, from parse with the pages done and in all."""
        self._fetched = None if total else segment
        if total and self._thread is not None:
            self._show(f"parse {segment.name}", done, total, "")

    def _poll(self) -> None:
        from pinyon.reports.status import fetching

        while not self._stop.wait(_POLL_S):
            segment = self._fetched
            if segment is not None and (counters := fetching(segment)):
                self._show_fetch(segment, counters)

    def _show_fetch(self, segment: Segment, counters: list[dict[str, Any]]) -> None:
        done = sum(c["captured"] for c in counters)
        elapsed = max(c["elapsed_s"] for c in counters) or 1.0
        megabytes = sum(c["received_bytes"] for c in counters) / 1e6
        active = sum(c["active"] for c in counters)
        total = sum(part["urls"] for part in segment.info().get("parts", []))
        more = f"{done / elapsed:.1f} pages/s, {megabytes / elapsed:.2f} MB/s, {active} active"
        self._show(f"fetch {segment.name}", done, total, more)

    def _show(self, what: str, done: int, total: int, more: str) -> None:
        if what != self._what:  # short steps have their own line when they are done, and need no other
            self._what, self._last_line = what, time.monotonic()
        if self._bar is not None:
            if self._task is None:
                self._task = self._bar.add_task(what, total=total, more=more)
            self._bar.update(self._task, description=what, completed=done, total=total, more=more)
        elif time.monotonic() - self._last_line >= _PLAIN_EVERY_S:
            self._last_line = time.monotonic()
            self._out.note(f"{what}: {done:,} of {total:,} {more}".rstrip())


def _bar() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[more]}"),
        console=Console(stderr=True),
        transient=True,
    )
