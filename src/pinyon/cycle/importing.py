"""import: the CrawlDb and HostDb of Nutch become rows of ours, kept as they are until updatedb touches them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from pinyon.crawl import Crawl, utc_now
from pinyon.cycle.rewrite import rewrite
from pinyon.expressions import text_type, widest
from pinyon.expressions.types import Type
from pinyon.interop.nutch_jsonl import read_crawldb, read_hostdb
from pinyon.jobs import Files, load
from pinyon.store import Published
from pinyon.tables import CRAWLDB, HOSTDB, Column, TableSpec
from pinyon.urls import host_of, key_of, locate

_BATCH_ROWS = 50_000


@dataclass(frozen=True, slots=True)
class ImportReport:
    """Records read, and rows each table has now (None: not imported)."""

    urls: int
    hosts: int
    crawldb_rows: int | None
    hostdb_rows: int | None


def import_nutch_jsonl(
    crawl: Crawl, *, crawldb: Path | None = None, hostdb: Path | None = None, now: datetime | None = None
) -> ImportReport:
    """Takes in records in the form of `pinyon.interop.nutch_jsonl`; a record replaces the row of its URL or host.

    URLs are not normalised and not filtered: they stay as they were found. Raises `InputError`; no table is
    changed then.
    """
    with crawl.writing("import"):
        moment = now or utc_now()
        urls = (_crawldb_row(crawl, row, moment) for row in (read_crawldb(crawldb) if crawldb else ()))
        hosts = (_hostdb_row(crawl, row) for row in (read_hostdb(hostdb) if hostdb else ()))
        url_stage, host_stage = _Stage(crawl, CRAWLDB), _Stage(crawl, HOSTDB)
        # both are read before either is published: a bad line changes nothing
        url_stage.take(urls)
        host_stage.take(hosts)
        return ImportReport(
            url_stage.rows,
            host_stage.rows,
            # what was not filtered when it entered is filtered when it is generated
            url_stage.publish("url", {"filter": ""}) if crawldb else None,
            host_stage.publish("host", {}) if hostdb else None,
        )


class _Stage:
    """Imported rows of one table, written aside by bucket."""

    def __init__(self, crawl: Crawl, spec: TableSpec) -> None:
        self._crawl = crawl
        self._table: Published = crawl.store.current(spec)
        self._spec = TableSpec("imported", (*spec.columns, Column("line", "BIGINT", "order")), "")
        self._folder = crawl.scratch(f"import-{spec.name}")
        self._files: dict[int, list[str]] = {}
        self._types: dict[str, Type] = {}
        self.rows = 0

    def take(self, rows: Iterator[dict[str, Any]]) -> None:
        for batch in iter(lambda: list(itertools.islice(rows, _BATCH_ROWS)), []):
            self._write(batch)

    def _write(self, batch: list[dict[str, Any]]) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        by_bucket: dict[int, list[dict[str, Any]]] = {}
        for row in batch:
            self.rows += 1
            bucket = 0 if row["host_key"] is None else row["host_key"] & (self._table.buckets - 1)
            for name, value in row["metadata"].items():
                known = [self._types[name]] if name in self._types else []
                self._types[name] = widest([*known, text_type(value)])
            by_bucket.setdefault(bucket, []).append({**row, "bucket": bucket, "line": self.rows})
        for bucket, found in by_bucket.items():
            listed = self._files.setdefault(bucket, [])
            path = self._folder / f"{bucket}-{len(listed)}.parquet"
            table = pa.Table.from_pylist([_arrow_row(row) for row in found], schema=self._spec.arrow_schema())
            pq.write_table(table, path)
            listed.append(str(path))

    def publish(self, key: str, facts: Mapping[str, Any]) -> int:
        """Publishes one version with the imported rows; how many rows the table has then."""
        table, spec = self._table, self._table.spec
        written, _ = rewrite(
            self._crawl,
            table,
            load("pinyon.cycle", "importing"),
            lambda group: {
                "known": Files.of(spec, table.paths(group)),
                "imported": Files.of(self._spec, [p for b in group for p in self._files.get(b, ())]),
            },
            {},
            result="merged",
            buckets=self._files,
            fragments={"key": key},
        )
        known = {name: Type(kind) for name, kind in table.facts.get("metadata", {}).items()}
        types = {
            **known,
            **{n: widest([*([known[n]] if n in known else []), t]) for n, t in self._types.items()},
        }
        metadata = {"metadata": {name: kind.value for name, kind in types.items()}}
        store = self._crawl.store
        store.publish(table, written, replaces=self._files, facts={**metadata, **facts}, operation="import")
        return store.current(spec).rows


def _arrow_row(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "metadata": list(row["metadata"].items())}


def _crawldb_row(crawl: Crawl, row: dict[str, Any], now: datetime) -> dict[str, Any]:
    place = locate(row["url"], crawl.settings.urls.private_suffixes)
    return {
        **row,
        "url_key": place.url_key,
        "host": place.host,
        "host_key": place.host_key,
        "domain": place.domain,
        "last_fetch_time": None,
        "first_seen": now,
        "inlinks": 0,
        "depth": 0,
    }


def _hostdb_row(crawl: Crawl, row: dict[str, Any]) -> dict[str, Any]:
    host = host_of(f"http://{row['host']}/") or row["host"]
    domain = locate(f"http://{host}/", crawl.settings.urls.private_suffixes).domain or host
    return {**row, "host": host, "host_key": key_of(host), "domain": domain}


#: Formats that `import` understands.
IMPORTERS: Mapping[str, Callable[..., ImportReport]] = {"nutch-jsonl": import_nutch_jsonl}
