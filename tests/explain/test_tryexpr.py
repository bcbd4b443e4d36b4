"""expr tries an expression on one row or on all of them: value, type, the values of the names it uses."""

from __future__ import annotations

import pytest
from crawls import host_row, url_row
from explain_crawls import put

from pinyon.crawl import Crawl
from pinyon.cycle.tryexpr import SHOWN, tryexpr
from pinyon.errors import ExpressionError, InputError, UsageError
from pinyon.tables import CRAWLDB, HOSTDB


@pytest.fixture
def filled(crawl: Crawl) -> Crawl:
    """Two hosts with rows in the HostDb, one without."""
    hosts = ("a.one.com", "b.one.com", "d.two.co.uk")
    rows = [url_row(f"http://{host}/{n}", n / 2, inlinks=n) for host in hosts for n in range(4)]
    put(crawl, CRAWLDB, rows)
    told = [
        host_row("a.one.com", 7, connection_failures=120),
        host_row("b.one.com", connection_failures=3, crawl_delay_ms=2000),
    ]
    put(crawl, HOSTDB, told, {"limit": "integer"})
    return crawl


def test_for_a_host_it_gives_value_type_and_the_names_it_used(filled: Crawl) -> None:
    found = tryexpr(filled, "connectionFailures > 100 ? limit : 1000", host="https://A.one.com/x")
    assert (found.of, found.type, found.value) == ("a.one.com", "integer", 7)
    assert found.names == {"connectionFailures": 120, "limit": 7}


def test_for_a_url_the_names_of_its_host_stand_behind_hostdb(filled: Crawl) -> None:
    found = tryexpr(filled, "inlinks + hostdb.connectionFailures", url="HTTP://B.one.com/2")
    assert (found.of, found.value) == ("http://b.one.com/2", 5)
    assert found.names == {"hostdb.connectionFailures": 3, "inlinks": 2}


def test_what_is_not_known_is_null(filled: Crawl) -> None:
    found = tryexpr(filled, "hostdb.connectionFailures / 2.0", url="http://d.two.co.uk/0")
    assert (found.type, found.value, found.names) == ("decimal", None, {"hostdb.connectionFailures": None})


def test_over_all_hosts_a_condition_is_counted_by_value(filled: Crawl) -> None:
    found = tryexpr(filled, "limit > 3", every="auto")
    assert found.of == "hosts"
    assert found.summary is not None
    assert (found.summary.rows, found.summary.nulls, found.summary.counts) == (2, 1, {"true": 1})
    assert found.summary.mean is None
    assert found.summary.first == [{"key": "a.one.com", "value": True}, {"key": "b.one.com", "value": None}]


def test_over_all_urls_a_number_has_its_range_and_mean(filled: Crawl) -> None:
    found = tryexpr(filled, "inlinks * 2", every="auto")  # hosts have no inlinks
    assert found.of == "urls"
    assert found.summary is not None
    assert (found.summary.minimum, found.summary.mean, found.summary.maximum) == (0, 3, 6)
    assert (found.summary.rows, found.summary.nulls, found.summary.counts) == (12, 0, {})
    assert len(found.summary.first) == SHOWN


def test_texts_are_counted_most_frequent_first(filled: Crawl) -> None:
    summary = tryexpr(filled, "score >= 1 ? 'good' : (inlinks == 0 ? 'none' : 'some')", every="urls").summary
    assert summary is not None
    assert list(summary.counts.items()) == [("good", 6), ("none", 3), ("some", 3)]


def test_a_constant_and_the_word_null_are_expressions_too(filled: Crawl) -> None:
    assert tryexpr(filled, "40 + 2", host="a.one.com").value == 42
    found = tryexpr(filled, "null", every="hosts")
    assert found.summary is not None
    assert (found.type, found.summary.nulls) == ("null", 2)


def test_the_tree_shows_how_it_was_understood(filled: Crawl) -> None:
    tree = tryexpr(filled, "1 + limit * 2", host="a.one.com", tree=True).tree
    assert tree is not None
    assert [line.split()[2] for line in tree.splitlines()] == ["+", "1", "*", "limit", "2"]


def test_an_unknown_name_is_an_error_with_the_nearest_one(filled: Crawl) -> None:
    with pytest.raises(ExpressionError, match="'conectionFailures', did you mean 'connectionFailures'"):
        tryexpr(filled, "conectionFailures > 3", host="a.one.com")
    with pytest.raises(ExpressionError, match="'inlinx', did you mean 'inlinks'"):
        tryexpr(filled, "inlinx > 3", every="auto")


def test_a_row_that_is_not_there_is_an_error(filled: Crawl) -> None:
    with pytest.raises(InputError, match=r"d\.two\.co\.uk: not in the HostDb"):
        tryexpr(filled, "1", host="d.two.co.uk")
    with pytest.raises(InputError, match="nowhere: not in the crawldb"):
        tryexpr(filled, "1", url="http://nowhere")


def test_it_is_tried_on_one_thing(filled: Crawl) -> None:
    for given in ({}, {"host": "a.one.com", "url": "http://a.one.com/0"}):
        with pytest.raises(UsageError, match="tried on one of"):
            tryexpr(filled, "1", **given)
    with pytest.raises(UsageError, match="'host': wanted hosts, urls or auto, did you mean 'hosts'"):
        tryexpr(filled, "1", every="host")


def test_tables_without_rows_give_an_empty_summary(crawl: Crawl) -> None:
    for every in ("hosts", "urls"):
        summary = tryexpr(crawl, "score", every=every).summary
        assert summary is not None
        assert (summary.rows, summary.mean, summary.first) == (0, None, [])
