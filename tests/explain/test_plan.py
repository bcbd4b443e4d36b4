"""plan says what generate would make, how long its parts take, due to which hosts, and what lower limits would save."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from crawls import NOW, crawldbs, hostdbs, rules, seconds, url_row
from explain_crawls import Row, fill, options, put, with_min_score, with_rules, without_hosts
from hypothesis import HealthCheck, Phase, given, settings

from pinyon.crawl import Crawl
from pinyon.cycle.generate import GenerateReport, generate
from pinyon.cycle.plan import below, plan
from pinyon.errors import NothingDue
from pinyon.mapreduce import Rules
from pinyon.tables import CRAWLDB


@pytest.fixture(scope="module")
def reused() -> Iterator[Crawl]:
    """One crawl directory whose tables every example replaces."""
    root = Path(tempfile.mkdtemp(prefix="plan-"))
    with Crawl.create(root, store__buckets=4, engine__memory_limit_mb=200) as crawl:
        yield crawl
    shutil.rmtree(root)


def urls(host: str, count: int) -> list[Row]:
    return [url_row(f"http://{host}/{number}", 100.0 - number) for number in range(count)]


def slowest(report: GenerateReport) -> float:
    return max(part.estimated_s for segment in report.segments for part in segment.parts)


@settings(
    max_examples=6,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(
    crawldb=crawldbs(plain=True, equal_keys=False).map(without_hosts),
    hostdb=hostdbs(),
    rules=rules().map(with_min_score),
)
def test_a_plan_is_a_generate_that_is_not_made(
    reused: Crawl, crawldb: list[Row], hostdb: list[Row], rules: Rules
) -> None:
    fill(reused, crawldb, hostdb)
    with_rules(reused, rules)
    given: dict[str, Any] = {
        **options(rules),
        "seed": rules.seed,
        "fetchers": rules.parts,
        "partition_by": rules.partition_by,
    }
    try:
        report = generate(reused, now=NOW, dry_run=True, **given)
    except NothingDue:
        with pytest.raises(NothingDue):
            plan(reused, now=NOW, **given)
        return
    found = plan(reused, now=NOW, **given)
    assert (found.rows, found.selected, found.rejected) == (report.rows, report.selected, report.rejected)
    made = [(p.urls, p.hosts, p.estimated_s) for segment in report.segments for p in segment.parts]
    assert [(p.urls, p.hosts, p.estimated_s) for p in found.parts] == made
    assert found.slowest_s == slowest(report)


@pytest.mark.parametrize("partition_by", ["host", "domain"])
def test_the_savings_are_what_a_generate_with_that_limit_comes_to(crawl: Crawl, partition_by: str) -> None:
    put(crawl, CRAWLDB, urls("a.one.com", 60) + urls("b.one.com", 25) + urls("d.two.co.uk", 12))
    given: dict[str, Any] = {"now": NOW, "fetchers": 2, "seed": 1, "partition_by": partition_by}
    found = plan(crawl, **given)
    assert [(s.option, s.value) for s in found.savings] == [
        *(("max_count", value) for value in (50, 20, 10, 5)),
        *(("time_budget", value) for value in (200, 100, 50, 20)),
    ]
    for saving in found.savings:
        limited = generate(crawl, dry_run=True, **{saving.option: saving.value}, **given)
        assert saving.slowest_s == slowest(limited)
        assert saving.urls_fewer == found.selected - limited.selected
        assert saving.slowest_s < found.slowest_s


def test_the_slowest_hosts_are_told_with_what_their_part_would_take_without_them(crawl: Crawl) -> None:
    hosts = [*(f"h{n}.org" for n in range(12)), "a.one.com", "b.one.com"]
    rows = [row for number, host in enumerate(hosts) for row in urls(host, number + 1)]
    put(crawl, CRAWLDB, rows)
    found = plan(crawl, now=NOW, partition_by="domain")
    assert [(h.host, h.urls) for h in found.slowest] == [
        (host, number + 1) for number, host in reversed(list(enumerate(hosts)))
    ][:10]
    # one.com has 13 + 14 URLs, one after another; h11.org, with 12, is next
    assert found.slowest_s == pytest.approx(27 * 5.0, abs=0.1)
    assert [h.part_without_s for h in found.slowest[:2]] == pytest.approx([13 * 5.0, 14 * 5.0], abs=0.1)
    assert found.slowest[2].part_without_s == found.slowest_s


def test_a_plan_of_one_url_has_nothing_to_save(crawl: Crawl) -> None:
    put(crawl, CRAWLDB, urls("a.one.com", 1))
    found = plan(crawl, now=NOW)
    assert (found.selected, found.slowest_s, found.savings) == (1, 5.0, [])


def test_nothing_due_says_why(crawl: Crawl) -> None:
    put(crawl, CRAWLDB, [url_row("http://a.one.com/", fetch_time=seconds(60))])
    with pytest.raises(NothingDue, match="1 URLs known \\(not_due 1\\)"):
        plan(crawl, now=NOW)


def test_a_plan_takes_no_lock_and_leaves_nothing(crawl: Crawl) -> None:
    put(crawl, CRAWLDB, urls("a.one.com", 3))
    with crawl.writing("updatedb"), Crawl.open(crawl.root) as reader:
        assert plan(reader, now=NOW).selected == 3
    assert list(crawl.segments) == []


def test_limits_that_are_tried_are_round_and_below_what_there_is() -> None:
    assert below(60) == [50, 20, 10, 5]
    assert below(50) == [20, 10, 5, 2]
    assert below(2) == [1]
    assert below(1) == []
    assert below(0) == []
