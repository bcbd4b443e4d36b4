"""Job 1: limits, lists and the cut, one promise at a time, in each number of partitions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from crawls import NOW, host_row, limits_row, seconds, url_row

from pinyon.errors import UsageError
from pinyon.mapreduce import LIMITS, REASONS, Rules, Selected, Selection, select

Row = dict[str, Any]
Run = Callable[..., Selection]


@pytest.fixture(params=[1, 2, 5], ids="{}-partitions".format)
def run(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Run]:
    """`select` of rows in random order, in little memory; the rules are given by name."""
    opened: list[Selection] = []

    def run(
        crawldb: Iterable[Row], hostdb: Iterable[Row] = (), limits: Any = None, **rules: Any
    ) -> Selection:
        rows = list(crawldb)
        rows = Random(3).sample(rows, len(rows))
        selection = select(
            rows,
            hostdb,
            Rules(now=NOW, **rules),
            partitions=request.param,
            spill_dir=tmp_path,
            spill_records=17,
            limits_rows=limits,
        )
        opened.append(selection)
        return selection

    yield run
    for selection in opened:
        selection.close()
    assert list(tmp_path.iterdir()) == []


def urls(host: str, count: int, best: float = 1.0) -> list[Row]:
    """URLs of one host; the first is the best, each next one a little worse."""
    return [url_row(f"http://{host}/{n}", best - n / 1000) for n in range(count)]


def names(selection: Selection, number: int = 0) -> list[str]:
    return [row.url.removeprefix("http://") for row in selection.lists() if row.list == number]


def by_host(selection: Selection, number: int = 0) -> dict[str, int]:
    counts: dict[str, int] = {}
    for row in selection.lists():
        if row.list == number:
            counts[row.host] = counts.get(row.host, 0) + 1
    return counts


# -- limits of hosts ------------------------------------------------------------------------------------------


def test_each_of_many_hosts_gives_as_many_urls_as_its_own_limit_says(run: Run) -> None:
    hosts = [f"h{n}.com" for n in range(20)]
    crawldb = [row for host in hosts for row in urls(host, 25)]
    selection = run(crawldb, [host_row(host, limit) for limit, host in enumerate(hosts)])
    assert by_host(selection) == {host: limit for limit, host in enumerate(hosts) if limit}
    assert selection.rejected == {"host_limit": 20 * 25 - sum(range(20))}
    assert selection.hosts_over_limit == 20


def test_the_best_urls_of_a_host_are_taken_in_order(run: Run) -> None:
    assert names(run(urls("a.com", 5), max_count=2)) == ["a.com/0", "a.com/1"]


def test_a_limit_of_one_gives_one(run: Run) -> None:
    assert by_host(run(urls("a.com", 5), max_count=1)) == {"a.com": 1}


@pytest.mark.parametrize(("limit", "selected"), [(-1, 4), (0, 0), (1, 1), (4, 4), (9, 4)])
def test_a_negative_limit_is_none_and_zero_is_nothing(run: Run, limit: int, selected: int) -> None:
    assert run(urls("a.com", 4), max_count=limit).selected == selected
    assert run(urls("a.com", 4), [host_row("a.com", limit)], max_count=2).selected == selected


def test_what_one_host_has_never_leaks_to_the_next_with_the_same_score(run: Run) -> None:
    hosts = [f"h{n}.com" for n in range(10)]
    crawldb = [url_row(f"http://{host}/{n}", 1.0) for host in hosts for n in range(3)]
    known = [host_row(host, 1, 4000, retry_at=seconds(5)) for host in hosts[::2]]
    rows = list(run(crawldb, known, max_count=2).lists())
    decided = {(row.host in hosts[::2], row.fetch_delay_ms, row.delay_ms, row.not_before) for row in rows}
    assert decided == {(True, 4000, 4000, seconds(5)), (False, None, 5000, None)}
    assert len(rows) == 5 * 1 + 5 * 2


def test_a_host_for_which_an_expression_says_nothing_has_the_defaults_and_is_named(run: Run) -> None:
    hostdb = [
        host_row("no-count.com", None, 100),
        host_row("no-delay.com", 9, None),
        host_row("negative.com", 9, -1),
        host_row("decided.com", 9, 100),
        host_row("without-urls.com", None, None),
    ]
    crawldb = [row for host in hostdb[:4] for row in urls(host["host"], 3)]
    selection = run(crawldb, hostdb, max_count=2, default_delay_ms=700)
    assert by_host(selection) == {"no-count.com": 2, "no-delay.com": 3, "negative.com": 3, "decided.com": 3}
    assert {row.host: row.delay_ms for row in selection.lists()} == {
        "no-count.com": 100,
        "no-delay.com": 700,
        "negative.com": 700,
        "decided.com": 100,
    }
    assert selection.undecided_hosts == {"max_count_expr": 1, "fetch_delay_expr": 2}
    assert selection.undecided_examples == {
        "max_count_expr": "no-count.com",
        "fetch_delay_expr": "negative.com",
    }


def test_without_an_expression_no_host_is_undecided(run: Run) -> None:
    hostdb = [host_row("a.com", None, 100), host_row("b.com", 2, None)]
    crawldb = urls("a.com", 1) + urls("b.com", 1)
    assert run(crawldb, hostdb, count_by_host=False).undecided_hosts == {"fetch_delay_expr": 1}
    assert run(crawldb, hostdb, delay_by_host=False).undecided_hosts == {"max_count_expr": 1}
    assert not run(crawldb, hostdb, count_by_host=False, delay_by_host=False).undecided_hosts


@pytest.mark.parametrize(
    ("own", "crawl_delay", "least", "expected"),
    [
        (None, None, 0, 5000),
        (200, None, 0, 200),
        (200, 300, 0, 300),
        (None, 6000, 0, 6000),
        (0, None, 50, 50),
    ],
)
def test_the_delay_is_the_hosts_own_or_the_default_and_never_below_robots_or_the_least(
    run: Run, own: int | None, crawl_delay: int | None, least: int, expected: int
) -> None:
    hostdb = [host_row("a.com", None, own, crawl_delay_ms=crawl_delay)]
    (row,) = run(urls("a.com", 1), hostdb, min_delay_ms=least).lists()
    assert (row.delay_ms, row.fetch_delay_ms) == (expected, own)


@pytest.mark.parametrize(("delay", "expected"), [(0, 9), (100, 9), (400, 3), (500, 3), (501, 2), (5000, 1)])
def test_a_time_budget_holds_the_first_url_and_one_a_delay(run: Run, delay: int, expected: int) -> None:
    selection = run(urls("a.com", 9), [host_row("a.com", None, delay)], time_budget_ms=1000)
    assert selection.selected == expected
    assert selection.rejected.get("time_budget", 0) == 9 - expected
    assert selection.hosts_over_limit == 0


def test_a_url_beyond_both_limits_of_its_host_counts_as_beyond_the_first(run: Run) -> None:
    selection = run(urls("a.com", 5), [host_row("a.com", 3, 500)], time_budget_ms=500)
    assert selection.selected == 2
    assert selection.rejected == {"host_limit": 2, "time_budget": 1}


# -- limits of domains ----------------------------------------------------------------------------------------


def test_domains_are_counted_whole_whatever_partition_their_hosts_hash_to(run: Run) -> None:
    crawldb = [row for n in range(12) for row in urls(f"h{n}.one.com", 2, 1 - n / 100)] + urls("two.com", 3)
    assert by_host(run(crawldb, max_per_domain=3)) == {"h0.one.com": 2, "h1.one.com": 1, "two.com": 3}
    selection = run(crawldb, max_hosts_per_domain=2, max_per_domain=3)
    assert selection.rejected == {"hosts_per_domain": 20, "domain_limit": 1}


def test_the_hosts_of_a_domain_are_those_with_its_best_urls(run: Run) -> None:
    crawldb = urls("a.one.com", 2, 0.5) + urls("b.one.com", 2, 0.9) + urls("c.one.com", 2, 0.7)
    selection = run(crawldb, max_hosts_per_domain=2)
    assert names(selection) == ["b.one.com/0", "b.one.com/1", "c.one.com/0", "c.one.com/1"]


def test_a_host_with_limit_zero_takes_no_place_among_the_hosts_of_its_domain(run: Run) -> None:
    crawldb = urls("a.one.com", 2, 0.9) + urls("b.one.com", 2, 0.5)
    selection = run(crawldb, [host_row("a.one.com", 0)], max_hosts_per_domain=1)
    assert by_host(selection) == {"b.one.com": 2}
    assert selection.rejected == {"host_limit": 2}


def test_a_domain_may_have_limits_of_its_own(run: Run) -> None:
    crawldb = [row for host in ("a.one.com", "b.one.com", "a.two.com", "b.two.com") for row in urls(host, 5)]
    selection = run(
        crawldb, limits=[limits_row("one.com", urls=7, urls_per_host=4, delay_ms=50)], max_count=1
    )
    assert sum(count for host, count in by_host(selection).items() if host.endswith("one.com")) == 7
    assert {h: n for h, n in by_host(selection).items() if h.endswith("two.com")} == {
        "a.two.com": 1,
        "b.two.com": 1,
    }
    assert {(row.domain, row.fetch_delay_ms) for row in selection.lists()} == {
        ("one.com", 50),
        ("two.com", None),
    }
    assert run(crawldb, limits=[limits_row("one.com", hosts=1)]).rejected == {"hosts_per_domain": 5}


def test_limits_of_a_host_beat_those_of_its_domain_and_both_beat_the_expression(run: Run) -> None:
    hosts = ("a.one.com", "b.one.com", "c.two.com", "d.two.com")
    crawldb = [row for host in hosts for row in urls(host, 9)]
    hostdb = [host_row(host, 1, 111) for host in hosts[:3]]
    limits = [
        limits_row("one.com", urls_per_host=3, delay_ms=333),
        limits_row("a.one.com", urls=5, delay_ms=555),
    ]
    selection = run(crawldb, hostdb, limits, max_count=2)
    assert by_host(selection) == {"a.one.com": 5, "b.one.com": 3, "c.two.com": 1, "d.two.com": 2}
    delays = {row.host: row.fetch_delay_ms for row in selection.lists()}
    assert delays == {"a.one.com": 555, "b.one.com": 333, "c.two.com": 111, "d.two.com": None}


def test_the_limits_of_a_domain_are_not_those_of_the_host_of_that_name(run: Run) -> None:
    selection = run(
        urls("one.com", 5) + urls("b.one.com", 5), limits=[limits_row("one.com", urls=7)], max_count=4
    )
    assert selection.rejected == {"host_limit": 2, "domain_limit": 1}


# -- lists and the cut ----------------------------------------------------------------------------------------


def test_top_n_is_exact_over_all_partitions(run: Run) -> None:
    crawldb = [row for n in range(10) for row in urls(f"h{n}.com", 10, 1 - n / 50)]
    selection = run(crawldb, top_n=37)
    best = sorted(crawldb, key=lambda row: (-row["sort_value"], row["url_key"]))[:37]
    assert [row.url for row in selection.lists()] == [row["url"] for row in best]
    assert selection.rejected == {"top_n": 63}


def test_a_host_has_its_whole_limit_in_every_list(run: Run) -> None:
    selection = run(urls("a.com", 10), max_count=3, lists=2)
    assert names(selection, 0) == [f"a.com/{n}" for n in range(3)]
    assert names(selection, 1) == [f"a.com/{n}" for n in range(3, 6)]
    assert selection.rejected == {"host_limit": 4}


def test_no_list_has_more_than_top_n_nor_a_host_more_than_its_limit(run: Run) -> None:
    crawldb = [row for n in range(10) for row in urls(f"h{n}.com", 5, 1 - n / 10)]
    selection = run(crawldb, max_count=2, top_n=7, lists=2)
    assert selection.sizes == (7, 7)
    assert by_host(selection, 0) == {"h0.com": 2, "h1.com": 2, "h2.com": 2, "h3.com": 1}
    assert by_host(selection, 1) == {"h0.com": 2, "h1.com": 2, "h2.com": 2, "h3.com": 1}


def test_what_a_cut_gives_back_has_room_in_a_later_list_before_what_a_limit_sent_there(run: Run) -> None:
    """A reducer alone sends a.com/1 to list 1; the merge gives d.com/0 and b.com/0 back, which are better."""
    order = ["a.com/0", "c.com/0", "d.com/0", "b.com/0", "e.com/0", "a.com/1"]
    crawldb = [url_row(f"http://{name}", -rank) for rank, name in enumerate(order)]
    selection = run(crawldb, max_count=1, top_n=2, lists=2, min_score=None)
    assert [names(selection, number) for number in (0, 1)] == [order[:2], order[2:4]]
    assert selection.rejected == {"top_n": 2}


@pytest.mark.parametrize("top_n", [1, 4, 9, 30])
def test_list_k_is_one_generate_over_what_the_lists_before_left(run: Run, top_n: int) -> None:
    random = Random(top_n)
    crawldb = [
        url_row(f"http://{h}.{d}.com/{n}", random.random()) for d in "xy" for h in "abcd" for n in range(9)
    ]
    limits: Row = {"max_count": 3, "max_hosts_per_domain": 2, "max_per_domain": 5, "top_n": top_n}
    selection = run(crawldb, lists=4, **limits)
    remaining = crawldb
    for number in range(4):
        alone = run(remaining, **limits)
        assert names(selection, number) == names(alone)
        taken = {row.url for row in alone.lists()}
        remaining = [row for row in remaining if row["url"] not in taken]
        last = alone
    assert selection.rejected == last.rejected
    assert selection.hosts_over_limit == last.hosts_over_limit


def test_spread_deals_the_urls_of_a_host_over_all_lists(run: Run) -> None:
    crawldb = urls("a.com", 7)
    start = crawldb[0]["host_key"] % 3
    selection = run(crawldb, lists=3, spread=True)
    assert {row.url: row.list for row in selection.lists()} == {
        row["url"]: (start + n) % 3 for n, row in enumerate(crawldb)
    }


def test_spread_keeps_runs_of_a_host_together_in_one_list(run: Run) -> None:
    crawldb = urls("a.com", 8)
    start = crawldb[0]["host_key"] % 2
    selection = run(crawldb, lists=2, spread=True, keep_together=3)
    assert [names(selection, (start + j) % 2) for j in (0, 1)] == [
        ["a.com/0", "a.com/1", "a.com/2", "a.com/6", "a.com/7"],
        ["a.com/3", "a.com/4", "a.com/5"],
    ]


def test_with_spread_every_limit_holds_in_every_list(run: Run) -> None:
    crawldb = [row for n in range(6) for row in urls(f"h{n}.com", 9, 1 - n / 10)]
    selection = run(crawldb, lists=2, spread=True, keep_together=2, max_count=2, top_n=5)
    for number in (0, 1):
        assert max(by_host(selection, number).values()) <= 2
    assert selection.sizes == (5, 5)
    assert selection.rows == selection.selected + selection.rejected.total()


def test_rows_that_compare_equal_by_value_come_by_url_key_then_url(run: Run) -> None:
    crawldb = [url_row(f"http://a.com/{n}", 1.0, url_key=key) for n, key in enumerate([5, -7, 0, 0, 2**62])]
    assert names(run(crawldb)) == ["a.com/1", "a.com/2", "a.com/3", "a.com/0", "a.com/4"]


# -- totals, and wrong use ------------------------------------------------------------------------------------


def test_every_row_is_selected_or_counted_once(run: Run) -> None:
    flaws: list[Row] = [
        {"host": None},
        {"fetch_time": seconds(5)},
        {"blocked": True},
        {"filtered": "filter_error"},
    ]
    dropped = [url_row(f"http://z.com/{n}", **flaw) for n, flaw in enumerate(flaws)]
    crawldb = dropped + [row for n in range(5) for row in urls(f"h{n}.com", 5)]
    selection = run(crawldb, [host_row("h0.com", 0)], max_count=3, top_n=10)
    assert selection.rejected == {
        "no_host": 1,
        "not_due": 1,
        "blocked": 1,
        "filter_error": 1,
        "host_limit": 5 + 4 * 2,
        "top_n": 2,
    }
    assert set(selection.rejected) <= {*REASONS, *LIMITS}
    assert selection.rows == len(crawldb) == selection.selected + selection.rejected.total()


def test_nothing_due_gives_empty_lists(run: Run) -> None:
    selection = run([], [host_row("a.com", 3)], lists=2)
    assert (selection.sizes, list(selection.lists()), selection.rows) == ((0, 0), [], 0)


def test_the_lists_can_be_read_again_and_again(run: Run) -> None:
    selection = run(urls("a.com", 30), lists=2, top_n=10)
    first = list(selection.lists())
    assert first == list(selection.lists())
    assert all(isinstance(row, Selected) for row in first)


def test_the_partitions_change_nothing(tmp_path: Path) -> None:
    random = Random(11)
    crawldb = [url_row(f"http://h{random.randrange(30)}.com/{n}", random.randrange(9)) for n in range(400)]
    rules = Rules(now=NOW, max_count=4, top_n=25, lists=3)
    answers = set()
    for partitions in (1, 2, 3, 70):
        with select(crawldb, [], rules, partitions=partitions, spill_dir=tmp_path) as selection:
            answers.add((tuple(selection.lists()), tuple(sorted(selection.rejected.items()))))
    assert len(answers) == 1


def test_nothing_is_left_behind_when_the_input_fails(tmp_path: Path) -> None:
    def failing() -> Iterator[Row]:
        yield from urls("a.com", 50)
        raise RuntimeError("the table ends here")

    with pytest.raises(RuntimeError, match="ends here"):
        select(failing(), [], Rules(now=NOW), partitions=2, spill_dir=tmp_path, spill_records=10)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("top_n", -1),
        ("lists", 0),
        ("keep_together", 0),
        ("parts", 0),
        ("time_budget_ms", -1),
        ("partition_by", "hst"),
    ],
)
def test_rules_that_make_no_sense_are_refused_by_name(name: str, value: Any) -> None:
    with pytest.raises(UsageError, match=name):
        Rules(now=NOW, **{name: value})


@pytest.mark.parametrize("name", ["partitions", "spill_records"])
def test_a_selection_needs_a_partition_and_a_record_in_memory(tmp_path: Path, name: str) -> None:
    numbers: Row = {"partitions": 1, name: 0}
    with pytest.raises(UsageError, match=name):
        select([], [], Rules(now=NOW), spill_dir=tmp_path, **numbers)
    assert list(tmp_path.iterdir()) == []
