"""Fetching one part, in a process of its own: fetch list rows in, page log and WARC files out.

fetchlist/part-K.parquet ─▶ items ─▶ fetcher ─▶ sink ─┬▶ warc/…-K-….warc.gz
   (without what is logged already)                   ├▶ pages/part-K.jsonl ─▶ pages/part-K.parquet (done)
                                                      └▶ hosts/part-K.jsonl ─▶ hosts/part-K.parquet
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from pinyon.archive import WarcWriter, recover
from pinyon.cycle.pagelog import Log, read_log, to_parquet
from pinyon.engines.workers import stopping
from pinyon.errors import LockedError
from pinyon.fetcher import (
    Capture,
    FetcherConfig,
    FetchItem,
    FileRobotsCache,
    HostFacts,
    Progress,
    fetch_items,
)
from pinyon.settings import Warc
from pinyon.store.files import write_json
from pinyon.tables import HOST_FACTS, PAGES
from pinyon.urls import Normaliser, locate

#: How long a part waits for an orphan of a killed run to notice that its parent is gone.
_ORPHAN_S = 15.0
_FLUSH_S = 0.5
_ITEM_COLUMNS = ["url", "host", "domain", "position", "fetch_delay_ms", "etag", "last_modified", "not_before"]
_PAGE_FIELDS = [
    name for name in PAGES.names if name in Capture.__dataclass_fields__ and name not in ("url_key", "bucket")
]


@dataclass(frozen=True, slots=True)
class PartJob:
    """All a process needs to fetch one part; it sees the segment's folder and nothing else of the crawl."""

    segment: Path
    name: str
    part: int
    buckets: int
    private_suffixes: bool
    config: FetcherConfig
    warc: Warc
    robots_cache: Path
    strip_session_ids: bool
    drop_query_params: tuple[str, ...]
    https_hosts: tuple[str, ...]
    min_free_disk: int

    def file(self, folder: str, suffix: str) -> Path:
        return self.segment / folder / f"part-{self.part:05d}.{suffix}"

    @property
    def done(self) -> bool:
        return self.file("pages", "parquet").exists()


@dataclass(frozen=True, slots=True)
class PartResult:
    """`finished`: the part is done; else it was stopped, and goes on when it is fetched again."""

    part: int
    finished: bool
    stopped_by: str | None


def fetch_part(job: PartJob) -> PartResult:
    """Fetches what of the part is not logged yet. Raises `LockedError` if another process fetches it."""
    if job.done:
        return PartResult(job.part, True, None)
    for folder in ("pages", "hosts", "warc"):
        (job.segment / folder).mkdir(exist_ok=True)
    lock = FileLock(job.file("pages", "lock"))
    try:
        lock.acquire(timeout=_ORPHAN_S)
    except Timeout as error:
        raise LockedError(f"{job.segment}: part {job.part} is being fetched by another process") from error
    with lock:
        return _fetch_part(job)


def _fetch_part(job: PartJob) -> PartResult:
    for path in job.segment.glob(f"warc/*-{job.part:05d}-*.warc.gz"):
        recover(path)
    logged = {row["position"] for row in read_log(_cut(job.file("pages", "jsonl")))}
    with contextlib.ExitStack() as stack:
        sink = stack.enter_context(_PartSink(job))
        stopped_by = asyncio.run(_run(job, sink, logged))
    if stopped_by not in (None, "time_limit", "throughput", "idle"):
        return PartResult(job.part, False, stopped_by)
    to_parquet(job.file("hosts", "jsonl"), HOST_FACTS, job.file("hosts", "parquet"), newest="host")
    to_parquet(job.file("pages", "jsonl"), PAGES, job.file("pages", "parquet"))
    return PartResult(job.part, True, stopped_by)


def _cut(path: Path) -> Path:
    from pinyon.cycle.pagelog import cut_torn_tail

    cut_torn_tail(path)
    return path


def items(job: PartJob, logged: set[int]) -> Iterator[FetchItem]:
    """The fetch list's rows in order, read as they are wanted, without those fetched before."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(job.file("fetchlist", "parquet")) as file:
        for batch in file.iter_batches(2_000, columns=_ITEM_COLUMNS):
            for row in batch.to_pylist():
                if row["position"] not in logged:
                    yield FetchItem(**row)


async def _run(job: PartJob, sink: _PartSink, logged: set[int]) -> str | None:
    stop = asyncio.Event()
    watch = asyncio.create_task(_watch(job, sink, stop))
    try:
        summary = await fetch_items(
            items(job, logged),
            job.config,
            sink,
            robots_cache=FileRobotsCache(job.robots_cache),
            normalise=Normaliser(
                strip_session_ids=job.strip_session_ids,
                drop_query_params=job.drop_query_params,
                https_hosts=job.https_hosts,
            ),
            stop=stop,
            progress=lambda progress: sink.tell(progress),
        )
    finally:
        watch.cancel()
    return sink.stopped_by or summary.stopped_by


async def _watch(job: PartJob, sink: _PartSink, stop: asyncio.Event) -> None:
    """Flushes what came, and stops when the parent asks for it or the disk is nearly full."""
    while not stop.is_set():
        await asyncio.sleep(_FLUSH_S)
        sink.flush()
        if stopping():
            sink.stopped_by = "stop"
        elif shutil.disk_usage(job.segment).free < job.min_free_disk:
            sink.stopped_by = "disk"
        if sink.stopped_by:
            stop.set()


class _PartSink:
    """Takes captures: the archive first, then the log."""

    def __init__(self, job: PartJob) -> None:
        self._job = job
        self._pages = Log(job.file("pages", "jsonl"))
        self._hosts = Log(job.file("hosts", "jsonl"))
        self._warc = WarcWriter(
            job.segment / "warc",
            job.name,
            job.part,
            max_file_bytes=job.warc.max_file_bytes,
            write_requests=job.warc.write_requests,
            software=f"pinyon ({job.config.user_agent})",
        )
        self.stopped_by: str | None = None

    def __enter__(self) -> _PartSink:
        self._warc.__enter__()
        return self

    def __exit__(self, *exception: Any) -> None:
        self._warc.__exit__(*exception)
        self._pages.close()
        self._hosts.close()
        self._job.file("pages", "progress.json").unlink(missing_ok=True)

    def capture(self, capture: Capture) -> None:
        place = self._warc.write(capture)
        if capture.kind != "page":
            return
        at = locate(capture.url, self._job.private_suffixes)
        row: dict[str, Any] = {name: getattr(capture, name) for name in _PAGE_FIELDS}
        row.update(
            position=capture.position,
            url_key=at.url_key,
            host=at.host,
            host_key=at.host_key,
            domain=at.domain,
            bucket=at.bucket(self._job.buckets),
        )
        if place is not None:
            row.update(warc_file=place.file, warc_offset=place.offset, warc_length=place.length)
        self._pages.append(row)

    def host(self, facts: HostFacts) -> None:
        row = {name: value for name, value in asdict(facts).items() if name in HOST_FACTS.names}
        place = locate(f"http://{facts.host}/")
        self._hosts.append(
            row | {"bucket": place.bucket(self._job.buckets), "sitemaps": list(facts.sitemaps)}
        )

    def flush(self) -> None:
        """The archive before the log: a logged page is an archived page."""
        self._warc.flush()
        self._pages.flush()

    def tell(self, progress: Progress) -> None:
        write_json(self._job.file("pages", "progress.json"), {"pid": os.getpid(), **asdict(progress)})
