"""Folders for what does not fit in memory: one an engine, gone with it, swept if its process was killed."""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path

from filelock import FileLock, Timeout

_LOCK = ".in-use"
#: A folder without a lock is just being made, unless it is older than this.
_MADE_IN_S = 60.0


class SpillFolder:
    """A folder of its own under `parent`, held by a lock that the kernel drops with the process."""

    def __init__(self, parent: Path) -> None:
        parent.mkdir(parents=True, exist_ok=True)
        self.path = Path(tempfile.mkdtemp(prefix="engine-", dir=parent))
        self._lock = FileLock(self.path / _LOCK)
        self._lock.acquire(timeout=0)

    def remove(self) -> None:
        self._lock.release()
        shutil.rmtree(self.path, ignore_errors=True)


def sweep_spills(parent: Path) -> None:
    """Removes the folders under `parent` whose engines are gone; those of living readers stay."""
    for path in parent.glob("engine-*"):
        if not _in_use(path):
            shutil.rmtree(path, ignore_errors=True)


def _in_use(path: Path) -> bool:
    if not (path / _LOCK).exists():
        return path.exists() and time.time() - path.stat().st_mtime < _MADE_IN_S
    try:
        with FileLock(path / _LOCK).acquire(timeout=0):
            return False
    except Timeout:
        return True
