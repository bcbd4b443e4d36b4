"""The HostDb: counted from the crawldb, facts of fetching merged once."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

import pytest
from update_crawls import (
    DAY,
    T,
    doc,
    host_facts,
    host_row,
    hosts_of,
    new_crawl,
    page,
    put,
    put_segment,
    url_row,
)

from pinyon.crawl import Crawl
from pinyon.cycle.updatedb import updatedb
from pinyon.cycle.updatehostdb import updatehostdb
from pinyon.tables import CRAWLDB, HOSTDB, STATUSES

A = "http://a.test/"


def test_counters_are_a_group_by_done_by_hand_and_add_up(crawl: Crawl) -> None:
    rows = [
        url_row(f"http://{host}.test/{status}/{n}", status, retries=n % 3)
        for host, most in (("a", 1), ("b", 3), ("c", 7))
        for status in STATUSES
        for n in range(most)
    ]
    put(crawl, CRAWLDB, rows)
    assert updatehostdb(crawl).hosts == 3
    by_hand = Counter((row["host"], STATUSES[row["status"]]) for row in rows)
    for host, found in hosts_of(crawl).items():
        assert {c: found[c] for c in STATUSES.values()} == {c: by_hand[host, c] for c in STATUSES.values()}
        assert found["num_records"] == sum(row["host"] == host for row in rows)
        assert found["connection_failures"] == sum(row["host"] == host and row["retries"] > 0 for row in rows)


def test_an_empty_crawldb_gives_an_empty_hostdb(crawl: Crawl) -> None:
    assert updatehostdb(crawl).hosts == 0
    assert hosts_of(crawl) == {}


def test_urls_without_a_host_are_in_no_row(crawl: Crawl) -> None:
    put(crawl, CRAWLDB, [url_row("mailto:a@b.test"), url_row(A)])
    updatehostdb(crawl)
    assert set(hosts_of(crawl)) == {"a.test"}


def test_run_five_times_the_table_is_the_same(crawl: Crawl) -> None:
    put(crawl, CRAWLDB, [url_row(A)])
    put_segment(
        crawl,
        "20260301000000",
        pages=[page(A, "rate_limited", duration_ms=70, http_status=429, retry_at=T + DAY)],
        hosts=[host_facts("a.test", dns_failures=2, robots_status="rules", robots_digest="x")],
    )
    first = updatehostdb(crawl)
    before = hosts_of(crawl)
    assert first.segments == ["20260301000000"]
    for _ in range(4):
        again = updatehostdb(crawl)
        assert (again.segments, again.changed, again.version) == ([], False, first.version)
    # and when it has to count again, since the crawldb has a new version
    put(crawl, CRAWLDB, [url_row(A)])
    assert updatehostdb(crawl).changed
    assert hosts_of(crawl) == before


def test_response_times_are_real_percentiles_of_what_was_answered(crawl: Crawl) -> None:
    put(crawl, CRAWLDB, [url_row(A)])
    answered = [page(f"{A}{ms}", duration_ms=ms, http_status=200) for ms in range(1, 101)]
    silent = [page(f"{A}silent{n}", "timeout", duration_ms=30_000) for n in range(50)]
    put_segment(crawl, "20260301000000", pages=answered + silent)
    updatehostdb(crawl)
    found = hosts_of(crawl)["a.test"]
    times = {name: found[f"rt_{name}_ms"] for name in ("avg", "p50", "p75", "p95", "p99")}
    assert times == {"avg": 51, "p50": 50, "p75": 75, "p95": 95, "p99": 99}


@pytest.mark.parametrize(
    ("pages", "rows", "home"),
    [
        (
            [page(A, "redir_perm", redirect_to="https://a.test/")],
            [url_row(A, "db_redir_perm")],
            "https://a.test/",
        ),
        ([], [url_row(A, "db_fetched"), url_row("https://a.test/", "db_notmodified")], "https://a.test/"),
        ([], [url_row(A, "db_fetched"), url_row("https://a.test/", "db_gone")], A),
        ([page(f"{A}x", "redir_perm", redirect_to=A)], [url_row(f"{A}x", "db_redir_perm")], None),
    ],
    ids=["the target of a redirect", "https first", "what is there", "only the front page"],
)
def test_the_home_page_is(crawl: Crawl, pages: list[dict], rows: list[dict], home: str | None) -> None:
    put(crawl, CRAWLDB, rows)
    put_segment(crawl, "20260301000000", pages=pages)
    updatehostdb(crawl)
    assert hosts_of(crawl)["a.test"]["homepage_url"] == home


def test_facts_of_segments_that_come_in_the_wrong_order_end_the_same(crawl: Crawl, tmp_path) -> None:
    early = [
        host_facts(
            "a.test", T, ip="192.0.2.1", crawl_delay_ms=10_000, robots_status="rules", robots_digest="1"
        )
    ]
    late = [host_facts("a.test", T + DAY, ip="192.0.2.2", robots_status="rules", robots_digest="2")]
    tables = []
    for number, order in enumerate([(early, late), (late, early)]):
        with new_crawl(tmp_path / str(number)) as other:
            put(other, CRAWLDB, [url_row(A)])
            for name, facts in zip(("20260301000000", "20260302000000"), order, strict=True):
                put_segment(other, name, hosts=facts)
                updatehostdb(other)
            tables.append(hosts_of(other)["a.test"])
    for found in tables:
        assert (found["ip"], found["crawl_delay_ms"], found["robots_digest"]) == ("192.0.2.2", None, "2")
        assert found["last_check"] == T + DAY


def test_a_robots_txt_out_of_reach_leaves_what_is_known_of_it(crawl: Crawl) -> None:
    put(crawl, CRAWLDB, [url_row(A)])
    known = host_facts("a.test", T, crawl_delay_ms=2_000, robots_status="rules", robots_digest="1")
    put_segment(crawl, "20260301000000", hosts=[known])
    put_segment(crawl, "20260302000000", hosts=[host_facts("a.test", T + DAY, robots_status="unavailable")])
    updatehostdb(crawl)
    found = hosts_of(crawl)["a.test"]
    assert (found["crawl_delay_ms"], found["robots_digest"]) == (2_000, "1")


def test_failed_look_ups_add_up_until_one_succeeds(crawl: Crawl) -> None:
    put(crawl, CRAWLDB, [url_row(A)])
    failures = []
    for day, facts in enumerate(
        [{"dns_failures": 2}, {"dns_failures": 3}, {"ip": "192.0.2.1"}, {"dns_failures": 1}]
    ):
        put_segment(crawl, f"2026030{day + 1}000000", hosts=[host_facts("a.test", T + day * DAY, **facts)])
        updatehostdb(crawl)
        failures.append(hosts_of(crawl)["a.test"]["dns_failures"])
    assert failures == [2, 5, 0, 1]


def test_failed_look_ups_of_several_segments_at_once_are_those_since_the_last_success(crawl: Crawl) -> None:
    put(crawl, CRAWLDB, [url_row(A)])
    for day, facts in enumerate([{"dns_failures": 2}, {"ip": "192.0.2.1"}, {"dns_failures": 4}]):
        put_segment(crawl, f"2026030{day + 1}000000", hosts=[host_facts("a.test", T + day * DAY, **facts)])
    updatehostdb(crawl)
    found = hosts_of(crawl)["a.test"]
    assert (found["dns_failures"], found["ip"]) == (4, "192.0.2.1")


def test_retry_after_is_kept_for_the_next_list_but_not_beyond_the_longest_interval(crawl: Crawl) -> None:
    put(crawl, CRAWLDB, [url_row(A), url_row("http://b.test/")])
    pages = [page(A, "rate_limited", retry_at=T + timedelta(minutes=7))]
    hosts = [host_facts("a.test"), host_facts("b.test", retry_at=T + 365 * DAY)]
    put_segment(crawl, "20260301000000", pages=pages, hosts=hosts)
    updatehostdb(crawl)
    found = hosts_of(crawl)
    assert found["a.test"]["retry_at"] == T + timedelta(minutes=7)
    assert found["b.test"]["retry_at"] == T + 90 * DAY


def test_hosts_with_too_few_urls_are_not_kept(crawl: Crawl) -> None:
    put(crawl, CRAWLDB, [url_row(A), url_row(f"{A}2"), url_row("http://b.test/")])
    put(crawl, HOSTDB, [host_row("gone.test")])
    updatehostdb(crawl)
    assert set(hosts_of(crawl)) == {"a.test", "b.test", "gone.test"}
    updatehostdb(crawl.with_settings(hostdb__min_records=2))
    assert set(hosts_of(crawl)) == {"a.test"}


def test_counters_beyond_32_bits_are_exact(crawl: Crawl) -> None:
    put(crawl, HOSTDB, [host_row("a.test", dns_failures=3 * 10**9)])
    put(crawl, CRAWLDB, [url_row(A)])
    put_segment(crawl, "20260301000000", hosts=[host_facts("a.test", dns_failures=10**9)])
    updatehostdb(crawl)
    assert hosts_of(crawl)["a.test"]["dns_failures"] == 4 * 10**9


def test_updatedb_and_the_hostdb_in_one_go(crawl: Crawl) -> None:
    put(crawl, CRAWLDB, [url_row(A)])
    put_segment(
        crawl, "20260301000000", pages=[page(A)], docs=[doc(A)], hosts=[host_facts("a.test", ip="192.0.2.1")]
    )
    report = updatedb(crawl, hostdb=True, now=T + DAY)
    assert report.hosts is not None and report.hosts.segments == ["20260301000000"]
    found = hosts_of(crawl)["a.test"]
    assert (found["fetched"], found["unfetched"], found["ip"]) == (1, 0, "192.0.2.1")
