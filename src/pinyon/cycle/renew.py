"""renew, migrate: the rows that are there, under rules that are new: URLs, domains, filters.

crawldb ─▶ changes (in processes, bucket by bucket) ─▶ moving rows ─▶ the next version of the crawldb
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pinyon.crawl import Crawl
from pinyon.cycle.rebucket import refuse_open_segments
from pinyon.cycle.renew_part import CHANGES, RenewJob, renew_part
from pinyon.cycle.rewrite import rewrite
from pinyon.jobs import Files, load
from pinyon.store import Published
from pinyon.tables import CRAWLDB, HOSTDB, Column, TableSpec
from pinyon.urls import domain_of

_DOMAINS = TableSpec(
    "domains", (Column("host", "VARCHAR", ""), Column("domain", "VARCHAR", "as it is now")), ""
)


@dataclass(frozen=True, slots=True)
class RenewReport:
    """`changes` counts renamed, moved (to another domain) and merged rows, and rows dropped by reason.

    `rows` = rows before - merged - dropped.
    """

    rows: int
    changes: Mapping[str, int]
    version: int


def migrate(crawl: Crawl) -> RenewReport | None:
    """Brings URLs and domains to the normaliser and suffix list in use; None if they are at it already.

    Raises `UsageError` while segments are open: their URLs are those of before.
    """
    with crawl.writing("migrate"):
        wanted = crawl.derivation()
        crawldb, hostdb = crawl.store.current(CRAWLDB), crawl.store.current(HOSTDB)
        behind = [t for t in (crawldb, hostdb) if any(t.facts.get(k) != v for k, v in wanted.items())]
        if not behind:
            return None
        refuse_open_segments(crawl, "migrate")
        renormalise = crawldb.facts.get("normaliser") != wanted["normaliser"]
        report = RenewReport(crawldb.rows, {}, crawldb.version)
        if crawldb in behind:
            report = _renew(crawl, crawldb, normalise=renormalise, refilter=False, operation="migrate")
        if hostdb in behind:
            _migrate_hostdb(crawl, hostdb, wanted)
        crawl.sweep_versions()
        return report


def renew(crawl: Crawl, *, normalise: bool = False, refilter: bool = False) -> RenewReport:
    """Applies the normaliser, the URL filters or both to what is in the crawldb: for when their rules changed.

    Rows whose URLs become the same are merged, the one that was fetched last wins. Raises `UsageError` while
    segments are open.
    """
    with crawl.writing("renew"):
        refuse_open_segments(crawl, "do this")
        table = crawl.store.current(CRAWLDB)
        report = _renew(crawl, table, normalise=normalise, refilter=refilter, operation="renew")
        crawl.sweep_versions()
        return report


def _renew(crawl: Crawl, table: Published, *, normalise: bool, refilter: bool, operation: str) -> RenewReport:
    counts, changes = _find_changes(crawl, table, normalise=normalise, refilter=refilter)
    moved = _moving(crawl, table, changes)
    written, _ = rewrite(
        crawl,
        table,
        load("pinyon.cycle", "renew"),
        lambda group: {
            "crawldb": Files.of(CRAWLDB, table.paths(group)),
            "changes": Files.of(CHANGES, [changes[bucket] for bucket in group if bucket in changes]),
            "moved": moved.only(group),
        },
        {},
        result="renewed",
    )
    rows = sum(file.rows for file in written)
    dropped = sum(n for reason, n in counts.items() if reason not in ("renamed", "moved"))
    counts["merged"] = table.rows - dropped - rows
    facts: dict[str, Any] = crawl.derivation() if operation == "migrate" else {}
    if refilter:
        facts["filter"] = crawl.url_filter.digest()
    elif normalise:
        facts["filter"] = ""  # the URLs are others than those that passed it
    version = crawl.store.publish(table, written, facts=facts, operation=operation)
    return RenewReport(rows, dict(+counts), version)


def _find_changes(
    crawl: Crawl, table: Published, *, normalise: bool, refilter: bool
) -> tuple[Counter[str], dict[int, str]]:
    """What becomes of rows, and the file of changes of each bucket."""
    folder = crawl.scratch("renew")
    jobs = [
        RenewJob(
            table.paths([bucket]),
            folder / f"changes-{bucket}.parquet",
            table.buckets,
            crawl.settings.urls.private_suffixes,
            crawl.normalise if normalise else None,
            crawl.url_filter if refilter else None,
        )
        for bucket in sorted(table.files)
    ]
    counts: Counter[str] = Counter()
    for result in crawl.engine.map_parts(renew_part, jobs):
        counts.update(result.counts)
    return counts, {bucket: str(job.target) for bucket, job in zip(sorted(table.files), jobs, strict=True)}


def _moving(crawl: Crawl, table: Published, changes: Mapping[int, str]) -> Files:
    """The rows that have another place now, whole, in the order of their new buckets."""
    engine = crawl.engine
    paths = []
    for bucket, path in changes.items():
        sources = {
            "crawldb": Files.of(CRAWLDB, table.paths([bucket])),
            "changes": Files.of(CHANGES, [path]),
        }
        engine.run(load("pinyon.cycle", "renew_moving"), sources)
        target = crawl.scratch(f"renew-{bucket}") / "moving.parquet"
        columns = ", ".join(CRAWLDB.names)
        if engine.write(f"SELECT {columns} FROM moving ORDER BY bucket", target).rows:
            paths.append(str(target))
    return Files.of(CRAWLDB, paths)


def _migrate_hostdb(crawl: Crawl, table: Published, wanted: Mapping[str, Any]) -> None:
    """Hosts stay where they are; their domains may be others."""
    written, _ = rewrite(
        crawl,
        table,
        load("pinyon.cycle", "renew_hosts"),
        lambda group: {
            "hostdb": Files.of(HOSTDB, table.paths(group)),
            "domains": _domains(crawl, table, group),
        },
        {},
        result="renewed_hosts",
    )
    crawl.store.publish(table, written, facts=wanted, operation="migrate")


def _domains(crawl: Crawl, table: Published, group: Sequence[int]) -> Files:
    import pyarrow as pa
    import pyarrow.parquet as pq

    private = crawl.settings.urls.private_suffixes
    schema = _DOMAINS.arrow_schema()
    path = crawl.scratch("migrate") / "domains.parquet"
    with pq.ParquetWriter(path, schema) as writer:
        for file in table.paths(group):
            for batch in pq.ParquetFile(file).iter_batches(50_000, columns=["host"]):
                hosts = batch.column(0).to_pylist()
                domains = [domain_of(host, private) for host in hosts]
                writer.write_table(pa.table({"host": hosts, "domain": domains}, schema=schema))
    return Files.of(_DOMAINS, [str(path)])
