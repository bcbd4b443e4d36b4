"""status: who writes, how far it is, and what to run next."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pinyon.crawl import Crawl
from pinyon.store import Segment, holder
from pinyon.tables import CRAWLDB, HOSTDB

_NEXT = {"generated": "fetch", "fetched": "parse", "parsed": "updatedb"}


@dataclass(frozen=True, slots=True)
class SegmentLine:
    """A segment and its state: generated, fetched, parsed or updated."""

    name: str
    state: str
    urls: int


@dataclass(frozen=True, slots=True)
class CrawlStatus:
    """`writer` is who holds the lock, `fetching` the live counters of parts being fetched, `next` the next command."""

    urls: int
    hosts: int
    crawldb_version: int
    writer: str | None
    fetching: Sequence[dict[str, Any]]
    open_segments: Sequence[SegmentLine]
    disk_bytes: int
    disk_free_bytes: int
    next: str


def status(crawl: Crawl) -> CrawlStatus:
    """The state of a crawl, read without a lock."""
    crawldb, hostdb = crawl.store.current(CRAWLDB), crawl.store.current(HOSTDB)
    lines = segment_lines(crawl)
    waiting = [line for line in lines if line.state != "updated"]
    who = holder(crawl.root)
    return CrawlStatus(
        urls=crawldb.rows,
        hosts=hostdb.rows,
        crawldb_version=crawldb.version,
        writer=str(who) if who else None,
        fetching=[counters for segment in crawl.segments for counters in fetching(segment)],
        open_segments=waiting,
        disk_bytes=sum(p.stat().st_size for p in crawl.root.rglob("*") if p.is_file()),
        disk_free_bytes=shutil.disk_usage(crawl.root).free,
        next=_next(crawl, crawldb.rows, waiting),
    )


def segment_lines(crawl: Crawl) -> list[SegmentLine]:
    """All segments with their states, oldest first."""
    segments = list(crawl.segments)
    done = crawl.store.applied(CRAWLDB, [segment.name for segment in segments])
    return [SegmentLine(s.name, "updated" if s.name in done else s.state, _urls(s)) for s in segments]


def _urls(segment: Segment) -> int:
    return sum(part["urls"] for part in segment.info().get("parts", []))


def fetching(segment: Segment) -> list[dict[str, Any]]:
    """The live counters that the processes of a running fetch leave, one a part."""
    found = []
    for path in sorted(segment.folder("pages").glob("*.progress.json")):
        try:
            counters = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):  # just being replaced, or gone
            continue
        if time.time() - path.stat().st_mtime < 60:
            found.append({"segment": segment.name, "part": path.name.split(".")[0], **counters})
    return found


def _next(crawl: Crawl, urls: int, waiting: Sequence[SegmentLine]) -> str:
    if waiting:
        return f"pinyon {_NEXT[waiting[0].state]} {crawl.root}"
    return f"pinyon generate {crawl.root}" if urls else f"pinyon inject {crawl.root} SEEDS"
