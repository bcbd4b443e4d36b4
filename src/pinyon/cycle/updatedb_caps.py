"""Caps against spam: how many URLs of a host or domain, and hosts of a domain, the crawldb takes in.

The job writes its buckets as if there were none, and the new URLs aside; what is too much is then found over all
buckets, since a domain lies in many, and cut from the files of those few that hold it, before anything is published.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pinyon.crawl import Crawl
from pinyon.cycle.rewrite import write_bucket
from pinyon.jobs import Files, load
from pinyon.settings import Db
from pinyon.store import DataFile, Published
from pinyon.tables import CRAWLDB, Column, TableSpec

ENTERED = TableSpec(
    "entered",
    (
        *(
            column
            for column in CRAWLDB.columns
            if column.name in ("url", "url_key", "host", "domain", "bucket")
        ),
        Column("score", "FLOAT", "of the new row"),
    ),
    "URLs that would enter",
)
#: The new URLs of a group of buckets, as the update job has them.
ENTERED_SQL = f"SELECT {', '.join(ENTERED.names)} FROM arriving"


@dataclass(frozen=True, slots=True)
class Cut:
    """The files without the surplus, and how many URLs did not enter, by the cap that kept them out."""

    files: list[DataFile]
    surplus: Mapping[str, int]


def caps(db: Db) -> dict[str, int | None]:
    """The caps that are set, as parameters; all None: nothing to do."""
    return {
        "host_new": db.max_new_per_host,
        "host_rows": db.max_rows_per_host,
        "domain_new": db.max_new_per_domain,
        "domain_rows": db.max_rows_per_domain,
        "domain_hosts": db.max_hosts_per_domain,
    }


def cut_surplus(crawl: Crawl, table: Published, written: Sequence[DataFile], entered: Sequence[Path]) -> Cut:
    """Cuts what is too much from the files just written on top of `table`."""
    engine = crawl.engine
    sources = {
        "crawldb": Files.of(CRAWLDB, table.paths()),
        "entered": Files.of(ENTERED, [str(path) for path in entered]),
    }
    engine.run(load("pinyon.cycle", "updatedb_caps"), sources, caps(crawl.settings.db))
    counted = engine.rows("SELECT reason, count(*) AS urls FROM surplus GROUP BY reason ORDER BY reason")
    buckets = {row["bucket"] for row in engine.rows("SELECT DISTINCT bucket FROM surplus")}
    files = [file for file in written if file.bucket not in buckets]
    for file in written:
        if file.bucket in buckets:
            files += _without_surplus(crawl, table, file)
    return Cut(files, {row["reason"]: row["urls"] for row in counted})


def _without_surplus(crawl: Crawl, table: Published, file: DataFile) -> list[DataFile]:
    path = table.root / file.path
    crawl.engine.bind({"written": Files.of(CRAWLDB, [str(path)])})
    columns = ", ".join(f"w.{name}" for name in CRAWLDB.names if name != "bucket")
    sql = f"SELECT {columns} FROM written AS w ANTI JOIN surplus AS s ON s.url_key = w.url_key AND s.url = w.url"
    rest = write_bucket(crawl, table.root, file.bucket, sql)
    path.unlink()
    return rest
