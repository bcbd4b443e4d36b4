"""Ctrl-C: ends within ten seconds, keeps what came, says how to go on; and the same command finishes."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from pinyon.simweb import SimWeb
from support.crawls import (
    DELAY_S,
    TOLERANCE_S,
    asked,
    closest,
    ended,
    fetched,
    litter,
    new_crawl,
    processes_about,
    run,
    step_under_way,
)

STEPS = ("generate", "fetch", "parse", "updatedb", "updatehostdb")


def interrupt(pid: int, whole_group: bool) -> None:
    """SIGINT to the process alone, as `kill -INT` does, or to its group, as a terminal does."""
    (os.killpg if whole_group else os.kill)(pid, signal.SIGINT)


@pytest.mark.parametrize(
    ("whole_group", "later_s", "steps"),
    [
        (False, 0.0, STEPS),
        pytest.param(True, 0.08, ("fetch", "parse", "updatedb"), marks=pytest.mark.slow),
    ],
)
def test_a_crawl_interrupted_in_every_step_finishes_in_the_end(
    tmp_path: Path, whole_group: bool, later_s: float, steps: tuple[str, ...]
) -> None:
    with SimWeb(seed=11 + whole_group, hosts=10, awkward=False, mean_pages=3) as web:
        pages = web.reachable(web.seeds())
        root = new_crawl(tmp_path / "crawl", web, seeds=sorted(pages)[::2])
        command = ("crawl", root, "--until-empty", "--fetchers", 2)
        for step in steps:
            with step_under_way(root, step, *command) as process:
                time.sleep(later_s)
                interrupt(process.pid, whole_group)
                begun = time.monotonic()
                end = ended(process)
            assert (end.status, end.stdout) == (130, ""), (step, end)
            assert end.stderr.splitlines()[-1].startswith("stopped: "), (step, end.stderr)
            assert "Traceback" not in end.stderr
            assert time.monotonic() - begun < 10
            assert processes_about(root) == []
        assert run(*command, "--json").json()["ended_by"] == "empty"
        requests = web.requests()
    assert fetched(root) == pages
    assert max(asked(requests).values()) == 1
    assert closest(requests) >= (DELAY_S - TOLERANCE_S, "")
    assert litter(root) == []


def test_what_came_before_an_interrupt_is_kept(tmp_path: Path) -> None:
    with SimWeb(seed=5, hosts=8, awkward=False, mean_pages=20) as web:
        root = new_crawl(tmp_path / "crawl", web, seeds=sorted(web.reachable(web.seeds())), server_delay=0.1)
        with step_under_way(root, "fetch", "crawl", root) as process:
            wait_for_requests(web, 30)
            interrupt(process.pid, whole_group=False)
            assert ended(process).status == 130
        before = asked(web.requests())
        assert len(before) < len(web.reachable(web.seeds()))
        assert run("fetch", root, "--json").json()["finished"]
        assert max(asked(web.requests()).values()) == 1
    assert fetched(root) == web.reachable(web.seeds())


def test_a_second_interrupt_ends_at_once_and_loses_nothing_that_was_flushed(tmp_path: Path) -> None:
    with SimWeb(seed=5, hosts=12, awkward=["silent"], https=False, mean_pages=6) as web:
        root = new_crawl(
            tmp_path / "crawl",
            web,
            seeds=[*sorted(web.reachable(web.seeds())), "http://silent1.sim.test/x"],
            obey_robots=False,
            read_timeout=60.0,
            total_timeout=60.0,
        )
        with step_under_way(root, "fetch", "crawl", root, "--rounds", 1) as process:
            wait_for_requests(web, 20)
            time.sleep(0.5)
            interrupt(process.pid, whole_group=True)
            time.sleep(0.5)
            assert process.poll() is None, "the silent host holds the first one up"
            begun = time.monotonic()
            interrupt(process.pid, whole_group=True)
            assert ended(process).status == 130
            assert time.monotonic() - begun < 2
        assert processes_about(root) == []
        end = run("fetch", root, "--set", "fetcher.read_timeout=0.5", "--json").json()
        assert end["finished"] and end["outcomes"]["timeout"] == 1
        counts = asked(web.requests())
        assert counts.pop("http://silent1.sim.test/x") == 2, "it was in flight"
        assert set(counts.values()) == {1}


def wait_for_requests(web: SimWeb, number: int) -> None:
    deadline = time.monotonic() + 30
    while len(web.requests()) < number:
        assert time.monotonic() < deadline, f"only {len(web.requests())} requests came"
        time.sleep(0.01)
