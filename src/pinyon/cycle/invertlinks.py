"""invertlinks: the linkdb, that knows of every URL which pages link to it, and with which words.

pages, links of segments ─▶ the next versions of the linkdb (one a segment, bucket by bucket)
linkdb ─▶ inlinks, orphans ─▶ the next version of the crawldb

A page's links are those it had when it was last read: a link that went is forgotten, which counting alone cannot do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from pinyon.crawl import Crawl, utc_now
from pinyon.cycle.rewrite import rewrite
from pinyon.errors import InputError, StoreError, UsageError
from pinyon.jobs import Files, load
from pinyon.store import Published, Segment
from pinyon.tables import CRAWLDB, LINKS, PAGES, Column, TableSpec

_OF_LINKS = {column.name: column for column in LINKS.columns}

LINKDB = TableSpec(
    "linkdb",
    (
        *(_OF_LINKS[name] for name in ("to_url", "url_key", "host_key", "bucket", "from_url", "from_host")),
        *(_OF_LINKS[name] for name in ("anchor", "rel")),
        Column("segment", "VARCHAR", "in which the page was last read", nullable=False),
    ),
    "one row a page and URL it links to",
)


@dataclass(frozen=True, slots=True)
class LinkDbReport:
    """`links` there are now. `changed` rows of the crawldb have another number of inlinks; `orphaned` ones are
    marked, `found_again` ones are orphans no more."""

    segments: Sequence[str]
    links: int
    changed: int
    orphaned: int
    found_again: int


def invertlinks(
    crawl: Crawl,
    segments: Iterable[str] = (),
    *,
    orphans_after_s: int | None = None,
    now: datetime | None = None,
) -> LinkDbReport:
    """Takes the links of parsed segments (all that are not in it yet, unless named) into the linkdb, and counts.

    With `orphans_after_s`, URLs that nothing links to, that are no seeds and that entered longer ago are marked
    `db_orphan`. Raises `UsageError` if a named segment is not parsed yet.
    """
    with crawl.writing("invertlinks"):
        crawldb = crawl.store.current(CRAWLDB)
        linkdb = _linkdb(crawl, crawldb)
        taken = _chosen(crawl, list(segments))
        for segment in taken:
            linkdb = _take(crawl, linkdb, segment)
        before = datetime(1, 1, 1, tzinfo=UTC)
        if orphans_after_s is not None:
            before = (now or utc_now()) - timedelta(seconds=orphans_after_s)
        counts = _recount(crawl, crawldb, linkdb, before)
        sweep_linkdb(crawl)
    return LinkDbReport([segment.name for segment in taken], linkdb.rows, **counts)


def has_linkdb(crawl: Crawl) -> bool:
    return (crawl.store.path(LINKDB) / "_delta_log").is_dir()


def sweep_linkdb(crawl: Crawl) -> int:
    """Deletes the files of versions that are not kept; how many."""
    store = crawl.settings.store
    if not has_linkdb(crawl):
        return 0
    return crawl.store.sweep(LINKDB, keep_versions=store.keep_versions, keep_hours=store.keep_hours)


def inlinks_of(crawl: Crawl, url: str, *, limit: int = 100) -> list[dict[str, Any]]:
    """The pages that link to a URL (given in any spelling), with anchor and rel; by page, at most `limit`.

    Raises `InputError` if there is no linkdb.
    """
    if not has_linkdb(crawl):
        raise InputError(f"{crawl.root}: there is no linkdb; 'pinyon invertlinks {crawl.root}' makes one")
    crawl.engine.bind({"linkdb": Files.of(LINKDB, crawl.store.current(LINKDB).paths())})
    return crawl.engine.rows(
        f"SELECT from_url, anchor, rel, segment FROM linkdb WHERE to_url = :url ORDER BY from_url LIMIT {limit}",
        {"url": crawl.normalise(url) or url},
    )


def _linkdb(crawl: Crawl, crawldb: Published) -> Published:
    if not has_linkdb(crawl):
        crawl.store.create(LINKDB, buckets=crawldb.buckets, facts={})
    linkdb = crawl.store.current(LINKDB)
    if linkdb.buckets != crawldb.buckets:
        raise StoreError(
            f"{crawl.root}: crawldb and linkdb have different buckets: "
            f"run 'pinyon rebucket {crawl.root} {crawldb.buckets}'"
        )
    return linkdb


def _chosen(crawl: Crawl, names: list[str]) -> list[Segment]:
    chosen = [crawl.segments[name] for name in names] or list(crawl.segments)
    for segment in chosen:
        if names and segment.state != "parsed":
            raise UsageError(f"segment {segment.name} is {segment.state}, wanted one that is parsed")
    done = crawl.store.applied(LINKDB, [segment.name for segment in chosen])
    return [segment for segment in chosen if segment.name not in done and segment.state == "parsed"]


def _take(crawl: Crawl, linkdb: Published, segment: Segment) -> Published:
    """The linkdb after one segment: their order counts, the last one read of a page is right."""
    segment.check_whole()
    links = Files.of(LINKS, segment.files("links"))
    pages = Files.of(PAGES, segment.files("pages"))

    def sources(group: Sequence[int]) -> Mapping[str, Any]:
        return {
            "linkdb": Files.of(LINKDB, linkdb.paths(group)),
            "links": links.only(group),
            "pages": pages,
        }

    job = load("pinyon.cycle", "invertlinks")
    written, _ = rewrite(crawl, linkdb, job, sources, {"segment": segment.name}, result="inverted")
    crawl.store.publish(linkdb, written, segments=[segment.name], operation=f"invertlinks {segment.name}")
    return crawl.store.current(LINKDB)


def _recount(
    crawl: Crawl, crawldb: Published, linkdb: Published, orphaned_before: datetime
) -> dict[str, int]:
    """Sets the inlinks of all rows, and marks orphans; writes nothing if that changes nothing."""

    def sources(group: Sequence[int]) -> Mapping[str, Any]:
        return {
            "crawldb": Files.of(CRAWLDB, crawldb.paths(group)),
            "linkdb": Files.of(LINKDB, linkdb.paths(group)),
        }

    written, rows = rewrite(
        crawl,
        crawldb,
        load("pinyon.cycle", "inlinks"),
        sources,
        {"orphaned_before": orphaned_before},
        result="recounted",
        counts="recount_counts",
    )
    counts = Counter({"changed": 0, "orphaned": 0, "found_again": 0})
    for row in rows:
        counts.update(row)
    if any(counts.values()):
        crawl.store.publish(crawldb, written, operation="invertlinks")
    crawl.sweep_versions()
    return dict(counts)
