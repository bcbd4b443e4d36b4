"""Random expressions: DuckDB gives what an obvious evaluator gives, whatever stands in the row."""

from __future__ import annotations

import math
from typing import Any

import duckdb
import jexl_context
import jexl_trees
from hypothesis import HealthCheck, given, settings
from jexl_evaluator import Failed, Row, Tree, evaluate, render

from pinyon.expressions import compile

ROWS = [{name: value for name, (_, value) in jexl_context.ROW.items()}, *jexl_context.other_rows(9)]
CONNECTION: duckdb.DuckDBPyConnection = jexl_context.table(ROWS)


def answer(tree: Tree, row: Row) -> Any:
    try:
        return evaluate(tree, row)
    except Failed:
        return None


def same(left: Any, right: Any) -> bool:
    if isinstance(left, float) and isinstance(right, float) and math.isnan(left):
        return math.isnan(right)
    return type(left) is type(right) and bool(left == right)


@settings(max_examples=500, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(jexl_trees.values(3))
def test_the_compiled_sql_gives_what_the_obvious_evaluator_gives(tree: Tree) -> None:
    text = render(tree)
    sql = compile(text, jexl_context.SCOPE).sql
    got = [value for (value,) in CONNECTION.execute(f"SELECT {sql} FROM r ORDER BY number").fetchall()]
    expected = [answer(tree, row) for row in ROWS]
    assert all(map(same, got, expected)), f"{text}: {got} instead of {expected}"
