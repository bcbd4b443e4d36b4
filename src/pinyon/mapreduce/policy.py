"""What holds for a URL: what the limits file says of its host, then of its domain, then the HostDb, then the rules.

It is never what holds for another host.
"""

from __future__ import annotations

from collections.abc import Iterator

from pinyon.mapreduce.rows import Candidate, HostPolicy, Limits, Selected
from pinyon.mapreduce.rules import Rules

_NO_HOST = HostPolicy("", "", None, None, None, None, None)
_NO_LIMITS = Limits("", "", None, None, None, None, None)


def undecided(host: HostPolicy, rules: Rules) -> Iterator[str]:
    """The expressions (by setting) that should have said something of this host, and did not."""
    if rules.count_by_host and host.max_count is None:
        yield "max_count_expr"
    if rules.delay_by_host and _delay(host.fetch_delay_ms) is None:
        yield "fetch_delay_expr"


def join(
    candidate: Candidate,
    host: HostPolicy | None,
    of_host: Limits | None,
    of_domain: Limits | None,
    rules: Rules,
) -> Selected:
    """The candidate with all that holds for it, and no list yet."""
    host, own, domain = host or _NO_HOST, of_host or _NO_LIMITS, of_domain or _NO_LIMITS
    own_delay_ms = _first(_delay(own.delay_ms), _delay(domain.delay_ms), _delay(host.fetch_delay_ms))
    delay_ms = max(_or(own_delay_ms, rules.default_delay_ms), rules.min_delay_ms, _or(host.crawl_delay_ms, 0))
    return Selected(
        *candidate,
        host_limit=_or(_first(own.urls, domain.urls_per_host, host.max_count), rules.max_count),
        host_budget=_budget(delay_ms, rules),
        domain_limit=_or(domain.urls, rules.max_per_domain),
        domain_hosts=_or(domain.hosts, rules.max_hosts_per_domain),
        domain_parts=domain.parts,
        fetch_delay_ms=own_delay_ms,
        not_before=host.not_before,
        ip=host.ip,
        delay_ms=delay_ms,
    )


def _budget(delay_ms: int, rules: Rules) -> int | None:
    """The first URL costs no delay, each other one does."""
    if rules.time_budget_ms is None or delay_ms <= 0:
        return None
    return 1 + rules.time_budget_ms // delay_ms


def _delay(delay_ms: int | None) -> int | None:
    return None if delay_ms is None or delay_ms < 0 else delay_ms


def _first(*values: int | None) -> int | None:
    return next((value for value in values if value is not None), None)


def _or(value: int | None, default: int) -> int:
    return default if value is None else value
