"""A pool of worker processes that lives as long as its engine, and never outlives its parent.

Each **worker** is a Python of its own, started when first needed, with one pipe to its parent. A **job**, a function
and its part, goes down the pipe; its result or its exception comes back. When the parent is interrupted it asks the
jobs under way to end early (`stopping`), and kills what has not ended in time.

The standard library's pools are not used: they cannot be killed (before 3.14), keep an interrupted program from
ending until every job is done, and run the caller's main module again in every worker. Workers are not forked: a
fork would take the writer's lock and DuckDB's threads along.

Invariant: a worker ends with its parent, however that one ends, because the pipe does: an orphan would go on fetching
beside the run that follows. And no signal from a terminal reaches a worker: what Ctrl-C means, the parent decides.
"""

from __future__ import annotations

import importlib
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, Pipe, wait
from typing import Any, TypeVar

from pinyon.errors import EngineError

P = TypeVar("P")
R = TypeVar("R")

#: What jobs under way get to end in when their parent is interrupted; then they are killed.
GRACE_S = 8.0
_START = "import sys; from pinyon.engines.workers import serve; serve(int(sys.argv[1]), sys.argv[2:])"
_STOP = b""

# -- in the worker --------------------------------------------------------------------------------------------

_stop = threading.Event()


def stopping() -> bool:
    """In a worker: whether the parent asked to end early."""
    return _stop.is_set()


def serve(fd: int, imports: Sequence[str]) -> None:
    """A worker's life: jobs from the pipe, one after the other, until the parent closes it or is gone."""
    connection = Connection(fd)
    jobs: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(connection, jobs), name="listen", daemon=True).start()
    for name in imports:
        importlib.import_module(name)
    while True:
        connection.send_bytes(_answer(jobs.get()))


def _listen(connection: Connection[Any, Any], jobs: queue.SimpleQueue[bytes]) -> None:
    """Reads beside the job under way: a stop, and the end of the parent, cannot wait for it."""
    try:
        while True:
            message = connection.recv_bytes()
            if message == _STOP:
                _stop.set()
            else:
                jobs.put(message)
    except (EOFError, OSError):
        os._exit(0)


def _answer(message: bytes) -> bytes:
    """What is sent back for a job: whether it went well, and its result or its exception."""
    try:
        function, part = pickle.loads(message)
        return pickle.dumps((True, function(part)))
    except Exception as error:
        error.add_note("in a worker process:\n" + "".join(traceback.format_exception(error)))
        return _packed(error)


def _packed(error: Exception) -> bytes:
    """Not every exception survives the way through a pipe."""
    with suppress(Exception):
        message = pickle.dumps((False, error))
        pickle.loads(message)
        return message
    return pickle.dumps((False, EngineError(f"{type(error).__name__}: {error}")))


# -- in the parent --------------------------------------------------------------------------------------------


class _Worker:
    """One process and the parent's end of its pipe."""

    def __init__(self, imports: Sequence[str] = ()) -> None:
        self.connection, theirs = Pipe()
        try:
            with _interrupts_held():
                self.process = subprocess.Popen(
                    [sys.executable, "-c", _START, str(theirs.fileno()), *imports],
                    pass_fds=(theirs.fileno(),),
                    stdin=subprocess.DEVNULL,
                    env={**os.environ, "PYTHONPATH": os.pathsep.join(path or "." for path in sys.path)},
                )
        finally:
            theirs.close()

    def submit(self, function: Callable[[P], R], part: P) -> None:
        message = pickle.dumps((function, part))
        with suppress(BrokenPipeError, ConnectionResetError):  # it is dead: `result` says so
            self.connection.send_bytes(message)

    def result(self) -> Any:
        """The result of the job; raises what the job raised, and `EngineError` if the process is dead."""
        try:
            well, value = pickle.loads(self.connection.recv_bytes())
        except (EOFError, OSError) as error:
            raise EngineError(
                "a worker process was killed (out of memory?): run the command again to go on, "
                "with fewer processes if it happens twice"
            ) from error
        if not well:
            raise value
        return value

    def ask_to_stop(self) -> None:
        with suppress(OSError):
            self.connection.send_bytes(_STOP)

    def end(self) -> None:
        """At once: jobs are written so that a kill loses nothing that was flushed."""
        self.process.kill()
        self.connection.close()
        self.process.wait()


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """A process started meanwhile never sees SIGINT (a blocked signal stays blocked through exec); ours waits."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Workers:
    """Processes started when first needed, kept between calls."""

    def __init__(self) -> None:
        self._idle: list[_Worker] = []
        self._busy: list[_Worker] = []

    def map(
        self, function: Callable[[P], R], parts: Iterable[P], processes: int = 0
    ) -> Generator[R, None, None]:
        """`function` of every part, results as they come; parts are drawn as workers become idle.

        If anything is raised, here or by who reads the results, the jobs under way are asked to end early and waited
        for, `GRACE_S` at most; raised again meanwhile (a second Ctrl-C), they are killed at once. So whoever stops
        reading must close the generator.
        """
        size = processes or os.cpu_count() or 1
        source = iter(parts)
        try:
            self._fill(function, source, size)
            while self._busy:
                for worker in self._ready(None):
                    result = worker.result()
                    self._fill(function, source, size)
                    yield result
        except BaseException:
            self.stop()
            raise

    def _fill(self, function: Callable[[P], R], source: Iterator[P], size: int) -> None:
        """Gives jobs to idle workers while there are both."""
        while len(self._busy) < size:
            try:
                part = next(source)
            except StopIteration:
                return
            worker = self._idle.pop() if self._idle else _Worker()
            self._busy.append(worker)
            worker.submit(function, part)

    def _ready(self, timeout_s: float | None) -> list[_Worker]:
        """Workers whose job has ended, or who are dead: idle from now on. None within the time: none."""
        readable = wait([worker.connection for worker in self._busy], timeout_s)
        ready = [worker for worker in self._busy if worker.connection in readable]
        self._idle += ready
        self._busy = [worker for worker in self._busy if worker not in ready]
        return ready

    def start(self, processes: int, imports: Sequence[str] = ()) -> None:
        """Starts workers ahead of their first job: meanwhile they import these modules."""
        while len(self._idle) + len(self._busy) < (processes or os.cpu_count() or 1):
            self._idle.append(_Worker(imports))

    def stop(self) -> None:
        """Asks the jobs under way to end early and waits for them; returns when all processes have ended."""
        try:
            for worker in self._busy:
                worker.ask_to_stop()
            deadline = time.monotonic() + GRACE_S
            while self._busy and (left := deadline - time.monotonic()) > 0:
                self._ready(left)
        finally:
            self.close()

    def close(self) -> None:
        """Ends all processes; jobs under way with them."""
        with _interrupts_held():
            for worker in (*self._idle, *self._busy):
                worker.end()
            self._idle, self._busy = [], []
