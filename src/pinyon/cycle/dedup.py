"""dedup: of URLs with the same content one is kept, the others are marked. A duplicate is a status, never a lost row.

crawldb ─▶ shared signatures ─▶ their rows ─▶ verdicts ─▶ the next version of the crawldb
          (part by part)       (bucket by bucket)         (of the buckets that change)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pinyon.crawl import Crawl
from pinyon.cycle.rewrite import rewrite
from pinyon.errors import UsageError, nearest
from pinyon.jobs import Files, load
from pinyon.store import Published
from pinyon.tables import CRAWLDB, Column, TableSpec

#: What may decide which URL is kept, as SQL: the first that differs does.
CRITERIA = {
    "score": "score DESC",
    "https": "starts_with(url, 'https:') DESC",
    "length": "length(url)",
    "time": "first_seen NULLS LAST",
}
#: Rows that one part may have: beyond it, signatures are looked at in sixteen parts.
_ROWS_AT_ONCE = 2_000_000
_HEX_DIGITS = "0123456789ABCDEF"

_KEYS = {column.name: column for column in CRAWLDB.columns}
_SHARED = TableSpec("shared", (_KEYS["signature"],), "signatures of more than one URL")
_CANDIDATES = TableSpec(
    "candidates",
    tuple(_KEYS[n] for n in ("url_key", "url", "bucket", "status", "score", "first_seen", "signature")),
    "rows that share their content",
)
_VERDICTS = TableSpec(
    "verdicts",
    (*_CANDIDATES.columns[:3], Column("new_status", "VARCHAR", "", nullable=False)),
    "rows whose status changes",
)


@dataclass(frozen=True, slots=True)
class DedupReport:
    """`contents` that several URLs have or had, `duplicates` among those URLs, and how many rows changed their mark."""

    contents: int
    duplicates: int
    marked: int
    unmarked: int
    version: int


def dedup(crawl: Crawl, *, order: Sequence[str] = tuple(CRITERIA)) -> DedupReport:
    """Marks all but the best URL of each content (signature) as `db_duplicate`, and the best one no more.

    `order` says what decides, first things first: score (highest), https, length (shortest URL), time (first seen).
    Only URLs whose content is known count: fetched and not gone. Raises `UsageError` for an unknown criterion.
    """
    for name in order:
        if name not in CRITERIA:
            raise UsageError(f"'{name}'{nearest(name, CRITERIA)}: wanted one of {', '.join(CRITERIA)}")
    with crawl.writing("dedup"):
        return _dedup(crawl, ", ".join(CRITERIA[name] for name in dict.fromkeys(order)) or "url_key")


def _dedup(crawl: Crawl, best_first: str) -> DedupReport:
    table = crawl.store.current(CRAWLDB)
    candidates = _candidates(crawl, table, _shared(crawl, table))
    verdicts, counts = _verdicts(crawl, table, candidates, best_first)
    version = table.version
    if counts["marked"] or counts["unmarked"]:
        version = _apply(crawl, table, verdicts)
    return DedupReport(
        counts["contents"], counts["duplicates"], counts["marked"], counts["unmarked"], version
    )


def _parts(table: Published) -> Sequence[str]:
    return _HEX_DIGITS if table.rows > _ROWS_AT_ONCE else [""]


def _shared(crawl: Crawl, table: Published) -> Files:
    job, folder = load("pinyon.cycle", "dedup_shared"), crawl.scratch("dedup-shared")
    for part in _parts(table):
        crawl.engine.run(job, {"crawldb": Files.of(CRAWLDB, table.paths())}, {"part": part})
        crawl.engine.write("SELECT signature FROM shared_signatures", folder / f"{part}_.parquet")
    return Files.of(_SHARED, _listed(folder))


def _candidates(crawl: Crawl, table: Published, shared: Files) -> Files:
    job, folder = load("pinyon.cycle", "dedup_candidates"), crawl.scratch("dedup-candidates")
    columns = ", ".join(_CANDIDATES.names)
    for group in crawl.engine.bucket_groups(table.buckets):
        paths = table.paths(group)
        if paths:
            crawl.engine.run(job, {"crawldb": Files.of(CRAWLDB, paths), "shared": shared})
            crawl.engine.write(f"SELECT {columns} FROM sharing_rows", folder / f"{group[0]}.parquet")
    return Files.of(_CANDIDATES, _listed(folder))


def _verdicts(
    crawl: Crawl, table: Published, candidates: Files, best_first: str
) -> tuple[Files, Counter[str]]:
    job, folder = load("pinyon.cycle", "dedup_verdicts"), crawl.scratch("dedup-verdicts")
    counts: Counter[str] = Counter()
    columns = ", ".join(_VERDICTS.names)
    for part in _parts(table):
        crawl.engine.run(job, {"candidates": candidates}, {"part": part}, {"best_first": best_first})
        crawl.engine.write(f"SELECT {columns} FROM changed_marks", folder / f"{part}_.parquet")
        counts.update(crawl.engine.rows("SELECT * FROM verdict_counts")[0])
    return Files.of(_VERDICTS, _listed(folder)), counts


def _apply(crawl: Crawl, table: Published, verdicts: Files) -> int:
    changing = set(_changing(crawl, verdicts))

    def sources(group: Sequence[int]) -> dict[str, Any]:
        return {"crawldb": Files.of(CRAWLDB, table.paths(group)), "verdicts": verdicts.only(group)}

    job = load("pinyon.cycle", "dedup")
    written, _ = rewrite(crawl, table, job, sources, {}, result="deduplicated", buckets=changing)
    version = crawl.store.publish(table, written, replaces=changing, operation="dedup")
    crawl.sweep_versions()
    return version


def _changing(crawl: Crawl, verdicts: Files) -> Iterator[int]:
    crawl.engine.bind({"found": verdicts})
    for row in crawl.engine.rows("SELECT DISTINCT bucket FROM found"):
        yield row["bucket"]


def _listed(folder: Path) -> list[str]:
    return sorted(str(path) for path in folder.iterdir())
