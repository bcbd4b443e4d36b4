"""What an explanation says of the limits, in their order, and of the policy of a host: words, no decisions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pinyon.cycle.explain_fates import Fate
from pinyon.cycle.explain_question import Question
from pinyon.cycle.explain_words import Finding, Names, Row, gives, number
from pinyon.cycle.selection import LIMITS


def of_limits(
    question: Question, policy: Row, names: Names, fate: Fate | None, cut: bool
) -> Iterator[Finding]:
    """All limits, of a row of `explain_policy_row.sql`; without a `fate` none was asked. `cut`: top_n was."""
    texts = {
        "host_limit": _host_limit(question, policy, names, fate),
        "time_budget": _time_budget(question, policy, names, fate),
        "hosts_per_domain": _hosts_per_domain(policy, fate),
        "domain_limit": _domain_limit(policy, fate),
        "top_n": _top_n(question, fate if cut else None),
    }
    reason = fate.reason if fate else LIMITS[0]
    for rule, text in texts.items():
        if text is None:
            yield Finding(rule, "unset", "")
        elif fate is None or (rule == "top_n" and not cut):
            yield Finding(rule, "unasked", text)
        elif rule == reason:
            yield Finding(rule, "drops", text)
        else:
            later = reason is not None and LIMITS.index(rule) > LIMITS.index(reason)
            yield Finding(rule, "unasked" if later else "passes", text)


def _host_limit(question: Question, policy: Row, names: Names, fate: Fate | None) -> str | None:
    because = limit_because(question, policy, names)
    if policy["host_limit"] < 0:
        return None if because == _DEFAULT else f"no limit, because {because}"
    limit = f"{policy['host_limit']:,}"
    if fate is None:
        return f"at most {limit}, because {because}"
    return f"{_rank(question, fate)} of {limit}, because {because}"


def _rank(question: Question, fate: Fate) -> str:
    rank = f"rank {fate.ranks['host_rank']:,}"
    if question.settings.segments == 1:
        return rank
    return f"{rank} in its host, in list {fate.round.number} number {fate.ranks['list_rank']:,}"


def _time_budget(question: Question, policy: Row, names: Names, fate: Fate | None) -> str | None:
    if policy["host_budget"] is None:
        return None
    budget = f"{policy['host_budget']:,} in {question.settings.time_budget:,} s"
    why = f"{policy['delay_ms']:,} ms between requests, because {delay_because(question, policy, names)}"
    return f"{_rank(question, fate)} of {budget}: {why}" if fate else f"at most {budget}: {why}"


def _hosts_per_domain(policy: Row, fate: Fate | None) -> str | None:
    if policy["domain_hosts"] < 0:
        return None
    of = f"{policy['domain_hosts']:,} hosts of {policy['domain']}"
    if fate is None or fate.ranks["host_place"] is None:
        return f"at most {of}"
    return f"its host is number {fate.ranks['host_place']:,} of {of}, by their best URLs"


def _domain_limit(policy: Row, fate: Fate | None) -> str | None:
    if policy["domain_limit"] < 0:
        return None
    of = f"{policy['domain_limit']:,} of {policy['domain']}"
    if fate is None or fate.ranks["domain_rank"] is None:
        return f"at most {of}"
    return f"rank {fate.ranks['domain_rank']:,} of {of}"


def _top_n(question: Question, fate: Fate | None) -> str | None:
    top_n = question.settings.top_n
    if top_n is None:
        return None
    if fate is None or fate.ranks["cut"] is not None:
        return f"the first {top_n:,}"
    where = f"in list {fate.round.number} " if question.settings.segments > 1 else ""
    place = f"{where}number {fate.round.left:,} of {top_n:,}"
    last, value = fate.round.last, fate.ranks["sort_value"]
    if last is None or fate.reason is None:
        return place
    if last["sort_value"] == value or value != value:
        return f"{place}: as good as the last that is taken, {number(value)}, and after it by its hash"
    return f"{place}: below the cut, {number(value)} < {number(last['sort_value'])}"


# -- the policy of a host -------------------------------------------------------------------------------------

_DEFAULT = "that is the default of all hosts"


def limit_because(question: Question, policy: Row, names: Names) -> str:
    """Where a host's limit comes from."""
    if policy["file_host_limit"] is not None:
        return "the limits file says so of the host"
    if policy["file_domain_host_limit"] is not None:
        return "the limits file says so of its domain"
    said = policy["said_limit"]
    return _said(question, policy, "max_count_expr", said, said is not None, names)


def delay_because(question: Question, policy: Row, names: Names) -> str:
    """Where the delay that is reckoned with comes from: the host's own, or what is longer."""
    delay, fetcher = policy["delay_ms"], question.everything.fetcher
    own = policy["fetch_delay_ms"]
    if delay > (question.values["default_delay_ms"] if own is None else own):
        asked = policy["crawl_delay_ms"] == delay
        return "its robots.txt asks for it" if asked else f"fetcher.min_delay is {fetcher.min_delay:g} s"
    if policy["file_delay_ms"] is not None:
        return "the limits file says so"
    because = _said(question, policy, "fetch_delay_expr", policy["said_delay_ms"], own is not None, names)
    return f"fetcher.server_delay is {fetcher.server_delay:g} s" if because == _DEFAULT else because


def _said(question: Question, policy: Row, setting: str, said: Any, holds: bool, names: Names) -> str:
    """What the expression said, and whether that `holds`, or the default in its place."""
    expression = getattr(question.settings, setting)
    if expression is None or question.policy.hostdb is None:
        return _DEFAULT
    if not policy["in_hostdb"]:
        return f"{_DEFAULT}: the host has no HostDb row"
    told = f"{setting} {gives(expression, said, names[setting])}"
    return told if holds else f"{_DEFAULT}: {told}"
