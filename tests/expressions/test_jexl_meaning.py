"""What an expression means beyond the recorded cases: nulls and failures, coercions, texts, patterns, limits."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import duckdb
import jexl_context
import pytest
from jexl_evaluator import literal

from pinyon.expressions import Type, compile


@pytest.fixture(scope="module")
def row() -> Iterator[duckdb.DuckDBPyConnection]:
    with jexl_context.table() as connection:
        yield connection


def _check(row: duckdb.DuckDBPyConnection, text: str, expected: Any) -> None:
    value = jexl_context.evaluated(row, text)
    assert (type(value), value) == (type(expected), expected), text


@pytest.mark.parametrize(
    "text",
    [
        "no_integer + 1",
        "-no_integer",
        "no_integer > 3",
        "no_text == 'x'",
        "no_text != 'x'",
        "no_integer == 0",
        "no_integer == '0'",
        "no_text == 3",
        "no_text =~ 'x'",
        "no_text !~ ['x']",
        "no_text =^ 'x'",
        "no_text + 'x'",
        "no_text.length()",
        "lang.startsWith(no_text)",
        "!no_integer",
        "no_integer > 3 || true",
        "true && no_integer > 3",
        "no_integer > 3 ? 1 : 2",
        "Math.max(no_integer, 3)",
        "no_decimal < nan",
        "nan > no_decimal",
    ],
)
def test_a_null_operand_makes_the_whole_null(row: duckdb.DuckDBPyConnection, text: str) -> None:
    _check(row, text, None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("no_integer == null", True),
        ("null != no_integer", False),
        ("lang == null", False),
        ("empty no_text", True),
        ("empty no_decimal", True),
        ("size(no_text)", 0),
        ("no_integer ?? 7", 7),
        ("no_text ?? 'x'", "x"),
        ("no_integer ?: 7", 7),
        ("no_integer ? 1 : 2", 2),
        ("null ? 1 : 2", 2),
        ("null ?: 7", 7),
        ("false && no_integer > 3", False),
        ("true || no_integer > 3", True),
        ("no_integer == null || no_integer > 3", True),
        ("no_integer != null && no_integer > 3", False),
        ("gone > 3 ? gone : no_integer", 14),
        ("(gone < 3 ? gone : no_integer) ?? 5", 5),
    ],
)
def test_a_null_may_be_looked_at(row: duckdb.DuckDBPyConnection, text: str, expected: Any) -> None:
    _check(row, text, expected)


@pytest.mark.parametrize(
    "text",
    [
        "fetched / dnsFailures ?? 7",
        "fetched / dnsFailures ?: 7",
        "fetched / dnsFailures == null",
        "empty(fetched / dnsFailures)",
        "(fetched / dnsFailures > 3) ? 1 : 2",
        "(no_integer + 1) ?? 7",
        "(gone > 3 ? fetched / dnsFailures : no_integer) ?? 7",
        "((no_integer ?? fetched / dnsFailures) ?? 1) ?? 2",
        "1.5 / 0",
        "5 % dnsFailures",
        "1.5 % 0.0",
        "largest + 1",
        "largest * 2",
        "-smallest",
        "smallest / -1",
        "Math.abs(smallest)",
        "url.substring(0, 1000)",
        "url.substring(5, 4)",
        "'x' + lang.substring(0 - 1)",
        "lang > 3",
    ],
)
def test_a_failure_is_no_null_that_could_be_replaced(row: duckdb.DuckDBPyConnection, text: str) -> None:
    _check(row, text, None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("fetched > 3 ? 1 : fetched / dnsFailures", 1),
        ("fetched / dnsFailures > 3 || true ? 1 : 2", None),
        ("true || fetched / dnsFailures > 3 ? 1 : 2", 1),
        ("size(lang.substring(9))", 0),
    ],
)
def test_what_is_not_reached_cannot_fail(row: duckdb.DuckDBPyConnection, text: str, expected: Any) -> None:
    _check(row, text, expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("7 / 2", 3),
        ("-7 / 2", -3),
        ("7 / -2", -3),
        ("-7 % 3", -1),
        ("2147483647 + 1", 2147483648),
        ("0xFFFFFFFF", 4294967295),
        ("-9223372036854775807 - 1", -(2**63)),
        ("1.5F + 0.1F", 1.6000000014901161),
        ("2D", 2.0),
        ("nan == nan", True),
        ("nan < -1e300", True),
        ("nan > 0.5", False),
        ("nan >= 0.5", False),
        ("score > nan", True),
        ("nan ? 1 : 2", 2),
        ("empty nan", True),
        ("1e308 * 10 > 1e308", True),
        ("true + true", 2),
        ("gone > 10 ? 1 : 2.5", 1.0),
        ("Math.min(3, 2.5)", 2.5),
        ("Math.max(3, 2)", 3),
        ("Math.floor(-2.5)", -3.0),
        ("Math.ceil(2)", 2.0),
        ("Math.round(2.5) + Math.round(-2.5)", 1),
        ("Math.sqrt(16)", 4.0),
        ("Math.pow(2, 10)", 1024.0),
        ("Math.log10(1000)", 3.0),
        ("Math.log(0)", -math.inf),
    ],
)
def test_numbers_are_those_of_java(row: duckdb.DuckDBPyConnection, text: str, expected: Any) -> None:
    _check(row, text, expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("seven_text > 6", True),
        ("seven_text == 7", True),
        ("seven_text == 7.0", True),
        ("half_text < 0.75", True),
        ("half_text == 1", False),
        ("half_text < 1", None),
        ("lang == 5", False),
        ("lang != 5", True),
        ("empty_text == 0", True),
        ("empty_text < 1.5", True),
        ("' 12 ' == 12", True),
        ("fetchTime < '2026-12-01T00:00:00Z'", True),
        ("modifiedTime == 1970-01-01T00:00:00Z", True),
    ],
)
def test_a_text_beside_a_number_is_read_as_one(
    row: duckdb.DuckDBPyConnection, text: str, expected: Any
) -> None:
    _check(row, text, expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"'a\tb'.length()", 3),
        (r"'\q' == '\\q'", True),
        (r'"it\'s"', r"it\'s"),
        (r"'\ud83d\ude00'", "\U0001f600"),
        ("' x '.trim()", "x"),
        ("url.indexOf('nowhere')", -1),
        ("lang.concat('-').concat('at')", "de-at"),
        ("lang.equalsIgnoreCase('DE')", True),
        ("url.contains('example') && !url.isEmpty()", True),
        ("url.endsWith('x=1')", True),
        ("url.matches('https?://.*')", True),
        ("url.matches('https')", False),
        ("'a' + true + 1", "atrue1"),
        ("fetched =~ '2.*'", True),
        ("'b' > 'a'", True),
        ("url !^ 'ftp:' && url !$ '.pdf'", True),
        ("'a\\nb' =~ 'a.b'", False),
        ("'a\\nb' =~ '(?s)a.b'", True),
        ("Content_Type =~ '(?i)TEXT/(html|plain)'", True),
    ],
)
def test_texts_and_patterns_are_those_of_java(
    row: duckdb.DuckDBPyConnection, text: str, expected: Any
) -> None:
    _check(row, text, expected)


HOSTILE = [
    "'; DROP TABLE r; --",
    "' OR '1'='1",
    "\\' OR 1=1 --",
    "''",
    "\\",
    "\\\\'",
    "$now :now ? %s {0} {sql} %(x)s",
    "$$x$$",
    "E'\\x27'",
    "/* */ -- #",
    "\x01\x1f\x7f",
    "\u2028\ufeff\u200b\U0010ffff",
    'a"b`c',
    "x" * 3000,
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_a_quoted_text_stays_a_text_whatever_it_holds(row: duckdb.DuckDBPyConnection, text: str) -> None:
    _check(row, literal(text), text)
    _check(row, f"{literal(text)} =~ [{literal(text)}]", True)
    _check(row, f"({literal(text)} + lang).startsWith({literal(text)})", True)
    assert row.execute("SELECT count(*) FROM r").fetchone() == (1,)


def test_a_pattern_cannot_leave_its_quotes(row: duckdb.DuckDBPyConnection) -> None:
    _check(row, r"""lang =~ "d'e" || lang =~ "x'\\) OR \\('" """, False)
    _check(row, r"""'it\'s' =~ 'it\'s'""", True)


def test_a_long_chain_is_one_flat_condition(row: duckdb.DuckDBPyConnection) -> None:
    chain = " || ".join(["gone==1"] * 900 + ["no_integer == null"])
    _check(row, chain, True)
    _check(row, " && ".join(["fetched>1"] * 700), True)


def test_a_hundred_levels_are_enough_for_duckdb_too(row: duckdb.DuckDBPyConnection) -> None:
    _check(row, "1 + " * 99 + "1", 100)
    _check(row, "!" * 98 + "true", True)
    _check(row, "gone > 20 ? 1 : " * 97 + "2", 2)


def test_the_result_says_its_type_and_the_names_it_needs() -> None:
    compiled = compile("lang == 'de' ? fetched : 2.5", jexl_context.SCOPE, want="number")
    assert (compiled.type, compiled.names_used) == (Type.DECIMAL, {"lang", "fetched"})
    assert not compiled.constant
    assert compile("60 * 1000", jexl_context.SCOPE).constant


def test_the_parser_is_loaded_by_the_first_expression_only() -> None:
    code = "import sys, pinyon.expressions; print('lark' in sys.modules, 'duckdb' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
