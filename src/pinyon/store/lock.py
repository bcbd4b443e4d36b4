"""One writer at a time.

The kernel's file lock is what counts: a process that dies, however, does not keep it. The file beside it says
who holds it and what for, with a heartbeat, for people and for file systems that several machines share.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType

from filelock import FileLock, Timeout

from pinyon.errors import LockedError, StoreError
from pinyon.store.files import read_json, write_json

HEARTBEAT_S = 5.0
#: A holder on another machine that has been silent this long is taken for dead.
SILENT_S = 60.0


@dataclass(frozen=True, slots=True)
class Holder:
    """Who writes: times are epoch seconds."""

    host: str
    pid: int
    command: str
    since: float
    heartbeat: float

    def __str__(self) -> str:
        since = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(self.since))
        return f"'{self.command}', process {self.pid} on {self.host}, since {since}"

    def living(self, now: float) -> bool:
        """Whether it may still write, as far as can be told: here by its process, elsewhere by its heartbeat."""
        return _alive(self.pid) if self.host == socket.gethostname() else now - self.heartbeat < SILENT_S


class WriterLock:
    """Context manager: held by one process for one crawl directory; entering twice in it is an error too."""

    def __init__(
        self, root: Path, command: str, *, wait_s: float = 0.0, clock: Callable[[], float] = time.time
    ):
        self._lock = FileLock(root / ".lock")
        self._who = root / ".writer.json"
        self._command = command
        self._wait_s = wait_s
        self._clock = clock
        self._since = 0.0
        self._stop = threading.Event()
        self._heart: threading.Thread | None = None

    def __enter__(self) -> WriterLock:
        self._acquire()
        try:
            self._refuse_other_machine()
            self._since = self._clock()
            self._beat()
            self._heart = threading.Thread(target=self._beating, name="lock-heartbeat", daemon=True)
            self._heart.start()
        except BaseException:
            self._lock.release()
            raise
        return self

    def _acquire(self) -> None:
        root = self._who.parent
        try:
            self._lock.acquire(timeout=self._wait_s)
        except Timeout as error:
            raise LockedError(
                f"{root}: another process writes here: {holder(root) or 'not yet named'}; "
                "wait for it, or stop it, and try again"
            ) from error
        except OSError as error:
            raise StoreError(f"{root}: cannot be locked for writing: {error.strerror or error}") from error

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        if self._heart is not None:
            self._heart.join()
        self._who.unlink(missing_ok=True)
        self._lock.release()

    def _refuse_other_machine(self) -> None:
        """Where the file system does not carry locks between machines, a fresh heartbeat must do."""
        who = _read(self._who)
        if who and who.host != socket.gethostname() and who.living(self._clock()):
            raise LockedError(
                f"{self._who.parent}: another process writes here: {who}; if that machine is dead, "
                f"try again in {SILENT_S:.0f} s"
            )

    def _beat(self) -> None:
        who = Holder(socket.gethostname(), os.getpid(), self._command, self._since, self._clock())
        # a full disk takes away the name, not the lock: what frees space must be able to run
        with suppress(StoreError):
            write_json(self._who, asdict(who))

    def _beating(self) -> None:
        while not self._stop.wait(HEARTBEAT_S):
            self._beat()


def holder(root: Path) -> Holder | None:
    """Who writes to this crawl now, or None. A dead process's file does not count."""
    who = _read(root / ".writer.json")
    return who if who and who.living(time.time()) else None


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _read(path: Path) -> Holder | None:
    if not path.exists():
        return None
    try:
        told = read_json(path)
        return Holder(
            str(told["host"]),
            int(told["pid"]),
            str(told["command"]),
            float(told["since"]),
            float(told["heartbeat"]),
        )
    except (StoreError, KeyError, TypeError, ValueError):
        return None
