"""The SQL selection against a slow and obvious one, on random crawls, HostDbs, rules and expressions."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import brute_force
import pytest
from crawls import NOW, crawldbs, hostdbs, rules
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from pinyon.crawl import Crawl
from pinyon.cycle import candidates
from pinyon.cycle.generate import GenerateReport, generate
from pinyon.cycle.partition import longest_first
from pinyon.errors import NothingDue
from pinyon.mapreduce import Rules
from pinyon.store import DataFile
from pinyon.tables import CRAWLDB, HOSTDB, TableSpec
from pinyon.urls import key_of

Row = dict[str, Any]


@pytest.fixture(scope="module", params=[1, 8])
def crawl(request: pytest.FixtureRequest) -> Iterator[Crawl]:
    """One crawl directory whose tables every example replaces."""
    root = Path(tempfile.mkdtemp(prefix="generate-"))
    with Crawl.create(root, store__buckets=request.param, engine__memory_limit_mb=200) as crawl:
        yield crawl
    shutil.rmtree(root)


def put(crawl: Crawl, spec: TableSpec, rows: list[Row], metadata: dict[str, str]) -> None:
    """Publishes rows as the table's only content, in the right buckets."""
    import pyarrow as pa

    base = crawl.store.current(spec)
    by_bucket: dict[int, list[Row]] = {}
    for row in rows:
        key = row["host_key"] if "host_key" in row else key_of(row["host"])
        by_bucket.setdefault(0 if key is None else key & (base.buckets - 1), []).append(row)
    written = []
    for bucket, group in by_bucket.items():
        path = base.root / f"bucket={bucket}" / f"part-{base.version}.parquet"
        plain = [{**row, "metadata": list(row["metadata"].items())} for row in group]
        # written by the engine, as every table of a crawl is: other writers' statistics leave NaN out
        crawl.engine.bind({"given": pa.Table.from_pylist(plain, schema=spec.arrow_schema())})
        file = crawl.engine.write("SELECT * EXCLUDE (bucket) FROM given", path)
        name = path.relative_to(base.root).as_posix()
        written.append(DataFile(name, bucket, file.rows, file.size_bytes))
    crawl.store.publish(base, written, facts={"metadata": metadata})


def options(rules: Rules) -> Row:
    """The rules as settings of `[generate]`."""
    return {
        "restrict_status": rules.restrict_status,
        "exclude_status": rules.exclude_status,
        "min_score": float("-inf") if rules.min_score is None else rules.min_score,
        "interval_at_most": rules.interval_at_most_s,
        "max_count": rules.max_count,
        "max_per_domain": rules.max_per_domain,
        "max_hosts_per_domain": rules.max_hosts_per_domain,
        "segments": rules.lists,
        "top_n": rules.top_n,
        "time_budget": None if rules.time_budget_ms is None else rules.time_budget_ms // 1000,
        "spread": rules.spread,
        "keep_together": rules.keep_together,
        "seed": rules.seed,
        "fetchers": rules.parts,
        "partition_by": rules.partition_by,
        "gen_delay": rules.gen_delay_s,
        "max_count_expr": "limit" if rules.count_by_host else None,
        "fetch_delay_expr": "delay" if rules.delay_by_host else None,
        "filter": False,
    }


def run(crawl: Crawl, rules: Rules, mode: str, **more: Any) -> GenerateReport:
    crawl.settings = crawl.settings.with_values(
        {
            "db.fetch_interval_max": rules.max_interval_s,
            "fetcher.server_delay": rules.default_delay_ms / 1000,
            "fetcher.min_delay": rules.min_delay_ms / 1000,
        },
        "test",
    )
    return generate(crawl, now=NOW, partition_mode=mode, **options(rules), **more)


def rows_of(crawl: Crawl, report: GenerateReport) -> list[list[Row]]:
    """The rows of every list, in the order of part and position."""
    found = []
    for segment in report.segments:
        listed = ", ".join(f"'{path}'" for path in crawl.segments[segment.name].files("fetchlist"))
        sql = f"SELECT * FROM read_parquet([{listed}], hive_partitioning=false) ORDER BY part, position"
        found.append(crawl.engine.rows(sql))
        crawl.segments.remove(crawl.segments[segment.name])
    return found


