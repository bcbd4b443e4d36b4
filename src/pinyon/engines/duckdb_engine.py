"""DuckDB: one process, all its cores, memory bounded by a setting, the rest on disk."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from pinyon.engines.duckdb_connection import Connection
from pinyon.engines.spill import SpillFolder
from pinyon.engines.workers import Workers
from pinyon.errors import UsageError

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

P = TypeVar("P")
R = TypeVar("R")

#: Rows of a row group: small enough that a scan for what is due skips most of a bucket.
ROW_GROUP_ROWS = 122_880
#: Rows taken out of a query at a time.
_FETCH_ROWS = 10_000
_EXPORTS = {".csv": "csv, HEADER", ".jsonl": "json", ".json": "json", ".parquet": "parquet"}


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
        self._spill = SpillFolder(temp_directory)
        self._row_group_mb = max(16, memory_limit_mb // 8)
        config: dict[str, Any] = {
            "memory_limit": f"{memory_limit_mb}MB",
            "temp_directory": str(self._spill.path),
            "preserve_insertion_order": "false",
            "threads": str(threads or os.cpu_count() or 1),
        }
        if temp_limit_gb:
            config["max_temp_directory_size"] = f"{temp_limit_gb}GB"
        self._db = Connection(config, memory_limit_mb)
        self._workers = Workers()

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
        self.bind(tables)
        for name, query in job.statements(fragments or {}):
            statement, used = duckdb_sql.prepared(query, params)
            self._db.execute(
                f"CREATE OR REPLACE TEMP TABLE {name} AS {statement}", used, f"{job.name}: {name}"
            )

    def write_result(
        self,
        job: Any,
        tables: Mapping[str, Any],
        path: Path,
        params: Mapping[str, Any] | None = None,
        fragments: Mapping[str, str] | None = None,
    ) -> WrittenFile:
        """Runs a job whose last step is not kept, and writes that one as it is computed."""
        self.run(job, tables, params, fragments)
        return self.write(job.result(fragments or {}), path, params)

    def _bind(self, name: str, source: Any) -> None:
        from pinyon.engines import duckdb_sql

        scan = duckdb_sql.scan(source)
        if scan is None:
            self._db.call(lambda: self._db.raw.register(name, source), name)
        else:
            self._db.execute(f"CREATE OR REPLACE TEMP VIEW {name} AS {scan}", {}, name)

    def bind(self, tables: Mapping[str, Any]) -> None:
        """Makes tables readable by name without running a job."""
        for name, source in tables.items():
            self._bind(name, source)

    def rows(self, sql: str, params: Mapping[str, Any] | None = None) -> list[dict[str, Any]]:
        names, rows = self.query(sql, params)
        return [dict(zip(names, row, strict=True)) for row in rows]

    def query(
        self, sql: str, params: Mapping[str, Any] | None = None
    ) -> tuple[list[str], Iterator[tuple[Any, ...]]]:
        """Column names, and the rows as they are computed: read them before anything else is asked.

        Without `params` the text is run as it stands: somebody typed it.
        """
        from pinyon.engines.duckdb_sql import prepared

        statement, used = (sql, {}) if params is None else prepared(sql, params)
        cursor = self._db.execute(statement, used, "query")
        return [column[0] for column in cursor.description or []], self._fetched(cursor, statement)

    def _fetched(self, cursor: duckdb.DuckDBPyConnection, statement: str) -> Iterator[tuple[Any, ...]]:
        try:
            while rows := self._db.call(lambda: cursor.fetchmany(_FETCH_ROWS), "query", statement):
                yield from rows
        finally:
            cursor.abort()  # what was not read would keep the connection from anything else

    def batches(self, sql: str, params: Mapping[str, Any] | None = None) -> Iterator[pa.RecordBatch]:
        """The rows of a query, however many, as Arrow batches: read them before anything else is asked."""
        from pinyon.engines.duckdb_sql import prepared

        statement, used = prepared(sql, params or {})

        def reader() -> pa.RecordBatchReader:
            return self._db.raw.sql(statement, params=used).to_arrow_reader(_FETCH_ROWS)

        with self._db.call(reader, "query", statement) as rows:
            while batch := self._db.call(lambda: next(rows, None), "query", statement):
                yield batch

    def only_reads(self, sql: str) -> bool:
        """Whether the text is exactly one SELECT. Raises `EngineError` if it is not SQL."""
        import duckdb

        statements = self._db.call(lambda: self._db.raw.extract_statements(sql), "query", sql)
        return [statement.type for statement in statements] == [duckdb.StatementType.SELECT]

    def write(self, sql: str, path: Path, params: Mapping[str, Any] | None = None) -> WrittenFile:
        from pinyon.engines.duckdb_sql import literal, prepared

        path.parent.mkdir(parents=True, exist_ok=True)
        query, used = prepared(sql, params or {})
        # in bytes too: rows of a megabyte would not fit in memory by the thousand
        group = f"ROW_GROUP_SIZE {ROW_GROUP_ROWS}, ROW_GROUP_SIZE_BYTES '{self._row_group_mb}MB'"
        statement = f"COPY ({query}) TO {literal(str(path))} (FORMAT parquet, COMPRESSION zstd, {group}, RETURN_STATS)"
        row = self._db.one(statement, used, path.name)
        return WrittenFile(path, int(row[1]), path.stat().st_size)

    def export(self, sql: str, path: Path, params: Mapping[str, Any] | None = None) -> int:
        """Writes a query as .csv, .jsonl or .parquet, by the file's ending; how many rows."""
        from pinyon.engines.duckdb_sql import literal, prepared

        if path.suffix not in _EXPORTS:
            raise UsageError(f"{path}: unknown format '{path.suffix}': wanted {', '.join(_EXPORTS)}")
        if not path.parent.is_dir():
            raise UsageError(f"{path.parent}: there is no such folder")
        statement, used = prepared(sql, params or {})
        copy = f"COPY ({statement}) TO {literal(str(path))} (FORMAT {_EXPORTS[path.suffix]})"
        return int(self._db.one(copy, used, str(path))[0])

    def confine(self, directory: Path) -> None:
        """From now on no query reads or writes outside `directory` and the spill folder, nor can that be undone."""
        from pinyon.engines.duckdb_sql import literal

        folders = ", ".join(literal(f"{path.resolve()}/") for path in (directory, self._spill.path))
        self._db.execute(f"SET allowed_directories = [{folders}]", {}, "confine")
        self._db.execute("SET enable_external_access = false", {}, "confine")
        self._db.execute("SET lock_configuration = true", {}, "confine")

    def map_parts(
        self, function: Callable[[P], R], parts: Iterable[P], processes: int = 0
    ) -> Generator[R, None, None]:
        yield from self._workers.map(function, parts, processes)

    def start_workers(self, processes: int, imports: Sequence[str] = ()) -> None:
        """Starts the processes of `map_parts` ahead: meanwhile they import these modules."""
        self._workers.start(processes, imports)

    def close(self) -> None:
        self._workers.close()
        self._db.close()
        self._spill.remove()

    def __enter__(self) -> DuckDBEngine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
