"""updatedb beside the least it could be: reading the crawldb and writing it as it is.

    uv run --group bench python benchmarks/update.py                 a twentieth: 1 M URLs, 50 k fetched, 1 M links
    uv run --group bench python benchmarks/update.py --scale 1       20 M URLs, 1 M fetched, 20 M links
    uv run --group bench python benchmarks/update.py --scale 0 --in-a-row 100

One crawl directory is made, of a million hosts at full scale whose sizes fall off as on the web; a third of the
targets of links are new. Then, each in a process of its own, with the same memory limit and threads:

- rewrite: DuckDB reads each bucket's file and writes it again, unchanged;
- updatedb: one segment applied;
- updatehostdb: all hosts counted anew, the facts of the segment merged;
- in a row: as many updates, one after another in one process, on a million rows: memory after each tenth of them.

The peak is the resident memory of that process. Data is made by DuckDB, with its own hash instead of ours: the jobs
only compare keys.
"""

from __future__ import annotations

import argparse
import multiprocessing
import tempfile
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from pinyon.crawl import Crawl
from pinyon.cycle.updatedb import updatedb
from pinyon.cycle.updatehostdb import updatehostdb
from pinyon.store import DataFile
from pinyon.tables import CRAWLDB, DOCS, FETCHLIST, HOST_FACTS, LINKS, PAGES, TableSpec

URLS, FETCHED, LINKS_OF_A_PAGE = 20_000_000, 1_000_000, 20
PAGES_OF_A_CHUNK = 1_500
CHUNKS_AT_ONCE = 20
NOW = "TIMESTAMPTZ '2026-11-30 00:00:00+00'"


@dataclass(frozen=True, slots=True)
class Measured:
    """What one process took, wall clock and processors; `told` is what it had to say."""

    seconds: float
    cpu_s: float
    peak_mb: float
    told: str


# -- the data -------------------------------------------------------------------------------------------------

#: Row number → URL. Sizes of hosts fall off: the first host has a thousandth of all URLs.
HOST = "concat('www.host', CAST(floor({hosts} * power((hash({i}) % 1000003) / 1000003.0, 2.2)) AS BIGINT), '.com')"
PLACED = """
SELECT *, CAST(hash(url) >> 1 AS BIGINT) AS url_key, CAST(hash(host) >> 1 AS BIGINT) AS host_key,
    CAST((hash(host) >> 1) & {mask} AS INTEGER) AS bucket, substr(host, 5) AS domain
FROM (
    SELECT *, concat('https://', host, '/section/', CAST({i} % 97 AS VARCHAR), '/page-', CAST({i} AS VARCHAR), '.html')
        AS url
    FROM (SELECT *, {host} AS host FROM {source})
)
"""


