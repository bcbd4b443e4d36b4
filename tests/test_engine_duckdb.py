"""DuckDB as an engine: bounded, one line when it fails, and never reading more than it may."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pytest

from pinyon.engines.duckdb_engine import DuckDBEngine
from pinyon.engines.duckdb_sql import prepared
from pinyon.errors import EngineError, UsageError
from pinyon.jobs import Files, parse
from pinyon.tables import CRAWLDB, Column, TableSpec

NUMBERS = TableSpec(
    "numbers", (Column("n", "BIGINT", "a number"), Column("bucket", "INTEGER", "n & 3")), "numbers"
)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[DuckDBEngine]:
    with DuckDBEngine(tmp_path / "spill", memory_limit_mb=100, threads=2) as opened:
        yield opened


def setting(engine: DuckDBEngine, name: str) -> object:
    return engine.rows(f"SELECT current_setting('{name}') AS v")[0]["v"]


def test_nothing_runs_without_a_memory_limit_and_a_temp_directory(
    engine: DuckDBEngine, tmp_path: Path
) -> None:
    assert setting(engine, "memory_limit") == "95.3 MiB"
    assert str(setting(engine, "temp_directory")).startswith(str(tmp_path / "spill" / "engine-"))
    assert setting(engine, "preserve_insertion_order") is False
    assert setting(engine, "threads") == 2
    assert setting(engine, "TimeZone") == "UTC"


def test_buckets_are_taken_one_at_a_time_in_order(engine: DuckDBEngine) -> None:
    assert engine.bucket_groups(4) == [[0], [1], [2], [3]]


def test_what_does_not_fit_in_memory_goes_to_disk_and_is_gone_afterwards(tmp_path: Path) -> None:
    with DuckDBEngine(tmp_path / "spill", memory_limit_mb=60, threads=1) as engine:
        engine.rows(
            "CREATE TEMP TABLE wide AS SELECT hash(i) AS h, repeat('x', 60) AS t FROM range(1_000_000) AS r(i)"
        )
        assert any(path.suffix == ".tmp" for path in (tmp_path / "spill").rglob("duckdb*"))
        assert engine.write("SELECT * FROM wide ORDER BY h", tmp_path / "sorted.parquet").rows == 1_000_000
    assert list((tmp_path / "spill").iterdir()) == []


def test_too_little_memory_is_one_line_that_says_what_to_raise(tmp_path: Path) -> None:
    with DuckDBEngine(tmp_path / "spill", memory_limit_mb=20, threads=1) as engine:
        with pytest.raises(EngineError, match=r"raise engine\.memory_limit_mb \(now 20\)") as error:
            engine.rows("SELECT list(i) FROM range(10_000_000) AS r(i)")
        assert "\n" not in str(error.value)
        assert engine.rows("SELECT 1 AS one") == [{"one": 1}]


_PARTITIONS = """
import resource, sys
from pathlib import Path
from pinyon.engines.duckdb_engine import DuckDBEngine
root = Path(sys.argv[1])
with DuckDBEngine(root / "spill", memory_limit_mb=512) as engine:
    sql = "SELECT i, i % 1000 AS bucket, repeat('x', 100) AS t FROM range(300_000) AS r(i)"
    engine.write(sql, root / "all.parquet")
    engine.rows(f"CREATE TEMP TABLE rows AS FROM '{root}/all.parquet'")
    files = [engine.write(f"SELECT * FROM rows WHERE bucket = {b}", root / f"bucket={b}" / "part.parquet")
             for b in range(1000)]
assert sum(file.rows for file in files) == 300_000
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


def test_a_thousand_partitions_are_written_in_less_than_a_gigabyte(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _PARTITIONS, str(tmp_path)], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 1000
    assert len(list(tmp_path.glob("bucket=*/part.parquet"))) == 1000


def test_values_of_a_megabyte_go_through(tmp_path: Path) -> None:
    """Under the default limit, written and read again, with a join between."""
    with DuckDBEngine(tmp_path / "spill", threads=2) as engine:
        value = "MAP {'k': repeat(chr(CAST(97 + i % 26 AS INTEGER)), 1_000_000)}"
        engine.write(f"SELECT i, {value} AS m FROM range(60) AS r(i)", tmp_path / "1.parquet")
        sql = "SELECT i, a.m FROM '{0}/1.parquet' AS a FULL OUTER JOIN '{0}/1.parquet' AS b USING (i)"
        assert engine.write(sql.format(tmp_path), tmp_path / "2.parquet").rows == 60
        sql = f"SELECT length(m['k']) AS n, m['k'][1] AS c FROM '{tmp_path}/2.parquet' ORDER BY i"
        found = engine.rows(sql)
    assert [row["n"] for row in found] == [1_000_000] * 60
    assert found[27]["c"] == "b"


