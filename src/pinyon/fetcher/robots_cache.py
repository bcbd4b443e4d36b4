"""What is remembered of a robots.txt between requests, and between runs: one record an authority, for a day."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import zlib
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal, Protocol

#: RFC 9309, section 2.4: a copy should not be used for longer than 24 hours.
LIFE = timedelta(days=1)
#: An unreachable file is asked for again sooner, by the runs to come.
UNAVAILABLE_LIFE = timedelta(hours=1)
#: RFC 9309, section 2.3.1.4: unreachable for this long, a robots.txt may be taken as not there.
GIVE_UP_AFTER = timedelta(days=30)

RobotsStatus = Literal["allowed", "rules", "unavailable"]


@dataclass(frozen=True, slots=True)
class RobotsRecord:
    """What asking for one robots.txt gave. Times are UTC.

    `allowed`: there is none (4xx). `rules`: `body` holds them. `unavailable`: an error or no answer, since
    `unavailable_since` on; then `outcome` and `error` say what was met.
    """

    authority: str
    status: RobotsStatus
    fetched_at: datetime
    body: bytes = b""
    outcome: str | None = None
    error: str | None = None
    unavailable_since: datetime | None = None

    def expires_at(self) -> datetime:
        return self.fetched_at + (UNAVAILABLE_LIFE if self.status == "unavailable" else LIFE)

    def given_up(self, now: datetime) -> bool:
        """Whether it was out of reach for so long that the host counts as having none."""
        return self.unavailable_since is not None and now - self.unavailable_since >= GIVE_UP_AFTER


class RobotsCache(Protocol):
    """Remembers records by authority ("https://host", "http://host:8080"). Called from the event loop."""

    def get(self, authority: str) -> RobotsRecord | None:
        """The last record put, expired or not; None if there is none that can be read."""

    def put(self, record: RobotsRecord) -> None:
        """Keeps a record in place of the one before."""


class FileRobotsCache:
    """One small file an authority under a directory: nothing in memory, each file whole or not there.

    Processes may share the directory: a record is written aside and renamed. What cannot be read is as if not there.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        directory.mkdir(parents=True, exist_ok=True)

    def _path(self, authority: str) -> Path:
        name = hashlib.sha256(authority.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        return self.directory / name[:2] / name[2:]

    def get(self, authority: str) -> RobotsRecord | None:
        try:
            record = _decoded(self._path(authority).read_bytes())
        except (OSError, ValueError, KeyError, TypeError, zlib.error):
            return None
        return record if record.authority == authority else None

    def put(self, record: RobotsRecord) -> None:
        path = self._path(record.authority)
        aside = path.with_name(f".{path.name}.{os.getpid()}")
        # A cache that cannot be written costs requests, not the crawl.
        with contextlib.suppress(OSError):
            path.parent.mkdir(exist_ok=True)
            aside.write_bytes(_encoded(record))
            aside.replace(path)

    def sweep(self, before: datetime) -> int:
        """Removes the records written before `before` (UTC), those of hosts nobody asks for any more; how many."""
        swept = 0
        for path in self.directory.glob("*/*"):
            with contextlib.suppress(OSError):
                if path.stat().st_mtime < before.timestamp():
                    path.unlink()
                    swept += 1
        return swept


def _encoded(record: RobotsRecord) -> bytes:
    """One line of JSON, then the body, packed."""
    head = {
        "authority": record.authority,
        "status": record.status,
        "fetched_at": record.fetched_at.isoformat(),
        "outcome": record.outcome,
        "error": record.error,
        "unavailable_since": record.unavailable_since.isoformat() if record.unavailable_since else None,
    }
    return json.dumps(head).encode() + b"\n" + zlib.compress(record.body, 1)


def _decoded(data: bytes) -> RobotsRecord:
    line, _, packed = data.partition(b"\n")
    head = json.loads(line)
    if head["status"] not in ("allowed", "rules", "unavailable"):
        raise ValueError(head["status"])
    since = head["unavailable_since"]
    return RobotsRecord(
        authority=head["authority"],
        status=head["status"],
        fetched_at=datetime.fromisoformat(head["fetched_at"]),
        body=zlib.decompress(packed),
        outcome=head["outcome"],
        error=head["error"],
        unavailable_since=datetime.fromisoformat(since) if since else None,
    )