class Data:
    """Makes tables of a crawl directory, by DuckDB."""

    def __init__(self, root: Path, scale: float, buckets: int) -> None:
        self.root, self.buckets = root, buckets
        self.urls, self.fetched = max(int(URLS * scale), 20_000), max(int(FETCHED * scale), 1_000)
        self.hosts = max(self.urls // 20, 10)
        self.db = duckdb.connect(config={"memory_limit": "2GB", "temp_directory": str(root / "duckdb")})
        self.db.execute("SET TimeZone = 'UTC'")
        self.db.execute("SET preserve_insertion_order = false")

    def placed(self, source: str, i: str) -> str:
        host = HOST.format(hosts=self.hosts, i=i)
        return PLACED.format(mask=self.buckets - 1, i=i, host=host, source=source)

    def crawldb(self, crawl: Crawl) -> None:
        base = crawl.store.current(CRAWLDB)
        rows = f"""
            SELECT p.* EXCLUDE (i), CASE WHEN i % 3 = 0 THEN 'db_unfetched' ELSE 'db_fetched' END AS status,
                {NOW} + to_seconds(CAST(i % 2592000 AS INTEGER)) - to_days(15) AS fetch_time,
                CAST(2592000 AS INTEGER) AS fetch_interval,
                CASE WHEN i % 3 <> 0 THEN {NOW} - to_days(20) END AS last_fetch_time,
                CASE WHEN i % 3 <> 0 THEN {NOW} - to_days(40) END AS modified_time,
                {NOW} - to_days(90) AS first_seen, CAST(0 AS SMALLINT) AS retries,
                CAST(1.0 / (1 + i % 1000) AS FLOAT) AS score, CAST(i % 50 AS INTEGER) AS inlinks,
                CAST(i % 9 AS SMALLINT) AS depth,
                CASE WHEN i % 3 <> 0 THEN unhex(md5(CAST(i AS VARCHAR))) END AS signature,
                CASE WHEN i % 6 = 1 THEN concat('"', md5(CAST(i AS VARCHAR)), '"') END AS etag,
                CAST(NULL AS VARCHAR) AS last_modified, CAST(NULL AS TIMESTAMPTZ) AS generate_time,
                MAP {{'seed': CAST(i % 1000 AS VARCHAR)}} AS metadata
            FROM ({self.placed(f"range({self.urls}) AS t(i)", "i")}) AS p
        """
        self.db.execute(f"CREATE TEMP TABLE rows AS {rows}")
        columns = ", ".join(name for name in CRAWLDB.names if name != "bucket")
        files = []
        for bucket in range(self.buckets):
            path = base.root / f"bucket={bucket}" / f"part-{uuid.uuid4().hex}.parquet"
            count = self.copy(f"SELECT {columns} FROM rows WHERE bucket = {bucket}", path)
            name = path.relative_to(base.root).as_posix()
            files.append(DataFile(name, bucket, count, path.stat().st_size))
        self.db.execute("DROP TABLE rows")
        crawl.store.publish(base, files, operation="benchmark")

    def segment(self, crawl: Crawl, name: str, *, offset: int = 0) -> None:
        draft = crawl.segments.draft(name)
        step = max(self.urls // self.fetched, 1)
        source = f"(SELECT i * {step} + {offset} AS i FROM range({self.fetched}) AS t(i))"
        at = f"{NOW} - to_hours(5)"
        self.db.execute(f"CREATE OR REPLACE TEMP TABLE fetched AS {self.placed(source, 'i')}")
        outcome = "CASE WHEN i % 17 = 0 THEN 'not_found' WHEN i % 29 = 0 THEN 'timeout' ELSE 'success' END"
        pages = {
            "outcome": outcome,
            "fetch_time": at,
            "duration_ms": "i % 900",
            "http_status": "200",
            "etag": "url",
        }
        self.table(PAGES, "fetched", pages, draft / "pages")
        docs = {
            "parse_status": "'parsed'",
            "signature": "unhex(md5(CAST(i % 11 AS VARCHAR)))",
            "outlinks": "20",
        }
        false = dict.fromkeys(("noindex", "nofollow"), "false")
        self.table(DOCS, "fetched", {**docs, **false, "feeds": "[]"}, draft / "docs")
        known = {"status": "'db_fetched'", "fetch_time": at, "generate_time": at, "metadata": "MAP {}"}
        self.table(FETCHLIST, "fetched", known, draft / "fetchlist")
        facts = {"checked_at": at, "robots_status": "'rules'", "robots_digest": "'x'", "sitemaps": "[]"}
        hosts = "(SELECT host, any_value(bucket) AS bucket FROM fetched GROUP BY host)"
        self.table(HOST_FACTS, hosts, {**facts, "dns_failures": "0"}, draft / "hosts")
        self.links(draft / "links")
        crawl.segments.publish(draft, name, {"generate_time": "2026-11-29T00:00:00+00:00"}).advance("parsed")

    def links(self, folder: Path) -> None:
        """As parse leaves them: a file for every so many pages, in the order of buckets."""
        for start in range(0, self.fetched, PAGES_OF_A_CHUNK * CHUNKS_AT_ONCE):
            pages = f"(SELECT * FROM fetched LIMIT {PAGES_OF_A_CHUNK * CHUNKS_AT_ONCE} OFFSET {start})"
            # two thirds of the targets are known, the others new
            target = f"CAST(hash(i * 1000 + k) % {self.urls * 3 // 2} AS BIGINT)"
            source = f"""(
                SELECT {target} AS j, url AS from_url, host AS from_host, domain AS from_domain,
                    CAST((row_number() OVER (ORDER BY i, k) - 1) // {PAGES_OF_A_CHUNK * LINKS_OF_A_PAGE} AS INTEGER)
                        AS chunk
                FROM {pages} AS p, range({LINKS_OF_A_PAGE}) AS n(k)
            )"""
            self.db.execute(f"CREATE OR REPLACE TEMP TABLE linked AS {self.placed(source, 'j')}")
            constants = {
                "to_url": "url",
                "anchor": "'some words'",
                "rel": "''",
                "from_score": "0.5",
                "from_depth": "3",
            }
            constants |= {"from_outlinks": "20", "from_first": "true", "from_metadata": "MAP {'seed': '7'}"}
            for chunk in range(CHUNKS_AT_ONCE):
                rows = f"(SELECT * FROM linked WHERE chunk = {chunk})"
                number = start // PAGES_OF_A_CHUNK + chunk
                self.table(LINKS, rows, constants, folder, number=number, order="ORDER BY bucket")

    def table(
        self,
        spec: TableSpec,
        source: str,
        values: dict[str, str],
        folder: Path,
        *,
        number: int = 0,
        order: str = "",
    ) -> None:
        """A file of `spec`: columns as `values` says, else as `source` has them, else zero or null."""
        there = {row[0] for row in self.db.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()}
        columns = []
        for column in spec.columns:
            value = values.get(column.name, column.name if column.name in there else None)
            if value is None:
                value = "NULL" if column.nullable or column.type == "VARCHAR" else "0"
            columns.append(f"CAST({value} AS {column.type}) AS {column.name}")
        sql = f"SELECT {', '.join(columns)} FROM {source} {order}"
        self.copy(sql, folder / f"part-{number:05d}.parquet", row_group_rows=16_384 if order else 122_880)

    def copy(self, sql: str, path: Path, *, row_group_rows: int = 122_880) -> int:
        path.parent.mkdir(parents=True, exist_ok=True)
        options = f"FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {row_group_rows}"
        return int(self.db.execute(f"COPY ({sql}) TO '{path}' ({options})").fetchall()[0][0])


# -- what is measured -----------------------------------------------------------------------------------------


def rewrite(root: Path, options: argparse.Namespace) -> str:
    """The crawldb as it is, bucket by bucket, through the engine's own connection and writer."""
    with opened(root, options) as crawl:
        table = crawl.store.current(CRAWLDB)
        columns = ", ".join(CRAWLDB.names)
        for bucket in sorted(table.files):
            listed = ", ".join(f"'{path}'" for path in table.paths([bucket]))
            hive = "hive_partitioning=true, hive_types={'bucket': 'INTEGER'}"
            sql = f"SELECT {columns} FROM read_parquet([{listed}], {hive})"
            crawl.engine.write(sql, root / "rewritten" / f"{bucket}.parquet")
        return f"{table.rows:,} rows"


def update(root: Path, options: argparse.Namespace) -> str:
    with opened(root, options) as crawl:
        report = updatedb(crawl)
        return ", ".join(f"{name} {number:,}" for name, number in sorted(report.changes.items()))


def update_hosts(root: Path, options: argparse.Namespace) -> str:
    with opened(root, options) as crawl:
        return f"{updatehostdb(crawl).hosts:,} hosts"


def in_a_row(root: Path, options: argparse.Namespace) -> str:
    """Resident memory, in MB, after each tenth of the updates."""
    told = []
    with opened(root, options) as crawl:
        names = [segment.name for segment in crawl.segments]
        for number, name in enumerate(names, 1):
            updatedb(crawl, [name])
            if number % max(len(names) // 10, 1) == 0:
                told.append(f"{_resident_mb():.0f}")
    return f"{len(names)} updates; resident after each tenth, MB: {' '.join(told)}"


def opened(root: Path, options: argparse.Namespace) -> Crawl:
    return Crawl.open(root, engine__memory_limit_mb=options.memory_mb, engine__threads=options.threads)


def _resident_mb(what: str = "VmRSS") -> float:
    """Of this process, now; VmHWM: at its highest (getrusage tells that of the parent before it, too)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(what)) / 1000


def _child(function: Callable[..., str], root: Path, options: argparse.Namespace, queue: Any) -> None:
    begun = time.monotonic()
    told = function(root, options)
    seconds = time.monotonic() - begun
    queue.put(Measured(seconds, time.process_time(), _resident_mb("VmHWM"), told))


def measured(function: Callable[..., str], root: Path, options: argparse.Namespace) -> Measured:
    """The function in a new process: its imports count, as they do for a command."""
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=_child, args=(function, root, options, queue))
    process.start()
    found: Measured = queue.get()
    process.join()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--scale", type=float, default=0.05, help="of 20 M URLs; 0: not this part")
    parser.add_argument(
        "--in-a-row", type=int, default=0, metavar="N", help="N updates on 1 M rows in one process"
    )
    parser.add_argument("--buckets", type=int, default=16)
    parser.add_argument("--memory-mb", type=int, default=1536, help="of the engine")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--work", type=Path, help="where the data lies [a temporary folder]")
    options = parser.parse_args()
    if options.scale:
        with tempfile.TemporaryDirectory(dir=options.work) as folder:
            compare(Path(folder) / "crawl", options)
    if options.in_a_row:
        with tempfile.TemporaryDirectory(dir=options.work) as folder:
            repeat(Path(folder) / "crawl", options)


def compare(root: Path, options: argparse.Namespace) -> None:
    crawl = Crawl.create(root, store__buckets=options.buckets)
    data = Data(root, options.scale, options.buckets)
    data.crawldb(crawl)
    data.segment(crawl, "20261129000000")
    data.db.close()
    links = data.fetched * LINKS_OF_A_PAGE
    print(
        f"{data.urls:,} URLs, {data.hosts:,} hosts, {data.fetched:,} fetched, {links:,} links, {options.buckets} buckets"
    )
    base = measured(rewrite, root, options)
    for name, found in [
        ("rewrite", base),
        ("updatedb", measured(update, root, options)),
        ("updatehostdb", measured(update_hosts, root, options)),
    ]:
        times = f"{found.seconds / base.seconds:.1f} times the rewrite"
        print(
            f"{name:13} {found.seconds:7.2f} s  {found.cpu_s:7.2f} CPU s  {found.peak_mb:6,.0f} MB  {times}  ({found.told})"
        )


def repeat(root: Path, options: argparse.Namespace) -> None:
    crawl = Crawl.create(root, store__buckets=options.buckets)
    data = Data(root, 0.05, options.buckets)
    data.crawldb(crawl)
    data.fetched = 1_000
    for number in range(options.in_a_row):
        data.segment(crawl, f"20261129{number:06}", offset=number)
    data.db.close()
    found = measured(in_a_row, root, options)
    print(f"in a row      {found.seconds:7.2f} s  {found.peak_mb:6,.0f} MB  ({found.told})")


if __name__ == "__main__":
    main()
