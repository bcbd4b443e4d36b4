"""updatehostdb: what is known of every host: counted from the crawldb, learned by fetching.

crawldb ─▶ counters ─────────────────┐
pages, hosts of segments ─▶ facts ───┼─▶ the next version of the HostDb  (bucket by bucket, one commit)
hostdb ──────────────────────────────┘
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pinyon.crawl import Crawl
from pinyon.cycle.rewrite import rewrite
from pinyon.errors import StoreError
from pinyon.jobs import Files, load
from pinyon.store import Published, Segment
from pinyon.tables import CRAWLDB, HOST_FACTS, HOSTDB, PAGES

#: Score of a host, over its rows of the crawldb; null: as it was. Decimals add up the same in any order.
_SUM = "CAST(sum(CAST(greatest(least(score, 1e15), -1e15) AS DECIMAL(28, 12))) AS DOUBLE)"
HOST_SCORES = {"keep": "NULL", "mean": f"{_SUM} / count(*)", "max": "max(score)", "sum": _SUM}

#: Metadata that the job itself writes, and what expressions take it for.
_OWN_METADATA = {"robots_changed": "integer"}


@dataclass(frozen=True, slots=True)
class HostDbReport:
    """`hosts` rows there are now; facts were taken from `segments`. `changed` is False if there was nothing new."""

    hosts: int
    segments: Sequence[str]
    version: int
    changed: bool = True


def updatehostdb(crawl: Crawl) -> HostDbReport:
    """Counts the crawldb anew by host and merges the facts of fetched segments, each segment once.

    Run again on the same crawldb and segments it writes nothing. Raises `StoreError` if the tables have different
    numbers of buckets.
    """
    with crawl.writing("updatehostdb"):
        return merge_hosts(crawl)


def merge_hosts(crawl: Crawl) -> HostDbReport:
    """`updatehostdb` for a step that holds the writer's lock."""
    crawldb, hostdb = crawl.store.current(CRAWLDB), crawl.store.current(HOSTDB)
    if crawldb.buckets != hostdb.buckets:
        raise StoreError(
            f"{crawl.root}: crawldb and hostdb have different buckets: "
            f"run 'pinyon rebucket {crawl.root} {crawldb.buckets}'"
        )
    segments = segments_to_merge(crawl)
    settings = crawl.settings.hostdb
    counted = {"crawldb": crawldb.version, "min_records": settings.min_records, "score": settings.score}
    # whoever else wrote the HostDb since, it has another version now
    if not segments and hostdb.facts.get("counted") == counted | {"hostdb": hostdb.version}:
        return HostDbReport(hostdb.rows, [], hostdb.version, changed=False)
    return _merge(crawl, crawldb, hostdb, segments, counted | {"hostdb": hostdb.version + 1})


def _merge(
    crawl: Crawl, crawldb: Published, hostdb: Published, segments: Sequence[Segment], counted: dict[str, Any]
) -> HostDbReport:
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
        {"interval_max": crawl.settings.db.fetch_interval_max, "min_records": counted["min_records"]},
        result="updated_hosts",
        fragments={"host_score": HOST_SCORES[counted["score"]]},
    )
    names = [segment.name for segment in segments]
    told = {"counted": counted, "metadata": {**hostdb.facts.get("metadata", {}), **_OWN_METADATA}}
    version = crawl.store.publish(hostdb, written, segments=names, facts=told, operation="updatehostdb")
    crawl.sweep_versions()
    return HostDbReport(sum(file.rows for file in written), names, version)


def segments_to_merge(crawl: Crawl) -> list[Segment]:
    """Fetched segments whose facts the HostDb does not hold yet."""
    segments = list(crawl.segments)
    done = crawl.store.applied(HOSTDB, [segment.name for segment in segments])
    return [s for s in segments if s.name not in done and s.state in ("fetched", "parsed")]
