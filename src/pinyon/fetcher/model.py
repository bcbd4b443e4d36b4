"""What goes into the fetcher, what comes out, and the two seams its caller fills: the sink and the progress."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol


@dataclass(frozen=True, slots=True)
class FetchItem:
    """One URL to fetch, as the fetch list has it.

    `etag` and `last_modified` are sent back byte for byte; with neither, the request is unconditional.
    `not_before` (UTC) holds the whole host back: its Retry-After, or its last request plus its delay, of a run before.
    """

    url: str
    host: str
    domain: str
    position: int
    fetch_delay_ms: int | None = None
    etag: str | None = None
    last_modified: str | None = None
    not_before: datetime | None = None


@dataclass(frozen=True, slots=True)
class Capture:
    """What one fetch met: the columns of the `pages` table except its place in the WARC, and the bytes of the exchange.

    `kind` is `robots` for a robots.txt (for the WARC only), `redirect` for the target of a redirect that was followed
    at once, else `page`. `request_head` and `response_head` are empty where nothing was answered; `body` has transfer
    codings removed and content codings kept. `fetch_time` and `retry_at` are UTC.
    """

    kind: Literal["page", "redirect", "robots"]
    url: str
    position: int
    outcome: str
    fetch_time: datetime
    http_status: int | None = None
    duration_ms: int | None = None
    content_type: str | None = None
    charset: str | None = None
    length: int | None = None
    truncated: str | None = None
    digest: str | None = None
    ip: str | None = None
    redirect_to: str | None = None
    error: str | None = None
    etag: str | None = None
    last_modified: str | None = None
    retry_at: datetime | None = None
    robots_tag: str | None = None
    content_encoding: str | None = None
    request_head: bytes = b""
    response_head: bytes = b""
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class HostFacts:
    """What the fetcher learned of one host: the columns of the `hosts` table, and two more for whoever resumes.

    `last_request_at` is the end of the last request to it (None: none was made), `ended` why its part of the list
    was given up.
    """

    host: str
    checked_at: datetime
    ip: str | None
    dns_failures: int
    crawl_delay_ms: int | None
    retry_at: datetime | None
    robots_status: str | None
    robots_digest: str | None
    sitemaps: tuple[str, ...]
    last_request_at: datetime | None = None
    ended: str | None = None


class Sink(Protocol):
    """Where captures go. Called from the event loop, one at a time; what it raises ends the run and is raised on."""

    def capture(self, capture: Capture) -> None:
        """Takes one capture: of a page exactly one for each item that was decided, in the order they ended."""

    def host(self, facts: HostFacts) -> None:
        """Takes the facts of one host; called for every host of the list that was met, when the run ends."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How the run stands. `waiting` counts the hosts with URLs left by what they wait for (`politeness.Wait`)."""

    elapsed_s: float
    captured: int
    requests: int
    received_bytes: int
    active: int
    queued: int
    spilled: int
    waiting: Mapping[str, int]
    next_start_in_s: float | None


@dataclass(frozen=True, slots=True)
class Summary:
    """How the run ended. `items` were read; those not among `captured` stay due, as does what was never read.

    `stopped_by` is None when the list was done, else `stop`, `time_limit`, `throughput` or `idle` (every host left
    wants to be let alone for longer than `max_idle_s`).
    """

    items: int
    captured: int
    outcomes: Mapping[str, int]
    requests: int
    robots_requests: int
    received_bytes: int
    hosts: int
    elapsed_s: float
    stopped_by: str | None = None
