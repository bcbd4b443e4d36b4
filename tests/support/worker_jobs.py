"""Jobs that tests run in worker processes: few imports, since every worker makes them."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

from pinyon.engines.workers import stopping
from pinyon.errors import MissingExtra, StoreError


def square(number: int) -> tuple[int, int]:
    return number * number, os.getpid()


def fail(what: str) -> None:
    if what == "ours":
        raise StoreError("the table is gone")
    if what == "cannot be pickled":
        raise MissingExtra("Spark", "spark")
    os.kill(os.getpid(), signal.SIGKILL)


def until_told(marker: Path) -> str:
    """Runs until it is told to end, or for a minute."""
    marker.write_text(str(os.getpid()))
    for _ in range(1200):
        if stopping():
            marker.with_suffix(".ended").touch()
            return "ended early"
        time.sleep(0.05)
    return "ran on"


def deaf(marker: Path) -> None:
    """Never looks whether it should end."""
    marker.write_text(str(os.getpid()))
    time.sleep(60)


def fail_after(marker: Path) -> None:
    wait_for(marker)
    raise StoreError("broken")


def call(job: tuple[Callable[[Path], object], Path]) -> object:
    return job[0](job[1])


def wait_for(marker: Path, seconds: float = 20) -> int:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if marker.exists() and (text := marker.read_text()):
            return int(text)
        time.sleep(0.01)
    raise AssertionError(f"{marker} did not come")
