"""A whole crawl of real pages, beside Scrapy doing less.

    uv run --group bench python benchmarks/crawl.py                    three rounds of each side
    uv run --group bench python benchmarks/crawl.py --rounds 5
    uv run --group bench python benchmarks/crawl.py --only pinyon --set engine.threads=1

All crawl Debian's documentation (see `tests/support/docweb.py` for the packages) from the same nginx in the same run,
in turns: robots.txt obeyed, no delay, 100 connections.

- pinyon: `pinyon crawl --until-empty --fetchers 2`, from the start of the command to its end: rounds of generate, fetch
  (WARC written), parse (links, main text), updatedb and updatehostdb. What `init` and `inject` take is not counted.
  The tables have one bucket, as befits a few thousand URLs.
- pinyon, all text: the same, with the whole text of each page kept instead of its main text, which takes as long to
  find as everything else about a page.
- Scrapy (`scrapy_links.py`): one process that fetches and extracts links; nothing is stored, nothing can be resumed.

Pages are those that nginx answered with 200, from its log. The peak is that of the whole process tree: memory that its
processes share counted once, and in brackets counted in each of them.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from pinyon.settings import NOT_PAGES
from support import docweb
from support.docweb import DocWeb

HERE = Path(__file__).resolve().parent
SIDES = {"pinyon": ["parse.text=main"], "pinyon, all text": ["parse.text=all"], "Scrapy": []}
_LOOK_S = 0.1
SETTINGS = """\
[fetcher]
agent_contact = "https://example.org/benchmark"
server_delay = 0.0
connections = 50                # of each of two fetchers
connections_per_host = 50
allow_addresses = ["127.0.0.0/8"]
min_free_disk = 0
[db]
ignore_external = true
"""


@dataclass(frozen=True, slots=True)
class Run:
    """One crawl: wall and processor seconds, pages by nginx's log, peak memory of all its processes."""

    seconds: float
    cpu_s: float
    pages: float
    peak_mb: float
    peak_rss_mb: float

    @property
    def pages_s(self) -> float:
        return self.pages / self.seconds


def crawl(side: str, web: DocWeb, work: Path, options: argparse.Namespace) -> Run:
    seeds = work / "seeds.txt"
    seeds.write_text("\n".join(web.seeds()))
    if side == "Scrapy":
        command = [options.scrapy_python, str(HERE / "scrapy_links.py"), str(seeds), " ".join(NOT_PAGES)]
    else:
        sets = [f"--set={text}" for text in (*SIDES[side], *options.set)]
        command = _pinyon("crawl", work / "crawl", "--until-empty", "--fetchers", "2", "-q", *sets)
        _prepare(work / "crawl", seeds)
    web.forget()
    seconds, cpu_s, peak_mb, peak_rss_mb = measured(command)
    pages = sum(1 for hit in web.hits() if hit.status == 200 and not hit.url.endswith("/robots.txt"))
    return Run(seconds, cpu_s, pages, peak_mb, peak_rss_mb)


def _pinyon(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "pinyon", *map(str, arguments)]


def _prepare(crawl_dir: Path, seeds: Path) -> None:
    subprocess.run(
        _pinyon("init", crawl_dir, "-q", "--set=store.buckets=1"), check=True, stdout=subprocess.DEVNULL
    )
    (crawl_dir / "pinyon.toml").write_text(SETTINGS)
    subprocess.run(_pinyon("inject", crawl_dir, seeds, "-q"), check=True, stdout=subprocess.DEVNULL)


def measured(command: Sequence[str]) -> tuple[float, float, float, float]:
    """Wall seconds, processor seconds and peak megabytes (shared memory once, and in each) of a process tree."""
    before, begun = os.times(), time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    peak = peak_rss = 0
    while process.poll() is None:
        found = [memory_kb(pid) for pid in tree(process.pid)]
        peak = max(peak, sum(pss for pss, _ in found))
        peak_rss = max(peak_rss, sum(rss for _, rss in found))
        time.sleep(_LOOK_S)
    seconds, after = time.perf_counter() - begun, os.times()
    if process.returncode:
        raise SystemExit(f"{' '.join(command)}: ended with status {process.returncode}")
    cpu_s = after.children_user + after.children_system - before.children_user - before.children_system
    return seconds, cpu_s, peak / 1024, peak_rss / 1024


def tree(pid: int) -> list[int]:
    """A process and all below it."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [pid, *(below for child in children for below in tree(int(child)))]


def memory_kb(pid: int) -> tuple[int, int]:
    """Its share of memory (PSS) and all that is resident (RSS)."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0, 0
    kb = {line.split(":")[0]: int(line.split()[1]) for line in text.splitlines() if line.endswith("kB")}
    return kb.get("Pss", 0), kb.get("Rss", 0)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=SIDES, help="one side alone, for profiling")
    parser.add_argument("--set", action="append", default=[], metavar="SECTION.NAME=VALUE", help="for pinyon")
    parser.add_argument("--scrapy-python", default=sys.executable, help="a Python that has Scrapy and uvloop")
    options = parser.parse_args()
    if (reason := docweb.missing()) is not None:
        raise SystemExit(reason)

    sides = [options.only] if options.only else list(SIDES)
    runs: dict[str, list[Run]] = {side: [] for side in sides}
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    with tempfile.TemporaryDirectory(prefix="pinyon-bench-") as folder, DocWeb(Path(folder) / "web") as web:
        print(f"{web.html_files():,} HTML files on {len(web.hosts)} hosts")
        for number in range(options.rounds):
            for side in sides if number % 2 == 0 else reversed(sides):
                work = Path(folder) / f"{side}-{number}"
                work.mkdir()
                run = crawl(side, web, work, options)
                runs[side].append(run)
                print(f"{number + 1}. {_line(side, run)}", flush=True)
    _summary(runs)


def _line(side: str, run: Run) -> str:
    return (
        f"{side:16} {run.pages_s:5.0f} pages/s   {run.pages:,.0f} pages in {run.seconds:.2f} s, "
        f"{run.cpu_s:.2f} s of processor time, {run.peak_mb:.0f} MB ({run.peak_rss_mb:.0f})"
    )


def _summary(runs: dict[str, list[Run]]) -> None:
    medians = {
        side: Run(*(statistics.median(getattr(run, name) for run in done) for name in Run.__slots__))
        for side, done in runs.items()
    }
    print("medians")
    for side, run in medians.items():
        print(f"   {_line(side, run)}")
    scrapy = medians.pop("Scrapy", None)
    for side, run in medians.items() if scrapy is not None else ():
        print(f"   {side} / Scrapy: {run.pages_s / scrapy.pages_s:.2f} in pages/s")


if __name__ == "__main__":
    main()
