"""fetch: the pages of a segment, one process a part."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from pinyon.crawl import Crawl
from pinyon.cycle.choose import published_files, segment_in_state
from pinyon.cycle.fetch_config import check_parts, fetcher_config
from pinyon.cycle.fetch_part import fetch_part
from pinyon.cycle.part_job import PartJob
from pinyon.errors import FetchError, UsageError
from pinyon.fetcher import FetcherConfig
from pinyon.jobs import Files
from pinyon.store import Segment
from pinyon.tables import CRAWLDB, PAGES


@dataclass(frozen=True, slots=True)
class FetchReport:
    """What the fetch met: `outcomes` counts pages of the parts that are done. `finished`: all parts are.

    `stopped_by` says why parts ended before their list did (time_limit, throughput, idle): the rest stays due.
    """

    segment: str
    finished: bool
    outcomes: Mapping[str, int]
    bytes: int
    stopped_by: Sequence[str] = ()

    @property
    def pages(self) -> int:
        return sum(self.outcomes.values())


def fetch(
    crawl: Crawl,
    segment: str | None = None,
    *,
    part: int | None = None,
    progress: Callable[[Segment], None] | None = None,
) -> FetchReport:
    """Fetches a segment (the oldest that is generated, unless named), or one `part` of it.

    What was fetched before is not fetched again. Ctrl-C stops within ten seconds: what came is kept, and the next
    call goes on; a second one stops at once. `progress` hears once which segment is fetched. Raises `SettingError` if
    site owners could not tell who is crawling them, `LockedError`, `FetchError` when the disk is full.
    """
    chosen = segment_in_state(crawl, "generated", segment)
    chosen.check_whole()
    check_parts(chosen, crawl.settings.fetcher.queue_mode)
    if part is not None:
        # on one of several machines: the part's own lock is enough, tables are not written
        return _fetch(crawl, chosen, [_known(chosen, part)], progress)
    with crawl.writing("fetch"):
        report = _fetch(crawl, chosen, _parts(chosen), progress)
        if report.finished:
            _tidy(chosen)
            chosen.advance(
                "fetched",
                fetched={"outcomes": dict(report.outcomes), "bytes": report.bytes},
                files=published_files(chosen, "fetchlist", "lock", "pages", "hosts"),
            )
        return report


def _tidy(segment: Segment) -> None:
    """What processes that fetch parts need to get along with each other."""
    for path in (*segment.folder("pages").glob("*.lock"), segment.folder("pages") / ".gate"):
        path.unlink(missing_ok=True)


def _parts(segment: Segment) -> list[int]:
    return [int(Path(path).stem.removeprefix("part-")) for path in segment.files("fetchlist")]


def _known(segment: Segment, part: int) -> int:
    parts = _parts(segment)
    if part not in parts:
        raise UsageError(
            f"segment {segment.name} has no part {part}: its parts are {', '.join(map(str, parts))}"
        )
    return part


def _fetch(
    crawl: Crawl, segment: Segment, parts: Sequence[int], progress: Callable[[Segment], None] | None
) -> FetchReport:
    config = fetcher_config(crawl.settings, crawl.root)
    jobs = [_job(crawl, segment, part, config) for part in parts]
    waiting = [job for job in jobs if not job.done]
    if progress is not None:
        progress(segment)
    with closing(crawl.engine.map_parts(fetch_part, waiting, len(waiting))) as coming:
        results = list(coming)
    stopped = sorted({result.stopped_by for result in results if result.stopped_by})
    if "disk" in stopped:
        raise FetchError(
            f"{segment.path}: less than {crawl.settings.fetcher.min_free_disk:,} bytes are free on the disk: make room "
            "and fetch again (fetcher.min_free_disk); what was fetched is kept"
        )
    return _report(crawl, segment, stopped)


def _report(crawl: Crawl, segment: Segment, stopped: list[str]) -> FetchReport:
    done = segment.files("pages")
    engine = crawl.engine
    engine.bind({"pages": Files.of(PAGES, done)})
    rows = engine.rows(
        "SELECT outcome, count(*) AS pages, CAST(coalesce(sum(length), 0) AS BIGINT) AS bytes "
        "FROM pages GROUP BY outcome ORDER BY pages DESC, outcome"
    )
    return FetchReport(
        segment.name,
        len(done) == len(_parts(segment)),
        {row["outcome"]: row["pages"] for row in rows},
        sum(row["bytes"] for row in rows),
        stopped,
    )


def _job(crawl: Crawl, segment: Segment, part: int, config: FetcherConfig) -> PartJob:
    return PartJob(
        segment=segment.path,
        name=segment.name,
        part=part,
        buckets=crawl.store.current(CRAWLDB).buckets,
        private_suffixes=crawl.settings.urls.private_suffixes,
        config=config,
        warc=crawl.settings.warc,
        robots_cache=crawl.root / "robots",
        normalise=crawl.normalise,
        min_free_disk=crawl.settings.fetcher.min_free_disk,
        shared=len(_parts(segment)) > 1,
    )
