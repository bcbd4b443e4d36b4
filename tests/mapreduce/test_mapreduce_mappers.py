"""The mappers: every rule for candidates, in its order, and what the HostDb's rows become."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import crawls
import pytest
from crawls import NOW, seconds, url_row

from pinyon.mapreduce import REASONS, Rules, ScoreHostKey
from pinyon.mapreduce.mappers import HostDbMapper, LimitsMapper, SelectorMapper
from pinyon.mapreduce.rows import Candidate, HostPolicy, Limits
from pinyon.tables import CRAWLDB, HOSTDB

RULES = Rules(
    now=NOW,
    max_interval_s=1000,
    gen_delay_s=100,
    restrict_status=("db_unfetched", "db_gone"),
    exclude_status=("db_gone",),
    min_score=0.5,
    interval_at_most_s=500,
)

#: What makes a row fall under each reason, in the order they are asked.
FLAWS: dict[str, dict[str, Any]] = {
    "no_host": {"host": None},
    "not_listed": {"listed": False},
    "excluded_status": {"status": "db_gone"},
    "not_due": {"fetch_time": seconds(1)},
    "awaiting_update": {"locked": True},
    "status": {"status": "db_fetched"},
    "min_score": {"sort_value": 0.25},
    "interval": {"fetch_interval": 501},
    "expression": {"expression": False},
    "blocked": {"blocked": True},
    "url_filter": {"filtered": "url_filter"},
    "filter_error": {"filtered": "filter_error"},
}


def candidate(rules: Rules = RULES, **columns: Any) -> Candidate | None:
    """What becomes of a good row with these columns; None if it is dropped."""
    pairs = list(SelectorMapper(rules).map(url_row("http://a.com/", **columns)))
    if not pairs:
        return None
    ((_, value),) = pairs
    assert isinstance(value, Candidate)
    return value


def reason(rules: Rules = RULES, **columns: Any) -> str | None:
    mapper = SelectorMapper(rules)
    kept = list(mapper.map(url_row("http://a.com/", **columns)))
    assert len(kept) + mapper.rejected.total() == mapper.rows == 1
    return next(iter(mapper.rejected), None)


def test_the_rows_of_these_tests_have_every_column_of_the_tables() -> None:
    assert set(CRAWLDB.names) <= set(url_row("http://a.com/"))
    assert set(HOSTDB.names) <= set(crawls.host_row("a.com"))


def test_every_reason_has_a_row_that_falls_under_it_alone() -> None:
    assert tuple(FLAWS) == REASONS
    assert {name: reason(**flaw) for name, flaw in FLAWS.items()} == {name: name for name in REASONS}
    assert reason() is None


@pytest.mark.parametrize("later", range(1, len(REASONS)))
def test_a_row_is_counted_under_the_first_reason_that_holds(later: int) -> None:
    for earlier in range(later):
        first, second = REASONS[earlier], REASONS[later]
        if {first, second} in ({"excluded_status", "status"}, {"url_filter", "filter_error"}):
            continue  # one column cannot hold both
        assert reason(**{**FLAWS[second], **FLAWS[first]}) == first


@pytest.mark.parametrize(
    ("fetch_time", "expected"), [(-1, None), (0, None), (1, "not_due"), (1000, "not_due"), (1001, None)]
)
def test_a_row_is_due_now_or_if_it_lies_beyond_the_longest_interval(
    fetch_time: int, expected: str | None
) -> None:
    assert reason(fetch_time=seconds(fetch_time)) == expected


@pytest.mark.parametrize(
    ("longest", "fetch_time", "interval", "seen"),
    [
        (1000, 1001, 5000, 900),
        (1000, 1001, 1001, 900),
        (1000, 1001, 1000, 1000),
        (1000, 1001, 10, 10),
        (1000, -1, 5000, 5000),
        (5, 6, 9, 5),  # 4.5 becomes 5, as Java and SQL round
        (6, 7, 9, 5),  # and so does 5.4
        (7_776_000, 7_776_001, 8_000_000, 6_998_400),
    ],
)
def test_the_interval_is_lowered_only_of_a_row_scheduled_too_far_ahead(
    longest: int, fetch_time: int, interval: int, seen: int
) -> None:
    rules = Rules(now=NOW, max_interval_s=longest)
    kept = candidate(rules, fetch_time=seconds(fetch_time), fetch_interval=interval)
    assert kept is not None
    assert kept.interval_now == seen
    assert kept.too_far == (fetch_time > longest)


def test_interval_at_most_sees_the_lowered_interval() -> None:
    far = {"fetch_time": seconds(1001), "fetch_interval": 5000}
    assert reason(replace(RULES, interval_at_most_s=900), **far) is None
    assert reason(replace(RULES, interval_at_most_s=899), **far) == "interval"


def test_an_imported_generate_time_waits_for_its_delay_to_pass() -> None:
    assert reason(generate_time=seconds(-99)) == "awaiting_update"
    assert reason(generate_time=seconds(-100)) is None
    assert reason(generate_time=seconds(50)) == "awaiting_update"


def test_no_minimum_drops_only_what_has_no_sort_value() -> None:
    rules = replace(RULES, min_score=None)
    assert reason(rules, sort_value=-math.inf) is None
    assert reason(rules, sort_value=None) == "min_score"


def test_nan_is_not_below_a_minimum_and_the_minimum_itself_is_enough() -> None:
    assert reason(sort_value=math.nan) is None
    assert reason(sort_value=0.5) is None
    assert reason(replace(RULES, min_score=math.inf), sort_value=math.nan) is None


def test_an_undecided_expression_drops_the_row() -> None:
    assert reason(expression=None) == "expression"


def test_a_row_without_a_domain_is_its_own() -> None:
    kept = candidate(domain=None)
    assert kept is not None
    assert kept.domain == "a.com"


def test_a_candidate_travels_under_its_sort_value_and_no_host() -> None:
    ((key, _),) = SelectorMapper(RULES).map(url_row("http://a.com/", sort_value=7))
    assert key == ScoreHostKey(7.0)


def test_a_hostdb_row_travels_under_the_lowest_score_and_its_host() -> None:
    row = crawls.host_row("www.a.com", 5, 250, ip="192.0.2.7", retry_at=seconds(9), crawl_delay_ms=100)
    assert list(HostDbMapper().map(row)) == [
        (
            ScoreHostKey.of_host("www.a.com"),
            HostPolicy("www.a.com", "a.com", 5, 250, 100, seconds(9), "192.0.2.7"),
        )
    ]


def test_a_row_of_the_limits_file_travels_as_a_hostdb_row_does() -> None:
    row = crawls.limits_row("www.a.com", urls=3, delay_ms=10)
    assert list(LimitsMapper().map(row)) == [
        (ScoreHostKey.of_host("www.a.com"), Limits("www.a.com", "a.com", 3, None, None, None, 10))
    ]


def test_where_no_list_is_given_every_url_is_listed() -> None:
    row = url_row("http://a.com/")
    assert "listed" not in row
    assert len(list(SelectorMapper(RULES).map(row))) == 1
