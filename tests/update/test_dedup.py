"""Of URLs with one content one is kept; a duplicate is a status, never a lost row."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from update_crawls import DAY, T, doc, new_crawl, page, put, put_segment, url_row, urls_of

from pinyon.crawl import Crawl
from pinyon.cycle import dedup as dedup_module
from pinyon.cycle.dedup import dedup
from pinyon.cycle.updatedb import updatedb
from pinyon.errors import UsageError
from pinyon.tables import CRAWLDB, STATUSES

HTTP, HTTPS, LONG = "http://a.test/x", "https://a.test/x", "https://a.test/a-longer-one"


def fetched(url: str, content: bytes = b"\x01same", **columns: object) -> dict:
    return url_row(url, columns.pop("status", "db_fetched"), signature=content, **columns)


def duplicates(crawl: Crawl, rows: list[dict], **options: object) -> set[str]:
    put(crawl, CRAWLDB, rows)
    dedup(crawl, **options)  # type: ignore[arg-type]
    return {url for url, row in urls_of(crawl).items() if row["status"] == "db_duplicate"}


@pytest.mark.parametrize(
    ("rows", "marked"),
    [
        ([fetched(HTTP, score=2.0), fetched(HTTPS, score=1.0)], {HTTPS}),
        ([fetched(HTTP), fetched(HTTPS)], {HTTP}),
        (
            [
                fetched(HTTP, first_seen=T - 99 * DAY, last_fetch_time=T),
                fetched(HTTPS, last_fetch_time=T - DAY),
            ],
            {HTTP},
        ),
        ([fetched(LONG), fetched(HTTPS)], {LONG}),
        (
            [fetched("https://a.test/1", first_seen=T), fetched("https://a.test/2", first_seen=T - DAY)],
            {"https://a.test/1"},
        ),
        ([fetched(HTTP), fetched(HTTPS, b"\x02other")], set()),
        ([fetched(HTTP), fetched(HTTPS, status="db_gone")], set()),
        ([fetched("http://a.test/a%zz"), fetched(HTTPS)], {"http://a.test/a%zz"}),
        ([fetched(HTTP), fetched(HTTPS), fetched(LONG, status="db_notmodified")], {HTTP, LONG}),
    ],
    ids=[
        "score",
        "https",
        "https whatever came first",
        "shorter",
        "earlier",
        "other content",
        "gone",
        "bad URL",
        "three",
    ],
)
def test_the_best_url_of_a_content_stays(crawl: Crawl, rows: list[dict], marked: set[str]) -> None:
    assert duplicates(crawl, rows) == marked
    assert len(urls_of(crawl)) == len(rows)


def test_the_order_of_criteria_can_be_chosen(crawl: Crawl) -> None:
    rows = [fetched(HTTP, score=2.0), fetched(HTTPS, score=1.0)]
    assert duplicates(crawl, rows, order=["https", "score"]) == {HTTP}
    with pytest.raises(UsageError, match="did you mean 'https'"):
        dedup(crawl, order=["http"])


def test_a_duplicate_is_one_no_more_when_it_is_the_best_or_the_last(crawl: Crawl) -> None:
    rows = [fetched(HTTPS, status="db_duplicate"), fetched(HTTP)]
    assert duplicates(crawl, rows) == {HTTP}
    rows = [fetched(HTTPS, status="db_duplicate"), fetched(HTTP, b"\x02other")]
    assert duplicates(crawl, rows) == set()
    assert urls_of(crawl)[HTTPS]["status"] == "db_fetched"


def test_run_again_it_writes_nothing(crawl: Crawl) -> None:
    put(crawl, CRAWLDB, [fetched(HTTP), fetched(HTTPS)])
    first, again = dedup(crawl), dedup(crawl)
    assert (first.contents, first.duplicates, first.marked, first.unmarked) == (1, 1, 1, 0)
    assert (again.contents, again.duplicates, again.marked, again.unmarked) == (1, 1, 0, 0)
    assert again.version == first.version


def test_an_empty_crawldb_has_no_duplicates(crawl: Crawl) -> None:
    assert dedup(crawl).contents == 0


def test_what_changed_its_content_is_judged_anew(crawl: Crawl) -> None:
    duplicates(crawl, [fetched(HTTP), fetched(HTTPS)])
    put_segment(crawl, "20260301000000", pages=[page(HTTP)], docs=[doc(HTTP, b"\x03new")])
    updatedb(crawl, now=T + DAY)
    dedup(crawl)
    assert {row["status"] for row in urls_of(crawl).values()} == {"db_fetched"}


def test_parts_and_buckets_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dice = random.Random(5)
    rows = [
        fetched(
            f"http{dice.choice(['', 's'])}://h{dice.randrange(9)}.test/{n}",
            bytes([dice.randrange(256), 0]),
            status=dice.choice(list(STATUSES)),
            score=dice.choice([1.0, 2.0]),
        )
        for n in range(600)
    ]
    found = []
    for number, (buckets, rows_at_once) in enumerate([(1, 10_000), (8, 10)]):
        monkeypatch.setattr(dedup_module, "_ROWS_AT_ONCE", rows_at_once)
        with new_crawl(tmp_path / str(number), buckets=buckets) as crawl:
            put(crawl, CRAWLDB, rows)
            dedup(crawl)
            found.append({url: row["status"] for url, row in urls_of(crawl).items()})
    assert found[0] == found[1] == by_hand(rows)


def by_hand(rows: list[dict]) -> dict[str, str]:
    statuses = {row["url"]: row["status"] for row in rows}
    groups: dict[bytes, list[dict]] = {}
    for row in rows:
        if row["status"] in ("db_fetched", "db_notmodified", "db_duplicate"):
            groups.setdefault(row["signature"], []).append(row)
    for group in groups.values():
        group.sort(
            key=lambda r: (-r["score"], not r["url"].startswith("https:"), len(r["url"]), r["url_key"])
        )
        if statuses[group[0]["url"]] == "db_duplicate":
            statuses[group[0]["url"]] = "db_fetched"
        statuses.update({row["url"]: "db_duplicate" for row in group[1:]})
    return statuses
