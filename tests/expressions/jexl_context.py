"""The one row in which the recorded JEXL cases were evaluated, as a DuckDB table and as a scope."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import duckdb

from pinyon.expressions import Name, Scope, Type, compile

DATA = Path(__file__).parents[1] / "data" / "jexl"

I, D, T, N = Type.INTEGER, Type.DECIMAL, Type.TEXT, Type.NULL  # noqa: E741

ROW: dict[str, tuple[Type, Any]] = {
    "dnsFailures": (I, 0),
    "connectionFailures": (I, 120),
    "unfetched": (I, 3000),
    "fetched": (I, 250),
    "notModified": (I, 7),
    "redirTemp": (I, 2),
    "redirPerm": (I, 0),
    "gone": (I, 14),
    "avgTime": (D, 3.5),
    "count_int": (I, 41),
    "Content_Type": (T, "text/html"),
    "lang": (T, "de"),
    "empty_text": (T, ""),
    "nothing": (N, None),
    "url": (T, "https://www.example.org/a/b.html?x=1"),
    "status": (T, "db_unfetched"),
    "signature": (T, "d41d8cd98f00b204e9800998ecf8427e"),
    "score": (D, 0.75),
    "interval": (I, 2592000),
    "retries": (I, 2),
    "fetchTime": (I, 1790000000000),
    "modifiedTime": (I, 0),
    # not in the recorded context: what a row may lack, of each type, and some awkward texts
    "no_integer": (I, None),
    "no_decimal": (D, None),
    "no_text": (T, None),
    "nan": (D, float("nan")),
    "largest": (I, 2**63 - 1),
    "smallest": (I, -(2**63)),
    "seven_text": (T, "7"),
    "half_text": (T, "0.5"),
}

_SQL_TYPES = {I: "BIGINT", D: "DOUBLE", T: "VARCHAR", N: "INTEGER"}

#: Names that every row has a value for, so that the shorter SQL is tried too.
ALWAYS = {"fetched", "gone", "score", "url"}


def scope(quote: str = '"') -> Scope:
    return Scope(
        {
            name: Name(f"r.{quote}{name}{quote}", type_, nullable=name not in ALWAYS)
            for name, (type_, _) in ROW.items()
        }
    )


SCOPE = scope()


def cases() -> list[dict[str, str]]:
    return [json.loads(line) for line in (DATA / "cases.jsonl").read_text(encoding="utf-8").splitlines()]


def other_rows(count: int) -> list[dict[str, Any]]:
    """Rows of the same columns with other values, among them nulls, zeros and limits; always the same ones."""
    values: dict[Type, list[Any]] = {
        I: [None, 0, 1, -1, 7, 250, 2**63 - 1, -(2**63)],
        D: [None, 0.0, 0.5, -3.25, 1e300, float("nan"), float("inf"), float("-inf")],
        T: [None, "", "de", "false", "7", "0.5", "it's", "https://a.test/x"],
        N: [None],
    }
    random = Random(20)
    return [
        {name: random.choice(values[type_][name in ALWAYS :]) for name, (type_, _) in ROW.items()}
        for _ in range(count)
    ]


def table(rows: Sequence[Mapping[str, Any]] = ()) -> duckdb.DuckDBPyConnection:
    """A connection with the row, or other rows, as table `r`, numbered by `number`."""
    connection = duckdb.connect()
    columns = ", ".join(f'"{name}" {_SQL_TYPES[type_]}' for name, (type_, _) in ROW.items())
    connection.execute(f"CREATE TABLE r (number INTEGER, {columns})")
    marks = ", ".join("?" * (len(ROW) + 1))
    for number, values in enumerate(rows or [{name: value for name, (_, value) in ROW.items()}]):
        connection.execute(f"INSERT INTO r VALUES ({marks})", [number, *values.values()])
    return connection


def evaluated(connection: duckdb.DuckDBPyConnection, text: str) -> Any:
    """The value of an expression in the row."""
    row = connection.execute(f"SELECT {compile(text, SCOPE).sql} FROM r").fetchone()
    assert row is not None
    return row[0]
