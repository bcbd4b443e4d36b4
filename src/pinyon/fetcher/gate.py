"""One host is asked by one process at a time, also where several processes fetch the parts of one list.

Parts do not share hosts, yet a robots.txt may have moved to a host of another part, and two of them to one that is of
none. So where there are several, each notes in a small file of slots when a host was last asked, and by whom it is
being asked now. Two hosts that fall into one slot wait for each other: too much, never too little.
"""

from __future__ import annotations

import fcntl
import os
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from pinyon.urls import key_of

#: When the last request began or ended, by the clock all processes of a machine share; who is asking, 0: nobody.
_SLOT = struct.Struct("<dq")
_SLOTS = 1 << 16
#: How soon a host is looked at again that somebody is just asking, if it has no delay.
_SOON_S = 0.02


class Gate(Protocol):
    """What is between a turn and its request. Keys are those of the queues."""

    def enter(self, key: str, pause_s: float) -> float:
        """0: the host may be asked, and nobody else may until `leave`; else seconds to come back in.

        `pause_s` is what must lie between the end of anybody's last request to it and this one.
        """

    def leave(self, key: str) -> None:
        """The request has ended."""


class OpenGate:
    """Where one process fetches everything: its queues are enough."""

    def enter(self, key: str, pause_s: float) -> float:
        return 0.0

    def leave(self, key: str) -> None:
        return None


class SharedGate:
    """A gate of all processes of one machine that open the same file; a context manager. Raises OSError.

    A request that began longer than `longest_s` ago has ended, as has that of a process that is dead.
    """

    def __init__(self, path: Path, longest_s: float) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        os.ftruncate(self._file, _SLOTS * _SLOT.size)
        self._longest_s = longest_s

    def __enter__(self) -> SharedGate:
        return self

    def __exit__(self, *exception: object) -> None:
        os.close(self._file)

    def enter(self, key: str, pause_s: float) -> float:
        with self._slot(key) as offset:
            now = time.monotonic()
            at, asking = _SLOT.unpack(os.pread(self._file, _SLOT.size, offset))
            if asking and now - at < self._longest_s and _is_alive(asking):
                return max(pause_s, _SOON_S)
            # Of a process that died nobody knows when its request ended; a time ahead of ours is of before a reboot.
            ended = now if asking or at > now else at
            wait_s: float = ended + pause_s - now if at else 0.0
            entered = wait_s <= 0
            os.pwrite(self._file, _SLOT.pack(now, os.getpid()) if entered else _SLOT.pack(ended, 0), offset)
            return 0.0 if entered else wait_s

    def leave(self, key: str) -> None:
        with self._slot(key) as offset:
            os.pwrite(self._file, _SLOT.pack(time.monotonic(), 0), offset)

    @contextmanager
    def _slot(self, key: str) -> Iterator[int]:
        """Its offset, while no other process looks at it."""
        offset = (key_of(key) & (_SLOTS - 1)) * _SLOT.size
        fcntl.lockf(self._file, fcntl.LOCK_EX, _SLOT.size, offset)
        try:
            yield offset
        finally:
            fcntl.lockf(self._file, fcntl.LOCK_UN, _SLOT.size, offset)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        # killed, and its parent has not asked how it ended: Linux still counts it
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except ProcessLookupError:
        return False
    except OSError:  # not ours to signal, or not Linux
        return True
