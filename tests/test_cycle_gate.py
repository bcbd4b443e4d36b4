"""The gate that processes share: a host is let through once at a time, and not before its pause is over."""

from __future__ import annotations

import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pinyon.fetcher import SharedGate

OTHER = """
import sys, time
from pathlib import Path
from pinyon.fetcher import SharedGate
gate = SharedGate(Path(sys.argv[1]), 60.0)
print(gate.enter("h.test", 0.2), flush=True)
sys.stdin.readline()
gate.leave("h.test")
print("left", flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[SharedGate]:
    with SharedGate(tmp_path / "gate", longest_s=60.0) as gate:
        yield gate


@pytest.fixture
def other(tmp_path: Path, gate: SharedGate) -> Iterator[subprocess.Popen[str]]:
    """Another process, which is just asking h.test."""
    process = subprocess.Popen(
        [sys.executable, "-c", OTHER, str(tmp_path / "gate")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "0.0\n"
    yield process
    process.kill()
    process.communicate()


def test_a_host_nobody_asked_is_let_through_and_then_waits_its_pause(gate: SharedGate) -> None:
    assert gate.enter("h.test", 5.0) == 0.0
    assert gate.enter("h.test", 5.0) == 5.0, "it is being asked"
    gate.leave("h.test")
    assert 4.9 < gate.enter("h.test", 5.0) <= 5.0
    assert gate.enter("other.test", 5.0) == 0.0
    assert gate.enter("h.test", 0.0) == 0.0, "without a pause, one at a time is enough"


def test_another_process_is_waited_for(gate: SharedGate, other: subprocess.Popen[str]) -> None:
    assert gate.enter("h.test", 0.2) == 0.2
    assert other.stdin is not None and other.stdout is not None
    other.stdin.write("leave\n")
    other.stdin.flush()
    assert other.stdout.readline() == "left\n"
    left = time.monotonic()
    while (wait_s := gate.enter("h.test", 0.2)) > 0:
        time.sleep(wait_s)
    assert 0.15 < time.monotonic() - left < 2


def test_what_a_dead_process_was_asking_counts_as_asked_until_now(
    gate: SharedGate, other: subprocess.Popen[str]
) -> None:
    other.kill()
    other.wait()
    assert gate.enter("h.test", 0.3) == pytest.approx(0.3)
    assert 0 < gate.enter("h.test", 0.3) < 0.3
    time.sleep(0.3)
    assert gate.enter("h.test", 0.3) == 0.0


def test_a_request_cannot_last_for_ever(tmp_path: Path) -> None:
    with SharedGate(tmp_path / "gate", longest_s=0.1) as gate:
        assert gate.enter("h.test", 0.2) == 0.0
        time.sleep(0.12)
        assert gate.enter("h.test", 0.2) == pytest.approx(0.2)


def test_a_time_of_before_a_reboot_is_not_waited_for(tmp_path: Path, gate: SharedGate) -> None:
    gate.enter("h.test", 0.1)
    gate.leave("h.test")
    data = (tmp_path / "gate").read_bytes()
    at = next(i for i in range(0, len(data), 16) if any(data[i : i + 16]))
    with (tmp_path / "gate").open("rb+") as file:
        file.seek(at)
        file.write(struct.pack("<dq", time.monotonic() + 1e6, 0))
    assert gate.enter("h.test", 0.1) == pytest.approx(0.1)


def test_the_file_takes_no_room_for_hosts_nobody_asks(tmp_path: Path, gate: SharedGate) -> None:
    for n in range(100):
        gate.enter(f"h{n}.test", 1.0)
    assert (tmp_path / "gate").stat().st_blocks * 512 < 600_000
