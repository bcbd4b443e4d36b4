"""Job 1, the mappers: rows of three tables become pairs of key and value for one sort."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

from pinyon.mapreduce.key import ScoreHostKey
from pinyon.mapreduce.rows import Candidate, HostPolicy, Limits, Pair
from pinyon.mapreduce.rules import Rules

Row = Mapping[str, Any]


class HostDbMapper:
    """HostDb rows, with `max_count` and `fetch_delay_ms` as their expressions gave them, to policies."""

    def map(self, row: Row) -> Iterator[Pair]:
        host = row["host"]
        yield (
            ScoreHostKey.of_host(host),
            HostPolicy(
                host=host,
                domain=row["domain"] or host,
                max_count=row["max_count"],
                fetch_delay_ms=row["fetch_delay_ms"],
                crawl_delay_ms=row["crawl_delay_ms"],
                not_before=row["retry_at"],
                ip=row["ip"],
            ),
        )


class LimitsMapper:
    """Rows of the limits file, under the key of a HostDb row: they too come before the URLs."""

    def map(self, row: Row) -> Iterator[Pair]:
        limits = Limits(*(row[name] for name in Limits._fields))
        yield ScoreHostKey.of_host(limits.name), limits


class SelectorMapper:
    """CrawlDb rows to candidates. `rows` counts what came in, `rejected` what was dropped, by reason.

    A row is a crawldb row with what was computed for it: `sort_value` (None: it has none), `expression` (None:
    undecided), `filtered` (None, 'url_filter' or 'filter_error'), `blocked`, `locked` (in an open segment), and
    `listed` (in the list of URLs that was given; may be left out if there is none).
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.rows = 0
        self.rejected: Counter[str] = Counter()
        self._horizon = rules.now + timedelta(seconds=rules.max_interval_s)
        self._generated_from = rules.now - timedelta(seconds=rules.gen_delay_s)

    def map(self, row: Row) -> Iterator[Pair]:
        self.rows += 1
        too_far = row["fetch_time"] > self._horizon
        interval_s = self._interval_s(row["fetch_interval"], too_far)
        reason = self._reason(row, too_far, interval_s)
        if reason is None:
            candidate = _candidate(row, too_far, interval_s)
            yield ScoreHostKey(candidate.sort_value), candidate
        else:
            self.rejected[reason] += 1

    def _interval_s(self, interval_s: int, too_far: bool) -> int:
        """Of a row scheduled too far ahead it becomes 0.9 of the longest (`AbstractFetchSchedule.shouldFetch`)."""
        longest = self.rules.max_interval_s
        # in whole numbers: round() goes to even at .5, SQL and Java go up
        return (9 * longest + 5) // 10 if too_far and interval_s > longest else interval_s

    def _reason(self, row: Row, too_far: bool, interval_s: int) -> str | None:
        """The first reason that holds; None: a candidate."""
        rules = self.rules
        if not row["host"]:  # nor has it one if its scheme is neither http nor https
            return "no_host"
        if not row.get("listed", True):
            return "not_listed"
        if row["status"] in rules.exclude_status:
            return "excluded_status"
        if row["fetch_time"] > rules.now and not too_far:
            return "not_due"
        if self._awaits_update(row):
            return "awaiting_update"
        if rules.restrict_status and row["status"] not in rules.restrict_status:
            return "status"
        if self._worth_too_little(row["sort_value"]):
            return "min_score"
        if rules.interval_at_most_s is not None and interval_s > rules.interval_at_most_s:
            return "interval"
        if not row["expression"]:
            return "expression"
        if row["blocked"]:
            return "blocked"
        filtered: str | None = row["filtered"]
        return filtered

    def _awaits_update(self, row: Row) -> bool:
        generated = row["generate_time"]
        return bool(row["locked"]) or (generated is not None and generated > self._generated_from)

    def _worth_too_little(self, sort_value: float | None) -> bool:
        if sort_value is None:
            return True
        # false for NaN, which is unordered: it stays, and sorts first
        return self.rules.min_score is not None and sort_value < self.rules.min_score


def _candidate(row: Row, too_far: bool, interval_s: int) -> Candidate:
    host = row["host"]
    return Candidate(
        url=row["url"],
        url_key=row["url_key"],
        host=host,
        host_key=row["host_key"],
        domain=row["domain"] or host,
        bucket=row["bucket"],
        sort_value=float(row["sort_value"]),
        too_far=too_far,
        interval_now=interval_s,
    )
