"""Several lists in one go, lists of given URLs, and the locks that keep lists apart."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest
from small_crawls import NOW, chosen, every_plan, expect, from_now, generate, host, made, refusal, url, urls

from command_line import run_pinyon
from pinyon.urls import key_of

HOSTS = ("a.test", "b.test", "c.test", "d.test")


def crawl_of(folder: Path, each: int) -> Path:
    return made(folder, [row for n, name in enumerate(HOSTS) for row in urls(name, each, best=1 - n / 10)])


# -- one after another ----------------------------------------------------------------------------------------


def test_list_k_is_what_a_generate_over_the_rest_would_give(tmp_path: Path) -> None:
    """Nutch's totals run over all lists: one may get more than topN, another stays short."""
    rules = ("--top-n", 5, "--max-count", 2, "--seed", 1)
    at_once = chosen(crawl_of(tmp_path / "one", 6), *rules, "--segments", 4)
    crawl = crawl_of(tmp_path / "two", 6)
    one_by_one = [chosen(crawl, *rules) for _ in range(4)]
    assert [[row["url"] for row in rows] for rows in at_once.lists] == [
        [row["url"] for row in found.lists[0]] for found in one_by_one
    ]
    # the last list says why the rest stays
    last = {reason: n for reason, n in one_by_one[-1].rejected.items() if reason != "awaiting_update"}
    assert at_once.rejected == last


def test_lists_that_would_be_empty_are_not_made(tmp_path: Path) -> None:
    found = chosen(made(tmp_path, urls("a.test", 3)), "--segments", 5, "--max-count", 2)
    assert [len(rows) for rows in found.lists] == [2, 1]
    assert [segment["name"] for segment in found.report["segments"]] == ["20261130120000", "20261130120000-1"]


