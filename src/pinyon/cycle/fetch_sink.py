"""Where the fetcher's captures go: the archive first, then the page log."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, fields
from pathlib import Path
from types import TracebackType
from typing import Any

from pinyon.archive import WarcWriter
from pinyon.cycle.pagelog import Log
from pinyon.cycle.part_job import PartJob
from pinyon.fetcher import Capture, HostFacts, Progress
from pinyon.tables import HOST_FACTS, PAGES
from pinyon.urls import locate

#: Rows that may wait for the next look at the clock.
_MOST_PENDING = 1_000
_PAGE_FIELDS = [field.name for field in fields(Capture) if field.name in PAGES.names]


class PartSink:
    """Context manager: an open archive and two logs. What it raises (a full disk) ends the run."""

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
        self._progress = job.file("pages", "progress.json")
        self.stopped_by: str | None = None

    def __enter__(self) -> PartSink:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._warc.close()
            self._pages.sync()
            self._hosts.sync()
        finally:
            self._pages.close()
            self._hosts.close()
            self._progress.unlink(missing_ok=True)

    def capture(self, capture: Capture) -> None:
        place = self._warc.write(capture)
        if capture.kind != "page":
            return
        at = locate(capture.url, self._job.private_suffixes)
        row: dict[str, Any] = {name: getattr(capture, name) for name in _PAGE_FIELDS}
        row |= {
            "position": capture.position,
            "url_key": at.url_key,
            "host": at.host,
            "host_key": at.host_key,
            "domain": at.domain,
            "bucket": at.bucket(self._job.buckets),
        }
        if place is not None:
            row |= {"warc_file": place.file, "warc_offset": place.offset, "warc_length": place.length}
        self._pages.append(row)
        if self._pages.pending >= _MOST_PENDING:
            self.flush()

    def host(self, facts: HostFacts) -> None:
        row = {name: value for name, value in asdict(facts).items() if name in HOST_FACTS.names}
        row["bucket"] = locate(f"http://{facts.host}/").bucket(self._job.buckets)
        self._hosts.append(row)

    def flush(self) -> None:
        """The archive before the log: a logged page is an archived page."""
        self._warc.flush()
        self._pages.flush()

    def tell(self, progress: Progress) -> None:
        """Leaves the counters where `pinyon status` looks for them; not worth a sync."""
        aside = Path(f"{self._progress}.tmp")
        aside.write_text(json.dumps({"pid": os.getpid(), **asdict(progress)}), encoding="utf-8")
        aside.replace(self._progress)
