"""One exchange as it comes in: an answer at any time, whatever comes next."""

from __future__ import annotations

import fnmatch
import functools
import time
from datetime import datetime

import aiohttp

from pinyon.fetcher.headers import content_type, header_text, read_head
from pinyon.fetcher.network_errors import classify
from pinyon.fetcher.transport import Answer, Request
from pinyon.fetcher.wire import Call, rebuilt_head, request_head

#: Outcomes that, without a connection, mean that no server has heard of us.
_NOTHING_SENT = frozenset({"dns_unknown", "dns_failed", "address_denied", "filtered"})


class Exchange:
    """Takes in the head, the body piece by piece, and an error, in that order, each of which may never come."""

    def __init__(self, request: Request, started_at: datetime) -> None:
        self.request = request
        self.error: str | None = None
        self._reason: str | None = None
        self._started_at = started_at
        self._started = time.perf_counter()
        self._status: int | None = None
        self._headers: tuple[tuple[bytes, bytes], ...] = ()
        self._request_head = b""
        self._response_head = b""
        self._chunks: list[bytes] = []
        self._size = 0
        self._truncated: str | None = None

    def begin(self, response: aiohttp.ClientResponse, call: Call) -> None:
        """The head has come: notes it, and whether its body is wanted."""
        self._status = response.status
        self._headers = response.raw_headers
        self._request_head = request_head(response.request_info)
        seen = call.connection.head if call.connection is not None else b""
        self._response_head = seen or rebuilt_head(response)
        self._refuse_by_head(response.content_length)

    def _refuse_by_head(self, announced: int | None) -> None:
        limit = self.request.refuse_above_bytes
        if limit is not None and announced is not None and announced > limit:
            self.error, self._reason = "filtered", f"{announced} bytes announced, more than {limit}"
            return
        if self.request.accept_types and self._status is not None and 200 <= self._status < 300:
            mime, _ = content_type(header_text(self._headers, b"content-type"))
            if mime is not None and not _accepted(mime, self.request.accept_types):
                self.error, self._reason = "filtered", f"type {mime} is not wanted"

    async def read_body(self, response: aiohttp.ClientResponse) -> bool:
        """Reads to the end, True, or to the limit, False: then the connection is of no more use."""
        limit, refuse = self.request.max_bytes, self.request.refuse_above_bytes
        while chunk := await response.content.readany():
            self._chunks.append(chunk)
            self._size += len(chunk)
            if refuse is not None and self._size > refuse:
                self.error, self._reason = "filtered", f"more than {refuse} bytes"
                self._chunks.clear()
                return False
            if self._size > limit:
                self._truncated = "length"
                return False
        return True

    def failed(self, error: Exception, call: Call) -> None:
        """What came before stays: a body cut by the server or the clock is a body, if there is any of it.

        Only a success needs its body: a redirect or a 404 is one however its body ends, also if it ended so badly that
        the head was thrown away with it.
        """
        outcome, reason = classify(error)
        if self._status is None and outcome == "protocol_error" and call.connection is not None:
            self._salvage(call.connection.whole_head)
        if self._status is not None:
            self._truncated = "time" if outcome == "timeout" else "disconnect"
        self._reason = reason
        if self._status is None or (200 <= self._status < 300 and not self._size):
            self.error = outcome

    def _salvage(self, head: bytes) -> None:
        found = read_head(head)
        if found is not None and found[0] >= 300:
            self._status, self._headers = found
            self._response_head = head

    def answer(self, call: Call) -> Answer:
        body = b"".join(self._chunks)
        broken = self.error == "connect_failed" and call.reused and not call.received
        return Answer(
            started_at=self._started_at,
            duration_ms=round((time.perf_counter() - self._started) * 1000),
            error=self.error,
            reason=self._reason,
            status=self._status,
            headers=self._headers,
            request_head=self._request_head,
            response_head=self._response_head,
            body=body[: self.request.max_bytes],
            truncated=self._truncated,
            ip=call.connection.ip if call.connection is not None else None,
            stale=broken,
            sent=call.connection is not None or self.error not in _NOTHING_SENT,
        )


@functools.lru_cache(maxsize=4096)
def _accepted(mime: str, globs: tuple[str, ...]) -> bool:
    return any(fnmatch.fnmatchcase(mime, glob.lower()) for glob in globs)
