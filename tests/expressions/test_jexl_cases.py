"""What JEXL itself answered: every recorded case agrees, or is refused for a reason that stands here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb
import jexl_context
import pytest

from pinyon.errors import ExpressionError
from pinyon.expressions import Type, compile

_TYPES = {
    "Integer": Type.INTEGER,
    "Long": Type.INTEGER,
    "BigInteger": Type.INTEGER,
    "Double": Type.DECIMAL,
    "Boolean": Type.BOOLEAN,
    "String": Type.TEXT,
    "null": Type.NULL,
}

STATEMENTS = "statements are not supported"
FUNCTIONS = "functions are not supported"
BITS = "operators on bits"
RANGES = "ranges are not supported"
MAPS = "maps, sets and blocks"
LISTS = "a list stands only to the right of =~"
BESIDE = "whose value would be that"
METHOD = "is not supported"
UNKNOWN = "unknown name 'undefinedName'"

#: JEXL gives these a value, we refuse them: expression → words of the reason.
REFUSED = {
    "'true' && true": BESIDE,
    "1 && 1": BESIDE,
    "fetched && 'x'": BESIDE,
    "-16 >> 2": BITS,
    "-16 >>> 60": BITS,
    "1 << 4": BITS,
    "fetched ^ 1": BITS,
    "~fetched": BITS,
    "1..3": RANGES,
    "fetched =~ 1..300": RANGES,
    "fetched..gone": RANGES,
    "1B": "exact decimals",
    "1b": "exact decimals",
    ";": STATEMENTS,
    "do { 1 } while (false)": STATEMENTS,
    "for (var i : [1,2]) { i }": STATEMENTS,
    "if (fetched > 100) 5; else 1": STATEMENTS,
    "if (fetched > 100) { 5 } else { 1 }": STATEMENTS,
    "return fetched > 100 ? 5 : 1": STATEMENTS,
    "var x = fetched; x * 2": STATEMENTS,
    "function(x) { x }": FUNCTIONS,
    "`hello ${lang}`": "templates are not supported",
    "empty {}": MAPS,
    "{'a':1}['a']": MAPS,
    "empty [1]": LISTS,
    "empty [] ": LISTS,
    "[1,2,3].size()": METHOD,
    "conf.get('x')": METHOD,
    "fetched.toString()": METHOD,
    "lang.charAt(0)": METHOD,
    "lang.foo()": METHOD,
    "lang.hashCode()": METHOD,
    "score.intValue()": METHOD,
    "url.getClass()": METHOD,
    "url.split('/')[2]": "a quoted metadata key",
    "size(fetched)": "only texts have one",
    # JEXL takes `not` first: (not fetched) > 100
    "not fetched > 100": "'>' with a boolean",
    # JEXL looks a name up when it comes to it, we look before anything runs
    "false && undefinedName": UNKNOWN,
    "true || undefinedName": UNKNOWN,
    "fetched > 100 or undefinedName > 3": UNKNOWN,
    "undefinedName ?: 7": UNKNOWN,
    "undefinedName ?? 7": UNKNOWN,
}

#: Nutch puts milliseconds in place of a date before JEXL sees it.
DATES = {"2016-03-20T00:00:00Z": 1458432000000}

#: A choice between an integer and a decimal is a decimal for every row.
WIDENED = {"fetched < 100 ? 1.5 : 2"}

CASES = jexl_context.cases()


@pytest.fixture(scope="module")
def row() -> Iterator[duckdb.DuckDBPyConnection]:
    with jexl_context.table() as connection:
        yield connection


def _expected(case: dict[str, str]) -> Any:
    text = case["value"]
    match _TYPES[case["type"]]:
        case Type.INTEGER:
            return int(text)
        case Type.DECIMAL:
            return float(text)
        case Type.BOOLEAN:
            return {"true": True, "false": False}[text]
        case Type.TEXT:
            return text
    return None


def _with_value() -> list[dict[str, str]]:
    failures = ("PARSE_ERROR", "RUN_ERROR")
    return [case for case in CASES if case["type"] not in failures and case["expr"] not in REFUSED]


@pytest.mark.parametrize("case", _with_value(), ids=lambda case: case["expr"])
def test_type_and_value_are_those_of_jexl(row: duckdb.DuckDBPyConnection, case: dict[str, str]) -> None:
    compiled = compile(case["expr"], jexl_context.SCOPE)
    value = jexl_context.evaluated(row, case["expr"])
    if case["expr"] in WIDENED:
        assert (compiled.type, value) == (Type.DECIMAL, float(case["value"]))
        return
    assert compiled.type is _TYPES[case["type"]]
    # The record has lost white space at the ends of values.
    assert (value.strip() if isinstance(value, str) else value) == _expected(case)
    assert value is None or type(value) is type(_expected(case))


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_not_supported_is_refused_for_its_reason(text: str) -> None:
    with pytest.raises(ExpressionError) as refusal:
        compile(text, jexl_context.SCOPE)
    assert REFUSED[text] in str(refusal.value)


def test_the_list_of_refusals_holds_nothing_but_recorded_cases() -> None:
    with_value = {case["expr"] for case in CASES if case["type"] not in ("PARSE_ERROR", "RUN_ERROR")}
    assert with_value >= REFUSED.keys()


@pytest.mark.parametrize(
    "text", [c["expr"] for c in CASES if c["type"] == "PARSE_ERROR" and c["expr"] not in DATES]
)
def test_what_jexl_cannot_parse_is_refused(text: str) -> None:
    with pytest.raises(ExpressionError, match=r": position \d+: ."):
        compile(text, jexl_context.SCOPE)


@pytest.mark.parametrize("text", DATES)
def test_a_bare_date_is_milliseconds_as_in_nutch(row: duckdb.DuckDBPyConnection, text: str) -> None:
    assert jexl_context.evaluated(row, text) == DATES[text]


@pytest.mark.parametrize("text", [c["expr"] for c in CASES if c["type"] == "RUN_ERROR"])
def test_what_fails_in_jexl_is_refused_or_null(row: duckdb.DuckDBPyConnection, text: str) -> None:
    try:
        value = jexl_context.evaluated(row, text)
    except ExpressionError:
        return
    assert value is None
