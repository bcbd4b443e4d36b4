"""updatedb: what a round learned becomes what is known.

pages, docs ─▶ results (segment by segment) ─┐
links ─▶ linked ─────────────────────────────┼─▶ known rows, entering rows, new rows ─▶ the next version
crawldb ─────────────────────────────────────┤         (bucket by bucket)               (one commit, the
fetchlist: rows the crawldb has lost ────────┤                                           segments recorded in it)
hosts, hostdb: robots.txt that changed ──────┘
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pinyon.crawl import Crawl, utc_now
from pinyon.cycle import schedules, scores
from pinyon.cycle.choose import open_segments
from pinyon.cycle.rewrite import rewrite
from pinyon.cycle.updatehostdb import HostDbReport, merge_hosts
from pinyon.errors import NothingDue, StoreError, UsageError
from pinyon.jobs import Files, load
from pinyon.settings import Db
from pinyon.store import Published, Segment
from pinyon.tables import CRAWLDB, DOCS, FETCHLIST, HOST_FACTS, HOSTDB, LINKS, PAGES, Column, TableSpec

Sources = Callable[[Sequence[int] | None], Mapping[str, Any]]

#: Deeper than any link path that is followed.
_NO_DEPTH_LIMIT = 32_767

RESULTS = TableSpec(
    "results",
    (
        *PAGES.columns[:6],
        Column("action", "VARCHAR", "what is to be done about its row", nullable=False),
        *(
            column
            for column in PAGES.columns
            if column.name in ("fetch_time", "retry_at", "etag", "last_modified")
        ),
        Column("content_type", "VARCHAR", "MIME type"),
        Column("signature", "BLOB", "of the content"),
        Column("language", "VARCHAR", "as declared"),
    ),
    "one row a fetch: the page and what parsing made of it",
)


@dataclass(frozen=True, slots=True)
class UpdateReport:
    """What became of the rows: `changes` counts fetched, not_modified, gone, retry, …, new; `none` is the rest.

    `hosts` is the report of the HostDb, if that was updated in the same go.
    """

    segments: Sequence[str]
    already_applied: Sequence[str]
    changes: Mapping[str, int]
    rows: int
    version: int
    hosts: HostDbReport | None = None


def updatedb(
    crawl: Crawl, segments: Iterable[str] = (), *, hostdb: bool = False, now: datetime | None = None
) -> UpdateReport:
    """Applies parsed segments (all that are not applied yet, unless named) to the crawldb, in one rewrite.

    A segment that was applied is not applied again; the report says so. With `hostdb` the HostDb is updated too.
    Raises `NothingDue` if there is none to apply, `UsageError` if a named one is not parsed yet.
    """
    with crawl.writing("updatedb"):
        chosen, already = _chosen(crawl, list(segments))
        if not chosen and not already:
            raise NothingDue(f"no segment is parsed and waits: run 'pinyon parse {crawl.root}' first")
        report = _updatedb(crawl, chosen, already, now or utc_now())
        return dataclasses.replace(report, hosts=merge_hosts(crawl)) if hostdb else report


def _chosen(crawl: Crawl, names: list[str]) -> tuple[list[Segment], list[str]]:
    waiting = {segment.name: segment for segment in open_segments(crawl)}
    if not names:
        return [segment for segment in waiting.values() if segment.state == "parsed"], []
    named = {segment.name: segment for segment in (crawl.segments[name] for name in names)}
    for segment in named.values():
        if segment.state != "parsed":
            raise UsageError(f"segment {segment.name} is {segment.state}, wanted one that is parsed")
    return [s for s in named.values() if s.name in waiting], [name for name in named if name not in waiting]


def _updatedb(crawl: Crawl, segments: Sequence[Segment], already: list[str], now: datetime) -> UpdateReport:
    table = crawl.store.current(CRAWLDB)
    if not segments:
        return UpdateReport([], already, {}, table.rows, table.version)
    for segment in segments:
        _check_whole(crawl, segment)
    results = _results(crawl, segments)
    sources = _sources(crawl, table, segments, results)
    touched = _touched(crawl, sources)
    written, counts = rewrite(
        crawl,
        table,
        load("pinyon.cycle", "updatedb"),
        sources,
        _params(crawl.settings.db, now),
        result="updated",
        counts="update_counts",
        buckets=touched,
        fragments=_fragments(crawl, results),
    )
    names = [segment.name for segment in segments]
    told = f"updatedb {' '.join(names)}"
    version = crawl.store.publish(table, written, replaces=touched, segments=names, operation=told)
    crawl.sweep_versions()
    untouched = table.rows - sum(file.rows for bucket in touched for file in table.files.get(bucket, ()))
    changes = Counter({"none": untouched})
    for row in counts:
        changes[row["what"]] += row["urls"]
    rows = untouched + sum(file.rows for file in written)
    return UpdateReport(names, already, dict(+changes), rows, version)


def _touched(crawl: Crawl, sources: Sources) -> set[int]:
    """Buckets about which anything was learned: the files of the others stay."""
    everything = sources(None)
    crawl.engine.bind({name: everything[name] for name in ("results", "links", "hosts")})
    rows = crawl.engine.rows(
        "SELECT bucket FROM results UNION SELECT bucket FROM links UNION SELECT bucket FROM hosts"
    )
    return {row["bucket"] for row in rows}


def _check_whole(crawl: Crawl, segment: Segment) -> None:
    segment.check_whole()
    missing = len(segment.files("fetchlist")) - len(segment.files("pages"))
    if missing > 0:
        raise StoreError(
            f"{segment.path}: the pages of {missing} parts are missing; "
            f"'pinyon segments {crawl.root} abort {segment.name}' gives its URLs free again"
        )


def _results(crawl: Crawl, segments: Sequence[Segment]) -> Files:
    """Pages and documents of each segment as results, in the order of their buckets: who wants one skips the others."""
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


def _sources(crawl: Crawl, table: Published, segments: Sequence[Segment], results: Files) -> Sources:
    """What the job reads for a group of buckets; for None, all of it."""

    def files(spec: TableSpec, what: str) -> Files:
        return Files.of(spec, [path for segment in segments for path in segment.files(what)])

    links, fetchlist, hosts = files(LINKS, "links"), files(FETCHLIST, "fetchlist"), files(HOST_FACTS, "hosts")
    hostdb = crawl.store.current(HOSTDB)
    aligned = hostdb.buckets == table.buckets
    return lambda group: {
        "crawldb": Files.of(CRAWLDB, table.paths(group)),
        "results": results if group is None else results.only(group),
        "links": links if group is None else links.only(group),
        "fetchlist": fetchlist,
        "hosts": hosts if group is None else hosts.only(group),
        "hostdb": Files.of(HOSTDB, hostdb.paths(group if aligned else None)),
    }


def _fragments(crawl: Crawl, results: Files) -> dict[str, str]:
    engine, db = crawl.engine, crawl.settings.db
    engine.bind({"results": results})
    twice = engine.rows("SELECT count(*) > count(DISTINCT url_key) AS twice FROM results")[0]["twice"]
    return {
        "distinct_links": _DISTINCT_LINKS if twice else "links",
        **schedules.fragments(db),
        **scores.fragments(db),
    }


#: A page that was fetched twice gave each of its links twice.
_DISTINCT_LINKS = (
    "(SELECT * FROM links QUALIFY row_number() OVER "
    "(PARTITION BY url_key, to_url, from_url ORDER BY from_first DESC, from_depth, from_score, rel) = 1)"
)


def _params(db: Db, now: datetime) -> dict[str, Any]:
    return {
        "now": now,
        "retry_max": db.fetch_retry_max,
        "retry_interval": db.retry_interval,
        "interval_default": db.fetch_interval_default,
        "interval_max": db.fetch_interval_max,
        "additions": db.additions,
        "ignore_internal": db.ignore_internal,
        "ignore_external": db.ignore_external,
        "by_domain": db.ignore_external_mode == "domain",
        "max_depth": _NO_DEPTH_LIMIT if db.max_depth is None else db.max_depth,
    }
