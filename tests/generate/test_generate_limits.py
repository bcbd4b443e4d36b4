"""Limits of hosts and domains, and the time budget: all optional, all at once, each counted under its own name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from small_crawls import change, chosen, every_plan, generate, host, made, refusal, url, urls

from pinyon.tables import HOSTDB


def hosts_of(domain: str, count: int, each: int) -> list[dict[str, object]]:
    """Hosts h0 … of a domain; each one's URLs are worth less than those of the one before."""
    return [row for n in range(count) for row in urls(f"h{n}.{domain}", each, best=1 - n / 10)]


def test_the_best_of_every_host_are_taken(tmp_path: Path) -> None:
    crawl = made(tmp_path, [*urls("a.test", 5), *urls("b.test", 2), *urls("c.test", 3)])
    found = chosen(crawl, "--max-count", 2)
    assert found.urls == {f"http://{name}.test/{n}" for name in "abc" for n in (0, 1)}
    assert found.rejected == {"host_limit": 4}
    assert found.report["hosts_over_limit"] == 2


def test_a_limit_of_zero_is_nothing_and_a_negative_one_is_none(tmp_path: Path) -> None:
    """Nutch took 0 for no limit; NUTCH-2455 made it nothing."""
    crawl = made(tmp_path, urls("a.test", 5))
    for name in ("--max-count", "--max-per-domain", "--max-hosts-per-domain"):
        result = generate(crawl, name, 0)
        assert result.status == 3
        assert "nothing is due" in result.stderr
        assert not list((crawl / "segments").iterdir())
    limits = ("--max-count", -1, "--max-per-domain", -7, "--max-hosts-per-domain", -1)
    assert len(chosen(crawl, *limits).rows) == 5


def test_a_domain_is_limited_over_all_its_hosts_after_the_hosts_are(tmp_path: Path) -> None:
    crawl = made(tmp_path, [*hosts_of("one.co.uk", 3, 4), *urls("two.co.uk", 4)])
    found = chosen(crawl, "--max-count", 3, "--max-per-domain", 5)
    # four ties of h0 and h1 are broken by worth: h0 gives 3, h1 the next 2, h2 nothing
    assert found.by_host() == {"h0.one.co.uk": 3, "h1.one.co.uk": 2, "two.co.uk": 3}
    assert found.rejected == {"host_limit": 4, "domain_limit": 4}


def test_max_count_counts_domains_if_count_mode_says_so(tmp_path: Path) -> None:
    crawl = made(tmp_path, [*hosts_of("one.com", 3, 4), *urls("www.two.com", 3)])
    found = chosen(crawl, "--max-count", 2, "--count-mode", "domain")
    assert found.by_host() == {"h0.one.com": 2, "www.two.com": 2}
    assert found.rejected == {"domain_limit": 11}


def test_an_expression_limits_hosts_while_max_count_limits_domains(tmp_path: Path) -> None:
    crawl = made(
        tmp_path, hosts_of("one.com", 3, 4), [host("h0.one.com", gone=1), host("h1.one.com", gone=3)]
    )
    found = chosen(crawl, "--max-count", 6, "--count-mode", "domain", "--max-count-expr", "gone")
    assert found.by_host() == {"h0.one.com": 1, "h1.one.com": 3, "h2.one.com": 2}
    assert found.rejected == {"host_limit": 4, "domain_limit": 2}


def test_hosts_of_a_domain_are_limited_to_those_with_the_best_urls(tmp_path: Path) -> None:
    crawl = made(tmp_path, [*hosts_of("one.com", 4, 2), *urls("two.com", 2)])
    found = chosen(crawl, "--max-hosts-per-domain", 2)
    assert found.by_host() == {"h0.one.com": 2, "h1.one.com": 2, "two.com": 2}
    assert found.rejected == {"hosts_per_domain": 4}


def test_a_host_with_limit_zero_takes_no_place_among_those_of_its_domain(tmp_path: Path) -> None:
    crawl = made(tmp_path, hosts_of("one.com", 3, 2), [host("h0.one.com", gone=9)])
    found = chosen(crawl, "--max-hosts-per-domain", 2, "--max-count-expr", "gone > 5 ? 0 : 10")
    assert found.by_host() == {"h1.one.com": 2, "h2.one.com": 2}
    assert found.rejected == {"host_limit": 2}


@pytest.mark.parametrize(("expression", "urls_of_a"), [("2.9", 2), ("-0.9", 0), ("-1.5", 9), ("gone / 2", 3)])
def test_a_limit_is_cut_towards_zero(expression: str, urls_of_a: int, tmp_path: Path) -> None:
    crawl = made(tmp_path, urls("a.test", 9) + urls("b.test", 1), [host("a.test", gone=7)])
    assert chosen(crawl, "--max-count-expr", expression).by_host()["a.test"] == urls_of_a


