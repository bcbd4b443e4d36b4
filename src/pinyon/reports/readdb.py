"""readdb and readhostdb: what the tables hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from pinyon.crawl import Crawl, utc_now
from pinyon.errors import UsageError
from pinyon.jobs import Files, load
from pinyon.reports.views import bind, dump_columns, tables_of
from pinyon.reports.where import rows_where
from pinyon.tables import CRAWLDB, HOSTDB, TableSpec
from pinyon.urls import host_of

_TABLES: dict[str, TableSpec] = {"crawldb": CRAWLDB, "hostdb": HOSTDB}


@dataclass(frozen=True, slots=True)
class CrawlDbStats:
    """Totals of the crawldb, URLs by status and by depth."""

    totals: Mapping[str, Any]
    by_status: Mapping[str, int]
    by_depth: Mapping[int, int]


def crawldb_stats(
    crawl: Crawl, *, now: datetime | None = None, at_version: int | None = None, where: str | None = None
) -> CrawlDbStats:
    """How many URLs there are (for which the expression `where` holds), of which status, how many are due at `now`."""
    engine = crawl.engine
    engine.run(
        load("pinyon.reports", "crawldb_stats"),
        {
            "crawldb": Files.of(CRAWLDB, crawl.store.current(CRAWLDB, at_version).paths()),
            "hostdb": Files.of(HOSTDB, crawl.store.current(HOSTDB).paths()),
        },
        {"now": now or utc_now()},
        {"wanted": rows_where(crawl, "crawldb", where, at_version=at_version)},
    )
    return CrawlDbStats(
        engine.rows("SELECT * FROM totals")[0],
        {
            row["status"]: row["urls"]
            for row in engine.rows("SELECT * FROM by_status ORDER BY urls DESC, status")
        },
        {row["depth"]: row["urls"] for row in engine.rows("SELECT * FROM by_depth ORDER BY depth")},
    )


def hostdb_stats(crawl: Crawl, *, where: str | None = None) -> dict[str, Any]:
    """Totals of the HostDb: hosts (for which the expression `where` holds), and the sums of their counters."""
    bind(crawl)
    wanted = rows_where(crawl, "hostdb", where)
    sums = ", ".join(f"CAST(coalesce(sum({name}), 0) AS BIGINT) AS {name}" for name in _counters())
    return crawl.engine.rows(f"SELECT count(*) AS hosts, {sums} FROM ({wanted})")[0]


def _counters() -> list[str]:
    names = HOSTDB.names
    return names[names.index("dns_failures") : names.index("num_records") + 1]


def url_row(crawl: Crawl, url: str, *, at_version: int | None = None) -> dict[str, Any] | None:
    """The row of a URL, given in any spelling, or None."""
    bind(crawl, at_version=at_version)
    normalised = crawl.normalise(url) or url
    rows = crawl.engine.rows(
        "SELECT * FROM crawldb WHERE url = :url OR url = :normalised ORDER BY url = :url DESC",
        {"url": url, "normalised": normalised},
    )
    return rows[0] if rows else None


def host_row(crawl: Crawl, host: str) -> dict[str, Any] | None:
    """The HostDb's row of a host, or None."""
    bind(crawl)
    rows = crawl.engine.rows("SELECT * FROM hostdb WHERE host = :host", {"host": host_name(host)})
    return rows[0] if rows else None


def host_name(text: str) -> str:
    """A host as the tables have it, from a name or a URL in any spelling."""
    return host_of(text if "://" in text else f"http://{text}/") or text


def top(
    crawl: Crawl,
    table: str,
    count: int,
    *,
    host: str | None = None,
    where: str | None = None,
    at_version: int | None = None,
) -> list[dict[str, Any]]:
    """The first `count` URLs by score, or hosts by number of URLs: of one `host`, or for which `where` holds."""
    bind(crawl, at_version=at_version)
    wanted, params = _wanted(crawl, table, host, where, at_version)
    order = {"crawldb": "score DESC, url_key, url", "hostdb": "num_records DESC, host"}[table]
    columns = {
        "crawldb": "url, status, score, fetch_time, depth, inlinks",
        "hostdb": "host, num_records, unfetched, fetched, gone, crawl_delay_ms, rt_p50_ms",
    }[table]
    return crawl.engine.rows(f"SELECT {columns} FROM {wanted} ORDER BY {order} LIMIT {count}", params)


def _wanted(
    crawl: Crawl, table: str, host: str | None, where: str | None, at_version: int | None
) -> tuple[str, dict[str, Any]]:
    """What stands behind FROM for the rows that are asked for, and its parameters."""
    rows = f"({rows_where(crawl, table, where, at_version=at_version)})"
    return (f"{rows} WHERE host = :host", {"host": host_name(host)}) if host else (rows, {})


def dump(
    crawl: Crawl,
    table: str,
    path: Path,
    *,
    host: str | None = None,
    where: str | None = None,
    at_version: int | None = None,
) -> int:
    """Writes a table, or the rows of it that are asked for as in `top`, as .csv, .jsonl or .parquet; how many rows.

    Raises `UsageError` for another ending.
    """
    bind(crawl, at_version=at_version)
    spec = _TABLES[table]
    columns = ", ".join(spec.names) if path.suffix == ".parquet" else dump_columns(spec)
    wanted, params = _wanted(crawl, table, host, where, at_version)
    return crawl.engine.export(f"SELECT {columns} FROM {wanted}", path, params)


def query(
    crawl: Crawl, text: str, *, at_version: int | None = None
) -> tuple[list[str], Iterator[tuple[Any, ...]]]:
    """Column names and rows of one SELECT over the crawl's tables; nothing else is run, nothing else is read.

    The rows come as they are computed, however many: read them before the crawl is asked anything else. Raises
    `UsageError` for anything but one SELECT, `EngineError` if it fails.
    """
    engine = crawl.confined_engine
    engine.bind(tables_of(crawl, at_version=at_version))
    if not engine.only_reads(text):
        raise UsageError("only one SELECT is run here: the tables are written by the steps alone")
    return engine.query(text)
