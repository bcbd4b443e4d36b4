"""A pool of worker processes that lives as long as its engine, and never outlives its parent.

Workers are started afresh (spawn), not forked: a fork would take the writer's lock and DuckDB's threads along.
A worker whose parent was killed ends at once: an orphan would go on fetching beside the one that follows.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.synchronize import Event
from typing import TypeVar

from pinyon.errors import EngineError

P = TypeVar("P")
R = TypeVar("R")

_stop: Event | None = None


def stopping() -> bool:
    """In a worker: whether the parent asked to end early."""
    return _stop is not None and _stop.is_set()


def _initialise(stop: Event) -> None:
    global _stop
    _stop = stop
    # Ctrl-C on a terminal reaches the whole group: the parent decides, and tells us through the event.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_die_with_parent, name="die-with-parent", daemon=True).start()


def _die_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


class Workers:
    """Processes started when first needed, kept between calls."""

    def __init__(self) -> None:
        self._context = multiprocessing.get_context("spawn")
        self._stop = self._context.Event()
        self._pool: ProcessPoolExecutor | None = None
        self._size = 0

    def map(self, function: Callable[[P], R], parts: Iterable[P], processes: int = 0) -> Iterator[R]:
        """`function` of every part; at most two parts a process wait, so that parts may be many."""
        size = processes or os.cpu_count() or 1
        pool = self._started(size)
        waiting: set[Future[R]] = set()
        source = iter(parts)
        try:
            for part in source:
                waiting.add(pool.submit(function, part))
                if len(waiting) >= 2 * size:
                    done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                    yield from (future.result() for future in done)
            while waiting:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in done)
        except BrokenProcessPool as error:
            self._pool = None
            raise EngineError(
                "a worker process was killed (out of memory?): run the command again to go on, "
                "with fewer processes if it happens twice"
            ) from error
        finally:
            for future in waiting:
                future.cancel()

    def stop(self) -> None:
        """Parts that watch `stopping` end early; returns when all processes have ended."""
        self._stop.set()
        self.close()

    def _started(self, size: int) -> ProcessPoolExecutor:
        if self._pool is None or self._size < size:
            self.close()
            self._size = size
            self._pool = ProcessPoolExecutor(
                size, mp_context=self._context, initializer=_initialise, initargs=(self._stop,)
            )
        return self._pool

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None
