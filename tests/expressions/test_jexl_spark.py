"""The same expressions on Apache Spark, in its own spelling: the recorded cases and random ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jexl_context
import jexl_evaluator
import jexl_trees
import pytest
from hypothesis import HealthCheck, given, settings
from jexl_evaluator import Tree, render
from test_jexl_cases import REFUSED
from test_jexl_properties import ROWS, answer, same

from pinyon.errors import ExpressionError
from pinyon.expressions import compile

pyspark_sql = pytest.importorskip("pyspark.sql")
pytestmark = [pytest.mark.spark, pytest.mark.slow]

SCOPE = jexl_context.scope("`")
_TYPES = {"integer": "BIGINT", "decimal": "DOUBLE", "text": "STRING", "null": "INT"}


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    """A session with one thread, and the rows as view `r`."""
    session = (
        pyspark_sql.SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "1g")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.codegen.wholeStage", "false")
        .getOrCreate()
    )
    columns = [f"`{name}` {_TYPES[type_.value]}" for name, (type_, _) in jexl_context.ROW.items()]
    rows = [(number, *row.values()) for number, row in enumerate(ROWS)]
    session.createDataFrame(rows, ", ".join(["number INT", *columns])).coalesce(1).createOrReplaceTempView(
        "r"
    )
    yield session
    session.stop()


def _on_spark(spark: Any, texts: list[str]) -> list[list[Any]]:
    """For each expression its values in all rows; many a query, since a query costs more than an expression."""
    values = []
    for start in range(0, len(texts), 50):
        sqls = [compile(text, SCOPE, dialect="spark").sql for text in texts[start : start + 50]]
        rows = spark.sql(f"SELECT {', '.join(sqls)} FROM r ORDER BY number").collect()
        values += [list(column) for column in zip(*rows, strict=True)]
    return values


def test_every_recorded_case_gives_on_spark_what_it_gives_on_duckdb(spark: Any) -> None:
    texts = []
    for case in jexl_context.cases():
        try:
            compile(case["expr"], SCOPE)
        except ExpressionError:
            continue
        texts.append(case["expr"])
    assert len(texts) > len(REFUSED)
    with jexl_context.table(ROWS) as connection:
        for text, got in zip(texts, _on_spark(spark, texts), strict=True):
            sql = compile(text, jexl_context.SCOPE).sql
            rows = connection.execute(f"SELECT {sql} FROM r ORDER BY number").fetchall()
            assert all(map(same, got, [value for (value,) in rows])), text


def test_random_expressions_give_on_spark_what_the_obvious_evaluator_gives(spark: Any) -> None:
    trees: list[Tree] = []

    @settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
    @given(jexl_trees.values(3))
    def collect(tree: Tree) -> None:
        trees.append(tree)

    collect()
    texts = [render(tree) for tree in trees]
    for tree, text, got in zip(trees, texts, _on_spark(spark, texts), strict=True):
        expected = [answer(tree, row) for row in ROWS]
        assert all(map(same, got, expected)), f"{text}: {got} instead of {expected}"


def test_a_pattern_answers_on_spark_as_on_duckdb(spark: Any) -> None:
    patterns = [
        ".+",
        "(?s).+",
        "(?i)[a-f]+",
        r"\w+",
        r".*\bé?b.*",
        r"\S+",
        r"a$.?",
        r"[^\d&-]+",
        "(a|b)*",
        "K",
    ]
    texts = [
        "ab",
        "a\nb",
        "a\rb",
        "a\u0085b",
        "a\u000bb",
        "AB",
        "éb",
        "a",
        "a\n",
        "a&&b",
        "\u212a",
        "1-b",
        "",
    ]
    expressions = [
        f"{jexl_evaluator.literal(text)} =~ {jexl_evaluator.literal(pattern)}"
        for pattern in patterns
        for text in texts
    ]
    with jexl_context.table() as connection:
        on_duckdb = [jexl_context.evaluated(connection, text) for text in expressions]
    assert [values[0] for values in _on_spark(spark, expressions)] == on_duckdb
