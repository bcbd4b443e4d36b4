"""Crawls of a simulated web for tests: made here, run by the real command line in processes of their own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pinyon.crawl import Crawl
from pinyon.cycle.inject import inject
from pinyon.jobs import Files
from pinyon.simweb import Request, SimWeb
from pinyon.tables import CRAWLDB, PAGES, TableSpec

#: Between requests to one host, unless a test says otherwise.
DELAY_S = 0.05
#: A log tells when a head was complete, the promise is about when a request began: they differ by scheduling.
TOLERANCE_S = 0.005


def new_crawl(
    root: Path,
    web: SimWeb,
    seeds: Iterable[str] | None = None,
    sections: Mapping[str, Mapping[str, Any]] | None = None,
    **fetcher: Any,
) -> Path:
    """A crawl directory whose fetchers find the simulated web and nothing else. `fetcher` are settings of that section,
    `sections` those of others."""
    Crawl.create(root, store__buckets=4)
    web.write_connect_to(root / "connect-to.txt")
    settings = {
        "server_delay": DELAY_S,
        "max_crawl_delay": 10.0,
        "connect_timeout": 1.0,
        "read_timeout": 1.0,
        "total_timeout": 2.0,
        "allow_addresses": ["127.0.0.0/8"],
        "connect_to_file": "connect-to.txt",
        "min_free_disk": 0,
    }
    if web.ca_file is not None:
        (root / "ca.pem").write_bytes(web.ca_file.read_bytes())
        settings["ca_file"] = "ca.pem"
    configure(root, {**(sections or {}), "fetcher": settings | fetcher})
    with Crawl.open(root) as crawl:
        (root / "seeds.txt").write_text("".join(f"{url}\n" for url in seeds or web.seeds()))
        inject(crawl, [root / "seeds.txt"])
    return root


def configure(root: Path, sections: Mapping[str, Mapping[str, Any]]) -> None:
    """Writes pinyon.toml anew. Values are written as JSON, which TOML reads alike but for objects."""
    lines = []
    for section, values in sections.items():
        lines += [f"[{section}]", *(f"{name} = {json.dumps(value)}" for name, value in values.items())]
    (root / "pinyon.toml").write_text("\n".join(lines) + "\n")


# -- the command line -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended."""

    status: int
    stdout: str
    stderr: str

    def json(self) -> dict[str, Any]:
        assert self.status == 0, self.stderr
        return dict(json.loads(self.stdout))


def start(*arguments: object, preexec_fn: Callable[[], None] | None = None) -> subprocess.Popen[str]:
    """A command, in a process group of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "pinyon", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
        preexec_fn=preexec_fn,
    )


def ended(process: subprocess.Popen[str], timeout_s: float = 60) -> Ended:
    try:
        stdout, stderr = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        raise
    return Ended(process.returncode, stdout, stderr)


def run(*arguments: object, timeout_s: float = 60) -> Ended:
    return ended(start(*arguments), timeout_s)


@contextmanager
def step_under_way(root: Path, step: str, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    """The command, at the moment at which it holds the lock for `step`."""
    process = start(*arguments)
    try:
        deadline = time.monotonic() + 60
        while not writes(root, process.pid, step):
            assert process.poll() is None, f"ended before {step}: {process.communicate()}"
            assert time.monotonic() < deadline, f"{step} did not begin"
            time.sleep(0.002)
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, 9)
        process.communicate()


def writes(root: Path, pid: int, step: str) -> bool:
    """Whether this process holds the lock for that step."""
    try:
        holder = json.loads((root / ".writer.json").read_text())
    except (OSError, ValueError):
        return False
    return bool(holder["pid"] == pid and holder["command"] == f"pinyon {step}")


def processes_about(root: Path) -> list[int]:
    """Living processes that have a file of this crawl open or are told of it: writers and their workers. Without
    /proc nobody is found."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        if int(entry.name) != os.getpid() and _is_about(entry, str(root)):
            found.append(int(entry.name))
    return found


def _is_about(entry: Path, root: str) -> bool:
    try:
        if " Z " in (entry / "stat").read_text():
            return False
        if root in (entry / "cmdline").read_text():
            return True
        return any(str(fd.readlink()).startswith(root) for fd in (entry / "fd").iterdir())
    except OSError:
        return False


# -- what came of it ------------------------------------------------------------------------------------------


def rows(root: Path, spec: TableSpec, sql: str) -> list[dict[str, Any]]:
    """A query over one table: the crawldb, or a table of all segments, called `t`."""
    with Crawl.open(root) as crawl:
        if spec is CRAWLDB:
            paths = crawl.store.current(CRAWLDB).paths()
        else:
            paths = [path for segment in crawl.segments for path in segment.files(spec.name)]
        crawl.engine.bind({"t": Files.of(spec, paths)})
        return crawl.engine.rows(sql)


def fetched(root: Path) -> set[str]:
    """URLs that were answered with an HTML page, by the page tables of all segments."""
    sql = "SELECT url FROM t WHERE http_status = 200 AND contains(content_type, 'html')"
    return {row["url"] for row in rows(root, PAGES, sql)}


def asked(requests: Iterable[Request]) -> Counter[str]:
    """How often each URL was requested, robots.txt left out."""
    return Counter(request.url for request in requests if request.path != "/robots.txt")


def closest(requests: Iterable[Request]) -> tuple[float, str]:
    """Seconds between the two requests to one host that came closest, and that host."""
    last: dict[str, float] = {}
    shortest, where = float("inf"), ""
    for request in sorted(requests):
        host = re.sub(r":\d+$", "", request.host).lower()
        if host in last and request.at_s - last[host] < shortest:
            shortest, where = request.at_s - last[host], host
        last[host] = request.at_s
    return shortest, where


def litter(root: Path) -> list[str]:
    """Files that no step should leave behind."""
    unwanted = (".tmp/*", "segments/.*", "segments/*/.*", "segments/*/*/.*", "segments/*/*/*.jsonl")
    found = [path for pattern in unwanted for path in root.glob(pattern)]
    found += [*root.glob("segments/*/*/*.progress*"), *root.glob("segments/*/*/*.lock")]
    with Crawl.open(root) as crawl:
        kept = {
            str(crawl.store.path(spec) / file.path)
            for spec in (CRAWLDB,)
            for entry in crawl.store.history(spec, crawl.settings.store.keep_versions)
            for files in crawl.store.current(spec, entry["version"]).files.values()
            for file in files
        }
    found += [path for path in root.glob("crawldb/bucket=*/*") if str(path) not in kept]
    return sorted(str(path.relative_to(root)) for path in found if path.is_file() or any(path.iterdir()))
