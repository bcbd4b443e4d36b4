"""What an explanation says of each rule of generate, in its order, with the numbers: words, no decisions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from pinyon.cycle.explain_lists import Fate
from pinyon.cycle.explain_question import Question
from pinyon.cycle.selection import LIMITS

Row = Mapping[str, Any]
#: Setting of an expression → the names it uses, and their values.
Names = Mapping[str, Row]


@dataclass(frozen=True, slots=True)
class Finding:
    """What one rule says of a URL: `verdict` is passes, drops, unset (no such rule), or unasked (dropped before)."""

    rule: str
    verdict: str
    told: str


@dataclass(frozen=True, slots=True)
class Waiting:
    """An open segment that holds the URL, its place there, and whether that keeps it from being generated (`locks`)."""

    segment: str
    state: str
    generated_at: datetime
    locks: bool
    part: int | None
    position: int | None


# -- rules of a candidate -------------------------------------------------------------------------------------


def of_candidate(question: Question, row: Row, waiting: Sequence[Waiting], names: Names) -> list[Finding]:
    """All that can drop a row before limits are asked, of a row of `explain_row.sql`."""
    settings = question.settings
    texts = {
        "no_host": f"host {row['host']}" if row["host"] else "only http and https URLs have a host here",
        "not_listed": settings.from_list and f"{settings.from_list}",
        "excluded_status": _statuses(row, settings.exclude_status),
        "not_due": _due(question, row),
        "awaiting_update": _waits(question, row, waiting),
        "status": _statuses(row, settings.restrict_status),
        "min_score": _worth(question, row, names["sort_by"]),
        "interval": _interval(row, settings.interval_at_most),
        "expression": settings.expr and _gives(settings.expr, row["wanted"], names["expr"]),
    }
    found = [_candidate(rule, text, row[f"drops_{rule}"]) for rule, text in texts.items()]
    return [*found, _filtered(question, row)]


def _candidate(rule: str, text: str | None, drops: bool) -> Finding:
    if not text:
        return Finding(rule, "unset", "")
    return Finding(rule, "drops" if drops else "passes", text)


def _statuses(row: Row, listed: Sequence[str]) -> str | None:
    if not listed:
        return None
    return f"{row['status']} {'is' if row['status'] in listed else 'is not'} in {', '.join(listed)}"


def _due(question: Question, row: Row) -> str:
    at, now = row["fetch_time"], question.now
    longest = timedelta(seconds=question.everything.db.fetch_interval_max)
    if row["too_far"]:
        told = f"lies more than {span(longest)} ahead, the longest interval: due now"
        return f"fetch_time {moment(at)} {told}, again every {span(timedelta(seconds=row['fetch_interval']))}"
    if at > now:
        return f"fetch_time {moment(at)} > now {moment(now)}: not due for {span(at - now)}"
    return f"fetch_time {moment(at)} <= now {moment(now)}: due for {span(now - at)}"


def _waits(question: Question, row: Row, waiting: Sequence[Waiting]) -> str:
    delay = f"{span(timedelta(seconds=question.settings.gen_delay))} (gen_delay)"
    texts = [
        f"in segment {w.segment} ({w.state}), {'younger' if w.locks else 'but that is older'} than {delay}"
        for w in waiting
    ]
    if row["generate_time"] is not None:
        young = row["generate_time"] > question.values["gen_delay_from"]
        texts.append(
            f"generate_time {moment(row['generate_time'])}, {'younger' if young else 'older'} than {delay}"
        )
    return "; ".join(texts) or "in no open segment"


def _worth(question: Question, row: Row, names: Row) -> str:
    settings, value = question.settings, row["sort_value"]
    told = (
        f"{settings.sort_by} {number(value)}"
        if settings.sort_by in names
        else _gives(settings.sort_by, value, names)
    )
    if value is None or value != value:
        return told + (": it sorts first" if value is not None else "")
    compared = "<" if value < settings.min_score else ">="
    return f"{told} {compared} {number(settings.min_score)} (min_score)"


def _interval(row: Row, at_most: int | None) -> str | None:
    if at_most is None:
        return None
    compared = ">" if row["fetch_interval"] > at_most else "<="
    return f"fetch_interval {row['fetch_interval']:,} s {compared} {at_most:,} s"


def _filtered(question: Question, row: Row) -> Finding:
    if not question.is_filtered:
        by = (
            "it entered by these very filters"
            if question.settings.filter
            else "filters are off (generate.filter)"
        )
        return Finding("url_filter", "unset", by)
    if row["filtered"]:
        return Finding("url_filter", "drops", f"refused: {row['filtered']}")
    return Finding("url_filter", "passes", "no URL filter refuses it")


# -- limits ---------------------------------------------------------------------------------------------------


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
    return f"{_rank(question, fate) if fate else 'at most'} of {budget}: {why}"


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
    return _said(question, policy, "max_count_expr", policy["said_limit"], names)


def delay_because(question: Question, policy: Row, names: Names) -> str:
    """Where the delay that is reckoned with comes from: the host's own, or what is longer."""
    delay, fetcher = policy["delay_ms"], question.everything.fetcher
    own = policy["fetch_delay_ms"]
    if delay > (question.values["default_delay_ms"] if own is None else own):
        asked = policy["crawl_delay_ms"] == delay
        return "its robots.txt asks for it" if asked else f"fetcher.min_delay is {fetcher.min_delay:g} s"
    if policy["file_delay_ms"] is not None:
        return "the limits file says so"
    said = None if own is None else policy["said_delay_ms"]
    because = _said(question, policy, "fetch_delay_expr", said, names)
    return f"fetcher.server_delay is {fetcher.server_delay:g} s" if because == _DEFAULT else because


def _said(question: Question, policy: Row, setting: str, said: Any, names: Names) -> str:
    expression = getattr(question.settings, setting)
    if expression is None or question.policy.hostdb is None:
        return _DEFAULT
    if not policy["in_hostdb"]:
        return f"{_DEFAULT}: the host has no HostDb row"
    told = f"{setting} {_gives(expression, said, names[setting])}"
    return told if said is not None and said >= 0 else f"{_DEFAULT}: {told}"


def _gives(expression: str, value: Any, names: Row) -> str:
    """The expression, its value, and the values of the names it used."""
    listed = ", ".join(f"{name} {number(found)}" for name, found in names.items() if name != expression)
    return f"'{expression}' gives {number(value)}" + (f" ({listed})" if listed else "")


# -- spellings ------------------------------------------------------------------------------------------------


def moment(at: datetime) -> str:
    return at.strftime("%Y-%m-%d %H:%M:%S")


def number(value: Any) -> str:
    """A value as messages show it."""
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.6g}" if isinstance(value, float) else repr(value)


def span(length: timedelta) -> str:
    """A length of time in its two largest units: 3 d 4 h, 12 s."""
    left, parts = round(length.total_seconds()), []
    for unit, seconds in (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1)):
        count, left = divmod(left, seconds)
        parts.append((count, unit))
    first = next((i for i, (count, _) in enumerate(parts) if count), len(parts) - 1)
    return " ".join(f"{count} {unit}" for count, unit in parts[first : first + 2] if count) or "0 s"
