"""A slow and obvious generate, written to be read: sorted lists and dictionaries, no streams, no SQL.

It takes the rows that `pinyon.mapreduce.select` takes, and any object with the attributes of
`pinyon.mapreduce.Rules`, but shares no code with it. Each rule is a pass over everything, so that "the first two URLs
of every host" is computed by sorting the host's URLs and looking at their places, as the words say.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

Row = dict[str, Any]
Rows = list[Row]


@dataclass
class Answer:
    """What should have been selected. A row of a list is its crawldb row and what was decided about it."""

    lists: list[Rows]
    rejected: Counter[str]
    hosts_over_limit: int
    undecided_hosts: dict[str, set[str]]


def select(
    crawldb: Iterable[Mapping[str, Any]],
    hostdb: Iterable[Mapping[str, Any]],
    rules: Any,
    limits: Iterable[Mapping[str, Any]] = (),
) -> Answer:
    rejected: Counter[str] = Counter()
    candidates: Rows = []
    for row in crawldb:
        seen = as_the_schedule_sees_it(row, rules)
        reason = why_not_a_candidate(seen, rules)
        if reason:
            rejected[reason] += 1
        else:
            candidates.append(seen)
    candidates.sort(key=best_first)
    hosts, limited = {h["host"]: h for h in hostdb}, {limit["name"]: limit for limit in limits}
    for row in candidates:
        row.update(what_holds_for(row, hosts, limited, rules))
    lists, refused = (spread if rules.spread else one_after_another)(candidates, rules)
    rejected.update(reason for _, reason in refused)
    return Answer(
        lists,
        rejected,
        hosts_over_limit=len({row["host"] for row, reason in refused if reason == "host_limit"}),
        undecided_hosts={
            name: {row["host"] for row in candidates if name in row["undecided"]}
            for name in ("max_count_expr", "fetch_delay_expr")
        },
    )


# -- candidates -----------------------------------------------------------------------------------------------


def as_the_schedule_sees_it(row: Mapping[str, Any], rules: Any) -> Row:
    longest = rules.max_interval_s
    too_far = row["fetch_time"] > rules.now + timedelta(seconds=longest)
    interval = row["fetch_interval"]
    if too_far and interval > longest:
        interval = math.floor(longest * 9 / 10 + 0.5)
    return {**row, "domain": row["domain"] or row["host"], "too_far": too_far, "interval_now": interval}


def why_not_a_candidate(row: Row, rules: Any) -> str | None:
    generated, value = row["generate_time"], row["sort_value"]
    waiting = generated is not None and generated > rules.now - timedelta(seconds=rules.gen_delay_s)
    too_long = rules.interval_at_most_s is not None and row["interval_now"] > rules.interval_at_most_s
    answers = {
        "no_host": row["host"] is None,
        "not_listed": not row.get("listed", True),
        "excluded_status": row["status"] in rules.exclude_status,
        "not_due": row["fetch_time"] > rules.now and not row["too_far"],
        "awaiting_update": waiting or row["locked"],
        "status": rules.restrict_status and row["status"] not in rules.restrict_status,
        "min_score": value is None or (rules.min_score is not None and value < rules.min_score),
        "interval": too_long,
        "expression": row["expression"] is not True,
        "blocked": row["blocked"],
        "url_filter": row["filtered"] == "url_filter",
        "filter_error": row["filtered"] == "filter_error",
    }
    return next((reason for reason, holds in answers.items() if holds), None)


def best_first(row: Row) -> tuple[int, float, int, bytes]:
    value = row["sort_value"]
    tie = row["url_key"], row["url"].encode()
    return (0, 0.0, *tie) if math.isnan(value) else (1, -value, *tie)


# -- what holds for a host: the limits file (host, then domain), its HostDb row, the defaults ------------------


def what_holds_for(row: Row, hosts: Mapping[str, Any], limited: Mapping[str, Any], rules: Any) -> Row:
    host, domain = hosts.get(row["host"], {}), limited.get(row["domain"], {})
    own = limited.get(row["host"], {}) if row["host"] != row["domain"] else {}
    said_delay = not_negative(host.get("fetch_delay_ms"))
    delays = (not_negative(own.get("delay_ms")), not_negative(domain.get("delay_ms")), said_delay)
    own_delay = first_known(*delays)
    crawl_delay = host.get("crawl_delay_ms") or 0
    delay = max(first_known(own_delay, rules.default_delay_ms), rules.min_delay_ms, crawl_delay)
    budget = None
    if rules.time_budget_ms is not None and delay > 0:
        budget = 1 + math.floor(rules.time_budget_ms / delay)
    undecided = set()
    if host and rules.count_by_host and host["max_count"] is None:
        undecided.add("max_count_expr")
    if host and rules.delay_by_host and said_delay is None:
        undecided.add("fetch_delay_expr")
    counts = (own.get("urls"), domain.get("urls_per_host"), host.get("max_count"), rules.max_count)
    return {
        "host_limit": first_known(*counts),
        "host_budget": budget,
        "domain_limit": first_known(domain.get("urls"), rules.max_per_domain),
        "domain_hosts": first_known(domain.get("hosts"), rules.max_hosts_per_domain),
        "domain_parts": domain.get("parts"),
        "fetch_delay_ms": own_delay,
        "delay_ms": delay,
        "not_before": host.get("retry_at"),
        "ip": host.get("ip"),
        "undecided": undecided,
    }


def not_negative(delay_ms: int | None) -> int | None:
    return None if delay_ms is None or delay_ms < 0 else delay_ms


def first_known(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)


# -- lists ----------------------------------------------------------------------------------------------------

Refused = list[tuple[Row, str]]


def one_after_another(candidates: Rows, rules: Any) -> tuple[list[Rows], Refused]:
    """List k is one generate over what the lists before it left; the last one says why the rest stays."""
    lists: list[Rows] = []
    refused: Refused = []
    remaining = candidates
    for number in range(rules.lists):
        taken, refused = one_list(remaining, number, rules)
        lists.append(taken)
        remaining = sorted((row for row, _ in refused), key=best_first)
    return lists, refused


def spread(candidates: Rows, rules: Any) -> tuple[list[Rows], Refused]:
    """The URLs of each host are dealt over the lists in runs, then each list is one generate over its own."""
    hands: list[Rows] = [[] for _ in range(rules.lists)]
    for _, rows in grouped(candidates, "host"):
        for rank, row in enumerate(rows):
            hands[(row["host_key"] + rank // rules.keep_together) % rules.lists].append(row)
    lists: list[Rows] = []
    refused: Refused = []
    for number, hand in enumerate(hands):
        taken, not_taken = one_list(sorted(hand, key=best_first), number, rules)
        lists.append(taken)
        refused += not_taken
    return lists, refused


def one_list(rows: Rows, number: int, rules: Any) -> tuple[Rows, Refused]:
    """Hosts first, then domains, then the whole: each limit counts among the rows that the limits before left."""
    refused: Refused = []

    def keep(rows: Rows, reason: str, may_stay: Callable[[Row], bool]) -> Rows:
        refused.extend((row, reason) for row in rows if not may_stay(row))
        return [row for row in rows if may_stay(row)]

    host_rank = ranks(rows, "host")
    rows = keep(rows, "host_limit", lambda r: within(host_rank[r["url"]], r["host_limit"]))
    rows = keep(
        rows, "time_budget", lambda r: r["host_budget"] is None or host_rank[r["url"]] <= r["host_budget"]
    )
    host_place = ranks([row for row in rows if host_rank[row["url"]] == 1], "domain", named="host")
    rows = keep(rows, "hosts_per_domain", lambda r: within(host_place[r["host"]], r["domain_hosts"]))
    domain_rank = ranks(rows, "domain")
    rows = keep(rows, "domain_limit", lambda r: within(domain_rank[r["url"]], r["domain_limit"]))
    end = len(rows) if rules.top_n is None else rules.top_n
    refused.extend((row, "top_n") for row in rows[end:])
    return [{**row, "list": number, "host_rank": host_rank[row["url"]]} for row in rows[:end]], refused


def within(rank: int, limit: int) -> bool:
    return limit < 0 or rank <= limit


def ranks(rows: Rows, column: str, named: str = "url") -> dict[str, int]:
    """Place of each row, from 1, among those that have the same `column`; the rows are in order."""
    return {row[named]: rank for _, group in grouped(rows, column) for rank, row in enumerate(group, start=1)}


def grouped(rows: Rows, column: str) -> list[tuple[Any, Rows]]:
    groups: defaultdict[Any, Rows] = defaultdict(list)
    for row in rows:
        groups[row[column]].append(row)
    return list(groups.items())


# -- parts ----------------------------------------------------------------------------------------------------


def hashed_part(group: str, rules: Any) -> int:
    number = int(hashlib.md5(f"{rules.seed}:{group}".encode()).hexdigest()[:15], 16)
    return int(number % rules.parts)


def group_of(row: Row, rules: Any) -> str:
    """What is never split. A domain whose limits give it parts is so many groups of whole hosts."""
    if rules.partition_by == "host" and (row["domain_parts"] or 0) > 0:
        key = row["host_key"] if row["host_key"] >= 0 else row["host_key"] + 2**63
        return f"{row['domain']}#{key % row['domain_parts']}"
    groups: dict[str, str] = {"host": row["host"], "domain": row["domain"], "ip": row["ip"] or row["host"]}
    return groups[rules.partition_by]


def parts(
    taken: Rows,
    rules: Any,
    balance: Callable[[Sequence[tuple[str, int]], Mapping[int, int]], Mapping[str, int]] | None = None,
    placed_groups: int = 10_000,
) -> list[Rows]:
    """The rows of one list by part, each in the order it is fetched in."""
    placed = balanced(taken, rules, balance, placed_groups) if balance else {}
    result: list[Rows] = [[] for _ in range(rules.parts)]
    for row in taken:
        group = group_of(row, rules)
        result[placed.get(group, hashed_part(group, rules))].append(row)
    return [sorted(part, key=lambda row: (row["host_rank"], best_first(row))) for part in result]


def balanced(taken: Rows, rules: Any, balance: Any, placed_groups: int) -> Mapping[str, int]:
    times: Counter[str] = Counter()
    for row in taken:
        times[group_of(row, rules)] += row["delay_ms"] + 1
    longest_first = sorted(times.items(), key=lambda item: (-item[1], item[0]))
    loads = dict.fromkeys(range(rules.parts), 0)
    for group, milliseconds in longest_first[placed_groups:]:
        loads[hashed_part(group, rules)] += milliseconds
    return balance(longest_first[:placed_groups], loads)  # type: ignore[no-any-return]
