"""What an explanation asks of a crawl: the settings, time and tables that a generate goes by, and jobs over them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from pinyon.crawl import Crawl
from pinyon.cycle.narrow import LIMITS, URLS
from pinyon.cycle.policy import Policy
from pinyon.jobs import Files, Job, load
from pinyon.settings import Generate, Settings
from pinyon.store import Published, Segment
from pinyon.tables import CRAWLDB, HOSTDB
from pinyon.urls import key_of


@dataclass(frozen=True, slots=True)
class Lock:
    """A segment that the crawldb has not taken in; `holds` while it keeps its URLs from being generated again."""

    segment: Segment
    generated_at: datetime
    holds: bool


@dataclass(frozen=True, slots=True)
class Question:
    """What a generate goes by: settings, policy, time (`now`, UTC), the crawldb, open segments (`locks`, oldest first),
    files that were given, and whether the URL filters are asked once more."""

    crawl: Crawl
    everything: Settings
    policy: Policy
    now: datetime
    crawldb: Published
    folder: Path
    locks: Sequence[Lock]
    limits: Sequence[str]
    listed: Mapping[int, Sequence[str]] | None
    is_filtered: bool
    fragments: Mapping[str, str]
    values: Mapping[str, Any]

    @property
    def settings(self) -> Generate:
        return self.everything.generate

    @property
    def limits_domains(self) -> bool:
        """Whether the limits of any domain could matter."""
        named = self.policy.domain_limit >= 0 or self.settings.max_hosts_per_domain >= 0
        return named or self.settings.limits_file is not None

    def bucket_of(self, host: str | None) -> list[int]:
        """The bucket of a host."""
        return [0 if host is None else key_of(host) & (self.crawldb.buckets - 1)]

    def groups(self) -> list[list[int]]:
        """Buckets that go through a job together, without those that are empty."""
        groups = self.crawl.engine.bucket_groups(self.crawldb.buckets)
        return [group for group in groups if self.crawldb.paths(group)]

    def run(self, names: Sequence[str], buckets: Sequence[int], **more: Any) -> None:
        """Runs the job of these .sql files over some buckets.

        `more` are values, fragments and tables of this one job.
        """
        job = load("pinyon.cycle", *names)
        tables, values, fragments = self._given(job, buckets, more)
        self.crawl.engine.run(job, tables, values, fragments)

    def write(self, names: Sequence[str], buckets: Sequence[int], file: str, **more: Any) -> tuple[str, int]:
        """The same, and its last step goes into a file of this name: its path, and how many rows."""
        job = load("pinyon.cycle", *names)
        tables, values, fragments = self._given(job, buckets, more)
        written = self.crawl.engine.write_result(job, tables, self.folder / file, values, fragments)
        return str(written.path), written.rows

    def _given(
        self, job: Job, buckets: Sequence[int], more: Mapping[str, Any]
    ) -> tuple[dict[str, Files], dict[str, Any], dict[str, str]]:
        """Of tables, values and fragments those that the job declares."""
        found = {**self._tables(buckets), **self.values, **self.fragments, **more}
        tables, values, fragments = (
            {name: found[name] for name in names} for names in (job.reads, job.params, job.fragments)
        )
        return tables, values, fragments

    def _tables(self, buckets: Sequence[int]) -> dict[str, Files]:
        hostdb = self.policy.hostdb
        # hosts of another HostDb may lie in other buckets
        own = hostdb is not None and hostdb.buckets == self.crawldb.buckets
        locked = [path for lock in self.locks if lock.holds for path in lock_files(lock.segment, buckets)]
        return {
            "crawldb": Files.of(CRAWLDB, self.crawldb.paths(buckets)),
            "hostdb": Files.of(HOSTDB, hostdb.paths(buckets if own else None) if hostdb else ()),
            "locked": Files.of(URLS, locked),
            "listed": Files.of(URLS, [path for b in buckets for path in (self.listed or {}).get(b, ())]),
            "limits": Files.of(LIMITS, self.limits),
        }


def lock_files(segment: Segment, buckets: Sequence[int]) -> list[str]:
    """Files of the URLs that a segment locks in these buckets."""
    paths = (segment.folder("lock") / f"bucket-{bucket}.parquet" for bucket in buckets)
    return [str(path) for path in paths if path.exists()]
