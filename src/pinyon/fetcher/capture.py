"""From a request's answer to the capture that is handed on, and from an item to the request. Pure."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Literal

from pinyon.fetcher.config import FetcherConfig
from pinyon.fetcher.headers import all_of, content_type, header_text, location
from pinyon.fetcher.model import Capture, FetchItem
from pinyon.fetcher.outcomes import outcome_of, retry_after_s
from pinyon.fetcher.transport import Answer, Request

#: The URL that redirects and its Location as sent → the target as tables have it; None if it is none.
Normalise = Callable[[str, str], str | None]

_MAX_REDIRECT_LENGTH = 8_192


def base_headers(config: FetcherConfig) -> tuple[tuple[str, str], ...]:
    """What every request says of us."""
    headers = [
        ("User-Agent", config.user_agent),
        ("Accept", config.accept),
        ("Accept-Encoding", "gzip, deflate, br, zstd"),
    ]
    if config.accept_language is not None:
        headers.append(("Accept-Language", config.accept_language))
    return tuple(headers)


def validators(item: FetchItem) -> tuple[tuple[str, str], ...]:
    """The conditional headers of an item, with the very text the server once sent."""
    pairs = (("If-None-Match", item.etag), ("If-Modified-Since", item.last_modified))
    return tuple((name, value) for name, value in pairs if value and value.isprintable())


def page_request(
    item: FetchItem, url: str, headers: tuple[tuple[str, str], ...], config: FetcherConfig, keep_alive: bool
) -> Request:
    """The request for an item; a redirect's target (`url` is not the item's) is asked for unconditionally."""
    conditions = validators(item) if url == item.url else ()
    return Request(
        url,
        headers + conditions,
        config.max_bytes,
        refuse_above_bytes=config.refuse_above_bytes,
        accept_types=config.accept_types,
        keep_alive=keep_alive,
    )


def undone(
    item: FetchItem, url: str, outcome: str, error: str | None, now: datetime, kind: str = "page"
) -> Capture:
    """A decision without a request: robots.txt, a block, a host given up."""
    return Capture(_kind(kind), url, item.position, outcome, now, error=error)


def captured(
    url: str,
    position: int,
    answer: Answer,
    normalise: Normalise,
    now: datetime,
    *,
    kind: str,
    conditional: bool,
) -> Capture:
    """What the fetch of `url` met. `conditional`: validators were sent. `now` (UTC) is when the answer ended."""
    headers = answer.headers
    wait_s = retry_after_s(header_text(headers, b"retry-after"), now)
    outcome, error = answer.error, answer.reason
    if outcome is None and answer.status is not None:
        outcome = outcome_of(answer.status, conditional=conditional, retry_after=wait_s is not None)
    target = None
    if outcome in ("redir_temp", "redir_perm"):
        outcome, target, error = _redirect(url, answer, normalise, outcome or "")
    mime, charset = content_type(header_text(headers, b"content-type"))
    return Capture(
        kind=_kind(kind),
        url=url,
        position=position,
        outcome=outcome or "protocol_error",
        fetch_time=answer.started_at,
        http_status=answer.status,
        duration_ms=answer.duration_ms,
        content_type=mime,
        charset=charset,
        length=len(answer.body) if answer.status is not None else None,
        truncated=answer.truncated,
        digest=sha1_base32(answer.body) if answer.body else None,
        ip=answer.ip,
        redirect_to=target,
        error=error or _said(answer, outcome),
        etag=header_text(headers, b"etag"),
        last_modified=header_text(headers, b"last-modified"),
        retry_at=now + timedelta(seconds=wait_s) if wait_s is not None and outcome in _RETRY else None,
        robots_tag=all_of(headers, b"x-robots-tag"),
        content_encoding=header_text(headers, b"content-encoding"),
        # What was refused before its body is no capture of the page: it is not archived.
        request_head=answer.request_head if outcome != "filtered" else b"",
        response_head=answer.response_head if outcome != "filtered" else b"",
        body=answer.body,
    )


#: Retry-After on other answers (a redirect may carry it) says nothing of the host.
_RETRY = frozenset({"rate_limited", "server_error"})


def _redirect(
    url: str, answer: Answer, normalise: Normalise, outcome: str
) -> tuple[str, str | None, str | None]:
    """Outcome, target and reason of a redirect: one without a target that can be used is a `bad_redirect`."""
    raw = location(answer.headers)
    if raw is None:
        if answer.status == 300:
            return "not_found", None, "300 without a Location"
        return "bad_redirect", None, f"{answer.status} without a Location"
    if len(raw) > _MAX_REDIRECT_LENGTH:
        return "bad_redirect", None, f"a Location of {len(raw)} characters"
    target = normalise(url, raw)
    if target is None or not target.startswith(("http://", "https://")):
        return "bad_redirect", None, f"Location '{raw[:200]}' leads nowhere"
    return outcome, target, None


def _said(answer: Answer, outcome: str | None) -> str | None:
    """The status as the reason of what is not a success."""
    if answer.status is None or outcome in ("success", "not_modified", "redir_temp", "redir_perm"):
        return None
    return f"HTTP status {answer.status}"


def sha1_base32(data: bytes) -> str:
    """Digest as WARC files and their indexes write it, without the 'sha1:' in front."""
    return base64.b32encode(hashlib.sha1(data, usedforsecurity=False).digest()).decode("ascii")


def _kind(kind: str) -> Literal["page", "redirect", "robots"]:
    if kind == "redirect":
        return "redirect"
    return "robots" if kind == "robots" else "page"
