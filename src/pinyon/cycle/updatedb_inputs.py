"""What updatedb reads: the results of segments, and for each group of buckets all tables of its job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pinyon.crawl import Crawl
from pinyon.cycle.schedules import Bound, bounds_table
from pinyon.errors import StoreError
from pinyon.jobs import Files, load
from pinyon.store import Published, Segment
from pinyon.tables import CRAWLDB, DOCS, FETCHLIST, HOST_FACTS, HOSTDB, LINKS, PAGES, Column, TableSpec

_OF_PAGES = {column.name: column for column in PAGES.columns}

RESULTS = TableSpec(
    "results",
    (
        *PAGES.columns[:6],
        Column("action", "VARCHAR", "what is to be done about its row", nullable=False),
        *(_OF_PAGES[name] for name in ("fetch_time", "retry_at", "etag", "last_modified", "content_type")),
        Column("signature", "BLOB", "of the content"),
        Column("language", "VARCHAR", "as declared"),
    ),
    "one row a fetch: the page and what parsing made of it",
)


@dataclass(frozen=True, slots=True)
class Inputs:
    """The tables of one update."""

    crawldb: Published
    hostdb: Published
    results: Files
    links: Files
    fetchlist: Files
    hosts: Files
    bounds: Any

    def of(self, group: Sequence[int]) -> Mapping[str, Any]:
        """What the job reads for a group of buckets."""
        aligned = self.hostdb.buckets == self.crawldb.buckets
        return {
            "crawldb": Files.of(CRAWLDB, self.crawldb.paths(group)),
            "results": self.results.only(group),
            "links": self.links.only(group),
            "fetchlist": self.fetchlist,
            "hosts": self.hosts.only(group),
            "hostdb": Files.of(HOSTDB, self.hostdb.paths(group if aligned else None)),
            "bounds": self.bounds,
        }


def prepare(crawl: Crawl, crawldb: Published, segments: Sequence[Segment], bounds: Sequence[Bound]) -> Inputs:
    """Raises `StoreError` if a segment is not whole."""
    for segment in segments:
        _check_whole(crawl, segment)

    def files(spec: TableSpec, what: str) -> Files:
        return Files.of(spec, [path for segment in segments for path in segment.files(what)])

    return Inputs(
        crawldb,
        crawl.store.current(HOSTDB),
        _results(crawl, segments),
        files(LINKS, "links"),
        files(FETCHLIST, "fetchlist"),
        files(HOST_FACTS, "hosts"),
        bounds_table(bounds),
    )


def _check_whole(crawl: Crawl, segment: Segment) -> None:
    segment.check_whole()
    missing = len(segment.files("fetchlist")) - len(segment.files("pages"))
    if missing > 0:
        raise StoreError(
            f"{segment.path}: the pages of {missing} parts are missing; "
            f"'pinyon segments {crawl.root} abort {segment.name}' gives its URLs free again"
        )


def _results(crawl: Crawl, segments: Sequence[Segment]) -> Files:
    """Pages and documents of each segment, in the order of their buckets: who wants one skips the others."""
    folder, paths = crawl.scratch("updatedb"), []
    for segment in segments:
        sources = {
            "pages": Files.of(PAGES, segment.files("pages")),
            "docs": Files.of(DOCS, segment.files("docs")),
        }
        crawl.engine.run(load("pinyon.cycle", "updatedb_results"), sources)
        path = folder / f"{segment.name}.parquet"
        crawl.engine.write(f"SELECT {', '.join(RESULTS.names)} FROM segment_results ORDER BY bucket", path)
        paths.append(str(path))
    return Files.of(RESULTS, paths)


def touched_buckets(crawl: Crawl, inputs: Inputs) -> set[int]:
    """Buckets about which anything was learned: the files of the others stay."""
    learned = {"results": inputs.results, "links": inputs.links, "hosts": inputs.hosts}
    crawl.engine.bind(learned)
    selects = " UNION ".join(f"SELECT bucket FROM {name}" for name in learned)
    return {row["bucket"] for row in crawl.engine.rows(selects)}


def pages_twice(crawl: Crawl, inputs: Inputs) -> bool:
    """Whether some page was fetched more than once."""
    crawl.engine.bind({"results": inputs.results})
    counted = crawl.engine.rows("SELECT count(*) AS fetches, count(DISTINCT url_key) AS urls FROM results")[0]
    return bool(counted["fetches"] > counted["urls"])


def crowded(crawl: Crawl, inputs: Inputs, most: int) -> bool:
    """Whether more than `most` links lead to some URL."""
    crawl.engine.bind({"links": inputs.links})
    return bool(crawl.engine.rows(f"SELECT 1 FROM links GROUP BY url_key HAVING count(*) > {most} LIMIT 1"))
