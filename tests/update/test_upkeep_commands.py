"""The commands over the tables: what they print, and how they end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from update_crawls import T, doc, host_facts, link, new_crawl, page, put, put_segment, url_row

from pinyon.cli import cli
from pinyon.crawl import Crawl
from pinyon.errors import InputError, PinyonError, UsageError
from pinyon.tables import CRAWLDB

A = "http://a.test/"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A crawl with one URL and a segment that waits."""
    with new_crawl(tmp_path / "crawl") as crawl:
        put(crawl, CRAWLDB, [url_row(A)])
        put_segment(crawl, "20260301000000", pages=[page(A)], docs=[doc(A)], hosts=[host_facts("a.test")])
    return tmp_path / "crawl"


def run(*arguments: object) -> Result:
    result = CliRunner().invoke(cli, [str(a) for a in arguments], catch_exceptions=True)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        assert isinstance(result.exception, PinyonError), result.exception
    return result


def test_an_update_is_undone_and_done_again(root: Path) -> None:
    assert "fetched 1" in run("updatedb", root, "--hostdb", "--now", T.isoformat()).stdout
    assert run("updatedb", root).exception.exit_status == 3  # type: ignore[union-attr]
    undone = run("restore", root, 1)
    assert "version 1 is version 3 now, 1 rows" in undone.stdout
    assert f"next: pinyon updatedb {root} applies 20260301000000 again" in undone.stdout
    assert json.loads(run("updatedb", root, "--json").stdout)["segments"] == ["20260301000000"]


def test_history_tells_what_happened(root: Path) -> None:
    run("updatedb", root)
    run("restore", root, 1)
    told = [line["operation"] for line in json.loads(run("history", root, "--json").stdout)["versions"]]
    assert told == ["restore 1", "updatedb 20260301000000", "test", "init"]


def test_vacuum_says_what_is_kept(root: Path) -> None:
    run("updatedb", root)
    assert json.loads(run("vacuum", root, "--keep-versions", 1, "--json").stdout)["kept"] == {
        "crawldb": [2],
        "hostdb": [0],
    }


def test_rebucket_waits_for_open_segments(root: Path) -> None:
    assert isinstance(run("rebucket", root, 4).exception, UsageError)
    run("updatedb", root, "--hostdb")
    assert "1 URLs, 1 hosts in 4 buckets; written: crawldb and hostdb" in run("rebucket", root, 4).stdout
    assert Crawl.open(root).store.current(CRAWLDB).buckets == 4


def test_migrate_has_nothing_to_do_on_new_tables(root: Path) -> None:
    assert run("migrate", root).stdout == "the tables are up to date\n"


def test_filters_are_applied_again_when_asked(root: Path) -> None:
    assert isinstance(run("renew", root).exception, UsageError)
    told = run("updatedb", root, "--hostdb", "--filter", "--set", "urls.deny_hosts=a.test").stdout
    assert "under the rules of now: 0 URLs; changed: host_denied 1" in told


def test_duplicates_are_marked_and_counted(root: Path) -> None:
    with Crawl.open(root) as crawl:
        put(crawl, CRAWLDB, [url_row(f"{A}{n}", "db_fetched", signature=b"same") for n in range(3)])
    told = run("dedup", root, "--order", "score,length").stdout
    assert told == "1 contents with 2 duplicates; changed: marked 2, unmarked 0\n"
    assert isinstance(run("dedup", root, "--order", "colour").exception, UsageError)


def test_the_linkdb_is_made_and_asked(root: Path) -> None:
    assert isinstance(run("invertlinks", root, "--url", A).exception, InputError)
    with Crawl.open(root) as crawl:
        put_segment(crawl, "20260302000000", links=[link("http://b.test/", A, anchor="words")])
    told = run("invertlinks", root, "--orphans-after", 1).stdout
    assert told == "linkdb: 1 links of 2 new segments; inlinks changed 1, orphaned 0, found again 0\n"
    assert run("invertlinks", root, "--url", A).stdout == "http://b.test/  words\n"
    assert json.loads(run("vacuum", root, "--json").stdout)["kept"]["linkdb"] == [2, 1, 0]
    assert "invertlinks" in run("restore", root, 1, "--table", "linkdb").stdout
