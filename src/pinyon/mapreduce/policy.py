"""What holds for a URL: its host's policy, else its domain's, else the rules. Never that of another host."""

from __future__ import annotations

from pinyon.mapreduce.rows import Candidate, DomainPolicy, HostPolicy, Selected
from pinyon.mapreduce.rules import Rules

_NO_HOST = HostPolicy("", "", None, None, None, None, None)
_NO_DOMAIN = DomainPolicy("", None, None, None, None)


def is_undecided(host: HostPolicy, rules: Rules) -> bool:
    """Whether an expression should have said something of this host, and did not."""
    return (rules.count_by_host and host.max_count is None) or (
        rules.delay_by_host and _delay_of(host) is None
    )


def join(
    candidate: Candidate, host: HostPolicy | None, domain: DomainPolicy | None, rules: Rules
) -> Selected:
    """The candidate with all that holds for it, and no list yet."""
    host, domain = host or _NO_HOST, domain or _NO_DOMAIN
    own_delay_ms = _first_said(_delay_of(host), _delay_of(domain))
    delay_ms = max(
        rules.default_delay_ms if own_delay_ms is None else own_delay_ms,
        rules.min_delay_ms,
        host.crawl_delay_ms or 0,
    )
    return Selected(
        *candidate,
        host_limit=_or(_first_said(host.max_count, domain.max_count), rules.max_count),
        host_budget=_budget(delay_ms, rules),
        domain_limit=_or(domain.max_per_domain, rules.max_per_domain),
        domain_hosts=_or(domain.max_hosts_per_domain, rules.max_hosts_per_domain),
        fetch_delay_ms=own_delay_ms,
        not_before=host.not_before,
        ip=host.ip,
        delay_ms=delay_ms,
    )


def _delay_of(policy: HostPolicy | DomainPolicy) -> int | None:
    delay_ms = policy.fetch_delay_ms
    return None if delay_ms is None or delay_ms < 0 else delay_ms


def _budget(delay_ms: int, rules: Rules) -> int | None:
    """The first URL costs no delay, each other one does."""
    if rules.time_budget_ms is None or delay_ms <= 0:
        return None
    return 1 + rules.time_budget_ms // delay_ms


def _first_said(first: int | None, second: int | None) -> int | None:
    return second if first is None else first


def _or(value: int | None, default: int) -> int:
    return default if value is None else value
