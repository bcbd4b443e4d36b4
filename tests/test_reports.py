"""Reports: what they tell is what the tables hold, in a fixed order, and they change nothing."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from pinyon.crawl import Crawl
from pinyon.cycle.generate import generate
from pinyon.cycle.inject import inject
from pinyon.cycle.updatehostdb import updatehostdb
from pinyon.errors import EngineError, StoreError, UsageError
from pinyon.reports.history import history
from pinyon.reports.readdb import crawldb_stats, dump, host_row, hostdb_stats, query, top, url_row
from pinyon.reports.readseg import dump_segment, segment_rows, segment_stats
from pinyon.reports.status import fetching, segment_lines, status

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.fixture
def filled(crawl: Crawl, tmp_path: Path) -> Crawl:
    """Twenty URLs on four hosts, scores 0 to 4, half of them injected a day later."""
    for day in range(2):
        lines = [
            f"http://h{n % 4}.test/{n}\tscore={n % 5}\tlist=l{day}" for n in range(day * 10, day * 10 + 10)
        ]
        (tmp_path / "seeds.txt").write_text("\n".join(lines))
        inject(crawl, [tmp_path / "seeds.txt"], now=NOW + timedelta(days=day))
    updatehostdb(crawl)
    return crawl


def test_totals_are_those_of_the_rows(filled: Crawl) -> None:
    stats = crawldb_stats(filled, now=NOW + timedelta(hours=1))
    totals = dict(stats.totals)
    assert (totals["urls"], totals["hosts"], totals["domains"]) == (20, 4, 4)
    assert (totals["due"], totals["failing"]) == (10, 0)
    assert (totals["min_score"], totals["mean_score"], totals["max_score"]) == (0.0, 2.0, 4.0)
    assert totals["earliest_fetch_time"] == NOW
    assert totals["latest_fetch_time"] == NOW + timedelta(days=1)
    assert stats.by_status == {"db_unfetched": 20}
    assert stats.by_depth == {0: 20}
    assert hostdb_stats(filled) | {"unfetched": 0, "num_records": 0} == {
        **dict.fromkeys(hostdb_stats(filled), 0),
        "hosts": 4,
    }
    assert hostdb_stats(filled)["num_records"] == 20


def test_an_empty_crawl_has_totals_too(crawl: Crawl) -> None:
    stats = crawldb_stats(crawl)
    assert stats.totals["urls"] == 0 and stats.by_status == {} == stats.by_depth
    assert hostdb_stats(crawl)["hosts"] == 0
    assert top(crawl, "crawldb", 5) == [] == top(crawl, "hostdb", 5)


def test_the_first_come_in_a_fixed_order(filled: Crawl) -> None:
    rows = top(filled, "crawldb", 8)
    assert [row["score"] for row in rows] == [4.0] * 4 + [3.0] * 4
    keys = [
        filled.engine.rows("SELECT url_key FROM crawldb WHERE url = :u", {"u": r["url"]})[0]["url_key"]
        for r in rows
    ]
    assert keys[:4] == sorted(keys[:4]) and keys[4:] == sorted(keys[4:])
    assert [row["host"] for row in top(filled, "hostdb", 9)] == ["h0.test", "h1.test", "h2.test", "h3.test"]
    assert {row["url"] for row in top(filled, "crawldb", 99, host="HTTP://H1.test:80/x")} == {
        f"http://h1.test/{n}" for n in range(1, 20, 4)
    }
    assert len(top(filled, "crawldb", 99, where="score > 3")) == 4


def test_a_url_and_a_host_are_found_in_any_spelling(filled: Crawl) -> None:
    for spelling in ("http://h1.test/1", "HTTP://H1.TEST:80/x/../1#y"):
        row = url_row(filled, spelling)
        assert row is not None and row["url"] == "http://h1.test/1" and row["metadata"] == {"list": "l0"}
    assert url_row(filled, "http://h1.test/nowhere") is None is url_row(filled, "no url")
    for spelling in ("h1.test", "H1.TEST", "http://h1.test/x"):
        host = host_row(filled, spelling)
        assert host is not None and host["num_records"] == 5
    assert host_row(filled, "nowhere.test") is None


def test_older_versions_are_read_as_they_were(filled: Crawl) -> None:
    assert crawldb_stats(filled, at_version=1).totals["urls"] == 10
    assert len(top(filled, "crawldb", 99, at_version=1)) == 10
    assert url_row(filled, "http://h3.test/19", at_version=1) is None
    with pytest.raises(StoreError, match="version 7"):
        crawldb_stats(filled, at_version=7)
    told = [(version.version, version.operation, version.kept) for version in history(filled)]
    assert told == [(2, "inject (keep)", True), (1, "inject (keep)", True), (0, "init", True)]


def test_a_dump_has_all_rows_or_those_asked_for(filled: Crawl, tmp_path: Path) -> None:
    assert dump(filled, "crawldb", tmp_path / "a.jsonl") == 20
    rows = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()]
    assert {row["url"] for row in rows} == {f"http://h{n % 4}.test/{n}" for n in range(20)}
    assert rows[0]["metadata"] in ({"list": "l0"}, {"list": "l1"}) and rows[0]["signature"] is None
    assert dump(filled, "crawldb", tmp_path / "b.csv", host="h2.test") == 5
    assert dump(filled, "crawldb", tmp_path / "c.parquet", where="score == 0") == 4
    assert dump(filled, "hostdb", tmp_path / "d.csv") == 4
    with pytest.raises(UsageError):
        dump(filled, "crawldb", tmp_path / "e.txt")


def test_a_query_sees_all_tables_and_a_second_one_too(filled: Crawl) -> None:
    generate(filled, now=NOW, top_n=3)
    for _ in range(2):
        names, rows = query(filled, "SELECT count(*) AS n, max(position) AS last FROM fetchlist")
        assert (names, list(rows)) == (["n", "last"], [(3, 2)])
    for table in ("crawldb", "hostdb", "fetchlist", "pages", "hosts", "links", "docs"):
        list(query(filled, f"SELECT * FROM {table}")[1])
    with pytest.raises(EngineError):
        query(filled, "SELECT * FROM nosuch")


def test_reports_take_no_lock_and_change_nothing(filled: Crawl) -> None:
    generate(filled, now=NOW)
    name = next(iter(filled.segments)).name

    def files() -> dict[str, float]:
        return {
            str(p): p.stat().st_mtime for p in filled.root.rglob("*") if ".tmp" not in p.parts and p.is_file()
        }

    before = files()
    with filled.writing("test"):
        held = files()
        reads: list[Callable[[], Any]] = [
            lambda: status(filled),
            lambda: crawldb_stats(filled),
            lambda: segment_stats(filled, name),
            lambda: history(filled),
            lambda: segment_rows(filled, name, "fetchlist"),
        ]
        for read in reads:
            assert read()
        assert files().keys() == held.keys()
    assert files() == before


# -- segments and status --------------------------------------------------------------------------------------


def test_a_segment_tells_its_state_and_rows(filled: Crawl, tmp_path: Path) -> None:
    generate(filled, now=NOW, top_n=6, fetchers=2, seed=1)
    segment = next(iter(filled.segments))
    stats = segment_stats(filled, segment.name)
    assert (stats["state"], stats["urls"], stats["links"], stats["outcomes"]) == ("generated", 6, 0, {})
    assert sum(part["urls"] for part in stats["parts"]) == 6
    rows = segment_rows(filled, segment.name, "fetchlist", limit=4)
    assert [(row["part"], row["position"]) for row in rows] == sorted(
        (r["part"], r["position"]) for r in rows
    )
    assert segment_rows(filled, segment.name, "fetchlist", url=rows[0]["url"])[0]["url"] == rows[0]["url"]
    assert dump_segment(filled, segment.name, tmp_path / "list.jsonl") == 6
    order = [json.loads(line) for line in (tmp_path / "list.jsonl").read_text().splitlines()]
    assert [(r["list"], r["part"], r["position"]) for r in order] == sorted(
        (r["list"], r["part"], r["position"]) for r in order
    )
    with pytest.raises(UsageError, match="wanted one of fetchlist, pages"):
        segment_rows(filled, segment.name, "pics")
    with pytest.raises(StoreError, match="no segment"):
        segment_stats(filled, "20200101000000")


def test_the_next_command_follows_the_state(crawl: Crawl, tmp_path: Path) -> None:
    assert status(crawl).next == f"pinyon inject {crawl.root} SEEDS"
    (tmp_path / "seeds.txt").write_text("http://a.test/\n")
    inject(crawl, [tmp_path / "seeds.txt"], now=NOW)
    assert status(crawl).next == f"pinyon generate {crawl.root}"
    generate(crawl, now=NOW)
    segment = next(iter(crawl.segments))
    for state, command in (("generated", "fetch"), ("fetched", "parse"), ("parsed", "updatedb")):
        segment.advance(state)
        told = status(crawl)
        assert told.next == f"pinyon {command} {crawl.root}"
        assert [(line.name, line.state, line.urls) for line in told.open_segments] == [
            (segment.name, state, 1)
        ]


def test_live_counters_are_read_whole_and_only_while_they_live(crawl: Crawl, tmp_path: Path) -> None:
    (tmp_path / "seeds.txt").write_text("".join(f"http://h{n}.test/\n" for n in range(10)))
    inject(crawl, [tmp_path / "seeds.txt"], now=NOW)
    generate(crawl, now=NOW)
    segment = next(iter(crawl.segments))
    pages = segment.folder("pages")
    pages.mkdir(exist_ok=True)
    counters = {"captured": 4, "elapsed_s": 8.0, "active": 2, "received_bytes": 100, "waiting": {}}
    (pages / "part-00000.progress.json").write_text(json.dumps(counters))
    (pages / "part-00001.progress.json").write_text('{"captured": ')
    (pages / "part-00002.progress.json").write_text(json.dumps(counters))
    old = time.time() - 100
    os.utime(pages / "part-00002.progress.json", (old, old))
    assert fetching(segment) == [
        {"segment": segment.name, "part": "part-00000", "urls": 10, "left_s": 12.0, **counters}
    ]
    assert status(crawl).fetching == fetching(segment)
    (segment.path / "segment.json").write_text("torn")
    assert fetching(segment) == [{"segment": segment.name, "part": "part-00000", **counters}]
    assert [line.state for line in segment_lines(crawl)] == ["broken"]
