"""What explain says of a URL or a host is what generate does: on random crawls, HostDbs, limits, rules and lists."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from crawls import NOW, crawldbs, hostdbs, limits, rules
from explain_crawls import (
    Fate,
    Row,
    fates,
    fill,
    options,
    with_min_score,
    with_rules,
    without_hosts,
    write_limits,
)
from hypothesis import HealthCheck, Phase, given, settings

from pinyon.crawl import Crawl
from pinyon.cycle.explain import UrlExplanation, answer, explain_host
from pinyon.cycle.explain_asking import asking
from pinyon.mapreduce import Rules

cases = given(
    crawldb=crawldbs(plain=True, equal_keys=False, max_rows=24).map(without_hosts),
    hostdb=hostdbs(),
    rules=rules().map(with_min_score),
    limited=limits(),
)
quietly: dict[str, Any] = {
    "deadline": None,
    "phases": [Phase.explicit, Phase.reuse, Phase.generate],
    "suppress_health_check": list(HealthCheck),
}


@pytest.fixture(scope="module", params=[1, 4])
def crawl(request: pytest.FixtureRequest) -> Iterator[Crawl]:
    """One crawl directory whose tables every example replaces."""
    root = Path(tempfile.mkdtemp(prefix="explain-"))
    with Crawl.create(root / "crawl", store__buckets=request.param, engine__memory_limit_mb=200) as crawl:
        yield crawl
    shutil.rmtree(root)


def asked(crawl: Crawl, rules: Rules, limited: list[Row] | None) -> Row:
    """The options, of generate and explain alike."""
    with_rules(crawl, rules)
    given = options(rules)
    if limited is not None:
        given["limits_file"] = write_limits(crawl.root.parent / "limits.tsv", limited)
    return given


def check_url(found: UrlExplanation, fate: Fate) -> None:
    taken_by, reason = fate
    assert (found.list, found.reason, found.selected) == (taken_by, reason, reason is None)
    dropping = [finding.rule for finding in found.findings if finding.verdict == "drops"]
    assert dropping[:1] == ([] if reason is None else [reason])


def check(
    crawl: Crawl, crawldb: list[Row], hostdb: list[Row], rules: Rules, limited: list[Row] | None
) -> None:
    fill(crawl, crawldb, hostdb)
    given = asked(crawl, rules, limited)
    wanted = fates(crawldb, hostdb, rules, limited or [])
    with asking(crawl, NOW, given) as question:  # once: opening the tables takes as long as answering
        for url, fate in wanted.items():
            check_url(answer(question, url, cut=True), fate)
    for host in {row["host"] for row in crawldb if row["host"] is not None}:
        found = explain_host(crawl, host, now=NOW, **given)
        of_host = [wanted[row["url"]] for row in crawldb if row["host"] == host]
        assert found.selected == Counter(taken_by for taken_by, _ in of_host if taken_by is not None)
        assert found.rejected == Counter(reason for _, reason in of_host if reason is not None)
        assert found.urls == len(of_host)


@settings(max_examples=3, **quietly)
@cases
def test_every_url_and_host_is_explained_by_what_becomes_of_it(
    crawl: Crawl, crawldb: list[Row], hostdb: list[Row], rules: Rules, limited: list[Row] | None
) -> None:
    check(crawl, crawldb, hostdb, rules, limited)


@pytest.mark.slow
@settings(max_examples=60, **quietly)
@cases
def test_they_are_on_many_crawls(
    crawl: Crawl, crawldb: list[Row], hostdb: list[Row], rules: Rules, limited: list[Row] | None
) -> None:
    check(crawl, crawldb, hostdb, rules, limited)
