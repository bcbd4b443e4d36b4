"""From an HTTP answer to one of `tables.OUTCOMES`: pure, and the only place where a status code means something."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

#: After these the host is left alone for longer each time: no answer came, or one that says "not now".
FAILURES = frozenset(
    {
        "connect_failed",
        "dns_failed",
        "dns_unknown",
        "protocol_error",
        "rate_limited",
        "server_error",
        "timeout",
        "tls_failed",
    }
)

_BY_STATUS = {
    300: "redir_temp",
    301: "redir_perm",
    302: "redir_temp",
    303: "redir_temp",
    304: "not_modified",
    307: "redir_temp",
    308: "redir_perm",
    401: "access_denied",
    403: "access_denied",
    407: "access_denied",
    410: "gone",
    429: "rate_limited",
    451: "access_denied",
}

#: A Retry-After beyond this is nonsense or an insult; callers cap what is left by their own limit.
_MAX_RETRY_AFTER_S = 366 * 86_400.0


def outcome_of(status: int, *, conditional: bool, retry_after: bool) -> str:
    """Outcome of a complete answer.

    `conditional`: a validator was sent, so that a 304 makes sense. `retry_after`: there is such a header that can be
    read, which makes a 503 a `rate_limited`.
    """
    if 200 <= status < 300:
        return "success"
    if status == 304 and not conditional:
        return "protocol_error"
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if 300 <= status < 400:
        return "bad_redirect"
    if 400 <= status < 500:
        return "not_found"
    if status == 503 and retry_after:
        return "rate_limited"
    return "server_error" if 500 <= status < 600 else "protocol_error"


def retry_after_s(value: str | None, now: datetime) -> float | None:
    """Seconds from `now` (UTC) that a Retry-After header asks for, at most a year; None if there is none to read.

    Both forms of RFC 9110, section 10.2.3: seconds, and a date (one in the past asks for nothing: 0).
    """
    text = (value or "").strip()
    if not text:
        return None
    if text.isascii() and text.isdigit():
        return min(float(text[:12]), _MAX_RETRY_AFTER_S)
    try:
        date = parsedate_to_datetime(text)
        if date.tzinfo is None:
            date = date.replace(tzinfo=UTC)
        seconds = (date - now).total_seconds()
    except (ValueError, OverflowError, TypeError):
        return None
    return min(max(seconds, 0.0), _MAX_RETRY_AFTER_S)
