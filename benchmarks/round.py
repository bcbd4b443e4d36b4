"""inject, generate and updatedb of many URLs: the steps of a round that are tables alone, without a network.

    uv run python benchmarks/round.py                       1 M URLs on 100 k hosts
    uv run python benchmarks/round.py --urls 100e3

Every URL is generated. What fetch and parse would have left of it (a page that was fetched, a document, a link to a
URL that is not known yet) is written by this script between generate and updatedb, and not timed. Each step runs as
a process of its own; the peak is that of the process and its workers together.
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

from inject import children, make, resident_mb

_GIVEN = {
    "pages": {
        "outcome": "'success'",
        "http_status": "CAST(200 AS SMALLINT)",
        "fetch_time": "generate_time + to_seconds(60)",
        "duration_ms": "25",
        "content_type": "'text/html'",
        "length": "CAST(20000 AS BIGINT)",
    },
    "docs": {
        "parse_status": "'parsed'",
        "signature": "CAST(md5(url) AS BLOB)",
        "noindex": "false",
        "nofollow": "false",
        "outlinks": "1",
        "outlinks_dropped": "0",
        "feeds": "CAST([] AS VARCHAR[])",
    },
    "links": {
        "from_url": "url",
        "to_url": "concat(url, '&next=1')",
        "url_key": "CAST(hash(url) >> 1 AS BIGINT)",
        "anchor": "'next'",
        "rel": "''",
        "from_host": "host",
        "from_domain": "domain",
        "from_score": "score",
        "from_depth": "depth",
        "from_outlinks": "1",
        "from_first": "true",
        "from_metadata": "metadata",
    },
}


def step(name: str, work: Path) -> None:
    from pinyon import Crawl, generate, inject, updatedb

    with Crawl.open(work / "crawl") as crawl:
        if name == "inject":
            inject(crawl, [work / "seeds.txt"])
        elif name == "generate":
            generate(crawl)
        else:
            updatedb(crawl)


def fetched_and_parsed(work: Path) -> None:
    """Writes what fetch and parse would have left, from the fetch list itself."""
    from pinyon import Crawl
    from pinyon.jobs import Files
    from pinyon.tables import DOCS, FETCHLIST, HOST_FACTS, LINKS, PAGES

    with Crawl.open(work / "crawl", engine__memory_limit_mb=2000) as crawl:
        [segment] = crawl.segments
        crawl.engine.bind({"fetchlist": Files.of(FETCHLIST, segment.files("fetchlist"))})
        for spec in (PAGES, DOCS, LINKS):
            given = _GIVEN[spec.name]
            taken = {c.name for c in FETCHLIST.columns} - {"fetch_time", "etag", "last_modified"}
            columns = ", ".join(
                f"{given.get(c.name) or (c.name if c.name in taken else f'CAST(NULL AS {c.type})')} AS {c.name}"
                for c in spec.columns
            )
            crawl.engine.write(
                f"SELECT {columns} FROM fetchlist ORDER BY bucket",
                segment.folder(spec.name) / "part-00000.parquet",
            )
        crawl.engine.write(HOST_FACTS.empty_sql(), segment.folder("hosts") / "part-00000.parquet")
        segment.advance("parsed")


def measured(name: str, work: Path) -> tuple[float, float]:
    begun, peak = time.perf_counter(), 0.0
    process = subprocess.Popen([sys.executable, __file__, "--run", name, "--work", str(work)])
    while process.poll() is None:
        peak = max(peak, sum(map(resident_mb, [process.pid, *children(process.pid)])))
        time.sleep(0.02)
    if process.returncode:
        raise SystemExit(f"{name} failed with status {process.returncode}")
    return time.perf_counter() - begun, peak


def compare(urls: int) -> None:
    from pinyon import Crawl

    print(f"{datetime.now(UTC):%Y-%m-%d}, {platform.machine()}, {os.cpu_count()} cores, {urls:,} URLs")
    with tempfile.TemporaryDirectory(prefix="pinyon-round-") as folder:
        work = Path(folder)
        make(work / "seeds.txt", urls, urls // 10)
        Crawl.create(work / "crawl").close()
        total = 0.0
        for name in ("inject", "generate", "updatedb"):
            if name == "updatedb":
                fetched_and_parsed(work)
            seconds, peak = measured(name, work)
            total += seconds
            print(f"{name:<10} {seconds:7.2f} s, {peak:5.0f} MB resident at most")
        print(f"{'together':<10} {total:7.2f} s")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--urls", type=float, default=1e6)
    parser.add_argument("--run", help=argparse.SUPPRESS)
    parser.add_argument("--work", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        step(options.run, options.work)
    else:
        compare(int(options.urls))


if __name__ == "__main__":
    main()
