"""status: who writes, how far it is, and what to run next."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pinyon.crawl import Crawl
from pinyon.errors import StoreError
from pinyon.store import Segment, holder
from pinyon.tables import CRAWLDB, HOSTDB

_NEXT = {"generated": "fetch", "fetched": "parse", "parsed": "updatedb"}
#: Counters older than this were left by a process that is gone.
_SILENT_S = 60.0


@dataclass(frozen=True, slots=True)
class SegmentLine:
    """A segment and its state: generated, fetched, parsed, updated, or broken: its segment.json cannot be read."""

    name: str
    state: str
    urls: int


@dataclass(frozen=True, slots=True)
class CrawlStatus:
    """`writer` is who holds the lock, `fetching` the live counters of parts being fetched, `next` the next command.

    Of each part: `urls` it has, `left_s` it will take at its rate so far, and what its fetcher counts.
    """

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
    """The state of a crawl, read without a lock, while others write or not."""
    crawldb, hostdb = crawl.store.current(CRAWLDB), crawl.store.current(HOSTDB)
    waiting = [line for line in segment_lines(crawl) if line.state != "updated"]
    who = holder(crawl.root)
    return CrawlStatus(
        urls=crawldb.rows,
        hosts=hostdb.rows,
        crawldb_version=crawldb.version,
        writer=str(who) if who else None,
        fetching=[counters for segment in crawl.segments for counters in fetching(segment)],
        open_segments=waiting,
        disk_bytes=_disk_bytes(crawl.root),
        disk_free_bytes=shutil.disk_usage(crawl.root).free,
        next=_next(crawl, crawldb.rows, waiting),
    )


def segment_lines(crawl: Crawl) -> list[SegmentLine]:
    """All segments with their states, oldest first."""
    segments = list(crawl.segments)
    done = crawl.store.applied(CRAWLDB, [segment.name for segment in segments])
    return [_line(segment, segment.name in done) for segment in segments]


def _line(segment: Segment, updated: bool) -> SegmentLine:
    try:
        info = segment.info()
    except StoreError:
        return SegmentLine(segment.name, "updated" if updated else "broken", 0)
    urls = sum(part["urls"] for part in info.get("parts", []))
    return SegmentLine(segment.name, "updated" if updated else info["state"], urls)


def fetching(segment: Segment) -> list[dict[str, Any]]:
    """The live counters that the processes of a running fetch leave, one a part; see `CrawlStatus`."""
    found = []
    for path in sorted(segment.folder("pages").glob("*.progress.json")):
        try:
            counters = json.loads(path.read_text(encoding="utf-8"))
            age_s = time.time() - path.stat().st_mtime
        except (OSError, ValueError):  # just being replaced, or gone
            continue
        if age_s < _SILENT_S:
            name = path.name.split(".")[0]
            found.append(
                {"segment": segment.name, "part": name, **_ahead(segment, name, counters), **counters}
            )
    return found


def _ahead(segment: Segment, part: str, counters: Mapping[str, Any]) -> dict[str, Any]:
    """How many URLs the part has, and how long the rest takes at the rate so far."""
    try:
        urls = int(segment.info()["parts"][int(part.rpartition("-")[2])]["urls"])
    except (StoreError, KeyError, IndexError, ValueError):
        return {}
    done, elapsed_s = counters.get("captured", 0), counters.get("elapsed_s", 0.0)
    left_s = round(max(urls - done, 0) * elapsed_s / done, 1) if done else None
    return {"urls": urls, "left_s": left_s}


def _disk_bytes(root: Path) -> int:
    """Of all files below; those that vanish while one looks do not count."""
    total = 0
    for folder, _, names in os.walk(root):
        for name in names:
            with suppress(OSError):
                total += Path(folder, name).stat().st_size
    return total


def _next(crawl: Crawl, urls: int, waiting: Sequence[SegmentLine]) -> str:
    if not waiting:
        return f"pinyon generate {crawl.root}" if urls else f"pinyon inject {crawl.root} SEEDS"
    first = waiting[0]
    if first.state == "broken":
        return f"pinyon segments {crawl.root} abort {first.name}"
    return f"pinyon {_NEXT[first.state]} {crawl.root}"
