"""parse: what the pages of a segment say: links, titles, text, in a pool of processes over the archive."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pinyon.crawl import Crawl
from pinyon.cycle.choose import segment_in_state
from pinyon.cycle.parse_chunk import ChunkJob, parse_chunk
from pinyon.errors import StoreError
from pinyon.jobs import Files, load
from pinyon.store import Segment
from pinyon.tables import CRAWLDB, FETCHLIST, PAGES

#: Pages of a chunk: enough to pay for its files, few enough that its rows are a few dozen megabytes.
CHUNK_PAGES = 500
_WITH_BODY = ("success",)
_MOVED = ("redir_temp", "redir_perm")


@dataclass(frozen=True, slots=True)
class ParseReport:
    """`pages` by parse status (parsed, skipped, failed), links kept, and links dropped by filters and limits."""

    segment: str
    pages: Mapping[str, int]
    links: int
    links_dropped: int


def parse(
    crawl: Crawl,
    segment: str | None = None,
    *,
    again: bool = False,
    progress: Callable[[Segment, int, int], None] | None = None,
) -> ParseReport:
    """Parses a segment (the oldest that is fetched, unless named) from its archive; see `ParseReport`.

    `again` parses one that was parsed before. Raises `StoreError` if a file of the segment is missing.
    """
    with crawl.writing("parse"):
        chosen = crawl.segments[segment] if again and segment else segment_in_state(crawl, "fetched", segment)
        return _parse(crawl, chosen, progress)


def _parse(
    crawl: Crawl, segment: Segment, progress: Callable[[Segment, int, int], None] | None
) -> ParseReport:
    rows, total = _input(crawl, segment)
    for folder in ("links", "docs"):
        shutil.rmtree(segment.folder(folder), ignore_errors=True)
        segment.folder(folder).mkdir()
    statuses: Counter[str] = Counter()
    links = dropped = done = 0
    jobs = (_job(crawl, segment, rows, number, total) for number in range(-(-total // CHUNK_PAGES)))
    for result in crawl.engine.map_parts(
        parse_chunk, jobs, crawl.settings.parse.processes or os.cpu_count() or 1
    ):
        statuses.update(result.statuses)
        links, dropped = links + result.links, dropped + result.dropped
        done = min(done + CHUNK_PAGES, total)
        if progress is not None:
            progress(segment, done, total)
    report = ParseReport(segment.name, dict(statuses), links, dropped)
    segment.advance("parsed", parsed={"pages": report.pages, "links": links, "links_dropped": dropped})
    return report


def _input(crawl: Crawl, segment: Segment) -> tuple[Path, int]:
    """What is to be parsed, as one file in the order of the archive; and how many rows."""
    pages = segment.files("pages")
    if len(pages) < len(segment.files("fetchlist")):
        raise StoreError(
            f"{segment.path}: the pages of some parts are missing; 'pinyon segments {crawl.root} abort {segment.name}' "
            "gives its URLs free again"
        )
    engine = crawl.engine
    tables = {"pages": Files.of(PAGES, pages), "fetchlist": Files.of(FETCHLIST, segment.files("fetchlist"))}
    engine.run(load("pinyon.cycle", "parse_input"), tables, {"wanted": [*_WITH_BODY, *_MOVED]})
    path = crawl.scratch("parse") / "input.parquet"
    file = engine.write("SELECT * FROM to_parse ORDER BY warc_file, warc_offset", path)
    return path, file.rows


def _job(crawl: Crawl, segment: Segment, rows: Path, number: int, total: int) -> ChunkJob:
    settings = crawl.settings
    start = number * CHUNK_PAGES
    return ChunkJob(
        segment=segment.path,
        rows=rows,
        start=start,
        count=min(CHUNK_PAGES, total - start),
        number=number,
        buckets=crawl.store.current(CRAWLDB).buckets,
        settings=settings.parse,
        urls=settings.urls,
        normaliser=crawl.normalise,
        filter=crawl.url_filter,
        agent_names=settings.fetcher.robots_agents or (settings.fetcher.agent_name,),
    )
