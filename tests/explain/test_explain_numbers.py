"""explain names the rule that decided, with the numbers, and knows what is known of a URL or a host."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from crawls import NOW, host_row, seconds, url_row
from explain_crawls import Row, fill, put

from pinyon.crawl import Crawl
from pinyon.cycle.aside import selection_aside
from pinyon.cycle.explain import UrlExplanation, explain_host, explain_url
from pinyon.cycle.generate import generate
from pinyon.errors import ExpressionError, InputError, LockedError, SettingError, StoreError
from pinyon.tables import CRAWLDB, HOSTDB

A = "http://a.one.com/0"


def urls(host: str, count: int, best: float = 10.0) -> list[Row]:
    """`count` URLs of a host, number 0 the best, each next one worth 1 less."""
    return [url_row(f"http://{host}/{number}", best - number) for number in range(count)]


def told(found: UrlExplanation, rule: str) -> tuple[str, str]:
    return next((finding.verdict, finding.told) for finding in found.findings if finding.rule == rule)


def of_one(crawl: Crawl, row: Row, rule: str, **given: Any) -> tuple[str, str]:
    """What is said of one URL, the only one of its crawl."""
    put(crawl, CRAWLDB, [row])
    return told(explain_url(crawl, row["url"], now=NOW, **given), rule)


# -- rules of a candidate -------------------------------------------------------------------------------------


def test_a_url_that_is_not_due_says_for_how_long(crawl: Crawl) -> None:
    verdict, words = of_one(crawl, url_row(A, fetch_time=seconds(3 * 86_400 + 7200)), "not_due")
    assert verdict == "drops"
    assert words == "fetch_time 2026-12-03 14:00:00 > now 2026-11-30 12:00:00: not due for 3 d 2 h"


def test_a_url_scheduled_too_far_ahead_is_due_with_a_shorter_interval(crawl: Crawl) -> None:
    year = 365 * 86_400
    row = url_row(A, fetch_time=seconds(year), fetch_interval=year)
    verdict, words = of_one(crawl, row, "not_due")
    assert verdict == "passes"
    assert words.endswith("more than 90 d ahead, the longest interval: due now, again every 81 d")
    assert explain_url(crawl, A, now=NOW).row["fetch_interval"] == year  # as it is known, not as it is seen


@pytest.mark.parametrize(
    ("columns", "given", "rule", "wanted"),
    [
        ({"status": "db_gone"}, {"exclude_status": ("db_gone",)}, "excluded_status", "db_gone is in db_gone"),
        ({}, {"restrict_status": ("db_gone",)}, "status", "db_unfetched is not in db_gone"),
        ({"score": 0.31}, {"min_score": 0.5}, "min_score", "score 0.31 < 0.5 (min_score)"),
        ({}, {"interval_at_most": 60}, "interval", "fetch_interval 100 s > 60 s"),
        (
            {"inlinks": 3},
            {"expr": "inlinks > 5 && depth < 2"},
            "expression",
            "'inlinks > 5 && depth < 2' gives false (depth 0, inlinks 3)",
        ),
        ({}, {"expr": "modifiedTime > 5"}, "expression", "'modifiedTime > 5' gives false (modifiedTime 0)"),
        (
            {"generate_time": seconds(-60)},
            {},
            "awaiting_update",
            "generate_time 2026-11-30 11:59:00, younger than 7 d (gen_delay)",
        ),
    ],
)
def test_a_rule_that_drops_a_url_says_its_values(
    crawl: Crawl, columns: Row, given: Row, rule: str, wanted: str
) -> None:
    assert of_one(crawl, url_row(A, **columns), rule, **given) == ("drops", wanted)


def test_rules_after_the_one_that_decided_are_answered_too(crawl: Crawl) -> None:
    put(crawl, CRAWLDB, [url_row(A, 0.1, fetch_time=seconds(60))])
    found = explain_url(crawl, A, now=NOW, min_score=0.5)
    assert found.reason == "not_due"
    assert told(found, "min_score")[0] == "drops"
    assert {told(found, rule)[0] for rule in ("host_limit", "top_n")} == {"unset"}


def test_a_sort_expression_is_shown_with_its_value_and_names(crawl: Crawl) -> None:
    row = url_row(A, inlinks=4)
    assert of_one(crawl, row, "min_score", sort_by="inlinks * 2") == (
        "passes",
        "'inlinks * 2' gives 8 (inlinks 4) >= 0 (min_score)",
    )


def test_an_expression_that_gives_nothing_says_so(crawl: Crawl) -> None:
    verdict, words = of_one(crawl, url_row(A), "expression", expr="hostdb.fetched > 3")
    assert (verdict, words) == ("drops", "'hostdb.fetched > 3' gives null (hostdb.fetched null)")


def test_the_reason_of_a_url_filter_is_named(crawl: Crawl) -> None:
    put(crawl, CRAWLDB, [url_row("http://a.one.com/x.pdf")])
    stricter = crawl.with_settings(urls__deny_suffixes=("pdf",))
    with stricter:
        found = explain_url(stricter, "http://a.one.com/x.pdf", now=NOW)
        assert told(found, "url_filter") == ("drops", "refused: suffix")
        off = explain_url(stricter, "http://a.one.com/x.pdf", now=NOW, filter=False)
    assert told(off, "url_filter") == ("unset", "filters are off (generate.filter)")
    assert found.reason == "url_filter"
    assert off.selected


def test_a_list_that_is_given_counts(crawl: Crawl, tmp_path: Path) -> None:
    put(crawl, CRAWLDB, urls("a.one.com", 3))
    listed = tmp_path / "list.txt"
    listed.write_text("http://a.one.com/2\n", encoding="utf-8")
    found = {n: explain_url(crawl, f"http://a.one.com/{n}", now=NOW, from_list=str(listed)) for n in (1, 2)}
    assert [found[n].reason for n in (1, 2)] == ["not_listed", None]


def test_a_url_in_an_open_segment_says_which_and_where(crawl: Crawl) -> None:
    put(crawl, CRAWLDB, urls("a.one.com", 3))
    [segment] = generate(crawl, now=NOW, seed=1).segments
    found = explain_url(crawl, "http://a.one.com/1", now=NOW + timedelta(days=1))
    assert found.reason == "awaiting_update"
    assert told(found, "awaiting_update")[1] == (
        f"in segment {segment.name} (generated), younger than 7 d (gen_delay)"
    )
    [waiting] = found.waiting
    assert (waiting.segment, waiting.part, waiting.position, waiting.locks) == (segment.name, 0, 1, True)
    later = explain_url(crawl, "http://a.one.com/1", now=NOW + timedelta(days=8))
    assert later.selected
    assert told(later, "awaiting_update")[1].endswith("but that is older than 7 d (gen_delay)")


# -- limits ---------------------------------------------------------------------------------------------------

EXPR = "connectionFailures > 100 ? 2 : 1000"


def test_the_limit_of_a_host_is_shown_with_its_expression_and_the_values_it_used(crawl: Crawl) -> None:
    fill(crawl, urls("a.one.com", 5), [host_row("a.one.com", connection_failures=120)])
    found = explain_url(crawl, "http://a.one.com/3", now=NOW, max_count_expr=EXPR)
    wanted = f"rank 4 of 2, because max_count_expr '{EXPR}' gives 2 (connectionFailures 120)"
    assert told(found, "host_limit") == ("drops", wanted)
    assert told(found, "top_n") == ("unset", "")


def test_a_host_without_a_row_has_the_default_and_says_why(crawl: Crawl) -> None:
    fill(crawl, urls("a.one.com", 5), [host_row("b.one.com")])
    found = explain_url(crawl, A, now=NOW, max_count_expr=EXPR, max_count=3)
    assert told(found, "host_limit") == (
        "passes",
        "rank 1 of 3, because that is the default of all hosts: the host has no HostDb row",
    )


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("-1", "no limit, because max_count_expr '-1' gives -1"),
        (
            "crawlDelayMs",
            "rank 1 of 3, because that is the default of all hosts: max_count_expr 'crawlDelayMs' gives null",
        ),
    ],
)
def test_an_unlimited_host_is_told_from_one_of_which_nothing_is_said(
    crawl: Crawl, said: str, wanted: str
) -> None:
    fill(crawl, urls("a.one.com", 5), [host_row("a.one.com")])
    found = explain_url(crawl, A, now=NOW, max_count_expr=said, max_count=3)
    assert told(found, "host_limit") == ("passes", wanted)


def test_a_negative_delay_is_none_and_is_told(crawl: Crawl) -> None:
    fill(crawl, urls("a.one.com", 5), [host_row("a.one.com")])
    found = explain_host(crawl, "a.one.com", now=NOW, fetch_delay_expr="-5")
    assert found.delay_ms == 5000
    assert found.delay_because == "that is the default of all hosts: fetch_delay_expr '-5' gives -5"


def test_a_time_budget_says_the_delay_and_where_that_comes_from(crawl: Crawl) -> None:
    fill(crawl, urls("a.one.com", 5), [host_row("a.one.com", crawl_delay_ms=20_000)])
    found = explain_url(crawl, "http://a.one.com/4", now=NOW, time_budget=60)
    wanted = "rank 5 of 4 in 60 s: 20,000 ms between requests, because its robots.txt asks for it"
    assert told(found, "time_budget") == ("drops", wanted)
    faster = explain_url(crawl, A, now=NOW, time_budget=60, fetch_delay_expr="30000")
    assert told(faster, "time_budget")[1] == (
        "rank 1 of 3 in 60 s: 30,000 ms between requests, because fetch_delay_expr '30000' gives 30,000"
    )


def test_the_limits_file_is_shown_where_it_decides(crawl: Crawl, tmp_path: Path) -> None:
    fill(crawl, urls("a.one.com", 5) + urls("b.one.com", 5, 20.0), [])
    limits = tmp_path / "limits.tsv"
    limits.write_text(
        "name\turls\turls_per_host\thosts\none.com\t6\t\t\na.one.com\t3\t\t\n", encoding="utf-8"
    )
    found = {
        n: explain_url(crawl, f"http://a.one.com/{n}", now=NOW, limits_file=str(limits)) for n in (0, 1, 3)
    }
    assert told(found[3], "host_limit") == (
        "drops",
        "rank 4 of 3, because the limits file says so of the host",
    )
    assert told(found[1], "domain_limit") == ("drops", "rank 7 of 6 of one.com")
    assert found[0].selected
    assert [row["name"] for row in found[0].limits] == ["a.one.com", "one.com"]


def test_hosts_of_a_domain_are_numbered_by_their_best_urls(crawl: Crawl) -> None:
    put(crawl, CRAWLDB, urls("a.one.com", 2, 5.0) + urls("b.one.com", 2, 9.0) + urls("d.two.co.uk", 9, 50.0))
    found = explain_url(crawl, A, now=NOW, max_hosts_per_domain=1)
    assert told(found, "hosts_per_domain") == (
        "drops",
        "its host is number 2 of 1 hosts of one.com, by their best URLs",
    )


def test_the_cut_of_top_n_is_shown_with_the_last_value_that_is_taken(crawl: Crawl) -> None:
    put(crawl, CRAWLDB, urls("a.one.com", 5, 5.0) + urls("d.two.co.uk", 5, 5.5))
    below = explain_url(crawl, "http://a.one.com/3", now=NOW, top_n=6)
    assert told(below, "top_n") == ("drops", "number 8 of 6: below the cut, 2 < 3")
    above = explain_url(crawl, "http://a.one.com/2", now=NOW, top_n=6)
    assert told(above, "top_n") == ("passes", "number 6 of 6")
    assert (above.selected, above.list) == (True, 0)


def test_without_the_cut_the_answer_is_left_open_unless_a_limit_decides(crawl: Crawl) -> None:
    put(crawl, CRAWLDB, urls("a.one.com", 5))
    found = explain_url(crawl, A, now=NOW, cut=False, top_n=1)
    assert (found.selected, found.list, found.reason) == (None, None, None)
    assert told(found, "top_n") == ("unasked", "the first 1")
    limited = explain_url(crawl, "http://a.one.com/3", now=NOW, cut=False, top_n=1, max_count=2)
    assert (limited.selected, limited.reason) == (False, "host_limit")


def test_of_several_lists_the_one_that_takes_a_url_is_told(crawl: Crawl) -> None:
    put(crawl, CRAWLDB, urls("a.one.com", 5))
    found = [explain_url(crawl, f"http://a.one.com/{n}", now=NOW, segments=2, max_count=2) for n in range(5)]
    assert [f.list for f in found] == [0, 0, 1, 1, None]
    assert told(found[4], "host_limit")[1].startswith("rank 5 in its host, in list 1 number 3 of 2, ")
    assert told(found[2], "host_limit")[1].startswith("rank 3 in its host, in list 1 number 1 of 2, ")


# -- hosts ----------------------------------------------------------------------------------------------------


def test_a_host_is_explained_by_its_policy_and_by_what_becomes_of_its_urls(crawl: Crawl) -> None:
    rows = [*urls("a.one.com", 5), url_row("http://a.one.com/late", fetch_time=seconds(60))]
    fill(crawl, rows, [host_row("a.one.com", connection_failures=120, crawl_delay_ms=9000)])
    found = explain_host(crawl, "https://A.one.com/whatever", now=NOW, max_count_expr=EXPR, top_n=1)
    assert (found.host, found.limit, found.delay_ms) == ("a.one.com", 2, 9000)
    assert found.limit_because == f"max_count_expr '{EXPR}' gives 2 (connectionFailures 120)"
    assert found.delay_because == "its robots.txt asks for it"
    assert (found.urls, found.candidates, found.selected) == (6, 5, {0: 1})
    assert found.rejected == {"not_due": 1, "host_limit": 3, "top_n": 1}
    assert found.row is not None
    assert found.row["connection_failures"] == 120


def test_a_host_with_nothing_due_still_has_its_policy(crawl: Crawl) -> None:
    fill(crawl, [], [host_row("a.one.com")])
    found = explain_host(crawl, "a.one.com", now=NOW, max_count=7)
    assert (found.urls, found.limit, found.selected, found.rejected) == (0, 7, {}, {})


# -- what is refused ------------------------------------------------------------------------------------------


def test_what_is_not_known_is_an_error_that_says_what_would_become_of_it(crawl: Crawl) -> None:
    put(crawl, CRAWLDB, urls("a.one.com", 1))
    with pytest.raises(InputError, match=r"nor is http://a\.one\.com/9"):
        explain_url(crawl, "HTTP://A.one.com/9#x", now=NOW)
    with pytest.raises(InputError, match=r"filters refuse it \(scheme\)"):
        explain_url(crawl, "ftp://a.one.com/", now=NOW)
    with pytest.raises(InputError, match=r"x\.org: no URL of it in the crawldb"):
        explain_host(crawl, "x.org", now=NOW)


def test_options_are_checked_as_generate_checks_them(crawl: Crawl) -> None:
    put(crawl, CRAWLDB, urls("a.one.com", 1))
    with pytest.raises(ExpressionError, match="did you mean 'connectionFailures'"):
        explain_url(crawl, A, now=NOW, max_count_expr="conectionFailures")
    with pytest.raises(SettingError, match="unknown setting"):
        explain_url(crawl, A, now=NOW, top=3)
    with pytest.raises(StoreError, match="HostDb is empty"):
        explain_url(crawl, A, now=NOW, hostdb="on")


# -- only asking ----------------------------------------------------------------------------------------------


def contents(root: Path) -> set[str]:
    return {str(path.relative_to(root)) for path in root.rglob("*") if ".tmp/spills" not in str(path)}


def test_asking_writes_nothing_and_waits_for_nobody(crawl: Crawl) -> None:
    fill(crawl, urls("a.one.com", 5), [host_row("a.one.com")])
    with crawl.writing("updatedb"):
        before = contents(crawl.root)
        with Crawl.open(crawl.root) as reader:
            with pytest.raises(LockedError):
                generate(reader, now=NOW, dry_run=True)
            assert explain_url(reader, A, now=NOW, top_n=2, segments=2).selected
            assert explain_host(reader, "a.one.com", now=NOW, top_n=2).selected == {0: 2}
        assert contents(crawl.root) == before
    assert [crawl.store.current(spec).version for spec in (CRAWLDB, HOSTDB)] == [1, 1]


def test_a_writer_that_begins_leaves_the_files_of_who_asks_alone(crawl: Crawl) -> None:
    put(crawl, CRAWLDB, urls("a.one.com", 5))
    with selection_aside(crawl, NOW, {}) as (selection, _), Crawl.open(crawl.root) as writer:
        (selection.scratch / "half.parquet").touch()
        with writer.writing("inject"):
            assert (selection.scratch / "half.parquet").exists()
    assert not selection.scratch.exists()
