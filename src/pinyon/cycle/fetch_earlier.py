"""What earlier runs of a part have left: which of its URLs are done, and which hosts are still to be let alone.

A part that was stopped or killed goes on from its page log. A row of it counts if the WARC record it speaks of is
there: after a power cut it may not be. Failures and Retry-After of the run before hold on: the back-off of a host
does not begin anew because we did.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from pinyon.archive import recover
from pinyon.cycle.pagelog import cut_torn_tail, read_log, rewrite_log
from pinyon.fetcher import FetcherConfig
from pinyon.fetcher.outcomes import FAILURES


@dataclass(slots=True)
class Pause:
    """How the last requests to a host went: the end of the latest, and how many failed in a row."""

    ended_at: datetime
    failures: int = 0
    retry_at: datetime | None = None

    def until(self, config: FetcherConfig, delay_ms: int | None) -> datetime:
        """Before this (UTC) the host is not to be asked, for what it met; its plain delay is the fetcher's matter."""
        until = self.retry_at or self.ended_at
        if self.failures:
            delay_s = config.server_delay_s if delay_ms is None else delay_ms / 1000
            pause_s = max(delay_s, config.first_back_off_s) * 2.0 ** min(self.failures, 64)
            until = max(until, self.ended_at + timedelta(seconds=min(pause_s, config.max_back_off_s)))
        return until


@dataclass(slots=True)
class Earlier:
    """`positions` of the fetch list that are done, and the hosts that failed or asked for a pause."""

    positions: set[int] = field(default_factory=set)
    pauses: dict[str, Pause] = field(default_factory=dict)

    def take(self, row: Mapping[str, Any]) -> None:
        self.positions.add(row["position"])
        asked = row["http_status"] is not None or row["outcome"] in FAILURES
        if not asked or row["host"] is None:
            return
        if row["outcome"] in FAILURES or row["retry_at"] is not None:
            before = self.pauses.get(row["host"])
            self.pauses[row["host"]] = _after(row, before.failures if before else 0)
        else:
            self.pauses.pop(row["host"], None)


def _after(row: Mapping[str, Any], failures_before: int) -> Pause:
    begun = datetime.fromisoformat(row["fetch_time"])
    return Pause(
        begun + timedelta(milliseconds=row["duration_ms"] or 0),
        failures_before + 1 if row["outcome"] in FAILURES else 0,
        None if row["retry_at"] is None else datetime.fromisoformat(row["retry_at"]),
    )


def earlier(log: Path, warcs: Iterable[Path]) -> Earlier:
    """Mends what a killed run left, the archive first, and reads what is whole. Raises `StoreError` if it cannot be."""
    cut_torn_tail(log)
    is_archived = _archived(warcs)
    found, lost = Earlier(), False
    for row in read_log(log):
        if is_archived(row):
            found.take(row)
        else:
            lost = True
    if lost:
        rewrite_log(log, (row for row in read_log(log) if is_archived(row)))
    return found


def _archived(warcs: Iterable[Path]) -> Callable[[Mapping[str, Any]], bool]:
    ends = {}
    for path in warcs:
        recover(path)
        ends[path.name] = path.stat().st_size
    return lambda row: (
        row.get("warc_file") is None
        or row["warc_offset"] + row["warc_length"] <= ends.get(row["warc_file"], 0)
    )
