"""What a result does to its row when there is more than one, when it comes late, and when nobody asked for it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from update_crawls import DAY, MONTH_S, T, doc, fetchlist_row, page, put, put_segment, url_row, urls_of

from pinyon.crawl import Crawl
from pinyon.cycle.updatedb import updatedb
from pinyon.errors import EngineError, NothingDue, StoreError, UsageError
from pinyon.tables import CRAWLDB

A, B = "http://a.test/", "http://b.test/b"
HOUR = timedelta(hours=1)


def test_of_two_results_in_one_segment_the_later_one_counts(crawl: Crawl) -> None:
    put(crawl, CRAWLDB, [url_row(A)])
    put_segment(
        crawl,
        "20260301000000",
        pages=[page(A, "success", T + HOUR), page(A, "not_found", T)],
        docs=[doc(A)],
    )
    report = updatedb(crawl, now=T + DAY)
    assert urls_of(crawl)[A]["status"] == "db_fetched"
    assert urls_of(crawl)[A]["last_fetch_time"] == T + HOUR
    assert report.changes == {"fetched": 1}


@pytest.mark.parametrize("names", [(), ("20260302000000", "20260301000000")])
def test_of_results_in_two_segments_the_later_one_counts_whatever_their_order(
    crawl: Crawl, names: tuple[str, ...]
) -> None:
    put(crawl, CRAWLDB, [url_row(A)])
    put_segment(crawl, "20260301000000", pages=[page(A, "success", T)], docs=[doc(A)])
    put_segment(crawl, "20260302000000", pages=[page(A, "gone", T + DAY)])
    report = updatedb(crawl, names, now=T + DAY)
    assert sorted(report.segments) == ["20260301000000", "20260302000000"]
    assert urls_of(crawl)[A]["status"] == "db_gone"


def test_a_document_belongs_to_the_page_of_its_own_segment(crawl: Crawl) -> None:
    put(crawl, CRAWLDB, [url_row(A)])
    put_segment(crawl, "20260301000000", pages=[page(A, at=T)], docs=[doc(A, b"first")])
    put_segment(crawl, "20260302000000", pages=[page(A, at=T + DAY)], docs=[doc(A, b"second")])
    updatedb(crawl, now=T + DAY)
    assert urls_of(crawl)[A]["signature"] == b"second"


@pytest.mark.parametrize("late", ["host_failing", "robots_unavailable", "blocked"])
def test_a_later_list_that_did_not_even_ask_hides_no_result(crawl: Crawl, late: str) -> None:
    put(crawl, CRAWLDB, [url_row(A)])
    put_segment(
        crawl, "20260301000000", pages=[page(A, "success", T), page(A, late, T + HOUR)], docs=[doc(A)]
    )
    updatedb(crawl, now=T + DAY)
    assert urls_of(crawl)[A]["status"] == "db_fetched"


@pytest.mark.parametrize("earlier", [timedelta(0), HOUR])
def test_a_result_not_newer_than_the_last_fetch_changes_nothing(crawl: Crawl, earlier: timedelta) -> None:
    known = url_row(A, "db_fetched", last_fetch_time=T, fetch_time=T + 30 * DAY, signature=b"known")
    put(crawl, CRAWLDB, [known])
    before = urls_of(crawl)
    put_segment(crawl, "20260301000000", pages=[page(A, "gone", T - earlier)])
    report = updatedb(crawl, now=T + DAY)
    assert urls_of(crawl) == before
    assert report.changes == {"none": 1}


def test_segments_applied_in_the_wrong_order_end_with_the_latest_result(crawl: Crawl) -> None:
    put(crawl, CRAWLDB, [url_row(A)])
    put_segment(crawl, "20260301000000", pages=[page(A, "success", T)], docs=[doc(A)])
    put_segment(crawl, "20260302000000", pages=[page(A, "redir_perm", T + DAY)])
    updatedb(crawl, ["20260302000000"], now=T + DAY)
    updatedb(crawl, ["20260301000000"], now=T + 2 * DAY)
    assert urls_of(crawl)[A]["status"] == "db_redir_perm"


def test_what_was_not_fetched_stays_as_it_is(crawl: Crawl) -> None:
    put(crawl, CRAWLDB, [url_row(A), url_row(B)])
    before = urls_of(crawl)[B]
    put_segment(crawl, "20260301000000", pages=[page(A)], docs=[doc(A)])
    updatedb(crawl, now=T + DAY)
    assert urls_of(crawl)[B] == before


def test_a_fetch_of_an_unknown_url_enters(crawl: Crawl) -> None:
    put_segment(crawl, "20260301000000", pages=[page(A), page(B, "timeout")], docs=[doc(A)])
    updatedb(crawl, now=T + DAY)
    found = urls_of(crawl)
    assert {url: row["status"] for url, row in found.items()} == {A: "db_fetched", B: "db_unfetched"}
    assert found[A]["fetch_interval"] == MONTH_S
    assert found[A]["first_seen"] == T + DAY
    assert (found[B]["retries"], found[B]["fetch_time"]) == (1, T + DAY)


def test_an_unknown_url_enters_with_all_its_fetch_list_knew(crawl: Crawl) -> None:
    known = url_row(A, "db_fetched", score=7.5, depth=3, inlinks=4, fetch_interval=86_400, signature=b"new")
    known |= {"metadata": {"tag": "x"}, "modified_time": T - 60 * DAY}
    put_segment(crawl, "20260301000000", pages=[page(A)], docs=[doc(A)], fetchlist=[fetchlist_row(known)])
    updatedb(crawl, now=T + DAY)
    found = urls_of(crawl)[A]
    kept = ("score", "depth", "inlinks", "fetch_interval", "metadata", "modified_time", "first_seen")
    assert {name: found[name] for name in kept} == {name: known[name] for name in kept}
    assert found["status"] == "db_notmodified"


def test_what_was_never_requested_does_not_enter(crawl: Crawl) -> None:
    put_segment(crawl, "20260301000000", pages=[page(A, "host_failing"), page(B, "blocked")])
    updatedb(crawl, now=T + DAY)
    assert urls_of(crawl) == {}


def test_nothing_enters_where_additions_are_off(crawl: Crawl) -> None:
    put_segment(crawl, "20260301000000", pages=[page(A)], docs=[doc(A)])
    updatedb(crawl.with_settings(db__additions=False), now=T + DAY)
    assert urls_of(crawl) == {}


def test_a_page_that_was_a_redirect_in_between_counts_as_modified(crawl: Crawl) -> None:
    put(crawl, CRAWLDB, [url_row(A)])
    seen = []
    for day, (outcome, content) in enumerate(
        [("success", b"A"), ("redir_perm", b""), ("success", b"A"), ("success", b"A")]
    ):
        name = f"2026030{day + 1}000000"
        docs = [doc(A, content)] if outcome == "success" else []
        put_segment(crawl, name, pages=[page(A, outcome, T + day * DAY)], docs=docs)
        updatedb(crawl, now=T + day * DAY)
        seen.append((urls_of(crawl)[A]["status"], urls_of(crawl)[A]["modified_time"]))
    assert seen == [
        ("db_fetched", T),
        ("db_redir_perm", T),
        ("db_fetched", T + 2 * DAY),
        ("db_notmodified", T + 2 * DAY),
    ]


def test_a_list_of_somebodys_own_leaves_interval_first_seen_and_score_of_known_urls(crawl: Crawl) -> None:
    known = url_row(A, "db_fetched", fetch_interval=3600, score=4.0, last_fetch_time=T - DAY)
    put(crawl, CRAWLDB, [known])
    put_segment(crawl, "20260301000000", pages=[page(A)], docs=[doc(A)])
    updatedb(crawl, now=T + DAY)
    found = urls_of(crawl)[A]
    assert (found["fetch_interval"], found["score"], found["first_seen"]) == (3600, 4.0, known["first_seen"])


def test_retry_after_puts_the_next_try_off(crawl: Crawl) -> None:
    put(crawl, CRAWLDB, [url_row(A), url_row(B)])
    pages = [
        page(A, "rate_limited", retry_at=T + 10 * DAY),
        page(B, "rate_limited", retry_at=T + timedelta(seconds=7)),
    ]
    put_segment(crawl, "20260301000000", pages=pages)
    updatedb(crawl, now=T + DAY)
    assert {url: row["fetch_time"] for url, row in urls_of(crawl).items()} == {A: T + 10 * DAY, B: T + DAY}


def test_retry_after_a_year_is_cut_at_the_longest_interval(crawl: Crawl) -> None:
    put(crawl, CRAWLDB, [url_row(A)])
    put_segment(crawl, "20260301000000", pages=[page(A, "rate_limited", retry_at=T + 365 * DAY)])
    updatedb(crawl, now=T + DAY)
    assert urls_of(crawl)[A]["fetch_time"] == T + 90 * DAY


@pytest.mark.parametrize("interval", [0, -5, 400 * 86_400])
def test_an_interval_nobody_can_keep_is_mended(crawl: Crawl, interval: int) -> None:
    put(crawl, CRAWLDB, [url_row(A, fetch_interval=interval)])
    put_segment(crawl, "20260301000000", pages=[page(A)], docs=[doc(A)])
    updatedb(crawl, now=T + DAY)
    expected = MONTH_S if interval <= 0 else round(0.9 * 90 * 86_400)
    assert urls_of(crawl)[A]["fetch_interval"] == expected
    assert urls_of(crawl)[A]["fetch_time"] == T + timedelta(seconds=expected)


# -- bad input ------------------------------------------------------------------------------------------------


def test_the_same_segment_again_is_said_and_changes_nothing(crawl: Crawl) -> None:
    put(crawl, CRAWLDB, [url_row(A)])
    put_segment(crawl, "20260301000000", pages=[page(A, "timeout")])
    first = updatedb(crawl, now=T + DAY)
    before = urls_of(crawl)
    again = updatedb(crawl, ["20260301000000", "20260301000000"], now=T + 2 * DAY)
    assert (again.segments, again.already_applied) == ([], ["20260301000000"])
    assert (again.version, again.rows, urls_of(crawl)) == (first.version, 1, before)


def test_with_nothing_parsed_it_says_what_to_run(crawl: Crawl) -> None:
    put_segment(crawl, "20260301000000", state="fetched")
    with pytest.raises(NothingDue, match="pinyon parse"):
        updatedb(crawl)
    with pytest.raises(UsageError, match="is fetched, wanted one that is parsed"):
        updatedb(crawl, ["20260301000000"])


def test_a_torn_file_of_pages_fails_and_leaves_the_table_as_it_was(crawl: Crawl) -> None:
    put(crawl, CRAWLDB, [url_row(A)])
    before = crawl.store.current(CRAWLDB)
    segment = put_segment(crawl, "20260301000000", pages=[page(A)], docs=[doc(A)])
    file = segment.folder("pages") / "part-00000.parquet"
    file.write_bytes(file.read_bytes()[:-100])
    with pytest.raises(EngineError, match="part-00000"):
        updatedb(crawl)
    assert crawl.store.current(CRAWLDB) == before


def test_a_segment_that_lost_the_pages_of_a_part_is_refused(crawl: Crawl) -> None:
    segment = put_segment(crawl, "20260301000000", pages=[page(A)], docs=[doc(A)])
    (segment.folder("pages") / "part-00000.parquet").unlink()
    with pytest.raises(StoreError, match="missing"):
        updatedb(crawl)