def test_a_job_runs_and_its_kept_steps_stay(engine: DuckDBEngine, tmp_path: Path) -> None:
    job = parse(
        "demo",
        "-- reads: numbers\n-- params: least\n-- fragments: value\n"
        "-- step: large\nSELECT {value} AS v FROM numbers WHERE n >= :least\n"
        "-- step: kept_rows (kept)\nSELECT v, ':x' AS t FROM large\n"
        "-- step: counted (kept)\nSELECT count(*) AS c FROM kept_rows",
    )
    engine.write("SELECT i AS n, i & 3 AS bucket FROM range(10) AS r(i)", tmp_path / "n.parquet")
    source = Files.of(NUMBERS, [str(tmp_path / "n.parquet")])
    engine.run(job, {"numbers": source}, {"least": 7}, {"value": "n * 2"})
    assert engine.rows("SELECT * FROM kept_rows ORDER BY v") == [{"v": v, "t": ":x"} for v in (14, 16, 18)]
    assert engine.rows("SELECT c FROM counted WHERE c > :x", {"x": 2}) == [{"c": 3}]
    engine.run(job, {"numbers": source.only([3])}, {"least": 0}, {"value": "n"})
    assert [row["v"] for row in engine.rows("SELECT v FROM kept_rows ORDER BY v")] == [3, 7]


def test_no_files_are_an_empty_table_of_the_right_types(engine: DuckDBEngine) -> None:
    engine.bind({"crawldb": Files.of(CRAWLDB, [])})
    names, rows = engine.query("SELECT * FROM crawldb")
    assert names == CRAWLDB.names
    assert list(rows) == []
    assert engine.rows("SELECT typeof(metadata) AS t FROM crawldb UNION ALL SELECT 'none'") == [{"t": "none"}]


def test_an_error_names_the_step_and_the_cause_and_holds_the_sql(engine: DuckDBEngine) -> None:
    job = parse("updatedb", "-- step: latest (kept)\nSELECT CAST('x' AS INTEGER) AS n")
    with pytest.raises(EngineError) as error:
        engine.run(job, {})
    assert str(error.value).startswith("updatedb: latest: Conversion Error: Could not convert string 'x'")
    assert "\n" not in str(error.value)
    assert "CREATE OR REPLACE TEMP TABLE latest" in error.value.sql
    assert isinstance(error.value.__cause__, duckdb.Error)


def test_an_unknown_column_is_told_with_those_there_are(engine: DuckDBEngine) -> None:
    engine.bind({"crawldb": Files.of(CRAWLDB, [])})
    with pytest.raises(EngineError, match=r'"scoer".*"score"'):
        engine.rows("SELECT scoer FROM crawldb")


def test_a_file_that_is_gone_or_torn_is_one_line_that_names_it(engine: DuckDBEngine, tmp_path: Path) -> None:
    path = tmp_path / "n.parquet"
    for content in (None, b"", b"PAR1", b"PAR1" + b"\x00" * 100 + b"PAR1"):
        path.unlink(missing_ok=True)
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(EngineError, match=r"n\.parquet") as error:
            engine.bind({"numbers": Files.of(NUMBERS, [str(path)])})
            engine.rows("SELECT * FROM numbers")
        assert "\n" not in str(error.value)


def test_rows_come_as_they_are_computed(engine: DuckDBEngine) -> None:
    _, rows = engine.query("SELECT i FROM range(1_000_000_000_000) AS r(i)")
    assert [next(rows) for _ in range(3)] == [(0,), (1,), (2,)]
    rows.close()  # type: ignore[attr-defined]
    batches = engine.batches("SELECT i FROM range(25_000) AS r(i) WHERE i >= :least", {"least": 1000})
    assert sum(batch.num_rows for batch in batches) == 24_000
    endless = engine.batches("SELECT i FROM range(1_000_000_000_000) AS r(i)")
    assert next(endless).num_rows == 10_000
    endless.close()  # type: ignore[attr-defined]
    assert engine.rows("SELECT 1 AS n") == [{"n": 1}]


def test_quotes_in_paths_are_only_quotes(tmp_path: Path) -> None:
    root = tmp_path / "it's :here"
    with DuckDBEngine(root / "spill") as engine:
        file = engine.write("SELECT 1 AS n, 0 AS bucket", root / "o'n.parquet")
        engine.bind({"numbers": Files.of(NUMBERS, [str(file.path)])})
        assert engine.rows("SELECT n FROM numbers") == [{"n": 1}]
        assert engine.export("SELECT 1 AS n", root / "it's.csv") == 1
        engine.confine(root)
        assert engine.rows("SELECT n FROM numbers") == [{"n": 1}]


def test_parameters_are_found_outside_of_texts_only() -> None:
    sql = """SELECT :a, x::int, '(?:b) it''s :c', ":d", l[1:n], :e::DATE, '--' || :a"""
    statement, used = prepared(sql, {"a": 1, "e": 2, "more": 3})
    assert statement == """SELECT $a, x::int, '(?:b) it''s :c', ":d", l[1:n], $e::DATE, '--' || $a"""
    assert used == {"a": 1, "e": 2}


