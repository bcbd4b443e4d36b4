"""One bucket of the crawldb under new rules, in a process of its own: which rows have another URL now, or none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pinyon.tables import CRAWLDB, Column, TableSpec
from pinyon.urls import Normaliser, UrlFilter, locate

_BATCH_ROWS = 50_000

CHANGES = TableSpec(
    "changes",
    (
        Column("url", "VARCHAR", "as it is in the crawldb", nullable=False),
        Column("url_key", "BIGINT", "of url", nullable=False),
        Column("new_url", "VARCHAR", "as it is to be; null: it goes"),
        *(Column(f"new_{c.name}", c.type, f"of new_url: {c.help}") for c in CRAWLDB.columns[1:6]),
    ),
    "rows that are not the same under new rules",
)


@dataclass(frozen=True, slots=True)
class RenewJob:
    """The files of one bucket, and the rules. Without a normaliser or filter that rule stays as it was."""

    paths: Sequence[str]
    target: Path
    buckets: int
    private_suffixes: bool
    normaliser: Normaliser | None
    filter: UrlFilter | None


@dataclass(slots=True)
class RenewResult:
    """Rows by what becomes of them: `renamed`, `moved` (to another domain), and why others go."""

    target: Path
    counts: Counter[str] = field(default_factory=Counter)


def renew_part(job: RenewJob) -> RenewResult:
    """Writes the rows of `CHANGES` for one bucket to `target`."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    result = RenewResult(job.target)
    schema = CHANGES.arrow_schema()
    with pq.ParquetWriter(job.target, schema) as writer:
        for rows in _batches(job.paths):
            changed = list(_changes(job, rows, result.counts))
            if changed:
                writer.write_table(pa.Table.from_pylist(changed, schema=schema))
    return result


def _batches(paths: Sequence[str]) -> Iterator[list[dict[str, Any]]]:
    import pyarrow.parquet as pq

    for path in paths:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(_BATCH_ROWS, columns=["url", "url_key", "domain"]):
                yield batch.to_pylist()


def _changes(
    job: RenewJob, rows: Sequence[Mapping[str, Any]], counts: Counter[str]
) -> Iterator[dict[str, Any]]:
    for row in rows:
        url = row["url"] if job.normaliser is None else job.normaliser(row["url"])
        place = None if url is None else locate(url, job.private_suffixes)
        if url is None or place is None:
            reason: str | None = "not_a_url"
        else:
            reason = job.filter.reason(url, place.host) if job.filter else None
        old = {"url": row["url"], "url_key": row["url_key"]}
        if reason is not None:
            counts[reason] += 1
            yield old
        elif place is not None and (url != row["url"] or place.domain != row["domain"]):
            counts["renamed" if url != row["url"] else "moved"] += 1
            yield old | {
                "new_url": url,
                "new_url_key": place.url_key,
                "new_host": place.host,
                "new_host_key": place.host_key,
                "new_domain": place.domain,
                "new_bucket": place.bucket(job.buckets),
            }
