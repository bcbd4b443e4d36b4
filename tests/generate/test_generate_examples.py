"""The examples of NUTCH-2455 as an operator writes them, and what it promised, in every form of the selection."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from small_crawls import NOW, PLANS, chosen, every_plan, host, made, milliseconds, nutch_site, url

LIMIT = "connectionFailures > 100 ? 10 : 1000"
DELAY = "connectionFailures > 50 ? 5000 : 1000"
DUE = 2000


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three hosts with 2,000 due URLs each: one that fails often, one that never did, one without a HostDb row."""
    hosts = ("failing.test", "fine.test", "unknown.test")
    crawldb = [url(f"http://{name}/{n}", 1 - n / 10_000) for name in hosts for n in range(DUE)]
    hostdb = [host("failing.test", connection_failures=120), host("fine.test")]
    return made(tmp_path_factory.mktemp("examples"), crawldb, hostdb)


def configuration(folder: Path, **properties: str) -> Sequence[object]:
    """Options for a nutch-site.xml; every test has the crawl for itself."""
    told = {"generate__curTime": str(milliseconds(NOW)), "crawl__gen__delay": "0", **properties}
    return ("--conf", nutch_site(folder, **told))


@every_plan
def test_limit_and_delay_of_a_host_come_from_its_failures(
    crawl: Path, plan: Sequence[object], tmp_path: Path
) -> None:
    properties = {"generate__max__count__expr": LIMIT, "generate__fetch__delay__expr": DELAY}
    found = chosen(crawl, *configuration(tmp_path, **properties), *plan)
    assert found.by_host() == {"failing.test": 10, "fine.test": 1000, "unknown.test": DUE}
    assert found.delays() == {"failing.test": 5000, "fine.test": 1000, "unknown.test": None}
    best = {f"http://failing.test/{n}" for n in range(10)} | {f"http://fine.test/{n}" for n in range(1000)}
    assert best < found.urls
    assert found.rejected == {"host_limit": DUE - 10 + DUE - 1000}
    assert found.report["hosts_over_limit"] == 2
    assert found.report["expression_failures"] == 0


@every_plan
def test_a_host_without_a_hostdb_row_has_the_defaults(
    crawl: Path, plan: Sequence[object], tmp_path: Path
) -> None:
    properties = {"generate__max__count__expr": LIMIT, "generate__max__count": "300"}
    found = chosen(crawl, *configuration(tmp_path, **properties), *plan)
    assert found.by_host() == {"failing.test": 10, "fine.test": 1000, "unknown.test": 300}
    assert set(found.delays().values()) == {None}


@every_plan
def test_a_variable_limit_holds_in_every_list(crawl: Path, plan: Sequence[object], tmp_path: Path) -> None:
    properties = {"generate__max__count__expr": LIMIT, "generate__max__count": "20"}
    several = {"generate__max__num__segments": "3", "generate__topN": "40"}
    found = chosen(crawl, *configuration(tmp_path, **properties, **several), *plan)
    assert [len(rows) for rows in found.lists] == [40, 40, 40]
    limits = {"failing.test": 10, "fine.test": 1000, "unknown.test": 20}
    for rows in found.lists:
        assert all(urls <= limits[name] for name, urls in Counter(row["host"] for row in rows).items())


@every_plan
def test_a_variable_delay_comes_with_every_url_of_its_host_and_changes_no_choice(
    crawl: Path, plan: Sequence[object], tmp_path: Path
) -> None:
    few = {"generate__max__count": "50"}
    plain = chosen(crawl, *configuration(tmp_path, **few), *plan)
    delayed = chosen(crawl, *configuration(tmp_path, **few, generate__fetch__delay__expr=DELAY), *plan)
    assert delayed.urls == plain.urls
    assert set(plain.delays().values()) == {None}
    assert delayed.delays() == {"failing.test": 5000, "fine.test": 1000, "unknown.test": None}


@every_plan
def test_nothing_changes_without_a_hostdb(crawl: Path, plan: Sequence[object], tmp_path: Path) -> None:
    few = {"generate__max__count": "50", "generate__hostdb": ""}
    plain = chosen(crawl, *configuration(tmp_path, **few), *plan)
    properties = {"generate__max__count__expr": LIMIT, "generate__fetch__delay__expr": DELAY}
    asked = chosen(crawl, *configuration(tmp_path, **few, **properties), *plan)
    assert asked.lists[0] == plain.lists[0]
    assert asked.rejected == plain.rejected
    assert asked.by_host() == {"failing.test": 50, "fine.test": 50, "unknown.test": 50}
    assert "no HostDb is used" in asked.notes


def test_every_plan_gives_the_same_rows_in_the_same_places(crawl: Path, tmp_path: Path) -> None:
    properties = {"generate__max__count__expr": LIMIT, "generate__fetch__delay__expr": DELAY}
    several = {"generate__max__num__segments": "2", "generate__topN": "700", "partition__url__seed": "5"}
    configured = configuration(tmp_path, **properties, **several, mapreduce__job__maps="3")
    found = [chosen(crawl, *configured, *plan) for _, plan in PLANS]
    assert all(one.lists == found[0].lists for one in found)
    assert all(one.rejected == found[0].rejected for one in found)
