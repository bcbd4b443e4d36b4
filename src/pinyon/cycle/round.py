"""crawl: round after round, each going on where the last one stopped, killed or not.

generate ─▶ fetch ─▶ parse ─▶ updatedb ─▶ updatehostdb ─▶ (again)
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from pinyon.crawl import Crawl
from pinyon.cycle.choose import open_segments
from pinyon.cycle.fetch import FetchReport, fetch
from pinyon.cycle.generate import GenerateReport, generate
from pinyon.cycle.parse import ParseReport, parse
from pinyon.cycle.updatedb import UpdateReport, updatedb
from pinyon.cycle.updatehostdb import HostDbReport, segments_to_merge, updatehostdb
from pinyon.errors import NothingDue

StepReport: TypeAlias = GenerateReport | FetchReport | ParseReport | UpdateReport | HostDbReport

#: Outcomes after which a URL is as due as it was before.
_UNCHANGED = frozenset({"blocked"})
#: What workers can import while the first list is being generated.
_WORKERS_IMPORT = (
    "pinyon.cycle.fetch_part",
    "pinyon.fetcher.aiohttp_transport",
    "pyarrow.parquet",
    "pinyon.cycle.parse_chunk",
)


@dataclass(frozen=True, slots=True)
class CrawlReport:
    """`rounds` were finished, and `pages` fetched in them.

    `ended_by` says why there was not another: rounds, empty (nothing due), duration, or stalled: a list was made of
    which nothing could be fetched, because of a time limit or because every host wants to be let alone; another
    round would only make it again.
    """

    rounds: int
    pages: int
    ended_by: str


def crawl_rounds(
    crawl: Crawl,
    *,
    rounds: int | None = 1,
    duration_s: float | None = None,
    told: Callable[[str, StepReport], None] = lambda step, report: None,
    progress: Callable[..., None] | None = None,
    clock: Callable[[], float] = time.monotonic,
    **options: Any,
) -> CrawlReport:
    """Runs rounds until `rounds` are done (None: until nothing is due), or `duration_s` is over.

    An unfinished round of before is finished first, and counts. `options` are settings of `[generate]`. `told` hears
    of every finished step. Raises what a step raises, KeyboardInterrupt too; calling again goes on.
    """
    _start_workers(crawl, options)
    begun = clock()
    pages = finished = 0
    while rounds is None or finished < rounds:
        if duration_s is not None and clock() - begun >= duration_s:
            return CrawlReport(finished, pages, "duration")
        try:
            fetched = _round(crawl, told, progress, options)
        except NothingDue:
            return CrawlReport(finished, pages, "empty")
        finished += 1
        pages += sum(report.pages for report in fetched)
        if fetched and not any(_got_anywhere(report) for report in fetched):
            return CrawlReport(finished, pages, "stalled")
    return CrawlReport(finished, pages, "rounds")


def _start_workers(crawl: Crawl, options: dict[str, Any]) -> None:
    """Ahead of their first job. Raises `SettingError` if an option is none, before anything is done."""
    settings = crawl.settings.with_values({f"generate.{name}": v for name, v in options.items()}, "arguments")
    parsers = settings.parse.processes or os.cpu_count() or 1
    crawl.engine.start_workers(max(settings.generate.fetchers, parsers), _WORKERS_IMPORT)


def _got_anywhere(report: FetchReport) -> bool:
    return any(outcome not in _UNCHANGED for outcome in report.outcomes)


def _round(
    crawl: Crawl,
    told: Callable[[str, StepReport], None],
    progress: Callable[..., None] | None,
    options: dict[str, Any],
) -> list[FetchReport]:
    """One round; what was fetched in it. Raises `NothingDue` if there is nothing to begin one with."""
    fetched = []
    for step, report in _steps(crawl, progress, options):
        told(step, report)
        if isinstance(report, FetchReport):
            fetched.append(report)
    return fetched


def _steps(
    crawl: Crawl, progress: Callable[..., None] | None, options: dict[str, Any]
) -> Iterator[tuple[str, StepReport]]:
    """The steps of one round that are still to be done, in order."""
    if not open_segments(crawl):
        if segments_to_merge(crawl):
            yield "updatehostdb", updatehostdb(crawl)
        yield "generate", generate(crawl, **options)
    for segment in open_segments(crawl):
        if segment.state == "generated":
            yield "fetch", fetch(crawl, segment.name, progress=progress)
        if segment.state == "fetched":
            yield "parse", parse(crawl, segment.name, progress=progress)
    yield "updatedb", updatedb(crawl)
    yield "updatehostdb", updatehostdb(crawl)
