"""updatehostdb: what is known of every host: counted from the crawldb, learned by fetching.

crawldb ─▶ counters ─────────────────┐
pages, hosts of segments ─▶ facts ───┼─▶ the next version of the HostDb  (bucket by bucket, one commit)
hostdb ──────────────────────────────┘
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pinyon.crawl import Crawl
from pinyon.cycle.rewrite import rewrite
from pinyon.errors import StoreError
from pinyon.jobs import Files, load
from pinyon.store import Segment
from pinyon.tables import CRAWLDB, HOST_FACTS, HOSTDB, PAGES


@dataclass(frozen=True, slots=True)
class HostDbReport:
    """`hosts` rows there are now; facts were taken from `segments`."""

    hosts: int
    segments: Sequence[str]
    version: int


def updatehostdb(crawl: Crawl) -> HostDbReport:
    """Counts the crawldb anew by host and merges the facts of fetched segments, each segment once."""
    with crawl.writing("updatehostdb"):
        return _updatehostdb(crawl)


def _updatehostdb(crawl: Crawl) -> HostDbReport:
    crawldb, hostdb = crawl.store.current(CRAWLDB), crawl.store.current(HOSTDB)
    if crawldb.buckets != hostdb.buckets:
        raise StoreError(f"{crawl.root}: crawldb and hostdb have different buckets: run 'pinyon rebucket'")
    segments = segments_to_merge(crawl)
    pages = Files.of(PAGES, [path for segment in segments for path in segment.files("pages")])
    facts = Files.of(HOST_FACTS, [path for segment in segments for path in segment.files("hosts")])
    written, _ = rewrite(
        crawl,
        hostdb,
        load("pinyon.cycle", "updatehostdb"),
        lambda group: {
            "crawldb": Files.of(CRAWLDB, crawldb.paths(group)),
            "hostdb": Files.of(HOSTDB, hostdb.paths(group)),
            "pages": pages.only(group),
            "hosts": facts.only(group),
        },
        {},
        result="updated_hosts",
    )
    names = [segment.name for segment in segments]
    version = crawl.store.publish(hostdb, written, segments=names, operation="updatehostdb")
    crawl.sweep_versions()
    return HostDbReport(sum(file.rows for file in written), names, version)


def segments_to_merge(crawl: Crawl) -> list[Segment]:
    """Fetched segments whose facts the HostDb does not hold yet."""
    segments = list(crawl.segments)
    done = crawl.store.applied(HOSTDB, [segment.name for segment in segments])
    return [s for s in segments if s.name not in done and s.state in ("fetched", "parsed")]
