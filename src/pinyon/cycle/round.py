"""crawl: round after round, each going on where the last one stopped, killed or not."""

from __future__ import annotations

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


@dataclass(frozen=True, slots=True)
class CrawlReport:
    """`rounds` were finished; `ended_by` says rounds, empty (nothing due), duration or stop (not finished)."""

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
    of every finished step. Raises what a step raises; calling again goes on.
    """
    begun = clock()
    pages = finished = 0
    while rounds is None or finished < rounds:
        if duration_s is not None and clock() - begun >= duration_s:
            return CrawlReport(finished, pages, "duration")
        try:
            for step, report in _round(crawl, progress, options):
                told(step, report)
                if isinstance(report, FetchReport):
                    pages += report.pages
                    if not report.finished:
                        return CrawlReport(finished, pages, "stop")
        except NothingDue:
            return CrawlReport(finished, pages, "empty")
        finished += 1
    return CrawlReport(finished, pages, "rounds")


def _round(
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
