"""Which segment a step takes: the oldest in the state it needs, unless one is named."""

from __future__ import annotations

from pathlib import Path

from pinyon.crawl import Crawl
from pinyon.errors import NothingDue, UsageError
from pinyon.store import Segment
from pinyon.tables import CRAWLDB

_STEP_BEFORE = {"generated": "generate", "fetched": "fetch", "parsed": "parse"}


def segment_in_state(crawl: Crawl, state: str, name: str | None = None) -> Segment:
    """Raises `NothingDue` if no segment is in that state, `UsageError` if the named one is in another."""
    if name is not None:
        segment = crawl.segments[name]
        if segment.state != state:
            raise UsageError(f"segment {segment.name} is {segment.state}, wanted one that is {state}")
        return segment
    for segment in crawl.segments:
        if segment.state == state:
            return segment
    raise NothingDue(f"no segment is {state}: run 'pinyon {_STEP_BEFORE[state]} {crawl.root}' first")


def open_segments(crawl: Crawl) -> list[Segment]:
    """Segments the crawldb has not taken in, oldest first."""
    segments = list(crawl.segments)
    done = crawl.store.applied(CRAWLDB, [segment.name for segment in segments])
    return [segment for segment in segments if segment.name not in done]


def published_files(segment: Segment, *folders: str) -> list[str]:
    """The Parquet files of these folders, relative to the segment: what `Segment.check_whole` looks for."""
    return [
        Path(path).relative_to(segment.path).as_posix()
        for folder in folders
        for path in segment.files(folder)
    ]
