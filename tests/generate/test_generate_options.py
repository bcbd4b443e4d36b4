"""How generate is told what to do: presets, Nutch's spellings, the HostDb switch, and the time to go by."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from small_crawls import (
    NOW,
    change,
    chosen,
    from_now,
    host,
    made,
    milliseconds,
    nutch_site,
    refusal,
    url,
    urls,
)

from pinyon.tables import CRAWLDB

# -- presets and spellings ------------------------------------------------------------------------------------


@pytest.fixture
def linked(tmp_path: Path) -> Path:
    """Pages whose links say the opposite of their scores; some are gone or moved for good."""
    statuses = ("db_unfetched", "db_gone", "db_redir_perm", "db_redir_temp", "db_fetched")
    crawldb = [url(f"http://{n}.test/", 1 - n / 10, status=statuses[n % 5]) for n in range(10)]
    crawl = made(tmp_path, crawldb)
    change(crawl, CRAWLDB, inlinks="CAST(split_part(host, '.', 1) AS INTEGER)")
    return crawl


def test_classic_is_the_first_generator_of_nutch(linked: Path) -> None:
    """Gone pages and permanent redirects left alone, by links, parts by a random hash."""
    found = chosen(linked, "--preset", "classic", "--top-n", 3)
    assert [row["host"] for row in found.rows] == ["9.test", "8.test", "5.test"]
    assert found.rejected == {"excluded_status": 4, "top_n": 3}
    assert found.infos[0]["settings"]["generate.partition_mode"] == "hash"
    assert chosen(linked, "--preset", "classic").report["seed"] != found.report["seed"]


def test_an_option_beats_the_preset_and_the_preset_beats_the_file(linked: Path) -> None:
    (linked / "pinyon.toml").write_text("[generate]\npreset = 'classic'\nsort_by = 'score'\n")
    assert chosen(linked, "--top-n", 1).rows[0]["host"] == "9.test"
    found = chosen(linked, "--sort-by", "score", "--top-n", 1, "--gen-delay", 0)
    assert found.rows[0]["host"] == "0.test"
    assert found.rejected["excluded_status"] == 4


def test_an_unknown_preset_is_refused_with_the_nearest(linked: Path) -> None:
    assert "did you mean 'classic'" in refusal(linked, "--preset", "clasic")


def test_nutchs_spellings_mean_what_they_mean_there(tmp_path: Path) -> None:
    crawldb = [*urls("a.test", 9), *urls("b.test", 9, best=0.5), url("http://b.test/x.jpg", 0.45)]
    crawl = made(
        tmp_path, [*crawldb, url("http://c.test/", 2, fetch_time=from_now(days=3))], [host("a.test")]
    )
    spelled = ("-topN", 7, "-numFetchers", 2, "-maxNumSegments", 2, "-adddays", 4, "-noFilter", "-hostdb")
    theirs = chosen(crawl, *spelled, "-expr", "score > 0.4", "--seed", 1)
    ours = ("--top-n", 7, "--fetchers", 2, "--segments", 2, "--add-days", 4, "--no-filter", "--hostdb", "on")
    same = chosen(crawl, *ours, "--expr", "score > 0.4", "--seed", 1, "--gen-delay", 0)
    assert same.lists == theirs.lists
    assert [len(rows) for rows in theirs.lists] == [7, 7]
    assert "http://c.test/" in theirs.urls
    settings = theirs.infos[0]["settings"]
    assert (settings["generate.hostdb"], settings["generate.filter"]) == ("on", False)


def test_nutchs_hostdb_option_takes_a_path_too(tmp_path: Path) -> None:
    crawl = made(tmp_path, urls("a.test", 5), [host("a.test", gone=2)])
    path = crawl / "hostdb"
    assert len(chosen(crawl, "-hostdb", path, "--max-count-expr", "gone").rows) == 2


def test_properties_without_a_meaning_are_told_once(tmp_path: Path) -> None:
    properties = {"plugin__includes": "protocol-http", "db__url__normalizers": "true", "generate__topN": "2"}
    crawl = made(tmp_path, urls("a.test", 5))
    conf = nutch_site(tmp_path, **properties, generate__curTime=str(milliseconds(NOW)))
    found = chosen(crawl, "--conf", conf)
    assert len(found.rows) == 2
    assert found.notes.count("plugin.includes") == 1
    assert found.notes.count("db.url.normalizers") == 1


# -- which HostDb ---------------------------------------------------------------------------------------------

LIMITED = ("--max-count-expr", "gone")


def test_auto_uses_the_hostdb_once_there_is_one(tmp_path: Path) -> None:
    without = made(tmp_path / "without", urls("a.test", 5))
    found = chosen(without, *LIMITED, "--hostdb", "auto")
    assert len(found.rows) == 5
    assert found.notes.count("no HostDb is used") == 1
    with_one = made(tmp_path / "with", urls("a.test", 5), [host("a.test", gone=2)])
    assert len(chosen(with_one, *LIMITED, "--hostdb", "auto").rows) == 2


def test_off_checks_expressions_and_does_not_use_them(tmp_path: Path) -> None:
    crawl = made(tmp_path, urls("a.test", 5), [host("a.test", gone=2)])
    found = chosen(crawl, *LIMITED, "--hostdb", "off")
    assert len(found.rows) == 5
    assert "no HostDb is used" in found.notes
    assert "unknown name" in refusal(crawl, "--hostdb", "off", "--max-count-expr", "wrong")


def test_the_hostdb_of_another_crawl_may_be_cut_into_other_buckets(tmp_path: Path) -> None:
    names = [f"h{n}.test" for n in range(20)]
    other = made(tmp_path / "other", [], [host(name, gone=1) for name in names], buckets=8)
    crawl = made(tmp_path / "own", [row for name in names for row in urls(name, 3)], buckets=2)
    assert chosen(crawl, *LIMITED, "--hostdb", other / "hostdb").by_host() == dict.fromkeys(names, 1)


def test_a_hostdb_without_expressions_changes_nothing(tmp_path: Path) -> None:
    crawl = made(tmp_path, urls("a.test", 5), [host("a.test", gone=2)])
    assert len(chosen(crawl, "--hostdb", "on").rows) == 5


# -- names ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("option", "expression", "told"),
    [
        ("--max-count-expr", "conectionFailures > 1 ? 1 : 2", "did you mean 'connectionFailures'?"),
        ("--fetch-delay-expr", "dnsFailure * 10", "did you mean 'dnsFailures'?"),
        ("--max-count-expr", "fetchTime", "unknown name 'fetchTime'"),  # of a URL, not of a host
        ("--expr", "scor > 1", "did you mean 'score'?"),
        ("--expr", "hostdb.fetchd > 1", "did you mean 'hostdb.fetched'?"),
        ("--sort-by", "inlink", "did you mean 'inlinks'?"),
        ("--expr", "score >", "position 8"),
        ("--expr", "score + 1", "a boolean is needed"),
        ("--sort-by", "url", "a number is needed"),
        ("--max-count-expr", "host", "a number is needed"),
    ],
)
def test_an_expression_is_checked_before_anything_runs(
    option: str, expression: str, told: str, tmp_path: Path
) -> None:
    """Even where there is no HostDb, and nothing in the crawl."""
    assert told in refusal(made(tmp_path, []), option, expression)


def test_an_unknown_status_is_refused_with_the_nearest(tmp_path: Path) -> None:
    crawl = made(tmp_path, urls("a.test", 1))
    for option in ("--restrict-status", "--exclude-status"):
        assert "did you mean 'db_unfetched'?" in refusal(crawl, option, "unfetched")


def test_expressions_over_urls_may_look_at_the_host(tmp_path: Path) -> None:
    """An extension: `hostdb.` names; a host without a row has null for them, which makes the whole null."""
    names = ("good.test", "bad.test", "unknown.test")
    crawl = made(
        tmp_path,
        [row for name in names for row in urls(name, 2)],
        [host("good.test", fetched=9), host("bad.test", gone=9)],
    )
    found = chosen(crawl, "--expr", "hostdb.gone < 5")
    assert found.by_host() == {"good.test": 2}
    assert found.rejected == {"expression": 4}
    ordered = chosen(crawl, "--sort-by", "(hostdb.fetched ?? 1) + score", "--top-n", 4, "--gen-delay", 0)
    assert ordered.by_host() == {"good.test": 2, "unknown.test": 2}


# -- time -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "now", [NOW.isoformat(), milliseconds(NOW), "2026-11-30T12:00:00", "2026-11-30T14:00:00+02:00"]
)
def test_the_time_is_told_as_iso_8601_or_milliseconds(now: object, tmp_path: Path) -> None:
    crawldb = [
        url("http://a.test/now", fetch_time=from_now()),
        url("http://a.test/1", fetch_time=from_now(milliseconds=1)),
    ]
    found = chosen(made(tmp_path, crawldb), "--now", now)
    assert found.urls == {"http://a.test/now"}
    assert found.report["segments"][0]["name"] == "20261130120000"
    assert found.rows[0]["generate_time"] == NOW


@pytest.mark.parametrize("now", ["yesterday", "99999999999999999999", "2026-13-01"])
def test_what_is_no_time_is_refused(now: str, tmp_path: Path) -> None:
    assert "is no time" in refusal(made(tmp_path, urls("a.test", 1)), "--now", now)


def test_without_a_time_it_is_now(tmp_path: Path) -> None:
    now = datetime.now(UTC)
    times = {"past": now - timedelta(minutes=5), "future": now + timedelta(minutes=5)}
    crawldb = [url(f"http://a.test/{name}", fetch_time=milliseconds(time)) for name, time in times.items()]
    assert chosen(made(tmp_path, crawldb), "--conf", nutch_site(tmp_path)).urls == {"http://a.test/past"}


def test_add_days_looks_ahead_and_the_list_is_made_now(tmp_path: Path) -> None:
    """The look ahead neither frees what open segments lock nor makes the new one older or younger than it is."""
    crawldb = [
        url(f"http://a.test/{days}", 1 - days / 100, fetch_time=from_now(days=days)) for days in range(10)
    ]
    crawl = made(tmp_path, crawldb)
    found = chosen(crawl, "--add-days", 3.5, "--top-n", 3)
    assert found.urls == {f"http://a.test/{days}" for days in (0, 1, 2)}
    assert found.rejected == {"not_due": 6, "top_n": 1}
    assert found.report["segments"][0]["name"] == "20261130120000"
    ahead = chosen(crawl, "--add-days", 8.5)
    assert ahead.urls == {f"http://a.test/{days}" for days in range(3, 9)}
    assert ahead.rejected == {"not_due": 1, "awaiting_update": 3}


@pytest.mark.parametrize("back", [timedelta(hours=1), timedelta(days=3)])
def test_a_clock_set_back_chooses_nothing_that_is_not_due_and_frees_no_lock(
    back: timedelta, tmp_path: Path
) -> None:
    crawldb = [*urls("a.test", 3), url("http://a.test/long", 0.1, fetch_time=from_now(days=-30))]
    crawl = made(tmp_path, crawldb)
    assert len(chosen(crawl, "--top-n", 2).rows) == 2
    earlier = (NOW - back).isoformat()
    found = chosen(crawl, "--now", earlier)
    assert found.urls == {"http://a.test/long"}
    assert found.rejected == {"not_due": 3}
    # and set right again: all locks hold
    assert chosen(crawl).rejected == {"awaiting_update": 3}


def test_rows_beyond_the_longest_interval_are_due_with_the_interval_lowered(tmp_path: Path) -> None:
    """So that a clock that once ran ahead does not bury a page for years, as in Nutch."""
    rows = [
        url("http://a.test/buried", fetch_time=from_now(days=91), fetch_interval=100 * 86_400),
        url("http://a.test/waiting", fetch_time=from_now(days=90)),
    ]
    found = chosen(made(tmp_path, rows))
    assert found.urls == {"http://a.test/buried"}
    assert found.rows[0]["fetch_interval"] == 81 * 86_400
    assert found.rows[0]["fetch_time"] == NOW


def test_a_copied_crawl_gives_the_same_lists(tmp_path: Path) -> None:
    """Nothing of where a crawl lies, or when its rows came in, decides anything."""
    crawldb = [row for n in range(6) for row in urls(f"h{n}.test", 5)]
    one = made(tmp_path / "one", crawldb)
    shutil.copytree(one, tmp_path / "copy")
    two = made(tmp_path / "two", reversed(crawldb), buckets=8)
    asked: Sequence[object] = ("--top-n", 12, "--max-count", 3, "--fetchers", 3, "--seed", 5)
    places = [
        [(row["url"], row["part"], row["position"]) for row in chosen(crawl, *asked).rows]
        for crawl in (one, tmp_path / "copy", two)
    ]
    assert places[0] == places[1] == places[2]