@every_plan
def test_a_limit_beyond_all_numbers_is_no_limit(tmp_path: Path, plan: Sequence[object]) -> None:
    crawl = made(tmp_path, urls("a.test", 9), [host("a.test")])
    largest = 2**63 - 1
    for options in (("--max-count", largest), ("--max-count-expr", str(largest)), ("--max-count", 10**30)):
        found = chosen(crawl, *plan, *options, "--segments", 2, "--gen-delay", 0)
        assert len(found.rows) == 9


# -- the time budget ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("budget_s", "settings", "expected"),
    [
        (0, (), 1),
        (20, (), 5),
        (24.9, ("fetcher.server_delay=10",), 3),
        (20, ("fetcher.server_delay=0",), 30),
        (20, ("fetcher.server_delay=0", "fetcher.min_delay=2"), 11),
    ],
)
def test_a_host_gets_what_its_delay_allows_in_the_time(
    budget_s: float, settings: Sequence[str], expected: int, tmp_path: Path
) -> None:
    """The first URL waits for nobody, each other one for the delay."""
    options = [word for setting in settings for word in ("--set", setting)]
    found = chosen(made(tmp_path, urls("a.test", 30)), "--time-budget", int(budget_s), *options)
    assert len(found.rows) == expected
    assert found.rejected == ({"time_budget": 30 - expected} if expected < 30 else {})


@every_plan
def test_the_budget_goes_by_the_longest_of_a_hosts_delays(tmp_path: Path, plan: Sequence[object]) -> None:
    """Its own from the expression (else the fetcher's), its Crawl-delay, and the fetcher's minimum."""
    names = ("slow.test", "quick.test", "asks.test", "unknown.test")
    hostdb = [host("slow.test", gone=20), host("quick.test", gone=1), host("asks.test", gone=1)]
    crawl = made(tmp_path, [row for name in names for row in urls(name, 70)], hostdb)
    change(crawl, HOSTDB, crawl_delay_ms="CASE WHEN host = 'asks.test' THEN 30000 END")
    found = chosen(crawl, *plan, "--time-budget", 60, "--fetch-delay-expr", "gone * 1000")
    assert found.by_host() == {"slow.test": 4, "quick.test": 61, "asks.test": 3, "unknown.test": 13}


def test_a_budget_holds_for_every_list(tmp_path: Path) -> None:
    found = chosen(made(tmp_path, urls("a.test", 30)), "--time-budget", 20, "--segments", 3)
    assert [len(rows) for rows in found.lists] == [5, 5, 5]
    assert found.rejected == {"time_budget": 15}


# -- all at once ----------------------------------------------------------------------------------------------


@every_plan
def test_a_url_that_breaks_several_limits_is_counted_under_the_first(
    tmp_path: Path, plan: Sequence[object]
) -> None:
    crawl = made(tmp_path, [*hosts_of("one.com", 3, 4), *urls("last.test", 1, best=0.1)])
    limits = ("--max-count", 3, "--time-budget", 5, "--max-hosts-per-domain", 2, "--max-per-domain", 3)
    found = chosen(crawl, *plan, *limits, "--top-n", 2)
    assert found.by_host() == {"h0.one.com": 2}
    assert found.rejected == {
        "host_limit": 3,  # the fourth URL of each host
        "time_budget": 3,  # the third, at 5 s between two
        "hosts_per_domain": 2,  # h2
        "domain_limit": 1,  # the second of h1
        "top_n": 2,  # the first of h1, and last.test
    }


def test_limits_are_of_hosts_in_any_spelling(tmp_path: Path) -> None:
    spelled = ["http://A.Test/1", "https://a.test:8443/2", "http://user@a.test/3", "http://a%2Etest/4"]
    found = chosen(made(tmp_path, [url(text) for text in spelled]), "--max-count", 1, "--no-filter")
    assert len(found.rows) == 1
    assert found.rejected == {"host_limit": 3}


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--top-n", -1),
        ("--segments", 0),
        ("--fetchers", 0),
        ("--keep-together", 0),
        ("--time-budget", -1),
        ("--gen-delay", -1),
        ("--add-days", "nan"),
        ("--max-count", "2.5"),
        ("--top-n", "many"),
    ],
)
def test_a_number_that_makes_no_sense_is_refused_by_its_name(
    option: str, value: object, tmp_path: Path
) -> None:
    told = refusal(made(tmp_path, urls("a.test", 1)), option, value)
    assert f"generate.{option[2:].replace('-', '_')}" in told
