"""What an explanation says of the rules of a candidate, in their order, with the numbers: words, no decisions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from pinyon.cycle.explain_question import Question

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
        "expression": settings.expr and gives(settings.expr, row["wanted"], names["expr"]),
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
    alone = f"{settings.sort_by} {number(value)}"
    told = alone if settings.sort_by in names else gives(settings.sort_by, value, names)
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
        on = question.settings.filter
        told = "it entered by these very filters" if on else "filters are off (generate.filter)"
        return Finding("url_filter", "unset", told)
    if row["filtered"]:
        return Finding("url_filter", "drops", f"refused: {row['filtered']}")
    return Finding("url_filter", "passes", "no URL filter refuses it")


# -- spellings ------------------------------------------------------------------------------------------------


def gives(expression: str, value: Any, names: Row) -> str:
    """The expression, its value, and the values of the names it used."""
    listed = ", ".join(f"{name} {number(found)}" for name, found in names.items() if name != expression)
    return f"'{expression}' gives {number(value)}" + (f" ({listed})" if listed else "")


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
