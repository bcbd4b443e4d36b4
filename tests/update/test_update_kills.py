"""kill -9 at random moments: the old table or the new one, never a mix, and no litter after the next run."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from update_crawls import DAY, T, doc, host_facts, link, new_crawl, page, put, put_segment, url_row
from update_forks import Forks

from pinyon.crawl import Crawl
from pinyon.tables import CRAWLDB, HOSTDB, TableSpec

NAME = "20260301000000"
KILLS = 10


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    with Forks() as forks:
        yield forks


@pytest.fixture
def template(tmp_path: Path) -> Path:
    """A crawl with a segment that waits for both steps."""
    urls = [f"http://h{n % 20}.test/{n}" for n in range(60)]
    root = tmp_path / "template"
    with new_crawl(root, buckets=2) as crawl:
        put(crawl, CRAWLDB, [url_row(url, score=n) for n, url in enumerate(urls[:50])])
        put_segment(
            crawl,
            NAME,
            pages=[page(url, duration_ms=5, http_status=200) for url in urls[:30]],
            docs=[doc(url) for url in urls[:30]],
            links=[link(urls[n], urls[-n - 1], from_outlinks=2) for n in range(30)],
            hosts=[host_facts(f"h{n}.test", dns_failures=n) for n in range(20)],
        )
    return root


@pytest.mark.parametrize(("step", "spec"), [("updatedb", CRAWLDB), ("updatehostdb", HOSTDB)])
def test_a_step_killed_at_any_moment_leaves_the_old_table_or_the_new_one(
    forks: Forks, template: Path, tmp_path: Path, step: str, spec: TableSpec
) -> None:
    done = tmp_path / "done"
    shutil.copytree(template, done)
    old = state(done, spec)
    took_s = run(forks, step, done)
    new = state(done, spec)
    assert old["applied"] is False and new["applied"] is True
    dice = random.Random(step)
    met = set()
    for kill in range(KILLS):
        root = tmp_path / f"kill-{kill}"
        shutil.copytree(template, root)
        pause_s = dice.uniform(0, 1.1 * took_s)
        run(forks, step, root, kill_after_s=pause_s)
        left = state(root, spec)
        assert left in (old, new), f"killed after {pause_s:.3f} s"
        met.add(left["applied"])
        run(forks, step, root, fails=left["applied"] and step == "updatedb")
        assert state(root, spec) == new, f"run again after a kill at {pause_s:.3f} s"
        assert litter(root) == []
        shutil.rmtree(root)
    assert False in met


def run(
    forks: Forks, step: str, root: Path, *, kill_after_s: float | None = None, fails: bool = False
) -> float:
    """Seconds until the step ended; with nothing left to apply, updatedb ends with an error."""
    begun = time.monotonic()
    child = forks.start(step, root, T + DAY)
    if kill_after_s is not None:
        time.sleep(kill_after_s)
        with_luck(child)
    status = forks.wait()
    assert status in ((0, -signal.SIGKILL) if kill_after_s is not None else (int(fails),))
    return time.monotonic() - begun


def with_luck(child: int) -> None:
    """It may have ended before: the process that started it is there until it is told so."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)


def state(root: Path, spec: TableSpec) -> dict[str, Any]:
    store = Crawl.open(root).store
    key = spec.columns[0].name
    rows = [row for path in store.current(spec).paths() for row in pq.ParquetFile(path).read().to_pylist()]
    return {"rows": sorted(rows, key=lambda row: row[key]), "applied": store.applied(spec, [NAME]) == {NAME}}


def litter(root: Path) -> list[str]:
    """Files that belong to no kept version, and what a step leaves while it runs."""
    store = Crawl.open(root).store
    kept = {
        path
        for spec in (CRAWLDB, HOSTDB)
        for version in store.kept(spec)
        for path in store.current(spec, version).paths()
    }
    found = {str(path) for path in root.glob("*/bucket=*/*")}
    rest = [path for path in (root / ".tmp").rglob("*") if path.is_file()]
    return sorted(found - kept) + [str(path) for path in rest]
