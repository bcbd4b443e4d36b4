"""New rules for the rows that are there: domains, URLs, filters."""

from __future__ import annotations

import pytest
from update_crawls import DAY, T, hosts_of, new_crawl, place, put, put_segment, url_row, urls_of

from pinyon.crawl import Crawl
from pinyon.cycle.renew import migrate, renew
from pinyon.cycle.updatehostdb import updatehostdb
from pinyon.errors import UsageError
from pinyon.tables import CRAWLDB, HOSTDB

BLOG = "http://blog.github.io/"


def outdate(crawl: Crawl, **facts: object) -> None:
    """As if the tables had been written with another suffix list or normaliser."""
    for spec in (CRAWLDB, HOSTDB):
        base = crawl.store.current(spec)
        crawl.store.publish(base, [], replaces=[], facts=facts, operation="test")


def test_with_nothing_new_nothing_is_written(crawl: Crawl) -> None:
    assert migrate(crawl) is None
    assert crawl.store.current(CRAWLDB).version == 0


def test_a_new_suffix_list_gives_new_domains(crawl: Crawl) -> None:
    put(crawl, CRAWLDB, [url_row(BLOG), url_row("http://a.test/")])
    updatehostdb(crawl)
    assert urls_of(crawl)[BLOG]["domain"] == hosts_of(crawl)["blog.github.io"]["domain"] == "github.io"
    private = Crawl.open(crawl.root, urls__private_suffixes=True)
    report = migrate(private)
    assert report is not None and report.changes == {"moved": 1}
    assert urls_of(private)[BLOG]["domain"] == "blog.github.io"
    assert hosts_of(private)["blog.github.io"]["domain"] == "blog.github.io"
    assert urls_of(private)["http://a.test/"]["domain"] == "a.test"
    assert migrate(private) is None
    private.close()


def test_a_new_normaliser_renames_and_the_row_that_was_fetched_last_wins(tmp_path) -> None:
    with new_crawl(tmp_path / "crawl", buckets=4) as crawl:
        spellings = {
            "http://A.test:80/x": url_row("http://A.test:80/x", "db_fetched", last_fetch_time=T),
            "http://a.test/x": url_row("http://a.test/x", "db_gone", last_fetch_time=T - DAY),
            "http://b.test/y#part": url_row("http://b.test/y#part", score=5.0),
            "http://[broken": url_row("http://[broken"),
            "http://c.test/": url_row("http://c.test/"),
        }
        put(crawl, CRAWLDB, spellings.values())
        outdate(crawl, normaliser=0)
        report = migrate(crawl)
        assert report is not None
        assert (report.rows, report.changes) == (3, {"renamed": 2, "not_a_url": 1, "merged": 1})
        found = urls_of(crawl)
        assert {url: row["status"] for url, row in found.items()} == {
            "http://a.test/x": "db_fetched",
            "http://b.test/y": "db_unfetched",
            "http://c.test/": "db_unfetched",
        }
        assert found["http://b.test/y"]["score"] == 5.0
        for url, row in found.items():
            assert {name: row[name] for name in place(url, 4)} == place(url, 4)


def test_filters_that_changed_drop_what_they_refuse_now(crawl: Crawl) -> None:
    put(
        crawl, CRAWLDB, [url_row("http://a.test/"), url_row("http://a.test/x.zip"), url_row("http://b.test/")]
    )
    denying = crawl.with_settings(urls__deny_hosts=["b.test"])
    report = renew(denying, refilter=True)
    assert (report.rows, report.changes) == (1, {"suffix": 1, "host_denied": 1})
    assert set(urls_of(crawl)) == {"http://a.test/"}
    assert crawl.store.current(CRAWLDB).facts["filter"] == denying.url_filter.digest()
    denying.close()


def test_nothing_is_renewed_under_an_open_segment(crawl: Crawl) -> None:
    put(crawl, CRAWLDB, [url_row("http://a.test/")])
    put_segment(crawl, "20260301000000", state="fetched")
    outdate(crawl, suffixes="of 1996")
    with pytest.raises(UsageError, match="is open"):
        migrate(crawl)
    with pytest.raises(UsageError, match="is open"):
        renew(crawl, refilter=True)
