"""generate on a crawl of many URLs, beside a bare scan that reads and sums the same columns.

    uv run python benchmarks/generate.py                                  20 M URLs, 1 M hosts, topN 1 M
    uv run python benchmarks/generate.py --urls 100e6 --hosts 5e6 --memory 2000
    uv run python benchmarks/generate.py --scale 0.05                     a quick look

The data is made once by this script (hosts by a power law, a bit less than half of the URLs due, every tenth host
failing) and kept in --data. Each side runs in a process of its own, in turn; medians and the ratio are printed.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

NOW = datetime(2026, 11, 30, tzinfo=UTC)
LIMIT = "connectionFailures > 100 ? 10 : 1000"
DELAY = "connectionFailures > 50 ? 5000 : 1000"
#: What generate reads of every row to judge it.
COLUMNS = (
    "url_key",
    "host",
    "host_key",
    "domain",
    "status",
    "fetch_time",
    "fetch_interval",
    "score",
    "generate_time",
)


def make(data: Path, urls: int, hosts: int, buckets: int | None) -> None:
    """A crawl with that many URLs and hosts. Host i has about 1/i^0.7 of the URLs, at least one."""
    import pyarrow as pa

    from pinyon.crawl import Crawl
    from pinyon.tables import CRAWLDB, HOSTDB
    from pinyon.urls import key_of

    sizes = {"store__buckets": buckets} if buckets else {"expect_urls": urls}
    with Crawl.create(data, engine__memory_limit_mb=2000, **sizes) as crawl:
        weights = [i**-0.7 for i in range(1, hosts + 1)]
        share = (urls - hosts) / sum(weights)
        counts = [1 + round(weight * share) for weight in weights]
        names = [f"www.site{i}.example{i % 1000}.com" for i in range(hosts)]
        keys = [key_of(name) for name in names]
        table = pa.table({"i": list(range(hosts)), "host": names, "host_key": keys, "n": counts})
        crawl.engine.bind({"hosts": table})
        for spec, sql in ((CRAWLDB, _URLS), (HOSTDB, _HOSTS)):
            _write(crawl, spec, sql)


_URLS = """
SELECT concat('https://', host, '/section', k % 97, '/page-', k, '.html') AS url,
    CAST(hash(concat(host, k)) & 9223372036854775807 AS BIGINT) * CASE WHEN hash(k, i) % 2 = 0 THEN 1 ELSE -1 END AS url_key,
    host, host_key, concat('example', i % 1000, '.com') AS domain,
    CASE WHEN hash(i, k, 1) % 3 = 0 THEN 'db_fetched' ELSE 'db_unfetched' END AS status,
    TIMESTAMPTZ '2026-11-30 00:00:00Z' + to_seconds(CAST(hash(i, k, 2) % 2000000 AS INTEGER) - 900000) AS fetch_time,
    2592000 AS fetch_interval, CAST(NULL AS TIMESTAMPTZ) AS last_fetch_time, CAST(NULL AS TIMESTAMPTZ) AS modified_time,
    TIMESTAMPTZ '2026-11-01 00:00:00Z' AS first_seen, CAST(0 AS SMALLINT) AS retries,
    CAST((hash(i, k, 3) % 1000000) / 1000000.0 AS FLOAT) AS score, 1 AS inlinks, CAST(3 AS SMALLINT) AS depth,
    CAST(NULL AS BLOB) AS signature, CAST(NULL AS VARCHAR) AS etag, CAST(NULL AS VARCHAR) AS last_modified,
    CAST(NULL AS TIMESTAMPTZ) AS generate_time, CAST(MAP {} AS MAP(VARCHAR, VARCHAR)) AS metadata
FROM (SELECT *, unnest(range(n)) AS k FROM hosts WHERE host_key & $mask = $bucket)
"""
_HOSTS = """
SELECT host, concat('example', i % 1000, '.com') AS domain, CAST(0 AS FLOAT) AS score, CAST(NULL AS VARCHAR) AS homepage_url,
    CAST(NULL AS VARCHAR) AS ip, CAST(NULL AS TIMESTAMPTZ) AS last_check, CAST(0 AS BIGINT) AS dns_failures,
    CAST(CASE WHEN i % 10 = 3 THEN 120 WHEN i % 10 = 7 THEN 60 ELSE 0 END AS BIGINT) AS connection_failures,
    n AS unfetched, CAST(0 AS BIGINT) AS fetched, CAST(0 AS BIGINT) AS not_modified, CAST(0 AS BIGINT) AS redir_temp,
    CAST(0 AS BIGINT) AS redir_perm, CAST(0 AS BIGINT) AS gone, CAST(0 AS BIGINT) AS duplicate,
    CAST(0 AS BIGINT) AS parse_failed, CAST(0 AS BIGINT) AS robots_denied, CAST(0 AS BIGINT) AS orphan, n AS num_records,
    CAST(NULL AS BIGINT) AS crawl_delay_ms, CAST(NULL AS TIMESTAMPTZ) AS retry_at, CAST(NULL AS BIGINT) AS rt_avg_ms,
    CAST(NULL AS BIGINT) AS rt_p50_ms, CAST(NULL AS BIGINT) AS rt_p75_ms, CAST(NULL AS BIGINT) AS rt_p95_ms,
    CAST(NULL AS BIGINT) AS rt_p99_ms, CAST(NULL AS VARCHAR) AS robots_digest,
    CAST(MAP {} AS MAP(VARCHAR, VARCHAR)) AS metadata
