"""inject of many URLs into an empty crawl, and of the same again, beside what its parts cost at least.

    uv run python benchmarks/inject.py                       1 M URLs on 100 k hosts
    uv run python benchmarks/inject.py --urls 10e6 --hosts 1e6
    uv run python benchmarks/inject.py --urls 50e3           a quick look

The seeds are made by this script, hosts interleaved, every tenth with metadata. The bare side resolves every line
by the URL Standard in one process and has DuckDB write the lines as one Parquet file: no filters, no places, no
table. Each side runs in a process of its own; the peak is that of the process and its workers together.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

SIDES = ("bare", "inject", "inject again")


def make(path: Path, urls: int, hosts: int) -> None:
    """Seeds as they come from other crawlers: URL i lies on host 7919·i mod hosts."""
    with path.open("w", encoding="utf-8") as file:
        for i in range(urls):
            host = (i * 7919) % hosts
            more = f"\tscore={i % 7}.5\tlist=news{i % 3}" if i % 10 == 0 else ""
            file.write(
                f"https://www.site{host}.example{host % 1000}.com/path/{i % 97}/page-{i}.html?id={i}{more}\n"
            )


def bare(seeds: Path, work: Path) -> None:
    import duckdb

    from pinyon.urls import resolve

    with seeds.open(encoding="utf-8") as file:
        for line in file:
            resolve(line.partition("\t")[0])
    columns = "columns={'line': 'VARCHAR'}, delim='\\0', quote='', escape='', header=false"
    duckdb.sql(f"COPY (FROM read_csv('{seeds}', {columns})) TO '{work}/bare.parquet' (COMPRESSION zstd)")


def inject(seeds: Path, work: Path) -> None:
    from pinyon.crawl import Crawl
    from pinyon.cycle.inject import inject as run

    with Crawl.open(work / "crawl") as crawl:
        print(run(crawl, [seeds], mode="update"))


def measured(side: str, seeds: Path, work: Path) -> tuple[float, float, str]:
    """Wall seconds, peak resident MB of the process and its children together, and what it printed."""
    begun = time.perf_counter()
    command = [sys.executable, __file__, "--run", side, "--seeds", str(seeds), "--work", str(work)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    peak = 0.0
    while process.poll() is None:
        peak = max(peak, sum(map(resident_mb, [process.pid, *children(process.pid)])))
        time.sleep(0.02)
    seconds = time.perf_counter() - begun
    output = process.stdout.read() if process.stdout else ""
    if process.returncode:
        raise SystemExit(f"{side} failed with status {process.returncode}")
    return seconds, peak, output.strip()


def children(pid: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def resident_mb(pid: int) -> float:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def compare(urls: int, hosts: int) -> None:
    from pinyon.crawl import Crawl

    print(f"{datetime.now(UTC):%Y-%m-%d}, {platform.machine()}, {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory(prefix="pinyon-inject-") as folder:
        work = Path(folder)
        make(work / "seeds.txt", urls, hosts)
        Crawl.create(work / "crawl", expect_urls=urls).close()
        size = (work / "seeds.txt").stat().st_size / 1e6
        print(f"{urls:,} URLs on {hosts:,} hosts, {size:,.0f} MB of text")
        for side in SIDES:
            seconds, peak, output = measured(side, work / "seeds.txt", work)
            print(
                f"{side:<13} {seconds:7.2f} s, {urls / seconds:10,.0f} URLs/s, {peak:5.0f} MB resident at most"
            )
            if output:
                print(f"{'':<13} {output}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--urls", type=float, default=1e6)
    parser.add_argument("--hosts", type=float, default=0, help="a tenth of the URLs unless given")
    parser.add_argument("--run", choices=SIDES, help=argparse.SUPPRESS)
    parser.add_argument("--seeds", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--work", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        (bare if options.run == "bare" else inject)(options.seeds, options.work)
    else:
        compare(int(options.urls), int(options.hosts or options.urls / 10))


if __name__ == "__main__":
    main()
