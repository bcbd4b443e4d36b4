"""rebucket: another number of buckets, the same rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pinyon.crawl import Crawl
from pinyon.cycle.choose import open_segments
from pinyon.cycle.invertlinks import LINKDB, has_linkdb, sweep_linkdb
from pinyon.cycle.rewrite import write_bucket
from pinyon.cycle.updatehostdb import segments_to_merge
from pinyon.errors import UsageError
from pinyon.jobs import Files
from pinyon.store import DataFile, Published
from pinyon.tables import CRAWLDB, HOSTDB, Column, TableSpec
from pinyon.urls import key_of

_PLACES = TableSpec(
    "places",
    (Column("host", "VARCHAR", "of the HostDb"), Column("host_key", "BIGINT", "hash of host")),
    "hosts and their keys: the HostDb does not hold them",
)


@dataclass(frozen=True, slots=True)
class RebucketReport:
    """Rows of crawldb and HostDb, that lie in `buckets` buckets now; `changed` names the tables that were written."""

    buckets: int
    urls: int
    hosts: int
    changed: Sequence[str]


def rebucket(crawl: Crawl, buckets: int) -> RebucketReport:
    """Distributes the tables over `buckets` (a power of two) buckets. Killed in between, run it again.

    Raises `UsageError` while segments are open: their rows are cut for the buckets there are.
    """
    if buckets < 1 or buckets & (buckets - 1):
        raise UsageError(f"{buckets} buckets: wanted a power of two")
    with crawl.writing(f"rebucket {buckets}"):
        refuse_open_segments(crawl, "rebucket")
        specs = [CRAWLDB, HOSTDB, *([LINKDB] if has_linkdb(crawl) else [])]
        tables = [crawl.store.current(spec) for spec in specs]
        changed = [table for table in tables if table.buckets != buckets]
        for table in changed:
            written = list(_rebucketed(crawl, table, buckets))
            facts = {"buckets": buckets}
            crawl.store.publish(table, written, facts=facts, operation=f"rebucket {buckets}")
        crawl.sweep_versions()
        sweep_linkdb(crawl)
    return RebucketReport(buckets, tables[0].rows, tables[1].rows, [table.spec.name for table in changed])


def refuse_open_segments(crawl: Crawl, command: str) -> None:
    """`UsageError` if a segment's rows would not fit the tables any more."""
    for segment in open_segments(crawl):
        raise UsageError(
            f"segment {segment.name} is open: finish it ('pinyon status {crawl.root}' says how) or "
            f"'pinyon segments {crawl.root} abort {segment.name}', then {command}"
        )
    for segment in segments_to_merge(crawl):
        raise UsageError(
            f"segment {segment.name} is not in the HostDb yet: 'pinyon updatehostdb {crawl.root}', then {command}"
        )


def _rebucketed(crawl: Crawl, table: Published, buckets: int) -> Iterator[DataFile]:
    """The files of the new buckets. Old and new ones meet where the smaller number of bits agrees."""
    engine = crawl.engine
    shared = min(table.buckets, buckets)
    columns = ", ".join(f"t.{name}" for name in table.spec.names if name != "bucket")
    for group in range(shared):
        paths = table.paths(range(group, table.buckets, shared))
        if not paths:
            continue
        engine.bind({"rows_moving": Files.of(table.spec, paths)})
        keyed = "rows_moving AS t"
        if table.spec is HOSTDB:
            engine.bind({"places": _places(crawl)})
            keyed = "rows_moving AS t JOIN places AS p ON p.host = t.host"
        for bucket in range(group, buckets, shared):
            sql = f"SELECT {columns} FROM {keyed} WHERE coalesce(host_key & {buckets - 1}, 0) = {bucket}"
            yield from write_bucket(crawl, table.root, bucket, sql)


def _places(crawl: Crawl) -> Files:
    """Keys of the hosts of `rows_moving`, as a file: there may be millions."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = crawl.scratch("rebucket") / "places.parquet"
    schema = _PLACES.arrow_schema()
    with pq.ParquetWriter(path, schema) as writer:
        for batch in crawl.engine.batches("SELECT host FROM rows_moving"):
            hosts = batch.column(0).to_pylist()
            writer.write_table(pa.table({"host": hosts, "host_key": map(key_of, hosts)}, schema=schema))
    return Files.of(_PLACES, [str(path)])
