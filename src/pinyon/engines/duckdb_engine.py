"""DuckDB: one process, all its cores, memory bounded by a setting, the rest on disk."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from pinyon.engines.spill import SpillFolder
from pinyon.engines.workers import Workers
from pinyon.errors import EngineError, UsageError

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
        self._memory_limit_mb = memory_limit_mb
        self._config: dict[str, Any] = {
            "memory_limit": f"{memory_limit_mb}MB",
            "temp_directory": str(self._spill.path),
            "preserve_insertion_order": "false",
            "threads": str(threads or os.cpu_count() or 1),
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

            self._opened = duckdb.connect(config=self._config)
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
        self.bind(tables)
        for name, query in job.statements(fragments or {}):
            statement, used = duckdb_sql.prepared(query, params)
            self._execute(f"CREATE OR REPLACE TEMP TABLE {name} AS {statement}", used, f"{job.name}: {name}")

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
            self._connection.register(name, source)
        else:
            self._execute(f"CREATE OR REPLACE TEMP VIEW {name} AS {scan}", {}, name)

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
        cursor = self._execute(statement, used, "query")
        return [column[0] for column in cursor.description or []], self._fetched(cursor, statement)

    def _fetched(self, cursor: duckdb.DuckDBPyConnection, statement: str) -> Iterator[tuple[Any, ...]]:
        try:
            while True:
                with self._told("query", statement):
                    rows = cursor.fetchmany(_FETCH_ROWS)
                if not rows:
                    return
                yield from rows
        finally:
            cursor.abort()  # what was not read would keep the connection from anything else

    def batches(self, sql: str, params: Mapping[str, Any] | None = None) -> Iterator[pa.RecordBatch]:
        """The rows of a query, however many, as Arrow batches: read them before anything else is asked."""
        from pinyon.engines.duckdb_sql import prepared

        statement, used = prepared(sql, params or {})
        with self._told("query", statement):
            reader = self._connection.sql(statement, params=used).to_arrow_reader(_FETCH_ROWS)
            with reader:
                yield from reader

    def only_reads(self, sql: str) -> bool:
        """Whether the text is exactly one SELECT. Raises `EngineError` if it is not SQL."""
        import duckdb

        with self._told("query", sql):
            statements = self._connection.extract_statements(sql)
        return [statement.type for statement in statements] == [duckdb.StatementType.SELECT]

    def write(self, sql: str, path: Path, params: Mapping[str, Any] | None = None) -> WrittenFile:
        from pinyon.engines.duckdb_sql import literal, prepared

        path.parent.mkdir(parents=True, exist_ok=True)
        query, used = prepared(sql, params or {})
        statement = (
            f"COPY ({query}) TO {literal(str(path))} "
            f"(FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {ROW_GROUP_ROWS}, RETURN_STATS)"
        )
        row = self._execute(statement, used, path.name).fetchone()
        return WrittenFile(path, int(row[1]) if row else 0, path.stat().st_size)

    def export(self, sql: str, path: Path, params: Mapping[str, Any] | None = None) -> int:
        """Writes a query as .csv, .jsonl or .parquet, by the file's ending; how many rows."""
        from pinyon.engines.duckdb_sql import literal, prepared

        if path.suffix not in _EXPORTS:
            raise UsageError(f"{path}: unknown format '{path.suffix}': wanted {', '.join(_EXPORTS)}")
        if not path.parent.is_dir():
            raise UsageError(f"{path.parent}: there is no such folder")
        statement, used = prepared(sql, params or {})
        copy = f"COPY ({statement}) TO {literal(str(path))} (FORMAT {_EXPORTS[path.suffix]})"
        row = self._execute(copy, used, str(path)).fetchone()
        return int(row[0]) if row else 0

    def confine(self, directory: Path) -> None:
        """From now on no query reads or writes outside `directory` and the spill folder, nor can that be undone."""
        from pinyon.engines.duckdb_sql import literal

        folders = ", ".join(literal(f"{path.resolve()}/") for path in (directory, self._spill.path))
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
        self._spill.remove()

    def __enter__(self) -> DuckDBEngine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _execute(self, statement: str, params: Mapping[str, Any], what: str) -> duckdb.DuckDBPyConnection:
        with self._told(what, statement):
            return self._connection.execute(statement, dict(params))

    @contextmanager
    def _told(self, what: str, statement: str) -> Iterator[None]:
        """DuckDB's errors as ours; Ctrl-C, of which DuckDB makes an error, as what it is."""
        import duckdb

        try:
            yield
        except duckdb.OutOfMemoryException as error:
            raise EngineError(
                f"{what}: {_first_line(error)}; raise engine.memory_limit_mb (now {self._memory_limit_mb})",
                statement,
            ) from error
        except duckdb.Error as error:
            raise EngineError(f"{what}: {_first_line(error)}", statement) from error
        except RuntimeError as error:
            if "interrupted" in str(error):
                raise KeyboardInterrupt from error
            raise


def _first_line(error: Exception) -> str:
    """What went wrong, and the names DuckDB proposes instead of one that it does not know."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    proposed = [line for line in lines[1:] if line.startswith(("Did you mean", "Candidate bindings"))]
    return " ".join([*lines[:1], *proposed]) or type(error).__name__
