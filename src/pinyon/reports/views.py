"""The tables of a crawl under their names, for reading."""

from __future__ import annotations

from collections.abc import Sequence

from pinyon.crawl import Crawl
from pinyon.errors import UsageError
from pinyon.jobs import Files
from pinyon.store import Segment
from pinyon.tables import CRAWLDB, DOCS, FETCHLIST, HOST_FACTS, HOSTDB, LINKS, PAGES, TableSpec

OF_SEGMENTS: dict[str, TableSpec] = {
    "fetchlist": FETCHLIST,
    "pages": PAGES,
    "hosts": HOST_FACTS,
    "links": LINKS,
    "docs": DOCS,
}


def bind(crawl: Crawl, segments: Sequence[Segment] | None = None, at_version: int | None = None) -> None:
    """Makes the tables of `tables_of` readable."""
    crawl.engine.bind(tables_of(crawl, segments, at_version))


def tables_of(
    crawl: Crawl, segments: Sequence[Segment] | None = None, at_version: int | None = None
) -> dict[str, Files]:
    """The crawldb (or an older version of it), the hostdb and the tables of segments (all by default) by name."""
    chosen = list(crawl.segments) if segments is None else segments
    tables = {
        "crawldb": Files.of(CRAWLDB, crawl.store.current(CRAWLDB, at_version).paths()),
        "hostdb": Files.of(HOSTDB, crawl.store.current(HOSTDB).paths()),
    }
    for name, spec in OF_SEGMENTS.items():
        tables[name] = Files.of(spec, [path for segment in chosen for path in segment.files(name)])
    return tables


def dump_columns(spec: TableSpec) -> str:
    """The columns as they go into text files: bytes as hexadecimal digits."""
    return ", ".join(
        f"lower(hex({c.name})) AS {c.name}" if c.type == "BLOB" else c.name for c in spec.columns
    )


def check_what(what: str) -> TableSpec:
    """The table of a segment by name; `UsageError` if there is none."""
    if what not in OF_SEGMENTS:
        raise UsageError(f"'{what}': wanted one of {', '.join(OF_SEGMENTS)}")
    return OF_SEGMENTS[what]
