"""SIGKILL at random moments: whatever is left, the next run finishes the crawl, and nobody is asked too soon."""

from __future__ import annotations

import os
import random
import signal
import time
from pathlib import Path

import pytest

from pinyon.crawl import Crawl
from pinyon.simweb import SimWeb
from pinyon.tables import CRAWLDB, HOSTDB
from support.crawls import (
    TOLERANCE_S,
    asked,
    closest,
    fetched,
    litter,
    new_crawl,
    processes_about,
    rows,
    run,
    start,
    writes,
)

KILLS = 20
HOSTS = 16
STEPS = ("generate", "fetch", "fetch", "parse", "updatedb", "updatehostdb")
DELAY_S = 0.1
#: What came in the last quarter of a second is not flushed yet, and one request to each host may be under way.
LOST_A_KILL = HOSTS * (1 + 0.3 / DELAY_S)


@pytest.mark.slow
def test_a_crawl_killed_twenty_times_loses_nothing(tmp_path: Path) -> None:
    dice = random.Random(20)
    kills = crawls = 0
    while kills < KILLS:
        crawls += 1
        with SimWeb(seed=40 + crawls, hosts=HOSTS, awkward=False, mean_pages=8) as web:
            root = new_crawl(tmp_path / f"crawl-{crawls}", web, server_delay=DELAY_S)
            before = kills
            while kills < KILLS and kill_at_a_random_moment(root, dice):
                kills += 1
                assert_tables_are_whole(root)
            assert run("crawl", root, "--until-empty").status in (0, 3)
            requests = web.requests()
        assert fetched(root) == web.reachable(web.seeds())
        assert closest(requests) >= (DELAY_S - TOLERANCE_S, "")
        twice = sum(number - 1 for number in asked(requests).values())
        assert twice <= (kills - before) * LOST_A_KILL
        assert litter(root) == []
        assert processes_about(root) == []


def kill_at_a_random_moment(root: Path, dice: random.Random) -> bool:
    """Kills a crawl: all of it, or the parent alone, whose workers must end by themselves; False if it was done."""
    process = start("crawl", root, "--until-empty", "--fetchers", 2)
    step, later_s = dice.choice(STEPS), dice.random() ** 2
    deadline = time.monotonic() + 10
    while process.poll() is None and not writes(root, process.pid, step) and time.monotonic() < deadline:
        time.sleep(0.002)
    time.sleep(later_s)
    if process.poll() is not None:
        assert process.returncode in (0, 3), process.communicate()
        process.communicate()
        return False
    if dice.random() < 0.5:
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
        if dice.random() < 0.5:  # otherwise the next run begins beside whatever is still there
            assert_orphans_end(root)
    process.communicate()
    return True


def assert_orphans_end(root: Path) -> None:
    deadline = time.monotonic() + 3
    while left := processes_about(root):
        assert time.monotonic() < deadline, f"workers live on: {left}"
        time.sleep(0.02)


def assert_tables_are_whole(root: Path) -> None:
    """The published version of each table has all the rows its log says."""
    with Crawl.open(root) as crawl:
        for spec in (CRAWLDB, HOSTDB):
            published = crawl.store.current(spec)
            assert all(Path(path).is_file() for path in published.paths())
    [counted] = rows(root, CRAWLDB, "SELECT count(*) AS n, count(DISTINCT url) AS urls FROM t")
    assert counted["n"] == counted["urls"] > 0
