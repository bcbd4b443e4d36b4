"""One writer at a time, and none of them dead."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from pinyon.crawl import Crawl
from pinyon.errors import LockedError, StoreError
from pinyon.store import WriterLock, holder

_HOLD = """
import sys, time
from pathlib import Path
from pinyon.store import WriterLock
with WriterLock(Path(sys.argv[1]), "pinyon test"):
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def another_process(root: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that holds the lock until its standard input is closed."""
    process = subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(root)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin and process.stdout
    try:
        assert process.stdout.readline() == "held\n"
        yield process
    finally:
        process.stdin.close()
        process.wait(timeout=30)
        process.stdout.close()


def test_a_second_writer_fails_at_once_and_is_told_who_writes(tmp_path: Path) -> None:
    with another_process(tmp_path) as process:
        begun = time.monotonic()
        with pytest.raises(LockedError) as error, WriterLock(tmp_path, "pinyon other"):
            pass
        assert time.monotonic() - begun < 1
        assert f"'pinyon test', process {process.pid} on {os.uname().nodename}, since 20" in str(error.value)
        assert "\n" not in str(error.value)
        who = holder(tmp_path)
        assert who is not None and who.pid == process.pid
    with WriterLock(tmp_path, "pinyon other"):
        pass
    assert holder(tmp_path) is None


def test_a_killed_process_does_not_keep_the_lock(tmp_path: Path) -> None:
    with another_process(tmp_path) as process:
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=30)
        assert (tmp_path / ".writer.json").exists()
        assert holder(tmp_path) is None
        with WriterLock(tmp_path, "pinyon other"):
            who = holder(tmp_path)
            assert who is not None and who.pid == os.getpid()


def test_a_stopped_process_keeps_the_lock(tmp_path: Path) -> None:
    with another_process(tmp_path) as process:
        process.send_signal(signal.SIGSTOP)
        try:
            with pytest.raises(LockedError, match=str(process.pid)), WriterLock(tmp_path, "pinyon other"):
                pass
        finally:
            process.send_signal(signal.SIGCONT)


def test_a_writer_waits_for_another_if_told(tmp_path: Path) -> None:
    with another_process(tmp_path) as process:
        assert process.stdin
        threading.Timer(0.3, process.stdin.close).start()
        with WriterLock(tmp_path, "pinyon other", wait_s=20):
            assert process.wait(timeout=30) == 0


def test_one_process_cannot_enter_twice(tmp_path: Path) -> None:
    with WriterLock(tmp_path, "one"):
        with pytest.raises(LockedError, match="'one'"), WriterLock(tmp_path, "two"):
            pass
        assert holder(tmp_path) is not None


def test_of_many_threads_one_writes_at_a_time(tmp_path: Path) -> None:
    inside, most = [0], [0]

    def write() -> None:
        with WriterLock(tmp_path, "thread", wait_s=30):
            inside[0] += 1
            most[0] = max(most[0], inside[0])
            time.sleep(0.01)
            inside[0] -= 1

    threads = [threading.Thread(target=write) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1]


def told(root: Path, **changes: Any) -> None:
    now = time.time()
    who = {
        "host": "elsewhere",
        "pid": 1,
        "command": "pinyon fetch",
        "since": now,
        "heartbeat": now,
        **changes,
    }
    (root / ".writer.json").write_text(json.dumps(who))


def test_a_living_writer_on_another_machine_is_respected(tmp_path: Path) -> None:
    """Not every shared file system carries locks: there the heartbeat decides."""
    told(tmp_path)
    with pytest.raises(LockedError, match=r"'pinyon fetch', process 1 on elsewhere.*try again in 60 s"):
        with WriterLock(tmp_path, "pinyon other"):
            pass
    told(tmp_path, heartbeat=time.time() - 61)
    assert holder(tmp_path) is None
    with WriterLock(tmp_path, "pinyon other"):
        pass


@pytest.mark.parametrize("damage", ["", "{", "[]", "{}", '{"pid": "x", "host": 1}', "\x00\x01"])
def test_a_torn_name_is_no_writer(tmp_path: Path, damage: str) -> None:
    (tmp_path / ".writer.json").write_text(damage)
    assert holder(tmp_path) is None
    with WriterLock(tmp_path, "pinyon other"):
        assert str(holder(tmp_path)).startswith("'pinyon other'")


def test_the_heart_beats_while_the_lock_is_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pinyon.store.lock.HEARTBEAT_S", 0.01)
    with WriterLock(tmp_path, "pinyon test"):
        first = holder(tmp_path)
        deadline = time.monotonic() + 10
        while holder(tmp_path) == first:
            assert time.monotonic() < deadline
        assert first is not None
        later = holder(tmp_path)
        assert later is not None and (later.since, later.pid) == (first.since, first.pid)


def test_the_lock_is_given_back_when_the_step_fails(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), WriterLock(tmp_path, "pinyon test"):
        raise ZeroDivisionError
    assert holder(tmp_path) is None
    assert not (tmp_path / ".writer.json").exists()
    with WriterLock(tmp_path, "pinyon test"):
        pass


def test_a_place_that_cannot_be_written_to_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot be locked"), WriterLock(tmp_path / "file", "pinyon test"):
        pass


def test_what_a_killed_writer_left_is_swept_by_the_next(crawl: Crawl) -> None:
    scratch = crawl.root / ".tmp" / "work" / "inject"
    scratch.mkdir(parents=True)
    (scratch / "1.parquet").touch()
    crawl.segments.draft("20261130120000")
    (crawl.segments.root / ".20261130110000.removing").mkdir()
    with crawl.writing("test"):
        assert not scratch.exists()
        assert list(crawl.segments.root.iterdir()) == []


def test_a_reader_keeps_its_spills_while_a_writer_sweeps(crawl: Crawl) -> None:
    """Also one in another process; those of a killed process go."""
    spills = crawl.root / ".tmp" / "spills"
    code = (
        "import sys, os, signal\nfrom pinyon.crawl import Crawl\n"
        "crawl = Crawl.open(sys.argv[1])\ncrawl.engine.rows('SELECT 1')\nprint('open', flush=True)\nsys.stdin.read()"
    )
    reader = subprocess.Popen(
        [sys.executable, "-c", code, str(crawl.root)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert reader.stdin and reader.stdout
    assert reader.stdout.readline() == "open\n"
    with Crawl.open(crawl.root) as writer, writer.writing("test"):
        assert len(list(spills.iterdir())) == 1
    reader.kill()
    reader.wait(timeout=30)
    reader.stdin.close()
    reader.stdout.close()
    assert len(list(spills.iterdir())) == 1
    with Crawl.open(crawl.root) as writer, writer.writing("test"):
        assert list(spills.iterdir()) == []
