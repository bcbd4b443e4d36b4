"""What sitemaps say beside the URL: dates, frequencies and priorities, as far as they can be understood."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_FREQUENCIES = frozenset({"always", "hourly", "daily", "weekly", "monthly", "yearly", "never"})
#: W3C date and time format, from the year alone down to fractions of a second; separators as lenient as seen.
_TIME = r"(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)?\s*(Z|[+-]\d{2}:?\d{2})?"
_W3C = re.compile(rf"(\d{{4}})(?:-(\d{{1,2}})(?:-(\d{{1,2}})(?:[T ]+{_TIME})?)?)?", re.IGNORECASE)
_MAX_CHARS = 64


def lastmod(text: str) -> datetime | None:
    """UTC; a time without a zone is taken as UTC. None for what is no date."""
    text = text.strip()
    if not text or len(text) > _MAX_CHARS:
        return None
    try:
        match = _W3C.fullmatch(text)
        found = _from_w3c(match) if match else parsedate_to_datetime(text)
        return _utc(found)
    except (ValueError, TypeError, IndexError, OverflowError):  # email.utils lets any of them through
        return None


def changefreq(text: str) -> str | None:
    word = text.strip().lower()
    return word if word in _FREQUENCIES else None


def priority(text: str) -> float | None:
    """Within 0.0 and 1.0: what lies outside is drawn to the nearest of them."""
    try:
        value = float(text[:_MAX_CHARS].replace(",", "."))
    except ValueError:
        return None
    return None if value != value else min(1.0, max(0.0, value))


def _from_w3c(match: re.Match[str]) -> datetime:
    year, month, day, hour, minute, second, zone = match.groups()
    naive = datetime(
        int(year), int(month or 1), int(day or 1), int(hour or 0), int(minute or 0), min(59, int(second or 0))
    )
    return datetime.fromisoformat(f"{naive.isoformat()}{_offset(zone)}")


def _offset(zone: str | None) -> str:
    if zone is None or zone in "Zz":
        return "+00:00"
    return f"{zone[:3]}:{zone[-2:]}"


def _utc(found: datetime) -> datetime:
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
