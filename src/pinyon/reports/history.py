"""history: the versions of a table, and what made them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from pinyon.crawl import Crawl
from pinyon.tables import CRAWLDB, HOSTDB


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a table: when it was published (UTC), by which step, and whether it can still be read."""

    version: int
    published_at: datetime | None
    operation: str | None
    kept: bool


def history(crawl: Crawl, *, table: str = "crawldb", limit: int | None = None) -> list[Version]:
    """The versions of `crawldb` or `hostdb` that the log still knows, newest first."""
    spec = {"crawldb": CRAWLDB, "hostdb": HOSTDB}[table]
    kept = set(crawl.store.kept(spec))
    return [
        Version(entry["version"], _time(entry["timestamp"]), entry["operation"], entry["version"] in kept)
        for entry in crawl.store.history(spec, limit)
    ]


def _time(timestamp_ms: int | None) -> datetime | None:
    return None if timestamp_ms is None else datetime.fromtimestamp(timestamp_ms / 1000, UTC)
