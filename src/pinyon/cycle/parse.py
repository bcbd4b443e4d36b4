"""parse: what the pages of a segment say: links, titles, text, in a pool of processes over the archive.

pages ─────┐                       ┌▶ parse_chunk ─┐
           ├▶ rows, in the order ──┼▶ parse_chunk ─┼▶ .NAME.parse-…/ ─▶ links, docs
fetchlist ─┘  of the archive       └▶ …            ┘   (aside, then in place)
"""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pinyon.crawl import Crawl
from pinyon.cycle.choose import published_files, segment_in_state
from pinyon.cycle.parse_chunk import ChunkJob, ChunkResult, ParseRules, parse_chunk
from pinyon.errors import StoreError, UsageError
from pinyon.jobs import Files, load
from pinyon.store import Segment
from pinyon.store.files import remove_tree
from pinyon.tables import CRAWLDB, FETCHLIST, PAGES

if TYPE_CHECKING:
    import pyarrow as pa

_WITH_BODY = ("success",)
_MOVED = ("redir_temp", "redir_perm")
_FOLDERS = ("links", "docs")
#: Chunks are of about equal cost: bytes in the archive, and for each page what it costs besides.
_PAGE_COST = 2_000
#: A process gets so many chunks of a small segment: enough to share the work evenly, few enough files.
_CHUNKS_A_PROCESS = 4
_LEAST_COST, _MOST_COST = 500_000, 32_000_000
#: Rows of a chunk at most: they are held in memory with all their links.
_MOST_PAGES = 2_000
_BATCH_ROWS = 10_000


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

    `again` parses one that was parsed before, by name. Raises `StoreError` if the pages of a part are missing; what is
    wrong with a page or its record is that page's row.
    """
    with crawl.writing("parse"):
        chosen = _parsed_before(crawl, segment) if again else segment_in_state(crawl, "fetched", segment)
        return _parse(crawl, chosen, progress)


def _parsed_before(crawl: Crawl, name: str | None) -> Segment:
    if name is None:
        raise UsageError("parse again: which segment? Name it")
    segment = crawl.segments[name]
    if segment.state == "generated":
        raise UsageError(
            f"segment {segment.name} is not fetched yet: 'pinyon fetch {crawl.root} {segment.name}'"
        )
    return segment


def _parse(
    crawl: Crawl, segment: Segment, progress: Callable[[Segment, int, int], None] | None
) -> ParseReport:
    rows, total, cost = _select(crawl, segment)
    aside = _aside(crawl, segment)
    processes = crawl.settings.parse.processes or os.cpu_count() or 1
    limit = min(max(cost // (processes * _CHUNKS_A_PROCESS), _LEAST_COST), _MOST_COST)
    jobs = _jobs(rows, _rules(crawl, segment, aside), limit)
    results: list[ChunkResult] = []
    done = 0
    with closing(crawl.engine.map_parts(parse_chunk, jobs, processes)) as coming:
        for result in coming:
            results.append(result)
            done += result.pages
            if progress is not None:
                progress(segment, done, total)
    report = _report(segment, results)
    _publish(segment, aside, report)
    return report


def _select(crawl: Crawl, segment: Segment) -> tuple[Path, int, int]:
    """What is to be parsed as a file in the order of the archive, how many rows it has, and their cost."""
    segment.check_whole()
    pages = segment.files("pages")
    if len(pages) < len(segment.files("fetchlist")):
        raise StoreError(
            f"{segment.path}: the pages of some parts are missing; 'pinyon segments {crawl.root} abort {segment.name}' "
            "gives its URLs free again"
        )
    engine = crawl.engine
    tables = {"pages": Files.of(PAGES, pages), "fetchlist": Files.of(FETCHLIST, segment.files("fetchlist"))}
    engine.run(load("pinyon.cycle", "parse_input"), tables, {"wanted": [*_WITH_BODY, *_MOVED]})
    sql = "SELECT count(*) AS pages, CAST(coalesce(sum(warc_length), 0) AS BIGINT) AS bytes FROM to_parse"
    [found] = engine.rows(sql)
    path = crawl.scratch("parse") / "input.parquet"
    engine.write("SELECT * FROM to_parse ORDER BY warc_file, warc_offset, url", path)
    return path, found["pages"], found["bytes"] + _PAGE_COST * found["pages"]


def _rules(crawl: Crawl, segment: Segment, aside: Path) -> ParseRules:
    settings = crawl.settings
    return ParseRules(
        archive=segment.folder("warc"),
        target=aside,
        buckets=crawl.store.current(CRAWLDB).buckets,
        settings=settings.parse,
        private_suffixes=settings.urls.private_suffixes,
        max_url_length=settings.urls.max_url_length,
        normalise=crawl.normalise,
        url_filter=crawl.url_filter,
        agent_names=settings.fetcher.robots_agents or (settings.fetcher.agent_name,),
    )


# -- chunks ---------------------------------------------------------------------------------------------------


def _jobs(rows: Path, rules: ParseRules, limit: int) -> Iterator[ChunkJob]:
    """The rows in their order, in chunks that cost about `limit`."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pq.ParquetFile(rows) as file:
        for number, chunk in enumerate(_chunks(file.iter_batches(_BATCH_ROWS), limit)):
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, chunk.schema) as stream:
                stream.write_batch(chunk)
            yield ChunkJob(number, sink.getvalue().to_pybytes(), rules)


def _chunks(batches: Iterator[pa.RecordBatch], limit: int) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        start = cost = 0
        for i, length in enumerate(batch.column("warc_length").to_pylist(), 1):
            cost += _PAGE_COST + (length or 0)
            if cost >= limit or i - start >= _MOST_PAGES or i == batch.num_rows:
                yield batch.slice(start, i - start)
                start, cost = i, 0


# -- publishing -----------------------------------------------------------------------------------------------


def _aside(crawl: Crawl, segment: Segment) -> Path:
    """An empty folder of this run alone: a worker of a killed run, should it still live, writes to another. The next
    writer sweeps what begins with a dot."""
    aside = Path(tempfile.mkdtemp(prefix=f".{segment.name}.parse-", dir=crawl.segments.root))
    for name in _FOLDERS:
        (aside / name).mkdir()
    return aside


def _report(segment: Segment, results: list[ChunkResult]) -> ParseReport:
    statuses: Counter[str] = Counter()
    for result in results:
        statuses.update(result.statuses)
    return ParseReport(
        segment.name,
        dict(statuses.most_common()),
        sum(result.links for result in results),
        sum(result.dropped for result in results),
    )


def _publish(segment: Segment, aside: Path, report: ParseReport) -> None:
    """In place of what was parsed before: until all of it is there, the segment counts as fetched only."""
    segment.advance("fetched", files=published_files(segment, "fetchlist", "lock", "pages", "hosts"))
    for name in _FOLDERS:
        if segment.folder(name).exists():
            remove_tree(segment.folder(name))
        (aside / name).rename(segment.folder(name))
    aside.rmdir()
    segment.advance(
        "parsed",
        parsed={"pages": dict(report.pages), "links": report.links, "links_dropped": report.links_dropped},
        files=published_files(segment, "fetchlist", "lock", "pages", "hosts", *_FOLDERS),
    )
