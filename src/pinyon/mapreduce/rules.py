"""What a selection goes by, as plain values, and the reasons it gives."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from pinyon.errors import UsageError, nearest

#: Reasons that drop a row before any limit, in the order they are asked.
REASONS = (
    "no_host",
    "not_listed",
    "excluded_status",
    "not_due",
    "awaiting_update",
    "status",
    "min_score",
    "interval",
    "expression",
    "blocked",
    "url_filter",
    "filter_error",
)
#: Reasons of the limits, in the order they are asked.
LIMITS = ("host_limit", "time_budget", "hosts_per_domain", "domain_limit", "top_n")
#: What is never split over the parts of a list.
GROUPS = ("host", "domain", "ip")


@dataclass(frozen=True, slots=True)
class Rules:
    """Rules of one generate. A negative limit is no limit, 0 is nothing; None is always "no such rule".

    now: the time to go by, in UTC (Nutch: generate.curTime).
    max_interval_s: longest fetch interval; a row due later than that from now is due now (db.fetch.interval.max).
    gen_delay_s: a `generate_time` younger than this waits for its update (crawl.gen.delay).
    restrict_status, exclude_status: only these if there are any, never those (generate.restrict.status).
    min_score: the lowest sort value (generate.min.score).
    interval_at_most_s: the longest fetch interval (generate.min.interval, which drops the larger ones).
    max_count: URLs of a host in a list, where its own policy says nothing (generate.max.count).
    max_per_domain, max_hosts_per_domain: URLs and hosts of a domain in a list.
    lists, top_n: number of lists, and URLs of each (generate.max.num.segments, generate.topN).
    time_budget_ms: as many URLs of a host in a list as its delay allows in this time.
    default_delay_ms, min_delay_ms: between two requests to a host without a delay of its own; the least of all.
    spread, keep_together: deal the runs of so many URLs of a host over the lists, instead of filling one by one.
    seed, parts, partition_by: the parts of a list, and what is never split over them (partition.url.mode).
    count_by_host, delay_by_host: there is an expression for the host's limit, its delay: a host for which it gives
    nothing is counted as undecided.
    """

    now: datetime
    max_interval_s: int = 7_776_000
    gen_delay_s: int = 604_800
    restrict_status: tuple[str, ...] = ()
    exclude_status: tuple[str, ...] = ()
    min_score: float | None = 0.0
    interval_at_most_s: int | None = None
    max_count: int = -1
    max_per_domain: int = -1
    max_hosts_per_domain: int = -1
    lists: int = 1
    top_n: int | None = None
    time_budget_ms: int | None = None
    default_delay_ms: int = 5000
    min_delay_ms: int = 0
    spread: bool = False
    keep_together: int = 1
    seed: int = 0
    parts: int = 1
    partition_by: str = "host"
    count_by_host: bool = True
    delay_by_host: bool = True

    def __post_init__(self) -> None:
        """Raises `UsageError` for a number that makes no sense, or an unknown `partition_by`."""
        for name in ("lists", "keep_together", "parts"):
            _check_least(name, getattr(self, name), 1)
        for name in ("top_n", "time_budget_ms"):
            _check_least(name, getattr(self, name), 0)
        if self.partition_by not in GROUPS:
            hint = nearest(self.partition_by, GROUPS)
            raise UsageError(f"partition_by = '{self.partition_by}': wanted one of {', '.join(GROUPS)}{hint}")

    @property
    def limits_domains(self) -> bool:
        """Whether domains are counted, so that a reducer must see whole domains."""
        return self.max_per_domain >= 0 or self.max_hosts_per_domain >= 0


def _check_least(name: str, value: int | None, least: int) -> None:
    if value is not None and value < least:
        raise UsageError(f"{name} = {value}: wanted {least} or more")
