"""DuckDB: one process, all its cores, memory bounded by a setting, the rest on disk."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from pinyon.engines.workers import Workers
from pinyon.errors import EngineError, UsageError

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

P = TypeVar("P")
R = TypeVar("R")

#: Rows of a row group: small enough that a scan for what is due skips most of a bucket.
ROW_GROUP_ROWS = 122_880


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """One Parquet file."""

    path: Path
    rows: int
    size_bytes: int


class DuckDBEngine:
    """An embedded engine; see `pinyon.engines.Engine`. Spills go to a folder of its own under `temp_directory`."""

    name = "duckdb"

    def __init__(
        self, temp_directory: Path, *, memory_limit_mb: int = 512, threads: int = 0, temp_limit_gb: int = 0
    ) -> None:
        temp_directory.mkdir(parents=True, exist_ok=True)
        self._spill = Path(tempfile.mkdtemp(prefix="engine-", dir=temp_directory))
        self._config: dict[str, Any] = {
            "memory_limit": f"{memory_limit_mb}MB",
            "temp_directory": str(self._spill),
            "preserve_insertion_order": "false",
            "threads": str(threads or os.cpu_count() or 1),
            "TimeZone": "UTC",
        }
        if temp_limit_gb:
            self._config["max_temp_directory_size"] = f"{temp_limit_gb}GB"
        self._opened: duckdb.DuckDBPyConnection | None = None
        self._workers = Workers()

    @property
    def _connection(self) -> duckdb.DuckDBPyConnection:
        """Opened when first needed: commands that never ask for SQL do not pay for it."""
        if self._opened is None:
            import duckdb

            config = {k: v for k, v in self._config.items() if k != "TimeZone"}
            self._opened = duckdb.connect(config=config)
            self._opened.execute("SET TimeZone = 'UTC'")
        return self._opened

    def bucket_groups(self, buckets: int) -> list[list[int]]:
        return [[bucket] for bucket in range(buckets)]

    def run(
        self,
        job: Any,
        tables: Mapping[str, Any],
        params: Mapping[str, Any] | None = None,
        fragments: Mapping[str, str] | None = None,
    ) -> None:
        from pinyon.engines import duckdb_sql

        params = params or {}
        job.check(tables, params)
        for name, source in tables.items():
            self._bind(name, source)
        for name, query in job.statements(fragments or {}):
            statement, used = duckdb_sql.prepared(query, params)
            self._execute(f"CREATE OR REPLACE TEMP TABLE {name} AS {statement}", used, f"{job.name}: {name}")

    def _bind(self, name: str, source: Any) -> None:
        from pinyon.engines import duckdb_sql

        scan = duckdb_sql.scan(source)
        if scan is None:
            self._connection.register(name, source)
        else:
            self._execute(f"CREATE OR REPLACE TEMP VIEW {name} AS {scan}", {}, name)

    def bind(self, tables: Mapping[str, Any]) -> None:
        """Makes tables readable by name without running a job."""
        for name, source in tables.items():
            self._bind(name, source)

    def rows(self, sql: str, params: Mapping[str, Any] | None = None) -> list[dict[str, Any]]:
        from pinyon.engines import duckdb_sql

        statement, used = duckdb_sql.prepared(sql, params or {})
        cursor = self._execute(statement, used, "query")
        names = [column[0] for column in cursor.description or []]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    def table(self, sql: str) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Column names and rows of a query somebody typed."""
        cursor = self._execute(sql, {}, "query")
        return [column[0] for column in cursor.description or []], cursor.fetchall()

    def only_reads(self, sql: str) -> bool:
        """Whether the text is exactly one SELECT. Raises `EngineError` if it is not SQL."""
        import duckdb

        try:
            statements = self._connection.extract_statements(sql)
        except duckdb.Error as error:
            raise EngineError(f"query: {_first_line(error)}", sql) from error
        return [statement.type for statement in statements] == [duckdb.StatementType.SELECT]

    def batches(self, sql: str, params: Mapping[str, Any] | None = None) -> Iterator[pa.RecordBatch]:
        from pinyon.engines import duckdb_sql

        statement, used = duckdb_sql.prepared(sql, params or {})
        reader: pa.RecordBatchReader = self._execute(statement, used, "query").to_arrow_reader(10_000)
        yield from reader

    def write(self, sql: str, path: Path) -> WrittenFile:
        path.parent.mkdir(parents=True, exist_ok=True)
        target = str(path).replace("'", "''")
        statement = (
            f"COPY ({sql}) TO '{target}' "
            f"(FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {ROW_GROUP_ROWS}, RETURN_STATS)"
        )
        row = self._execute(statement, {}, path.name).fetchone()
        return WrittenFile(path, int(row[1]) if row else 0, path.stat().st_size)

    def export(self, sql: str, path: Path, params: Mapping[str, Any] | None = None) -> int:
        """Writes a query as .csv, .jsonl or .parquet, by the file's ending; how many rows."""
        from pinyon.engines import duckdb_sql

        formats = {".csv": "csv, HEADER", ".jsonl": "json", ".json": "json", ".parquet": "parquet"}
        if path.suffix not in formats:
            raise UsageError(f"{path}: unknown format '{path.suffix}': wanted {', '.join(formats)}")
        if not path.parent.is_dir():
            raise UsageError(f"{path.parent}: there is no such folder")
        statement, used = duckdb_sql.prepared(sql, params or {})
        target = str(path).replace("'", "''")
        row = self._execute(
            f"COPY ({statement}) TO '{target}' (FORMAT {formats[path.suffix]})", used, path.name
        )
        return int((row.fetchone() or [0])[0])

    def confine(self, directory: Path) -> None:
        """From now on no query reads or writes outside `directory` and the spill folder, nor can that be undone."""
        folders = ", ".join(
            "'" + str(p.resolve()).replace("'", "''") + "/'" for p in (directory, self._spill)
        )
        self._execute(f"SET allowed_directories = [{folders}]", {}, "confine")
        self._execute("SET enable_external_access = false", {}, "confine")
        self._execute("SET lock_configuration = true", {}, "confine")

    def map_parts(
        self, function: Callable[[P], R], parts: Iterable[P], processes: int = 0
    ) -> Generator[R, None, None]:
        yield from self._workers.map(function, parts, processes)

    def start_workers(self, processes: int, imports: Sequence[str] = ()) -> None:
        """Starts the processes of `map_parts` ahead: meanwhile they import these modules."""
        self._workers.start(processes, imports)

    def close(self) -> None:
        self._workers.close()
        if self._opened is not None:
            self._opened.close()
            self._opened = None
        shutil.rmtree(self._spill, ignore_errors=True)

    def __enter__(self) -> DuckDBEngine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _execute(self, statement: str, params: Mapping[str, Any], what: str) -> duckdb.DuckDBPyConnection:
        import duckdb

        try:
            return self._connection.execute(statement, dict(params))
        except duckdb.Error as error:
            raise EngineError(f"{what}: {_first_line(error)}", statement) from error


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