def expected(crawldb: list[Row], hostdb: list[Row], rules: Rules) -> brute_force.Answer:
    """What an expression does not say, the brute force must not hear either."""
    silent = [
        {
            **row,
            "max_count": row["max_count"] if rules.count_by_host else None,
            "fetch_delay_ms": row["fetch_delay_ms"] if rules.delay_by_host else None,
        }
        for row in hostdb
    ]
    return brute_force.select(crawldb, silent, rules)


def check(crawl: Crawl, crawldb: list[Row], hostdb: list[Row], rules: Rules, mode: str, **more: Any) -> None:
    put(crawl, CRAWLDB, crawldb, {})
    put(crawl, HOSTDB, hostdb, {"limit": "integer", "delay": "integer"})
    answer = expected(crawldb, hostdb, rules)
    try:
        report = run(crawl, rules, mode, **more)
    except NothingDue:
        assert not any(answer.lists)
        return
    lists = [taken for taken in answer.lists if taken]
    found = rows_of(crawl, report)
    balance = longest_first if mode == "balanced" and rules.parts > 1 else None
    for rows, taken in zip(found, lists, strict=True):
        parts = brute_force.parts(taken, rules, balance)
        assert [r["url"] for r in rows] == [r["url"] for part in parts for r in part]
        assert [r["part"] for r in rows] == [number for number, part in enumerate(parts) for _ in part]
        by_url = {row["url"]: row for row in taken}
        for row in rows:
            want = by_url[row["url"]]
            assert row["fetch_delay_ms"] == want["fetch_delay_ms"]
            assert row["fetch_interval"] == want["interval_now"]
            assert row["not_before"] == want["not_before"]
    assert report.rejected == {reason: urls for reason, urls in answer.rejected.items() if urls}
    assert report.rows == report.selected + sum(report.rejected.values())
    assert report.hosts_over_limit == answer.hosts_over_limit


#: The selection stands three times: as joins and windows, as one sort of both inputs, as two MapReduce jobs.
FORMS: tuple[Row, ...] = ({"plan": "join"}, {"plan": "secondary-sort"}, {"engine": "reference"})

cases = given(
    crawldb=crawldbs(plain=True, equal_keys=False),
    hostdb=hostdbs(),
    rules=rules(),
    mode=st.sampled_from(("hash", "balanced")),
    form=st.sampled_from(FORMS),
)
quietly = {
    "deadline": None,
    "phases": [Phase.explicit, Phase.reuse, Phase.generate],
    "suppress_health_check": [
        HealthCheck.too_slow,
        HealthCheck.function_scoped_fixture,
        HealthCheck.data_too_large,
    ],
}


@settings(max_examples=60, **quietly)
@cases
def test_selects_what_a_slow_and_obvious_selection_selects(
    crawl: Crawl, crawldb: list[Row], hostdb: list[Row], rules: Rules, mode: str, form: Row
) -> None:
    check(crawl, crawldb, hostdb, rules, mode, **form)


@pytest.mark.slow
@settings(max_examples=440, **quietly)
@cases
def test_selects_it_a_thousand_times(
    crawl: Crawl, crawldb: list[Row], hostdb: list[Row], rules: Rules, mode: str, form: Row
) -> None:
    check(crawl, crawldb, hostdb, rules, mode, **form)


@settings(max_examples=25, **quietly)
@cases
def test_leaving_out_early_what_cannot_reach_top_n_changes_nothing_selected(
    crawl: Crawl, crawldb: list[Row], hostdb: list[Row], rules: Rules, mode: str, form: Row
) -> None:
    """The guess is made from the first bucket, which here is often not like the others."""
    put(crawl, CRAWLDB, crawldb, {})
    put(crawl, HOSTDB, hostdb, {"limit": "integer", "delay": "integer"})
    one = replace(rules, lists=1, max_per_domain=-1, max_hosts_per_domain=-1, top_n=4)
    selected = []
    for rows in (10**9, 0):
        with mock.patch.object(candidates, "CUT_EARLY_FROM", rows):
            try:
                report = run(crawl, one, mode, plan=form.get("plan", "join"))
            except NothingDue:
                selected.append([])
                continue
            assert report.rows == report.selected + sum(report.rejected.values())
            rows_selected = [row for rows in rows_of(crawl, report) for row in rows]
            selected.append([(row["url"], row["part"], row["position"]) for row in rows_selected])
    assert selected[0] == selected[1]
