"""Fetching one part, in a process of its own: fetch list rows in, page log and WARC files out.

fetchlist/part-K.parquet ─▶ items ─▶ fetcher ─▶ sink ─┬▶ warc/…-K-….warc.gz
   (without what is logged already)                   ├▶ pages/part-K.jsonl ─▶ pages/part-K.parquet (done)
                                                      └▶ hosts/part-K.jsonl ─▶ hosts/part-K.parquet
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from pinyon.cycle.fetch_earlier import Earlier, earlier
from pinyon.cycle.fetch_order import in_order
from pinyon.cycle.fetch_sink import PartSink
from pinyon.cycle.pagelog import to_parquet
from pinyon.cycle.part_job import PartJob
from pinyon.engines.workers import stopping
from pinyon.errors import FetchError, LockedError
from pinyon.fetcher import FetchItem, FileRobotsCache, Gate, fetch_items
from pinyon.tables import HOST_FACTS, PAGES

#: How long a part waits for an orphan of a killed run to notice that its parent is gone.
_ORPHAN_S = 5.0
#: How often what came is flushed, and the parent and the disk are looked at.
_LOOK_S = 0.25
#: Reasons to stop that leave a part as good as done: what was not fetched stays due.
_ENOUGH = (None, "time_limit", "throughput", "idle")
_ITEM_COLUMNS = ["url", "host", "domain", "position", "fetch_delay_ms", "etag", "last_modified", "not_before"]


@dataclass(frozen=True, slots=True)
class PartResult:
    """`finished`: the part is done; else it was stopped, and goes on when it is fetched again."""

    part: int
    finished: bool
    stopped_by: str | None


def fetch_part(job: PartJob) -> PartResult:
    """Fetches what of the part is not logged yet.

    Raises `LockedError` if another process fetches it, `StoreError` if what an earlier run left is damaged,
    `FetchError` when the disk is full: what was fetched is kept.
    """
    for folder in ("pages", "hosts", "warc"):
        (job.segment / folder).mkdir(exist_ok=True)
    lock = FileLock(job.file("pages", "lock"))
    try:
        lock.acquire(timeout=_ORPHAN_S)
    except Timeout as error:
        raise LockedError(f"{job.segment}: part {job.part} is being fetched by another process") from error
    with lock:
        try:
            result = PartResult(job.part, True, None) if job.done else _fetch_part(job)
        except OSError as error:
            raise FetchError(
                f"{job.segment}: part {job.part} cannot be written: {error.strerror or error}; what was fetched is "
                "kept: fetch again when that is mended"
            ) from error
        if result.finished:
            _sweep(job)
    return result


def _fetch_part(job: PartJob) -> PartResult:
    before = earlier(job.file("pages", "jsonl"), job.segment.glob(f"warc/*-{job.part:05d}-*.warc.gz"))
    if job.disk_is_full:
        return PartResult(job.part, False, "disk")
    with PartSink(job) as sink, job.gate() as gate:
        stopped_by = asyncio.run(_run(job, sink, before, gate))
    if stopped_by not in _ENOUGH:
        return PartResult(job.part, False, stopped_by)
    to_parquet(job.file("hosts", "jsonl"), HOST_FACTS, job.file("hosts", "parquet"))
    to_parquet(job.file("pages", "jsonl"), PAGES, job.file("pages", "parquet"))
    return PartResult(job.part, True, stopped_by)


def _sweep(job: PartJob) -> None:
    """The logs of a part that is done, and what a killed run may have left beside them."""
    for folder in ("hosts", "pages"):
        job.file(folder, "jsonl").unlink(missing_ok=True)
        for path in (job.segment / folder).glob(f".part-{job.part:05d}.*"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for path in (job.segment / "pages").glob(f"part-{job.part:05d}.progress.*"):
        path.unlink()


def items(job: PartJob, before: Earlier) -> Iterator[FetchItem]:
    """The fetch list's rows by position, read as they are wanted, without those fetched before."""
    for row in in_order(job.file("fetchlist", "parquet"), _ITEM_COLUMNS, _spill(job)):
        if row["position"] in before.positions:
            continue
        pause = before.pauses.get(row["host"])
        if pause is not None:
            until = pause.until(job.config, row["fetch_delay_ms"])
            row["not_before"] = max(until, row["not_before"] or until)
        yield FetchItem(**row)


def _spill(job: PartJob) -> Path:
    return job.segment / "pages" / f".part-{job.part:05d}.sort"


async def _run(job: PartJob, sink: PartSink, before: Earlier, gate: Gate | None) -> str | None:
    """Why it was stopped; None when the list was done."""
    stop = asyncio.Event()
    watch = asyncio.create_task(_watch(job, sink, stop))
    running = asyncio.create_task(
        fetch_items(
            items(job, before),
            job.config,
            sink,
            robots_cache=FileRobotsCache(job.robots_cache),
            normalise=lambda base, location: job.normalise(location, base),
            gate=gate,
            stop=stop,
            progress=sink.tell,
        )
    )
    try:
        await asyncio.wait((watch, running), return_when=asyncio.FIRST_COMPLETED)
        if watch.done():
            watch.result()  # raises what flushing raised
        summary = await running
        return sink.stopped_by or summary.stopped_by
    finally:
        for task in (watch, running):
            task.cancel()
        await asyncio.gather(watch, running, return_exceptions=True)


async def _watch(job: PartJob, sink: PartSink, stop: asyncio.Event) -> None:
    """Flushes what came, and stops when the parent asks for it or the disk is nearly full."""
    while not stop.is_set():
        await asyncio.sleep(_LOOK_S)
        sink.flush()
        if stopping():
            sink.stopped_by = "stop"
        elif job.disk_is_full:
            sink.stopped_by = "disk"
        if sink.stopped_by:
            stop.set()
