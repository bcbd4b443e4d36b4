"""Worker processes: every job's result once, and no process left, however the parent ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from pinyon.engines.workers import Workers
from pinyon.errors import EngineError, StoreError
from support.worker_jobs import call, fail, fail_after, square, until_told, wait_for

HERE = Path(__file__).parent


@pytest.fixture
def workers() -> Iterator[Workers]:
    workers = Workers()
    yield workers
    workers.close()


# -- promises -------------------------------------------------------------------------------------------------


def test_every_part_has_its_result_and_workers_are_kept(workers: Workers) -> None:
    first = list(workers.map(square, range(20), 2))
    again = list(workers.map(square, range(20), 2))
    assert sorted(result for result, _ in first) == [n * n for n in range(20)]
    processes = {pid for _, pid in first + again}
    assert len(processes) <= 2 and os.getpid() not in processes


def test_parts_are_drawn_only_as_workers_become_idle(workers: Workers) -> None:
    drawn = 0

    def parts() -> Iterator[int]:
        nonlocal drawn
        while True:
            drawn += 1
            yield drawn

    with closing(workers.map(square, parts(), 2)) as results:
        for _ in range(5):
            next(results)
        # two under way, and one more where both of them had ended at once and one result is still to be taken
        assert drawn <= 5 + 2 + 1


@pytest.mark.parametrize(
    ("what", "error", "text"),
    [
        ("ours", StoreError, "the table is gone"),
        ("cannot be pickled", EngineError, "pip install 'pinyon.spark.'"),
        ("killed", EngineError, "killed .out of memory"),
    ],
)
def test_what_happens_to_a_job_is_raised_and_the_pool_goes_on(
    workers: Workers, what: str, error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        list(workers.map(fail, [what], 2))
    assert [result for result, _ in workers.map(square, [3], 2)] == [9]


def test_the_traceback_of_the_worker_comes_along(workers: Workers) -> None:
    with pytest.raises(StoreError) as raised:
        list(workers.map(fail, ["ours"], 1))
    assert any("in fail" in note for note in raised.value.__notes__)


def test_a_failing_job_ends_the_others_early(workers: Workers, tmp_path: Path) -> None:
    jobs = [(until_told, tmp_path / "slow"), (fail_after, tmp_path / "slow")]
    begun = time.monotonic()
    with pytest.raises(StoreError):
        list(workers.map(call, jobs, 2))
    assert time.monotonic() - begun < 8
    assert (tmp_path / "slow.ended").exists()


def test_workers_started_ahead_take_the_jobs(workers: Workers) -> None:
    workers.start(2, ["json"])
    ahead = {worker.process.pid for worker in workers._idle}
    assert {pid for _, pid in workers.map(square, range(10), 2)} <= ahead


# -- the parent's end -----------------------------------------------------------------------------------------

#: Not guarded by `if __name__ == "__main__"`: scripts need not be.
SCRIPT = """
import sys
from pathlib import Path
sys.path.insert(0, {here!r})
from pinyon.engines.workers import Workers
from support import worker_jobs as jobs
markers = [Path({folder!r}) / name for name in ("one", "two")]
print(list(Workers().map(jobs.{job}, markers, 2)))
"""


def start(tmp_path: Path, job: str) -> tuple[subprocess.Popen[str], list[int]]:
    """A parent in a process group of its own, and its two workers at work."""
    script = tmp_path / "parent.py"
    script.write_text(SCRIPT.format(here=str(HERE), folder=str(tmp_path), job=job))
    parent = subprocess.Popen(
        [sys.executable, str(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
    )
    return parent, [wait_for(tmp_path / name) for name in ("one", "two")]


def all_end(pids: list[int], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not any(Path(f"/proc/{pid}").exists() for pid in pids):
            return True
        time.sleep(0.02)
    return False


def test_workers_end_when_their_parent_is_killed(tmp_path: Path) -> None:
    parent, pids = start(tmp_path, "deaf")
    parent.kill()
    parent.communicate()
    assert all_end(pids, 3)


@pytest.mark.parametrize("whole_group", [False, True])
def test_an_interrupt_lets_jobs_end_early(tmp_path: Path, whole_group: bool) -> None:
    parent, pids = start(tmp_path, "until_told")
    (os.killpg if whole_group else os.kill)(parent.pid, signal.SIGINT)
    _, errors = parent.communicate(timeout=10)
    assert parent.returncode == -signal.SIGINT and "KeyboardInterrupt" in errors
    assert (tmp_path / "one.ended").exists() and (tmp_path / "two.ended").exists()
    assert all_end(pids, 1)


def test_a_second_interrupt_kills_jobs_that_do_not_listen(tmp_path: Path) -> None:
    parent, pids = start(tmp_path, "deaf")
    parent.send_signal(signal.SIGINT)
    time.sleep(0.5)
    assert parent.poll() is None
    begun = time.monotonic()
    parent.send_signal(signal.SIGINT)
    parent.communicate(timeout=10)
    assert time.monotonic() - begun < 3
    assert all_end(pids, 1)
