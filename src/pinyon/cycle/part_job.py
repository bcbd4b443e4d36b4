"""What a process needs to fetch one part."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pinyon.fetcher import FetcherConfig, Gate, SharedGate
from pinyon.settings import Warc
from pinyon.urls import Normaliser


@dataclass(frozen=True, slots=True)
class PartJob:
    """Part `part` of segment `name`: of the crawl it sees the segment's folder and the cache of robots.txt only."""

    segment: Path
    name: str
    part: int
    buckets: int
    private_suffixes: bool
    config: FetcherConfig
    warc: Warc
    robots_cache: Path
    normalise: Normaliser
    min_free_disk: int
    #: Whether other parts of the segment are fetched beside this one.
    shared: bool

    def file(self, folder: str, suffix: str) -> Path:
        return self.segment / folder / f"part-{self.part:05d}.{suffix}"

    @contextmanager
    def gate(self) -> Iterator[Gate | None]:
        """Between the parts of one segment; who lets several connections ask one host at a time needs none."""
        if not self.shared or self.config.connections_per_host > 1:
            yield None
            return
        longest_s = self.config.total_timeout_s + self.config.stop_grace_s
        with SharedGate(self.segment / "pages" / ".gate", longest_s) as gate:
            yield gate

    @property
    def done(self) -> bool:
        return self.file("pages", "parquet").exists()

    @property
    def disk_is_full(self) -> bool:
        return shutil.disk_usage(self.segment).free < self.min_free_disk
