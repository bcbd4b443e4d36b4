"""What travels between mapper and reducer. Columns are named as in the CrawlDb, the HostDb and the fetch list."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from pinyon.mapreduce.key import ScoreHostKey

#: `Selected.list` of a row that no list has taken.
NO_LIST = -1


class HostPolicy(NamedTuple):
    """What the HostDb says of a host. `max_count` and `fetch_delay_ms`: None or a negative delay says nothing."""

    host: str
    domain: str
    max_count: int | None
    fetch_delay_ms: int | None
    crawl_delay_ms: int | None
    not_before: datetime | None
    ip: str | None


class Limits(NamedTuple):
    """A row of the limits file: those of a domain and of its hosts, or of a host that is not a domain itself.

    None says nothing, and so does a negative delay.
    """

    name: str
    #: Registered domain of `name`; for a domain, itself.
    domain: str
    urls: int | None
    urls_per_host: int | None
    hosts: int | None
    #: Parts of a list that the hosts of the domain may be spread over.
    parts: int | None
    delay_ms: int | None


class Candidate(NamedTuple):
    """A URL that is due and that no rule drops: what ranks it, and what finds its row again."""

    url: str
    url_key: int
    host: str
    host_key: int
    domain: str
    bucket: int
    sort_value: float
    too_far: bool
    interval_now: int


class Selected(NamedTuple):
    """A candidate with the policy of its host and domain, and its place once a list has taken it."""

    url: str
    url_key: int
    host: str
    host_key: int
    domain: str
    bucket: int
    sort_value: float
    #: It was scheduled beyond the longest interval: its `fetch_time` is now, its interval `interval_now`.
    too_far: bool
    #: Seconds.
    interval_now: int
    host_limit: int
    #: URLs of the host that the time budget allows in a list.
    host_budget: int | None
    domain_limit: int
    domain_hosts: int
    domain_parts: int | None
    #: The host's own delay: what the limits file or its expression say.
    fetch_delay_ms: int | None
    #: Retry-After of the host, UTC.
    not_before: datetime | None
    ip: str | None
    #: Expected between two requests to the host.
    delay_ms: int
    #: Among the URLs of its host in its list, from 1.
    host_rank: int = 0
    list: int = NO_LIST


MappedValue = HostPolicy | Limits | Candidate
#: What a mapper of job 1 emits.
Pair = tuple[ScoreHostKey, MappedValue]
