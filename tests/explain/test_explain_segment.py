"""explain --segment: a past list is asked what it did with a URL, by its own settings, of the rows it was made from."""

from __future__ import annotations

from datetime import timedelta

import pytest
from crawls import NOW, host_row, seconds, url_row
from explain_crawls import Row, fill, put

from pinyon.crawl import Crawl
from pinyon.cycle.explain_segment import explain_segment
from pinyon.cycle.generate import generate
from pinyon.errors import StoreError
from pinyon.tables import CRAWLDB

URLS = [url_row(f"http://a.one.com/{number}", 10.0 - number) for number in range(5)]


def made(crawl: Crawl, rows: list[Row] = URLS, **options: object) -> list[str]:
    """Names of the segments of one generate over these rows."""
    fill(crawl, rows, [host_row("a.one.com", connection_failures=120)])
    return [segment.name for segment in generate(crawl, now=NOW, seed=1, **options).segments]


def test_a_url_that_was_taken_says_where_it_stands(crawl: Crawl) -> None:
    [name] = made(crawl, max_count=3)
    found = explain_segment(crawl, "HTTP://a.one.com/2", name)
    assert found.url == "http://a.one.com/2"
    assert found.place is not None
    assert (found.place["list"], found.place["part"], found.place["position"]) == (0, 0, 2)
    assert (found.page, found.why, found.state) == (None, None, "generated")


def test_a_url_that_was_not_taken_is_explained_by_the_settings_of_that_list(crawl: Crawl) -> None:
    [name] = made(crawl, max_count_expr="connectionFailures > 100 ? 3 : -1")
    found = explain_segment(crawl, "http://a.one.com/4", name)
    assert found.place is None
    assert found.why is not None
    assert found.why.reason == "host_limit"
    assert found.why.now == NOW
    assert found.counts["rejected"] == {"host_limit": 2}


def test_it_is_explained_by_the_rows_the_list_was_made_from_while_these_are_kept(crawl: Crawl) -> None:
    [name] = made(crawl, top_n=3)
    then = crawl.store.current(CRAWLDB).version
    put(crawl, CRAWLDB, [{**row, "fetch_time": seconds(86_400)} for row in URLS])
    found = explain_segment(crawl, "http://a.one.com/4", name)
    assert found.version == then
    assert found.why is not None
    assert found.why.reason == "top_n"


def test_when_these_rows_are_gone_the_present_ones_answer_and_a_note_says_so(crawl: Crawl) -> None:
    [name] = made(crawl, top_n=3)
    put(crawl, CRAWLDB, [{**row, "fetch_time": seconds(86_400)} for row in URLS])
    crawl.store.sweep(CRAWLDB, keep_versions=1)
    found = explain_segment(crawl, "http://a.one.com/4", name)
    assert found.version is None
    assert found.why is not None
    assert found.why.reason == "not_due"
    assert any("is not kept" in note for note in found.notes)


def test_what_a_segment_locks_itself_does_not_count_against_its_own_list(crawl: Crawl) -> None:
    first, second = made(crawl, top_n=2, segments=2)
    found = explain_segment(crawl, "http://a.one.com/3", first)
    assert found.why is not None
    assert (found.why.selected, found.why.list, found.why.waiting) == (True, 1, [])
    placed = explain_segment(crawl, "http://a.one.com/3", second).place
    assert placed is not None
    assert placed["list"] == 1


def test_a_url_that_entered_later_was_not_known_then(crawl: Crawl) -> None:
    [name] = made(crawl)
    late = url_row("http://a.one.com/late", first_seen=NOW + timedelta(days=1))
    put(crawl, CRAWLDB, [*URLS, late])
    crawl.store.sweep(CRAWLDB, keep_versions=1)
    found = explain_segment(crawl, late["url"], name)
    assert found.notes[0].startswith("it was not known then: first seen 2026-12-01")


def test_a_url_that_nobody_knows_was_in_no_list(crawl: Crawl) -> None:
    [name] = made(crawl)
    found = explain_segment(crawl, "http://nobody.org/", name)
    assert (found.place, found.why) == (None, None)
    assert "not in the crawldb" in found.notes[0]


def test_a_segment_that_is_not_there_is_an_error_with_the_nearest_name(crawl: Crawl) -> None:
    [name] = made(crawl)
    with pytest.raises(StoreError, match=f"did you mean '{name}'"):
        explain_segment(crawl, "http://a.one.com/0", name[:-1] + "9")
