"""The seam to the network: a request goes in, an answer comes out, whatever the server does."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

#: What can stand in a request line. Anything else was never normalised and could forge a header.
_URL = re.compile(r"https?://(?![/?#])[\x21-\x7e]+", re.IGNORECASE)


def can_be_sent(url: str) -> bool:
    """Whether `url` is http(s) and consists of characters a request line may hold."""
    return _URL.fullmatch(url) is not None


@dataclass(frozen=True, slots=True)
class Request:
    """One GET. `headers` are sent as they are, after Host; of the body `max_bytes` are taken at most."""

    url: str
    headers: tuple[tuple[str, str], ...]
    max_bytes: int
    #: An announced or seen length above this ends it (`filtered`).
    refuse_above_bytes: int | None = None
    #: MIME type globs a 2xx answer must match, else it is ended before the body (`filtered`); empty: any.
    accept_types: tuple[str, ...] = ()
    #: Whether the connection is worth keeping for a next request to the same host.
    keep_alive: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back.

    `error` is None when an answer was read to its end, or to `max_bytes`; else one of `tables.OUTCOMES` that names what
    went wrong, and `reason` says it in words. `truncated` is `length`, `time` or `disconnect` where a body was cut and
    what came of it is kept. `stale`: a connection kept from an earlier request broke before anything came back, so
    that the server most likely never saw this one. `started_at` is UTC, when the request began.
    """

    started_at: datetime
    duration_ms: int
    error: str | None = None
    reason: str | None = None
    status: int | None = None
    headers: tuple[tuple[bytes, bytes], ...] = ()
    request_head: bytes = b""
    response_head: bytes = b""
    body: bytes = b""
    truncated: str | None = None
    ip: str | None = None
    stale: bool = False
    #: Whether anything may have reached the server: a name that does not resolve is not a request to a host.
    sent: bool = True


class Transport(Protocol):
    """One GET at a time and connection; never raises for what a server or a network does."""

    async def fetch(self, request: Request) -> Answer:
        """One exchange. Redirects are not followed, codings of the body are kept, cookies are not."""

    async def locate(self, host: str, port: int) -> str | None:
        """Address a request to `host` would go to, None if there is none: for delays kept by address."""

    async def close(self) -> None:
        """Closes every connection."""
