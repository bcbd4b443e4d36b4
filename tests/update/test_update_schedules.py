"""One step of a schedule, and the file of bounds."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import pytest
from update_crawls import DAY, T, doc, page, put, put_segment, url_row, urls_of

from pinyon.crawl import Crawl
from pinyon.cycle.schedules import Bound, bounds_table, read_bounds
from pinyon.cycle.updatedb import updatedb
from pinyon.errors import InputError, SettingError
from pinyon.settings import Settings, from_nutch
from pinyon.tables import CRAWLDB

A = "http://a.test/"


def stepped(crawl: Crawl, known: dict, content: bytes, **columns: object) -> dict:
    """The row after one fetch at T, by the adaptive schedule."""
    put(crawl, CRAWLDB, [url_row(A, "db_fetched", **known)])
    put_segment(crawl, "20260301000000", pages=[page(A, **columns)], docs=[doc(A, content)])
    updatedb(crawl.with_settings(db__schedule="adaptive"), now=T + DAY)
    return urls_of(crawl)[A]


KNOWN = {
    "signature": b"old",
    "last_fetch_time": T - 10 * DAY,
    "modified_time": T - 10 * DAY,
    "fetch_interval": 10 * 86_400,
}


def test_changed_it_shrinks_and_steps_back_by_the_age_of_the_change(crawl: Crawl) -> None:
    row = stepped(crawl, KNOWN, b"new", last_modified="Fri, 27 Feb 2026 12:00:00 GMT")
    assert row["fetch_interval"] == 8 * 86_400
    assert row["fetch_time"] == T + timedelta(days=8 - 0.3 * 2)


def test_unchanged_it_grows_at_least_to_the_time_it_is_unchanged(crawl: Crawl) -> None:
    row = stepped(crawl, KNOWN | {"modified_time": T - 50 * DAY}, b"old")
    assert row["fetch_interval"] == 50 * 86_400
    assert row["fetch_time"] == T + timedelta(days=50 - 0.3 * 50)


@pytest.mark.parametrize(
    "claimed",
    [
        "Sun, 01 Mar 2099 12:00:00 GMT",
        "Thu, 01 Jan 1970 00:00:00 GMT",
        "Sun, 31 Feb 2026 12:00:00 GMT",
        "2026-02-27T12:00:00Z",
        "Fri, 27 Foo 2026 12:00:00 GMT",
        "\x00" * 5000,
        "",
        None,
    ],
)
def test_a_date_that_cannot_be_true_moves_nothing(crawl: Crawl, claimed: str | None) -> None:
    row = stepped(crawl, KNOWN, b"new", last_modified=claimed)
    assert row["fetch_time"] == T + 8 * DAY
    assert row["last_modified"] == claimed


def test_the_next_fetch_never_lies_in_the_past_or_the_present(crawl: Crawl) -> None:
    row = stepped(crawl, KNOWN | {"modified_time": datetime(1996, 1, 1).astimezone()}, b"old")
    assert row["fetch_interval"] == 90 * 86_400
    assert row["fetch_time"] == T + timedelta(days=0.7 * 90)


def test_a_row_without_a_time_of_change_is_not_moved(crawl: Crawl) -> None:
    row = stepped(crawl, KNOWN | {"modified_time": None}, b"old")
    assert row["fetch_time"] == T + 14 * DAY


# -- the file -------------------------------------------------------------------------------------------------


def test_bounds_are_read_with_units_and_comments(tmp_path: Path) -> None:
    file = tmp_path / "intervals.txt"
    file.write_text(
        "# slow\ntext/html 30d -\n\nImage/* 1h 2h # pictures\nWWW.A.test - 90\n*.bücher.example 5m 5m\n"
    )
    assert read_bounds(file) == [
        Bound("type", "text/html", 30 * 86_400, None),
        Bound("types", "image", 3600, 7200),
        Bound("host", "www.a.test", None, 90),
        Bound("domain", "xn--bcher-kva.example", 300, 300),
    ]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("text/html 30d", "wanted NAME MIN MAX"),
        ("text/html soon later", "'soon' is no time"),
        ("text/html 2h 1h", "2h is more than 1h"),
        ("*.www.example.org 1h -", "no registered domain"),
        ("a..\x00b 1h -", "is no host"),
    ],
)
def test_a_line_that_makes_no_sense_is_named(tmp_path: Path, line: str, why: str) -> None:
    file = tmp_path / "intervals.txt"
    file.write_text(f"text/html 1h -\n{line}\n")
    with pytest.raises(InputError, match=rf"intervals.txt:2: .*{why}"):
        read_bounds(file)


def test_a_missing_file_of_bounds_is_an_error_and_changes_nothing(crawl: Crawl) -> None:
    put_segment(crawl, "20260301000000", pages=[page(A)], docs=[doc(A)])
    with pytest.raises(InputError, match="cannot be read"):
        updatedb(crawl.with_settings(db__intervals_file="missing.txt"))
    assert crawl.store.current(CRAWLDB).version == 0


def test_the_last_line_for_a_name_counts() -> None:
    table = bounds_table([Bound("host", "a.test", 1, 2), Bound("host", "a.test", 3, None)])
    assert table.to_pylist() == [{"kind": "host", "name": "a.test", "min_s": 3, "max_s": None}]


def test_a_file_of_bounds_is_used_by_the_update(crawl: Crawl) -> None:
    (crawl.root / "intervals.txt").write_text("*.a.test 1h 2h\n")
    put(crawl, CRAWLDB, [url_row(A)])
    put_segment(crawl, "20260301000000", pages=[page(A)], docs=[doc(A)])
    updatedb(crawl.with_settings(db__intervals_file="intervals.txt"), now=T + DAY)
    assert urls_of(crawl)[A]["fetch_time"] == T + timedelta(hours=2)


# -- facts of pages -------------------------------------------------------------------------------------------


def test_facts_of_a_page_are_kept_with_its_row_if_asked_for(crawl: Crawl) -> None:
    put(crawl, CRAWLDB, [url_row(A, metadata={"tag": "x", "language": "fr"})])
    put_segment(
        crawl, "20260301000000", pages=[page(A, content_type="text/html")], docs=[doc(A, language="en")]
    )
    updatedb(crawl.with_settings(db__keep_facts=["content_type", "language"]), now=T + DAY)
    assert urls_of(crawl)[A]["metadata"] == {"tag": "x", "language": "en", "content_type": "text/html"}
    types = crawl.store.current(CRAWLDB).facts["metadata"]
    assert types == {"content_type": "text", "language": "text"}


def test_a_fact_that_there_is_not_is_refused_with_the_nearest(crawl: Crawl) -> None:
    put_segment(crawl, "20260301000000", pages=[page(A)], docs=[doc(A)])
    with pytest.raises(SettingError, match="did you mean 'language'"):
        updatedb(crawl.with_settings(db__keep_facts=["langage"]))


def test_nutch_names_of_schedules_are_understood(tmp_path: Path) -> None:
    file = tmp_path / "nutch-site.xml"
    properties = {
        "db.fetch.schedule.class": "org.apache.nutch.crawl.AdaptiveFetchSchedule",
        "db.fetch.schedule.adaptive.min_interval": "3600.0",
        "db.parsemeta.to.crawldb": "Content-Type, lang",
    }
    xml = "".join(f"<property><name>{k}</name><value>{v}</value></property>" for k, v in properties.items())
    file.write_text(f"<configuration>{xml}</configuration>")
    values, unknown = from_nutch(file)
    db = Settings().with_values(values, str(file)).db
    assert (db.schedule, db.adaptive_min_interval, db.keep_facts, unknown) == (
        "adaptive",
        3600.0,
        ("content_type", "language"),
        [],
    )
