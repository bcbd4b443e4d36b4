"""Dates as HTTP writes them; `strftime` would write them in the language of the machine."""

from __future__ import annotations

import time

#: 2024-01-01 00:00:00 UTC: the date from which the web counts, so that its pages do not depend on today.
EPOCH_S = 1_704_067_200

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def http_date(at_s: float) -> str:
    """A Unix time as an IMF-fixdate (RFC 9110, 5.6.7), always GMT."""
    t = time.gmtime(at_s)
    day, month = _DAYS[t.tm_wday], _MONTHS[t.tm_mon - 1]
    return f"{day}, {t.tm_mday:02} {month} {t.tm_year} {t.tm_hour:02}:{t.tm_min:02}:{t.tm_sec:02} GMT"


def rss_date(at_s: float) -> str:
    """A Unix time as RSS writes it (RFC 822 with a year of four digits)."""
    return http_date(at_s).replace("GMT", "+0000")


def iso_date(at_s: float) -> str:
    """A Unix time as Atom and sitemaps write it (RFC 3339), always UTC."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at_s))