# -- spread ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("together", [1, 3])
def test_runs_of_a_host_go_round_the_lists_beginning_where_its_key_says(
    together: int, tmp_path: Path
) -> None:
    options = ("--segments", 4, "--spread", "--keep-together", together)
    found = chosen(crawl_of(tmp_path, 10), *options)
    assert {row["url"]: row["list"] for row in found.rows} == {
        f"http://{name}/{rank}": (key_of(name) + rank // together) % 4 for name in HOSTS for rank in range(10)
    }


@every_plan
def test_spread_lists_hold_the_limits_each_and_are_cut_at_top_n(
    tmp_path: Path, plan: Sequence[object]
) -> None:
    options = ("--segments", 4, "--spread", "--top-n", 6, "--max-count", 2)
    found = chosen(crawl_of(tmp_path, 12), *plan, *options)
    assert [len(rows) for rows in found.lists] == [6, 6, 6, 6]
    # of each host 2 URLs a list are within the limit: 8 a list, of which the best 6 are taken
    assert found.rejected == {"host_limit": 4 * (12 - 8), "top_n": 4 * 2}


# -- only these URLs ------------------------------------------------------------------------------------------


@every_plan
def test_only_listed_urls_are_chosen_and_all_rules_hold_for_them(
    tmp_path: Path, plan: Sequence[object]
) -> None:
    crawl = made(tmp_path, [*urls("a.test", 5), url("http://a.test/later", fetch_time=from_now(hours=1))])
    listed = tmp_path / "urls.txt"
    listed.write_text("http://a.test/1\n# no URL\n\nhttp://a.test/3\nhttp://a.test/4\nhttp://a.test/later\n")
    found = chosen(crawl, *plan, "--from-list", listed, "--top-n", 2)
    assert found.urls == {"http://a.test/1", "http://a.test/3"}
    assert found.rejected == {"not_listed": 2, "not_due": 1, "top_n": 1}


def test_a_listed_url_counts_once_in_any_spelling(tmp_path: Path) -> None:
    crawl = made(tmp_path, urls("a.test", 3))
    listed = tmp_path / "urls.txt"
    listed.write_text("http://a.test/1\nHTTP://A.TEST:80/1#top\nhttp://a.test/1\nhttp://unknown.test/\n")
    found = chosen(crawl, "--from-list", listed)
    assert [row["url"] for row in found.rows] == ["http://a.test/1"]
    assert found.rejected == {"not_listed": 2}


def test_an_empty_list_chooses_nothing_and_a_missing_one_is_an_error(tmp_path: Path) -> None:
    crawl = made(tmp_path, urls("a.test", 3))
    (tmp_path / "empty.txt").write_text("")
    assert "not_listed 3" in refusal(crawl, "--from-list", tmp_path / "empty.txt", status=3)
    assert "none.txt" in refusal(crawl, "--from-list", tmp_path / "none.txt", status=1)


# -- locks ----------------------------------------------------------------------------------------------------


def abort(crawl: Path, *names: str) -> None:
    expect(run_pinyon("segments", crawl, "abort", *names))


def test_an_aborted_segment_gives_its_urls_free_at_once(tmp_path: Path) -> None:
    crawl = crawl_of(tmp_path, 3)
    first = chosen(crawl, "--top-n", 4)
    second = chosen(crawl, "--top-n", 4)
    abort(crawl, first.report["segments"][0]["name"])
    third = chosen(crawl, "--top-n", 4)
    assert third.urls == first.urls
    assert third.urls.isdisjoint(second.urls)
    assert third.rejected == {"awaiting_update": 4, "top_n": 4}


def test_a_segment_that_waits_longer_than_the_delay_keeps_its_urls_no_more(tmp_path: Path) -> None:
    crawl = crawl_of(tmp_path, 3)
    first = chosen(crawl, "--top-n", 4)
    week = timedelta(seconds=604_800)
    just_within = (NOW + week - timedelta(seconds=1)).isoformat()
    assert chosen(crawl, "--now", just_within, "--top-n", 4).urls.isdisjoint(first.urls)
    assert chosen(crawl, "--now", (NOW + week).isoformat(), "--top-n", 4).urls == first.urls


@every_plan
def test_a_url_in_two_open_segments_is_counted_once(tmp_path: Path, plan: Sequence[object]) -> None:
    crawl = crawl_of(tmp_path, 3)
    for _ in range(2):
        assert len(chosen(crawl, *plan, "--gen-delay", 0, "--top-n", 4).rows) == 4
    assert chosen(crawl, *plan).rejected == {"awaiting_update": 4}


def test_a_lock_is_of_the_url_and_not_of_its_key(tmp_path: Path) -> None:
    """A lock that another URL of equal key held would lose a page for ever."""
    import pyarrow.parquet as pq

    crawl = crawl_of(tmp_path, 3)
    name = chosen(crawl, "--top-n", 4).report["segments"][0]["name"]
    for path in (crawl / "segments" / name / "lock").iterdir():
        table = pq.read_table(path)
        others = [f"{text}#another" for text in table["url"].to_pylist()]
        pq.write_table(table.set_column(1, "url", [others]), path)
    assert chosen(crawl).rejected == {}


# -- written, or not ------------------------------------------------------------------------------------------


def test_a_dry_run_says_the_same_and_writes_nothing(tmp_path: Path) -> None:
    crawl = crawl_of(tmp_path, 5)
    asked = ("--top-n", 7, "--segments", 2, "--fetchers", 2, "--seed", 3)
    before = files_of(crawl)
    dry = json.loads(expect(generate(crawl, *asked, "--dry-run")).stdout)
    assert files_of(crawl) == before
    assert chosen(crawl, *asked).report == dry


def files_of(crawl: Path) -> set[tuple[str, int]]:
    """Names and times of all files but those of locks, which every writer touches."""
    found = (path for path in crawl.rglob("*") if path.is_file() and "/." not in str(path.relative_to(crawl)))
    return {(str(path), path.stat().st_mtime_ns) for path in found if not path.name.startswith(".")}


@pytest.mark.parametrize(
    "options", [("--top-n", 0), ("--expr", "score > 5"), ("--restrict-status", "db_gone")]
)
def test_nothing_to_choose_is_a_status_of_its_own_and_no_segment(
    options: Sequence[object], tmp_path: Path
) -> None:
    crawl = crawl_of(tmp_path, 2)
    assert "8 URLs known" in refusal(crawl, *options, status=3)


def test_an_empty_crawl_has_nothing_due_and_says_what_adds_urls(tmp_path: Path) -> None:
    crawl = made(tmp_path, [])
    assert "inject" in refusal(crawl, status=3)


def test_urls_of_a_host_that_is_not_in_the_crawl_are_no_matter(tmp_path: Path) -> None:
    """Hosts of the HostDb without URLs, and URLs of hosts without a row, both pass."""
    crawl = made(tmp_path, urls("a.test", 2), [host("gone.test", gone=1), host("other.test", gone=2)])
    assert chosen(crawl, "--max-count-expr", "gone", "--max-count", 1).by_host() == {"a.test": 1}
