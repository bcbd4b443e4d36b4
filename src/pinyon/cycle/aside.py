"""A selection aside: what generate would go by, for who only asks. No lock is taken, and nothing is kept.

Its files lie in a folder for spills of its own: the writer, who sweeps what lies in `work`, leaves it alone while its
process lives.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

from pinyon.crawl import Crawl, parse_time, utc_now
from pinyon.cycle.policy import effective, policy_of
from pinyon.cycle.selection import Selection
from pinyon.engines.spill import SpillFolder
from pinyon.settings import Settings
from pinyon.store import Published
from pinyon.tables import CRAWLDB


@contextmanager
def selection_aside(
    crawl: Crawl, now: datetime | str | None, options: Mapping[str, Any]
) -> Iterator[tuple[Selection, Published]]:
    """The selection that generate would make now with these options, and the crawldb. Raises what generate raises."""
    everything = effective(crawl.settings, options)
    moment = now or everything.generate.now or utc_now()
    moment = parse_time(moment) if isinstance(moment, str) else moment
    moment += timedelta(days=everything.generate.add_days)
    crawldb = crawl.store.current(CRAWLDB)
    with selection_of(crawl, everything, moment, crawldb) as selection:
        yield selection, crawldb


@contextmanager
def selection_of(
    crawl: Crawl, everything: Settings, now: datetime, crawldb: Published
) -> Iterator[Selection]:
    """The selection by these very settings, at that time, over that version of the crawldb."""
    seed = everything.generate.seed
    policy = policy_of(crawl, everything.generate, crawldb)
    spill = SpillFolder(crawl.root / ".tmp" / "spills")
    try:
        yield Selection(
            crawl,
            everything,
            policy,
            now,
            secrets.randbits(31) if seed is None else seed,
            spill.path,
            crawldb.rows,
        )
    finally:
        spill.remove()
