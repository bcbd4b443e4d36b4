"""Schedules: how long until a page is fetched again, as SQL over its row and what the fetch found.

The job asks for two expressions, in seconds: `interval` is kept with the row, `gap` is the time until the next
fetch. Both are bounded by the job, and both are seen only by pages that were there; what failed, was denied or is
gone has rules of its own.
"""

from __future__ import annotations

from pinyon.settings import Db


def fragments(db: Db) -> dict[str, str]:
    """`interval` and `gap` of the schedule that is set."""
    return {"interval": "base_s", "gap": "interval_s"}
