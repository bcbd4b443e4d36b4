"""Rewriting a table: a job over each group of buckets, its result written as the table's next files."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pinyon.crawl import Crawl
from pinyon.jobs import Job
from pinyon.store import DataFile, Published

#: Files of the next version, one a bucket, and the rows of the counting relation of every group.
Rewritten = tuple[list[DataFile], list[dict[str, Any]]]


def rewrite(
    crawl: Crawl,
    table: Published,
    job: Job,
    sources: Callable[[Sequence[int]], Mapping[str, Any]],
    params: Mapping[str, Any],
    *,
    result: str,
    counts: str | None = None,
    buckets: Iterable[int] | None = None,
    fragments: Mapping[str, str] | None = None,
    order_by: str = "",
    aside: tuple[str, Path] | None = None,
) -> Rewritten:
    """Runs `job` for each group of buckets and writes relation `result` beside the table's files.

    `sources` gives what the job reads for a group; `aside` is a query whose rows are written to a file a group in
    that folder. Nothing is published: that is the caller's one commit.
    """
    engine = crawl.engine
    chosen = set(range(table.buckets) if buckets is None else buckets)
    written: list[DataFile] = []
    counted: list[dict[str, Any]] = []
    columns = ", ".join(name for name in table.spec.names if name != "bucket")
    for group in engine.bucket_groups(table.buckets):
        wanted = [bucket for bucket in group if bucket in chosen]
        if not wanted:
            continue
        engine.run(job, sources(wanted), params, fragments)
        for bucket in wanted:
            sql = f"SELECT {columns} FROM {result} WHERE bucket = {bucket} {order_by}"
            written += write_bucket(crawl, table.root, bucket, sql)
        if aside:
            engine.write(aside[0], aside[1] / f"{wanted[0]}.parquet")
        if counts:
            counted += engine.rows(f"SELECT * FROM {counts}")
    return written, counted


def write_bucket(crawl: Crawl, root: Path, bucket: int, sql: str) -> list[DataFile]:
    """One file of a bucket; none for an empty one."""
    path = root / f"bucket={bucket}" / f"part-{uuid.uuid4().hex}.parquet"
    file = crawl.engine.write(sql, path)
    if file.rows == 0:
        path.unlink()
        return []
    return [DataFile(path.relative_to(root).as_posix(), bucket, file.rows, file.size_bytes)]
