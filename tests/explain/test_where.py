"""readdb and readhostdb --where: the rows for which an expression holds, of the names that generate knows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from crawls import host_row, url_row
from explain_crawls import put

from command_line import run_pinyon
from pinyon.crawl import Crawl
from pinyon.errors import ExpressionError
from pinyon.reports.readdb import crawldb_stats, dump, hostdb_stats, top
from pinyon.tables import CRAWLDB, HOSTDB


@pytest.fixture
def filled(crawl: Crawl) -> Crawl:
    rows = [
        url_row(f"http://{host}/{n}", n, inlinks=n, metadata={"kind": "feed"} if n == 3 else {})
        for host in ("a.one.com", "b.one.com", "d.two.co.uk")
        for n in range(4)
    ]
    put(crawl, CRAWLDB, rows, {"kind": "text"})
    hosts = [host_row("a.one.com", num_records=4), host_row("b.one.com", num_records=4, dns_failures=3)]
    put(crawl, HOSTDB, hosts)
    return crawl


def test_urls_are_counted_by_what_they_and_their_host_are(filled: Crawl) -> None:
    assert crawldb_stats(filled, where="inlinks > 1").totals["urls"] == 6
    assert crawldb_stats(filled, where="inlinks > 1 && hostdb.dnsFailures > 0").totals["hosts"] == 1
    assert crawldb_stats(filled, where="kind == 'feed'").totals["urls"] == 3
    assert crawldb_stats(filled).totals["urls"] == 12


def test_a_row_for_which_it_is_null_is_left_out(filled: Crawl) -> None:
    assert crawldb_stats(filled, where="hostdb.dnsFailures == 0").totals["urls"] == 4
    assert crawldb_stats(filled, where="not (hostdb.dnsFailures == 0)").totals["urls"] == 4


def test_hosts_are_counted_and_listed_by_it(filled: Crawl) -> None:
    assert hostdb_stats(filled, where="dnsFailures > 0")["hosts"] == 1
    assert [row["host"] for row in top(filled, "hostdb", 5, where="dnsFailures == 0")] == ["a.one.com"]


def test_it_goes_together_with_a_host(filled: Crawl) -> None:
    found = top(filled, "crawldb", 5, host="b.one.com", where="inlinks < 2")
    assert [row["url"] for row in found] == ["http://b.one.com/1", "http://b.one.com/0"]


def test_a_dump_holds_what_it_asks_for(filled: Crawl, tmp_path: Path) -> None:
    file = tmp_path / "some.jsonl"
    assert dump(filled, "crawldb", file, where="inlinks == 2") == 3
    assert {json.loads(line)["inlinks"] for line in file.read_text(encoding="utf-8").splitlines()} == {2}


def test_an_older_version_is_asked_by_it(filled: Crawl) -> None:
    old = filled.store.current(CRAWLDB).version
    put(filled, CRAWLDB, [url_row("http://a.one.com/new")])
    assert crawldb_stats(filled, where="inlinks == 2", at_version=old).totals["urls"] == 3
    assert crawldb_stats(filled, where="inlinks == 2").totals["urls"] == 0


def test_an_expression_that_is_no_condition_is_refused(filled: Crawl) -> None:
    with pytest.raises(ExpressionError, match="a boolean is needed"):
        crawldb_stats(filled, where="score")
    with pytest.raises(ExpressionError, match="did you mean 'inlinks'"):
        top(filled, "crawldb", 5, where="inlink > 3")


def test_the_command_line_takes_it(filled: Crawl) -> None:
    filled.close()
    done = run_pinyon("readdb", filled.root, "--top", 3, "--where", "inlinks > 2", "--json")
    assert [row["inlinks"] for row in json.loads(done.stdout)["rows"]] == [3, 3, 3]
    done = run_pinyon("readhostdb", filled.root, "--where", "dnsFailures > 0", "--json")
    assert json.loads(done.stdout)["hosts"] == 1
    refused = run_pinyon("readdb", filled.root, "--where", "inlinks >")
    assert (refused.status, refused.stdout, refused.stderr.count("\n")) == (2, "", 1)
