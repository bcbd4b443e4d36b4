"""Crawls whose tables are written by hand: rows in, rows out, everything between is the real thing."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pinyon.crawl import Crawl
from pinyon.jobs import Files
from pinyon.store import DataFile, Segment
from pinyon.tables import CRAWLDB, DOCS, FETCHLIST, HOST_FACTS, HOSTDB, LINKS, PAGES, STATUSES, TableSpec
from pinyon.urls import locate

DAY = timedelta(days=1)
#: When the pages of a test are fetched unless it says otherwise.
T = datetime(2026, 3, 1, 12, tzinfo=UTC)
MONTH_S = 2_592_000

Row = dict[str, Any]


def new_crawl(root: Path, *, buckets: int = 1, **settings: Any) -> Crawl:
    Crawl.create(root, store__buckets=buckets)
    return Crawl.open(root, **{"engine__threads": 1, "engine__memory_limit_mb": 256, **settings})


# -- rows of each table, with what a test does not care about filled in --------------------------------------


def place(url: str, buckets: int = 1) -> Row:
    at = locate(url)
    return {
        "url_key": at.url_key,
        "host": at.host,
        "host_key": at.host_key,
        "domain": at.domain,
        "bucket": at.bucket(buckets),
    }


def url_row(url: str, status: str = "db_unfetched", **columns: Any) -> Row:
    row = {
        "url": url,
        **place(url),
        "status": status,
        "fetch_time": T,
        "fetch_interval": MONTH_S,
        "first_seen": T - 90 * DAY,
        "retries": 0,
        "score": 1.0,
        "inlinks": 0,
        "depth": 0,
        "metadata": {},
    }
    return row | columns


def page(url: str, outcome: str = "success", at: datetime = T, **columns: Any) -> Row:
    return {"url": url, **place(url), "outcome": outcome, "fetch_time": at, **columns}


def doc(url: str, signature: bytes | None = b"new", parse_status: str = "parsed", **columns: Any) -> Row:
    row = {"url": url, "url_key": locate(url).url_key, "parse_status": parse_status, "signature": signature}
    return (
        row
        | {"noindex": False, "nofollow": False, "outlinks": 0, "outlinks_dropped": 0, "feeds": []}
        | columns
    )


def link(source: str, target: str, **columns: Any) -> Row:
    row: Row = {"from_url": source, "to_url": target, **place(target), "anchor": "", "rel": ""}
    at = locate(source)
    row |= {"from_host": at.host, "from_domain": at.domain, "from_score": 1.0, "from_depth": 0}
    return row | {"from_outlinks": 1, "from_first": True, "from_metadata": {}} | columns


def host_facts(host: str, at: datetime = T, **columns: Any) -> Row:
    return {"host": host, "checked_at": at, "dns_failures": 0, "sitemaps": []} | columns


def host_row(host: str, **columns: Any) -> Row:
    at = locate(f"http://{host}/")
    zero = dict.fromkeys((*STATUSES.values(), "num_records", "dns_failures", "connection_failures"), 0)
    return {"host": host, "domain": at.domain, "score": 0.0, "metadata": {}, **zero} | columns


def fetchlist_row(row: Row, *, generated_at: datetime = T - DAY) -> Row:
    return row | {"generate_time": generated_at, "list": 0, "part": 0, "position": 0}


# -- into a crawl ---------------------------------------------------------------------------------------------


def put(crawl: Crawl, spec: TableSpec, rows: Iterable[Row]) -> None:
    """Publishes these rows as the next version of a table."""
    base = crawl.store.current(spec)
    files = []
    by_bucket: dict[int, list[Row]] = {}
    for row in rows:
        bucket = _bucket(row, base.buckets)
        by_bucket.setdefault(bucket, []).append(row | {"bucket": bucket})
    for bucket, group in by_bucket.items():
        path = base.root / f"bucket={bucket}" / f"part-{uuid.uuid4().hex}.parquet"
        _write(path, spec, group, without=("bucket",))
        files.append(
            DataFile(path.relative_to(base.root).as_posix(), bucket, len(group), path.stat().st_size)
        )
    crawl.store.publish(base, files, operation="test")


def _bucket(row: Row, buckets: int) -> int:
    return locate(row["url"] if "url" in row else f"http://{row['host']}/").bucket(buckets)


def _write(path: Path, spec: TableSpec, rows: list[Row], without: tuple[str, ...] = ()) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    schema = pa.schema([field for field in spec.arrow_schema() if field.name not in without])
    plain = [_as_arrow(row) for row in rows]
    pq.write_table(pa.Table.from_pylist(plain, schema=schema), path)


def _as_arrow(row: Row) -> Row:
    return {name: list(value.items()) if isinstance(value, dict) else value for name, value in row.items()}


def put_segment(
    crawl: Crawl,
    name: str,
    *,
    pages: Iterable[Row] = (),
    docs: Iterable[Row] = (),
    links: Iterable[Row] = (),
    hosts: Iterable[Row] = (),
    fetchlist: Iterable[Row] = (),
    state: str = "parsed",
) -> Segment:
    """A segment as generate, fetch and parse leave it."""
    buckets = crawl.store.current(CRAWLDB).buckets
    draft = crawl.segments.draft(name)
    folders: dict[str, tuple[TableSpec, Iterable[Row]]] = {
        "pages": (PAGES, pages),
        "docs": (DOCS, docs),
        "links": (LINKS, links),
        "hosts": (HOST_FACTS, hosts),
        "fetchlist": (FETCHLIST, fetchlist),
    }
    for folder, (spec, rows) in folders.items():
        _write(draft / folder / "part-00000.parquet", spec, [_in_bucket(row, buckets) for row in rows])
    segment = crawl.segments.publish(draft, name, {"generate_time": (T - DAY).isoformat()})
    if state != "generated":
        segment.advance(state)
    return segment


def _in_bucket(row: Row, buckets: int) -> Row:
    url = row.get("to_url") or row.get("url") or f"http://{row['host']}/"
    return row | {"bucket": locate(url).bucket(buckets)}


# -- out of it ------------------------------------------------------------------------------------------------


def rows_of(crawl: Crawl, spec: TableSpec, version: int | None = None) -> dict[str, Row]:
    """All rows of a table by their key; no key twice."""
    table = crawl.store.current(spec, version)
    crawl.engine.bind({"looked_at": Files.of(spec, table.paths())})
    key = spec.columns[0].name
    rows = crawl.engine.rows("SELECT * FROM looked_at")
    found = {row[key]: _without_zone_objects(row) for row in rows}
    assert len(found) == len(rows)
    return found


def urls_of(crawl: Crawl, version: int | None = None) -> dict[str, Row]:
    return rows_of(crawl, CRAWLDB, version)


def hosts_of(crawl: Crawl) -> dict[str, Row]:
    return rows_of(crawl, HOSTDB)


def _without_zone_objects(row: Mapping[str, Any]) -> Row:
    return {k: v.astimezone(UTC) if isinstance(v, datetime) else v for k, v in row.items()}
