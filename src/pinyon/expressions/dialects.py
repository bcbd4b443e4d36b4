"""How each engine spells what an expression needs: the only place where they differ.

A template's `{0}`, `{1}` … are the operands, already SQL and parenthesised where needed. Every template gives
NULL if an operand is NULL, never an error, whatever the operands hold: a plan may evaluate it for rows that
the expression itself would have skipped.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from pinyon import regexes

DialectName = Literal["duckdb", "spark"]

#: What Java's `parseDouble` and metadata take for a number, as regular expressions of every engine.
INTEGER_TEXT = r"[+-]?[0-9]{1,18}"
DECIMAL_TEXT = r"[+-]?(?:[0-9]+[.]?[0-9]*|[.][0-9]+)(?:[eE][+-]?[0-9]{1,3})?"

_NAN = "CAST('NaN' AS DOUBLE)"
#: Java's `trim` cuts everything up to the space; a text holds no NUL.
_BLANKS = "".join(map(chr, range(1, 33)))

_COMMON = {
    # INTEGER (BIGINT): what does not fit fails
    "%": "({0} % nullif({1}, 0))",
    "% safe": "({0} % {1})",
    # DECIMAL (DOUBLE): IEEE 754, but a division by zero fails, as in JEXL
    "+ double": "({0} + {1})",
    "- double": "({0} - {1})",
    "* double": "({0} * {1})",
    "/ double": "({0} / nullif({1}, 0e0))",
    "/ double safe": "({0} / {1})",
    "% double": "({0} % nullif({1}, 0e0))",
    "% double safe": "({0} % {1})",
    "negate double": "(-{0})",
    "number integer": "CAST({0} AS DOUBLE)",
    "number boolean": "CAST({0} AS BIGINT)",
    # truth, as JEXL coerces a value to a condition
    "truth integer": "({0} <> 0)",
    "truth double": f"({{0}} NOT IN (0e0, {_NAN}))",
    "truth text": "({0} NOT IN ('', 'false'))",
    "not": "(NOT {0})",
    # comparisons: JEXL takes NaN for the smallest number and equal to itself, both engines for the largest
    "=": "({0} = {1})",
    "same": "({0} IS NOT DISTINCT FROM {1})",
    "<": "({0} < {1})",
    ">": "({0} > {1})",
    "<=": "({0} <= {1})",
    ">=": "({0} >= {1})",
    "< nan left": "(isnan({0}) OR {0} < {1})",
    "< nan right": "(NOT isnan({1}) AND {0} < {1})",
    "< nan both": "CASE WHEN isnan({0}) THEN {1} = {1} AND NOT isnan({1}) "
    "WHEN isnan({1}) THEN {0} <> {0} ELSE {0} < {1} END",
    # emptiness
    "empty text": "({0} = '')",
    "empty integer": "({0} = 0)",
    "empty double": f"({{0}} IN (0e0, {_NAN}))",
    # text
    "concat": "({0} || {1})",
    "lower": "lower({0})",
    "upper": "upper({0})",
    "contains": "contains({0}, {1})",
    "same letters": "(lower({0}) = lower({1}))",
    "replace": "replace({0}, nullif({1}, ''), {2})",
    "substring from": "CASE WHEN {1} BETWEEN 0 AND length({0}) THEN substring({0}, {1} + 1) END",
    "substring": "CASE WHEN {1} BETWEEN 0 AND {2} AND {2} <= length({0}) "
    "THEN substring({0}, {1} + 1, {2} - {1}) END",
    # Math
    "smaller": "CASE WHEN {0} <= {1} THEN {0} WHEN {0} > {1} THEN {1} END",
    "greater": "CASE WHEN {0} >= {1} THEN {0} WHEN {0} < {1} THEN {1} END",
    "smaller double": "CASE WHEN isnan({0}) OR isnan({1}) THEN {0} + {1} "
    "WHEN {0} <= {1} THEN {0} WHEN {0} > {1} THEN {1} END",
    "greater double": "CASE WHEN isnan({0}) OR isnan({1}) THEN {0} + {1} "
    "WHEN {0} >= {1} THEN {0} WHEN {0} < {1} THEN {1} END",
    "abs double": "abs({0})",
    "round": "CASE WHEN abs({0}) < 9e18 THEN TRY_CAST(floor({0} + 0.5e0) AS BIGINT) END",
    "sqrt": "sqrt({0})",
    "exp": "exp({0})",
    "pow": "pow({0}, {1})",
}


def _quote(text: str) -> str:
    """Standard SQL: nothing but the quote itself is special."""
    return "'" + text.replace("'", "''") + "'"


def _quote_with_backslash(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


@dataclass(frozen=True, slots=True)
class Dialect:
    """One engine's spellings; `text_type` is its name for the type of texts."""

    name: DialectName
    text_type: str
    quote: Callable[[str], str]
    templates: dict[str, str]

    def spell(self, key: str, *operands: str) -> str:
        return self.templates[key].format(*operands)

    def full_match(self, operand: str, pattern: str) -> str:
        """Whether the whole operand matches, as Java's `matches()`; the pattern is a checked one."""
        translated = regexes.translate(pattern, self.name)
        return self.spell("full match", operand, self.quote(translated))


