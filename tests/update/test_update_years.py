"""Years of daily cycles: how often each kind of page is fetched, counted."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from simulated_years import Page, Years, always, changing, flapping
from update_crawls import DAY, MONTH_S, T, url_row

from pinyon.cycle.schedules import Bound
from pinyon.cycle.updatedb_rules import Rules
from pinyon.engines.duckdb_engine import DuckDBEngine
from pinyon.settings import Db

GONE, FAILING, SAME, DENIED = (
    "http://gone.test/",
    "http://failing.test/",
    "http://same.test/",
    "http://denied.test/",
)
WEEKLY, FLAPPING = "http://weekly.test/", "http://flapping.test/"
YEAR = 365


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[DuckDBEngine]:
    with DuckDBEngine(tmp_path / "spills", memory_limit_mb=256, threads=1) as engine:
        yield engine


def pages() -> dict[str, Page]:
    redirect_and_back = itertools.cycle([("fetched", "A", {}), ("redir_perm", None, {})])
    return {
        GONE: always("gone"),
        FAILING: always("retry"),
        SAME: always("fetched", "A"),
        DENIED: always("robots_denied"),
        WEEKLY: changing(7 * DAY),
        FLAPPING: flapping(redirect_and_back),
    }


def years(engine: DuckDBEngine, db: Db, web: dict[str, Page], **columns: object) -> Years:
    return Years(engine, Rules(db), [url_row(url, **columns) for url in web], web)


def test_three_years_by_the_default_schedule(engine: DuckDBEngine) -> None:
    crawl = years(engine, Db(), pages())
    crawl.pass_by(3 * YEAR)
    # 30 days, and when gone half as much again each time, up to 90 days
    assert crawl.gaps(GONE) == [45, 68] + [90] * 10
    # three tries, a day apart, and then it is gone too
    assert crawl.gaps(FAILING) == [1, 1, 45, 68] + [90] * 10
    for url in (SAME, WEEKLY, FLAPPING, DENIED):
        assert crawl.gaps(url) == [30] * 36, url
    states = {url: row["status"] for url, row in crawl.rows.items()}
    assert states == {
        GONE: "db_gone",
        FAILING: "db_gone",
        SAME: "db_notmodified",
        DENIED: "db_robots_denied",
        WEEKLY: "db_fetched",
        FLAPPING: "db_fetched",
    }
    # what never changed was modified once, what came back every other time was modified each time
    assert crawl.rows[SAME]["modified_time"] == T
    assert crawl.rows[FLAPPING]["modified_time"] == crawl.fetches[FLAPPING][-1]


def test_two_years_by_the_adaptive_schedule(engine: DuckDBEngine) -> None:
    db = Db(schedule="adaptive", adaptive_sync=False, adaptive_min_interval=15 * 86_400.0)
    crawl = years(engine, db, pages())
    crawl.pass_by(2 * YEAR)
    assert crawl.gaps(SAME)[:4] == [30, 42, 59, 83]
    assert set(crawl.gaps(SAME)[4:]) == {90}
    # seen to change at every fetch, down to the minimum
    assert crawl.gaps(WEEKLY)[:5] == [30, 24, 20, 16, 15]
    assert set(crawl.gaps(WEEKLY)[5:]) == {15}
    # whether it changed is not known where there was nothing to compare with
    assert set(crawl.gaps(FLAPPING)) == {30}
    assert set(crawl.gaps(DENIED)) == {30}


def test_a_page_seen_unchanged_for_long_is_looked_at_later_but_never_beyond_the_maximum(
    engine: DuckDBEngine,
) -> None:
    web = {SAME: always("fetched", "A")}
    crawl = years(engine, Db(schedule="adaptive"), web, fetch_interval=86_400)
    crawl.pass_by(2 * YEAR)
    gaps = crawl.gaps(SAME)
    assert all(a <= b for a, b in itertools.pairwise(gaps))
    # 90 days less the step back, which grows no further than the interval
    assert gaps[-4:] == [63] * 4
    assert len(gaps) < 20
    assert crawl.rows[SAME]["fetch_interval"] == 90 * 86_400


@pytest.mark.parametrize(("sync", "late_by"), [(True, DAY), (False, 4 * DAY)])
def test_the_next_fetch_moves_towards_the_time_a_page_changes_at(
    engine: DuckDBEngine, sync: bool, late_by: timedelta
) -> None:
    """A page that changes every seventh day is first met four days after it did."""
    web = {WEEKLY: changing(7 * DAY, told=True)}
    rates: dict[str, Any] = {"adaptive_inc_rate": 0.0, "adaptive_dec_rate": 0.0, "adaptive_sync_rate": 0.5}
    db = replace(Db(), schedule="adaptive", adaptive_sync=sync, **rates)
    first = T + 4 * DAY
    crawl = years(engine, db, web, fetch_interval=7 * 86_400, fetch_time=first)
    crawl.pass_by(90)
    late = [(fetch - T) % (7 * DAY) for fetch in crawl.fetches[WEEKLY]]
    assert late[0] == 4 * DAY
    assert set(late[-5:]) == {late_by}


@pytest.mark.parametrize("schedule", ["default", "adaptive"])
def test_bounds_of_hosts_domains_and_types_hold_for_years(engine: DuckDBEngine, schedule: str) -> None:
    day = 86_400
    bounds = [
        Bound("types", "text", 5 * day, None),
        Bound("type", "text/html", 20 * day, None),
        Bound("domain", "often.com", None, 4 * day),
        Bound("host", "www.often.com", 6 * day, 8 * day),
        Bound("type", "application/rss+xml", None, 2 * day),
    ]
    html, feed = "http://a.test/", "http://a.test/feed"
    text, domain, host = "http://a.test/robots", "http://x.often.com/", "http://www.often.com/"
    rss = itertools.cycle(
        [("fetched", "A", {"content_type": "application/rss+xml"}), ("not_modified", None, {})]
    )
    shown = {
        html: changing(DAY),
        feed: flapping(rss),
        text: changing(DAY),
        domain: always("fetched", "A", content_type="text/html"),
        host: always("fetched", "A", content_type="text/html"),
    }
    types = {html: "text/html", text: "text/plain"}

    def typed(url: str) -> Page:
        return lambda now: (lambda a, c, more: (a, c, {"content_type": types[url], **more}))(*shown[url](now))

    web = {url: typed(url) if url in types else answer for url, answer in shown.items()}
    db = replace(Db(), schedule=schedule, adaptive_sync=False)
    crawl = Years(engine, Rules(db, bounds), [url_row(url) for url in web], web)
    crawl.pass_by(60)
    assert min(crawl.gaps(html)) >= 20
    assert min(crawl.gaps(text)) >= 5
    # a 304 tells no type: it was kept with the row
    assert set(crawl.gaps(feed)) == {2}
    assert set(crawl.gaps(domain)) == {4}
    assert set(crawl.gaps(host)) <= {6, 8}


def test_an_outage_does_not_make_a_page_rarer_for_ever(engine: DuckDBEngine) -> None:
    down = T + 60 * DAY, T + 200 * DAY
    web = {SAME: lambda now: ("retry", None, {}) if down[0] <= now < down[1] else ("fetched", "A", {})}
    crawl = years(engine, Db(), web)
    crawl.pass_by(2 * YEAR)
    assert crawl.gaps(SAME)[-5:] == [30] * 5
    assert crawl.rows[SAME]["fetch_interval"] == MONTH_S
