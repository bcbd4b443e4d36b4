"""Which names an expression may use, and what they are worth on rows of the real tables."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import duckdb
import pytest

from pinyon.errors import ExpressionError
from pinyon.expressions import (
    Scope,
    Type,
    compile,
    explain,
    host_scope,
    text_type,
    text_type_sql,
    url_scope,
    widest,
)
from pinyon.tables import CRAWLDB, HOSTDB, TableSpec

I, D, T = Type.INTEGER, Type.DECIMAL, Type.TEXT  # noqa: E741

URL_METADATA = {
    "Content-Type": T,
    "boost": D,
    "count": I,
    "depth": I,
    "score": T,
    "a-b": T,
    "a_b": T,
    "x.y": T,
    "x/y": T,
    "it's": T,
    "size": T,
}
HOST_METADATA = {"q": I, "Content-Type.text/html": I, "domain": T}

HOSTS = host_scope("h", HOST_METADATA)
URLS = url_scope("c", URL_METADATA, HOSTS)


def _insert(connection: duckdb.DuckDBPyConnection, table: TableSpec, values: dict[str, Any]) -> None:
    connection.execute(f"CREATE TABLE {table.name} AS {table.empty_sql()}")
    metadata = values.pop("metadata")
    columns = ", ".join([*values, "metadata"])
    marks = ", ".join("?" * len(values))
    connection.execute(
        f"INSERT INTO {table.name} ({columns}) VALUES ({marks}, map(?::VARCHAR[], ?::VARCHAR[]))",
        [*values.values(), list(metadata), list(metadata.values())],
    )


@pytest.fixture(scope="module")
def tables() -> Iterator[duckdb.DuckDBPyConnection]:
    due = datetime(2026, 9, 10, tzinfo=UTC)
    with duckdb.connect() as connection:
        _insert(
            connection,
            CRAWLDB,
            {
                "url": "https://a.test/",
                "host": "a.test",
                "domain": "a.test",
                "status": "db_fetched",
                "fetch_time": due,
                "fetch_interval": 86400,
                "retries": 2,
                "score": 0.75,
                "inlinks": 5,
                "depth": 1,
                "signature": bytes.fromhex("d41d8c"),
                "metadata": {
                    "Content-Type": "text/html",
                    "boost": "1.5",
                    "count": "-7",
                    "depth": "6",
                    "score": "own",
                    "a-b": "hyphen",
                    "a_b": "underscore",
                    "x.y": "dot",
                    "it's": "quote",
                    "size": "large",
                },
            },
        )
        _insert(
            connection,
            HOSTDB,
            {
                "host": "a.test",
                "domain": "a.test",
                "score": 0.5,
                "last_check": due,
                "dns_failures": 0,
                "connection_failures": 120,
                "fetched": 250,
                "not_modified": 7,
                "redir_temp": 2,
                "redir_perm": 1,
                "num_records": 260,
                "crawl_delay_ms": 1500,
                "rt_p95_ms": 900,
                "metadata": {"q": "3", "Content-Type.text/html": "41", "domain": "of the metadata"},
            },
        )
        yield connection


def _value(tables: duckdb.DuckDBPyConnection, scope: Scope, text: str, source: str) -> Any:
    row = tables.execute(f"SELECT {compile(text, scope).sql} FROM {source}").fetchone()
    assert row is not None
    return row[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("url", "https://a.test/"),
        ("status", "db_fetched"),
        ("fetchTime", 1788998400000),
        ("fetch_time", 1788998400000),
        ("fetchTime == 2026-09-10T00:00:00Z", True),
        ("modifiedTime", 0),
        ("lastFetchTime", None),
        ("interval", 86400),
        ("fetchInterval", 86400),
        ("retries + 32767", 32769),
        ("score", 0.75),
        ("signature", "d41d8c"),
        ("etag == null", True),
        ("inlinks", 5),
        ("host + ' ' + domain", "a.test a.test"),
    ],
)
def test_the_columns_of_a_url_have_names(tables: duckdb.DuckDBPyConnection, text: str, expected: Any) -> None:
    assert _value(tables, URLS, text, "crawldb c, hostdb h") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Content_Type", "text/html"),
        ("metadata.Content_Type", "text/html"),
        ("metadata['Content-Type']", "text/html"),
        ('metadata["Content-Type"]', "text/html"),
        ("boost * 2", 3.0),
        ("count + 1", -6),
        ("metadata['it\\'s']", "quote"),
        ("metadata['size']", "large"),
        ("metadata.size", "large"),
        ("x_y", None),
    ],
)
def test_metadata_keys_are_names_of_their_widest_type(
    tables: duckdb.DuckDBPyConnection, text: str, expected: Any
) -> None:
    if expected is None:
        with pytest.raises(ExpressionError, match="unknown name 'x_y'"):
            compile(text, URLS)
    else:
        assert _value(tables, URLS, text, "crawldb c, hostdb h") == expected


def test_a_key_that_needs_no_change_keeps_its_name(tables: duckdb.DuckDBPyConnection) -> None:
    assert _value(tables, URLS, "a_b", "crawldb c") == "underscore"
    assert _value(tables, URLS, "metadata['a-b']", "crawldb c") == "hyphen"


def test_a_name_of_nutch_is_never_hidden_by_metadata(tables: duckdb.DuckDBPyConnection) -> None:
    assert _value(tables, URLS, "score", "crawldb c") == 0.75
    assert _value(tables, URLS, "metadata.score", "crawldb c") == "own"


def test_a_column_that_nutch_does_not_have_gives_way_to_metadata(tables: duckdb.DuckDBPyConnection) -> None:
    assert _value(tables, URLS, "depth", "crawldb c") == 6
    assert _value(tables, URLS, "crawldb.depth", "crawldb c") == 1
    assert _value(tables, HOSTS, "domain", "hostdb h") == "of the metadata"
    assert _value(tables, HOSTS, "hostdb.domain", "hostdb h") == "a.test"
    assert _value(tables, url_scope("c", {}), "depth", "crawldb c") == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("dnsFailures", 0),
        ("connectionFailures > 100 ? 10 : 1000", 10),
        ("connection_failures", 120),
        ("notModified + redirTemp + redirPerm", 10),
        ("redirs", 3),
        ("ok", 257),
        ("numRecords", 260),
        ("score * 2", 1.0),
        ("lastCheck", 1788998400000),
        ("crawlDelay", 1500),
        ("crawlDelayMs ?? 7", 1500),
        ("retryAt ?? 7", 7),
        ("rtP95Ms", 900),
        ("homepageUrl == null", True),
        ("q", 3),
        ("metadata['Content-Type.text/html'] * 2", 82),
        ("Content_Type_text_html", 41),
    ],
)
def test_the_columns_of_a_host_have_names(
    tables: duckdb.DuckDBPyConnection, text: str, expected: Any
) -> None:
    assert _value(tables, HOSTS, text, "hostdb h") == expected


def test_every_column_has_a_name_in_both_spellings() -> None:
    for table, scope in ((HOSTDB, HOSTS), (CRAWLDB, URLS)):
        assert scope.names.keys() >= set(table.names) - {"metadata"}
    assert HOSTS.names.keys() >= {"robotsDenied", "parseFailed", "robotsDigest", "rtAvgMs", "ip"}


def test_the_names_of_the_host_stand_behind_a_prefix(tables: duckdb.DuckDBPyConnection) -> None:
    assert _value(tables, URLS, "hostdb.fetched > inlinks", "crawldb c, hostdb h") is True
    assert _value(tables, URLS, "hostdb.metadata['q'] + hostdb.q", "crawldb c, hostdb h") == 6
    with pytest.raises(ExpressionError, match="unknown name 'fetched'"):
        compile("fetched > 3", URLS)


def test_a_url_without_a_host_row_has_null_for_its_names(tables: duckdb.DuckDBPyConnection) -> None:
    source = "crawldb c LEFT JOIN hostdb h ON false"
    assert _value(tables, URLS, "hostdb.fetched > 3 || true", source) is None
    assert _value(tables, URLS, "(hostdb.fetched ?? 0) > 3 || true", source) is True


def test_counters_give_plain_sql() -> None:
    compiled = compile("gone > fetched && unfetched != 0", HOSTS, want="boolean")
    assert compiled.sql == "((h.gone > h.fetched) AND (NOT (h.unfetched = CAST(0 AS BIGINT))))"


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("12", I),
        ("-007", I),
        ("+5", I),
        ("1234567890123456789", D),
        ("1.5", D),
        (".5", D),
        ("1.", D),
        ("1e-7", D),
        ("", T),
        ("nan", T),
        ("inf", T),
        ("0x1F", T),
        ("1_000", T),
        (" 1", T),
        ("1\n", T),
        ("١٢", T),
        ("1e9999", T),
    ],
)
def test_a_metadata_text_has_the_same_type_in_python_and_sql(
    tables: duckdb.DuckDBPyConnection, text: str, type_: Type
) -> None:
    row = tables.execute(f"SELECT {text_type_sql('x')} FROM (SELECT ?::VARCHAR AS x)", [text]).fetchone()
    assert row == (type_.value,)
    assert text_type(text) is type_


def test_the_widest_type_holds_all_values() -> None:
    assert widest([I, D, I]) is D
    assert widest([D, T]) is T
    assert widest([I]) is I


def test_explain_prints_what_was_understood() -> None:
    lines = explain("count > 3 ? 1 : boost", URLS).splitlines()
    assert [line.split()[:3] for line in lines] == [
        ["11", "number", "?"],
        ["7", "boolean", ">"],
        ["1", "integer", "count"],
        ["9", "integer", "3"],
        ["13", "decimal", "1.0"],
        ["17", "number", "as"],
        ["17", "decimal", "boost"],
    ]
    with pytest.raises(ExpressionError, match="unknown name 'cuont'"):
        explain("cuont > 3", URLS)