FROM hosts WHERE host_key & $mask = $bucket
"""


def _write(crawl: object, spec: object, sql: str) -> None:
    from pinyon.store import DataFile

    base = crawl.store.current(spec)
    written = []
    for bucket in range(base.buckets):
        filled = sql.replace("$mask", str(base.buckets - 1)).replace("$bucket", str(bucket))
        path = base.root / f"bucket={bucket}" / "part-made.parquet"
        file = crawl.engine.write(filled, path)
        written.append(DataFile(path.relative_to(base.root).as_posix(), bucket, file.rows, file.size_bytes))
    crawl.store.publish(base, written, operation="made by benchmarks/generate.py")


def scan(data: Path, memory: int) -> None:
    """Reads and sums the columns that every row is judged by."""
    from pinyon.crawl import Crawl
    from pinyon.jobs import Files
    from pinyon.tables import CRAWLDB

    sums = ", ".join(
        f"sum(hash({column}) % 7)" if column in ("host", "domain", "status") else f"max({column})"
        for column in COLUMNS
    )
    with Crawl.open(data, engine__memory_limit_mb=memory) as crawl:
        crawl.engine.bind({"crawldb": Files.of(CRAWLDB, crawl.store.current(CRAWLDB).paths())})
        crawl.engine.rows(f"SELECT {sums} FROM crawldb")


def generate(data: Path, memory: int, top_n: int, plan: str, constants: bool) -> None:
    """One generate with limits and delays from expressions (or as constants), then its segment removed."""
    from pinyon.crawl import Crawl
    from pinyon.cycle.generate import generate as run
    from pinyon.jobs import Files
    from pinyon.tables import FETCHLIST

    policy = {"max_count": 1000} if constants else {"max_count_expr": LIMIT, "fetch_delay_expr": DELAY}
    with Crawl.open(data, engine__memory_limit_mb=memory) as crawl:
        report = run(crawl, now=NOW, top_n=top_n, plan=plan, filter=False, seed=1, **policy)
        listed = [crawl.segments[s.name].files("fetchlist") for s in report.segments]
        crawl.engine.bind({"fetchlist": Files.of(FETCHLIST, [path for files in listed for path in files])})
        written = crawl.engine.rows("SELECT count(*) AS n FROM fetchlist")[0]["n"]
        print(json.dumps({"written": written, "rejected": dict(report.rejected)}))
        for segment in report.segments:
            crawl.segments.remove(crawl.segments[segment.name])


def measured(options: argparse.Namespace, side: str) -> tuple[float, float, str]:
    """Wall seconds, peak resident MB and output of one side, as a process of its own."""
    command = [sys.executable, __file__, "--run", side, "--data", str(options.data)]
    command += ["--memory", str(options.memory), "--top-n", str(options.top_n)]
    begun = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    output = process.stdout.read() if process.stdout else ""
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{side} failed with status {status}")
    return time.perf_counter() - begun, usage.ru_maxrss / 1024, output.strip()


def compare(options: argparse.Namespace) -> None:
    sides = ["scan", *options.sides]
    times: dict[str, list[float]] = {side: [] for side in sides}
    peaks: dict[str, list[float]] = {side: [] for side in sides}
    told: dict[str, str] = {}
    for _ in range(options.runs):
        for side in sides:
            seconds, megabytes, output = measured(options, side)
            times[side].append(seconds)
            peaks[side].append(megabytes)
            told[side] = output
    base = statistics.median(times["scan"])
    print(
        f"{datetime.now(UTC):%Y-%m-%d}, {platform.machine()}, {os.cpu_count()} cores, {options.runs} runs in turn"
    )
    print(
        f"{int(options.urls):,} URLs, {int(options.hosts):,} hosts, topN {options.top_n:,}, {options.memory} MB for the engine"
    )
    for side in sides:
        seconds = statistics.median(times[side])
        spread = f"{min(times[side]):.2f} to {max(times[side]):.2f}"
        print(
            f"{side:<26} {seconds:7.2f} s ({spread}), {seconds / base:5.1f} x the scan, {max(peaks[side]):6.0f} MB resident"
        )
        if told[side]:
            print(f"{'':<26} {told[side]}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--urls", type=float, default=20e6)
    parser.add_argument("--hosts", type=float, default=1e6)
    parser.add_argument("--top-n", type=int, default=1_000_000)
    parser.add_argument("--memory", type=int, default=512, help="MB for the engine")
    parser.add_argument("--buckets", type=int, help="instead of those that init --expect gives")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--scale", type=float, default=1.0, help="of URLs, hosts and topN")
    parser.add_argument("--sides", nargs="+", default=["join", "secondary-sort", "constants"])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--run", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.urls, options.hosts = options.urls * options.scale, options.hosts * options.scale
    if options.run == "scan":
        scan(options.data, options.memory)
    elif options.run:
        plan = "join" if options.run == "constants" else options.run
        generate(options.data, options.memory, options.top_n, plan, options.run == "constants")
    else:
        options.top_n = int(options.top_n * options.scale)
        options.data = (
            options.data or Path("/tmp") / f"pinyon-generate-{int(options.urls)}-{int(options.hosts)}"
        )
        if not (options.data / "crawldb").exists():
            shutil.rmtree(options.data, ignore_errors=True)
            make(options.data, int(options.urls), int(options.hosts), options.buckets)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        compare(options)


if __name__ == "__main__":
    main()
