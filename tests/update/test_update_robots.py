"""A robots.txt that changed frees what the old one denied, once, whichever step saw it first."""

from __future__ import annotations

from datetime import timedelta

import pytest
from update_crawls import DAY, T, doc, host_facts, page, put, put_segment, url_row, urls_of

from pinyon.crawl import Crawl
from pinyon.cycle.updatedb import updatedb
from pinyon.cycle.updatehostdb import updatehostdb
from pinyon.tables import CRAWLDB

DENIED, OTHER, ELSEWHERE = "http://a.test/private", "http://a.test/", "http://b.test/private"
MINUTE = timedelta(minutes=1)


@pytest.fixture
def denied(crawl: Crawl) -> Crawl:
    """Two hosts whose robots.txt ('old') denied a page each, at T."""
    put(crawl, CRAWLDB, [url_row(url) for url in (DENIED, OTHER, ELSEWHERE)])
    put_segment(
        crawl,
        "20260301000000",
        pages=[page(DENIED, "robots_denied", T + MINUTE), page(ELSEWHERE, "robots_denied", T + MINUTE)],
        hosts=[host_facts(h, T, robots_status="rules", robots_digest="old") for h in ("a.test", "b.test")],
    )
    updatedb(crawl, now=T + DAY, hostdb=True)
    assert urls_of(crawl)[DENIED]["fetch_time"] == T + MINUTE + 30 * DAY
    return crawl


def see_robots(
    crawl: Crawl, day: int, digest: str | None, status: str = "rules", *, outcome: str = "success"
) -> None:
    """A later segment that met the host a.test."""
    put_segment(
        crawl,
        f"202603{day + 1:02}000000",
        pages=[page(OTHER, outcome, T + day * DAY + MINUTE)],
        docs=[doc(OTHER)] if outcome == "success" else [],
        hosts=[host_facts("a.test", T + day * DAY, robots_status=status, robots_digest=digest)],
    )


@pytest.mark.parametrize("digest", ["new", None])
@pytest.mark.parametrize("hostdb_first", [False, True])
def test_a_changed_robots_txt_makes_denied_rows_due(
    denied: Crawl, digest: str | None, hostdb_first: bool
) -> None:
    see_robots(denied, 2, digest)
    if hostdb_first:
        updatehostdb(denied)
    report = updatedb(denied, now=T + 3 * DAY, hostdb=True)
    assert report.changes["freed"] == 1
    assert urls_of(denied)[DENIED]["fetch_time"] == T + 3 * DAY
    assert urls_of(denied)[ELSEWHERE]["fetch_time"] == T + MINUTE + 30 * DAY


def test_the_same_robots_txt_frees_nothing(denied: Crawl) -> None:
    see_robots(denied, 2, "old")
    report = updatedb(denied, now=T + 3 * DAY)
    assert "freed" not in report.changes


def test_a_robots_txt_that_could_not_be_read_frees_nothing(denied: Crawl) -> None:
    see_robots(denied, 2, None, "unavailable", outcome="robots_unavailable")
    report = updatedb(denied, now=T + 3 * DAY, hostdb=True)
    assert "freed" not in report.changes
    see_robots(denied, 4, "old")
    assert "freed" not in updatedb(denied, now=T + 5 * DAY).changes


def test_what_the_new_robots_txt_denies_too_waits_its_interval(denied: Crawl) -> None:
    see_robots(denied, 2, "new")
    updatedb(denied, now=T + 3 * DAY, hostdb=True)
    put_segment(
        denied,
        "20260306000000",
        pages=[page(DENIED, "robots_denied", T + 5 * DAY + MINUTE)],
        hosts=[host_facts("a.test", T + 5 * DAY, robots_status="rules", robots_digest="new")],
    )
    updatedb(denied, now=T + 6 * DAY, hostdb=True)
    see_robots(denied, 8, "new")
    updatedb(denied, now=T + 9 * DAY, hostdb=True)
    assert urls_of(denied)[DENIED]["fetch_time"] == T + 5 * DAY + MINUTE + 30 * DAY


def test_a_segment_older_than_the_hostdb_frees_nothing(denied: Crawl) -> None:
    see_robots(denied, 3, "old")
    updatedb(denied, now=T + 4 * DAY, hostdb=True)
    see_robots(denied, 1, "ancient")
    assert "freed" not in updatedb(denied, now=T + 5 * DAY, hostdb=True).changes
