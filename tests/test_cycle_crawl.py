"""`pinyon crawl` on the simulated web: everything that can be reached, each URL once, no host asked too soon."""

from __future__ import annotations

from pathlib import Path

import pytest

from pinyon.simweb import KINDS, SimWeb
from pinyon.tables import CRAWLDB
from support.crawls import DELAY_S, TOLERANCE_S, asked, closest, fetched, litter, new_crawl, rows, run

#: Hosts with URLs without end: a crawl of them is never done.
ENDLESS = {"traps", "maze"}


@pytest.mark.parametrize("fetchers", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_a_clean_web_is_fetched_to_the_last_page(tmp_path: Path, fetchers: int) -> None:
    with SimWeb(seed=3 + fetchers, hosts=24, awkward=False, mean_pages=3) as web:
        root = new_crawl(tmp_path / "crawl", web)
        report = run("crawl", root, "--until-empty", "--fetchers", fetchers, "--json").json()
        requests = web.requests()
    assert report["ended_by"] == "empty"
    assert fetched(root) == web.reachable(web.seeds())
    assert max(asked(requests).values()) == 1
    assert closest(requests) >= (DELAY_S - TOLERANCE_S, "")
    assert litter(root) == []
    assert report["pages"] == len(fetched(root))


@pytest.mark.slow
def test_an_awkward_web_is_fetched_as_far_as_can_be_told(tmp_path: Path) -> None:
    kinds = [kind.name for kind in KINDS if kind.name not in ENDLESS]
    with SimWeb(seed=7, hosts=65, awkward=kinds, https=True, mean_pages=3, slow_s=0.2) as web:
        root = new_crawl(tmp_path / "crawl", web, max_back_off=0.5, max_failures=50, read_timeout=0.6)
        report = run("crawl", root, "--until-empty", "--fetchers", 2, "--json", timeout_s=120).json()
        requests = [request for request in web.requests() if web.settled(request.url)]
        assert {url for url in fetched(root) if web.settled(url)} == web.reachable(web.seeds())
    # hosts that asked for an hour's peace keep a list from being empty
    assert report["ended_by"] in ("empty", "stalled")
    assert max(asked(requests).values()) == 1
    assert closest(web.requests()) >= (DELAY_S - TOLERANCE_S, "")
    statuses = {row["status"] for row in rows(root, CRAWLDB, "SELECT DISTINCT status FROM t")}
    assert {"db_fetched", "db_gone", "db_redir_temp", "db_redir_perm", "db_robots_denied"} <= statuses
    assert litter(root) == []