def _number_templates(quote: Callable[[str], str]) -> dict[str, str]:
    """Reading a number out of a text, as JEXL does beside a number; NULL where there is none."""
    pattern = quote(rf"\A\s*({DECIMAL_TEXT})\s*\z").replace("{", "{{").replace("}", "}}")
    number = f"TRY_CAST(regexp_extract({{0}}, {pattern}, 1) AS DOUBLE)"
    return {
        "integer in text": "CASE WHEN {0} = '' THEN CAST(0 AS BIGINT) "
        f"WHEN {number} % 1e0 = 0e0 AND abs({number}) < 9e18 THEN TRY_CAST({number} AS BIGINT) END",
        "decimal in text": f"CASE WHEN {{0}} = '' THEN {_NAN} ELSE {number} END",
    }


def _spark_log(function: str) -> str:
    """Spark gives NULL where Java gives -Infinity or NaN."""
    return (
        f"CASE WHEN {{0}} > 0e0 THEN {function}({{0}}) WHEN {{0}} = 0e0 THEN CAST('-Infinity' AS DOUBLE) "
        f"WHEN {{0}} < 0e0 THEN {_NAN} END"
    )


DUCKDB = Dialect(
    "duckdb",
    "VARCHAR",
    _quote,
    {
        **_COMMON,
        **_number_templates(_quote),
        "+": "TRY({0} + {1})",
        "-": "TRY({0} - {1})",
        "*": "TRY({0} * {1})",
        "/": "TRY({0} // nullif({1}, 0))",
        "/ safe": "({0} // {1})",
        "length": "length({0})",
        "index": "(instr({0}, {1}) - 1)",
        "starts": "starts_with({0}, {1})",
        "ends": "ends_with({0}, {1})",
        "trim": f"trim({{0}}, {_quote(_BLANKS)})",
        "text": "CAST({0} AS VARCHAR)",
        "full match": "regexp_full_match({0}, {1})",
        "abs": "TRY(abs({0}))",
        "floor": "floor({0})",
        "ceil": "ceil({0})",
        "log": "ln({0})",
        "log10": "log10({0})",
        "time ms": "epoch_ms({0})",
    },
)

SPARK = Dialect(
    "spark",
    "STRING",
    _quote_with_backslash,
    {
        **_COMMON,
        **_number_templates(_quote_with_backslash),
        "+": "try_add({0}, {1})",
        "-": "try_subtract({0}, {1})",
        "*": "try_multiply({0}, {1})",
        "/": "CASE WHEN {1} = -1 THEN try_subtract(CAST(0 AS BIGINT), {0}) ELSE {0} div nullif({1}, 0) END",
        "/ safe": "({0} div {1})",
        "length": "CAST(length({0}) AS BIGINT)",
        "index": "CAST(instr({0}, {1}) - 1 AS BIGINT)",
        "starts": "startswith({0}, {1})",
        "ends": "endswith({0}, {1})",
        "trim": f"trim(BOTH {_quote_with_backslash(_BLANKS)} FROM {{0}})",
        "text": "CAST({0} AS STRING)",
        "full match": "({0} RLIKE concat('\\\\A(?:', {1}, ')\\\\z'))",
        "substring from": "CASE WHEN {1} BETWEEN 0 AND length({0}) "
        "THEN substring({0}, CAST({1} + 1 AS INT)) END",
        "substring": "CASE WHEN {1} BETWEEN 0 AND {2} AND {2} <= length({0}) "
        "THEN substring({0}, CAST({1} + 1 AS INT), CAST({2} - {1} AS INT)) END",
        "abs": "CASE WHEN {0} < 0 THEN try_subtract(CAST(0 AS BIGINT), {0}) ELSE {0} END",
        # Spark's floor is a BIGINT and may overflow; a double this large is whole anyway.
        "floor": "CASE WHEN abs({0}) < 4e15 THEN CAST(floor({0}) AS DOUBLE) ELSE {0} END",
        "ceil": "CASE WHEN abs({0}) < 4e15 THEN CAST(ceil({0}) AS DOUBLE) ELSE {0} END",
        "round": "CASE WHEN abs({0}) < 4e15 THEN floor({0} + 0.5e0) "
        "WHEN abs({0}) < 9e18 THEN TRY_CAST({0} AS BIGINT) END",
        "log": _spark_log("ln"),
        "log10": _spark_log("log10"),
        "time ms": "unix_millis({0})",
    },
)

DIALECTS: dict[DialectName, Dialect] = {"duckdb": DUCKDB, "spark": SPARK}