# -- export ---------------------------------------------------------------------------------------------------


def test_tables_are_written_as_others_read_them(engine: DuckDBEngine, tmp_path: Path) -> None:
    sql = (
        "SELECT 'a,\"b\"' AS t, CAST(NULL AS INTEGER) AS n, MAP {'k': 'v'} AS m, "
        "TIMESTAMPTZ '2026-11-30 12:00:00+00' AS moment WHERE 1 = :one"
    )
    for ending in ("csv", "jsonl", "parquet"):
        assert engine.export(sql, tmp_path / f"x.{ending}", {"one": 1}) == 1
    assert (tmp_path / "x.csv").read_text() == 't,n,m,moment\n"a,""b""",,{k=v},2026-11-30 12:00:00+00\n'
    assert '"m":{"k":"v"}' in (tmp_path / "x.jsonl").read_text()
    read = duckdb.sql(f"SELECT moment FROM '{tmp_path / 'x.parquet'}'").fetchall()
    assert read[0][0].astimezone(UTC) == datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("name", "told"), [("x.xlsx", "unknown format '.xlsx'"), ("no/x.csv", "no such folder")]
)
def test_what_cannot_be_written_is_said_before_it_is_tried(
    engine: DuckDBEngine, tmp_path: Path, name: str, told: str
) -> None:
    with pytest.raises(UsageError, match=told):
        engine.export("SELECT 1", tmp_path / name)


# -- what somebody types --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sql", "reads"),
    [
        ("SELECT 1", True),
        ("FROM range(3)", True),
        ("WITH a AS (SELECT 1) SELECT * FROM a", True),
        ("VALUES (1)", True),
        ("SELECT 1;", True),
        ("", False),
        ("SELECT 1; SELECT 2", False),
        ("COPY (SELECT 1) TO 'x.csv'", False),
        ("CREATE TEMP TABLE t AS SELECT 1", False),
        ("INSERT INTO t VALUES (1)", False),
        ("ATTACH 'x.db'", False),
        ("SET memory_limit = '10GB'", False),
        ("PRAGMA database_size", False),
        ("EXPORT DATABASE 'x'", False),
        ("INSTALL httpfs", False),
        ("CALL pragma_version()", False),
    ],
)
def test_only_one_select_reads(engine: DuckDBEngine, sql: str, reads: bool) -> None:
    assert engine.only_reads(sql) is reads


def test_a_confined_engine_reads_inside_its_folder_alone(engine: DuckDBEngine, tmp_path: Path) -> None:
    inside = tmp_path / "crawl"
    inside.mkdir()
    (inside / "x.csv").write_text("a\n1\n")
    (tmp_path / "secret.csv").write_text("a\n1\n")
    (tmp_path / "crawl-other").mkdir()
    (tmp_path / "crawl-other" / "x.csv").write_text("a\n1\n")
    engine.confine(inside)
    assert engine.rows(f"SELECT count(*) AS n FROM '{inside}/x.csv'") == [{"n": 1}]
    for sql in (
        f"SELECT * FROM read_csv('{tmp_path}/secret.csv')",
        f"SELECT * FROM read_csv('{inside}/../secret.csv')",
        f"SELECT * FROM read_csv('{tmp_path}/crawl-other/x.csv')",
        f"SELECT * FROM '{tmp_path}/secret.csv'",
        "SELECT * FROM read_text('/proc/self/environ')",
        "SELECT * FROM glob('/etc/*')",
        "SELECT * FROM read_parquet('https://example.org/x.parquet')",
        f"COPY (SELECT 1) TO '{tmp_path}/out.csv'",
        f"ATTACH '{tmp_path}/out.db'",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "SET allowed_directories = ['/']",
        "SET memory_limit = '10GB'",
        "SELECT getenv('HOME')",
    ):
        with pytest.raises(EngineError):
            engine.rows(sql)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["crawl", "crawl-other", "secret.csv", "spill"]


_ENDLESS = """
import sys
from pathlib import Path
from pinyon.engines.duckdb_engine import DuckDBEngine
with DuckDBEngine(Path(sys.argv[1]), threads=int(sys.argv[2])) as engine:
    print("go", flush=True)
    try:
        engine.rows("SELECT count(*) FROM range(1_000_000_000_000) AS r(i) WHERE hash(i) = 1")
    except KeyboardInterrupt:
        print("interrupted", flush=True)
"""


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_ctrl_c_ends_a_running_query(tmp_path: Path, threads: int) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", _ENDLESS, str(tmp_path / "spill"), str(threads)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    assert process.stdout.readline() == "go\n"
    try:
        process.communicate(timeout=0.5)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=30)
    assert (stdout, stderr, process.returncode) == ("interrupted\n", "", 0)
    assert list((tmp_path / "spill").iterdir()) == []
