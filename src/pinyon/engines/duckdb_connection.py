"""One connection to an embedded DuckDB: opened late, interrupted by Ctrl-C, its errors told as ours."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from pinyon.errors import EngineError

if TYPE_CHECKING:
    import duckdb

T = TypeVar("T")


class Connection:
    """Runs calls one after the other in a thread of its own.

    A signal is handled by Python's main thread between two of its instructions: inside a query, which may take an
    hour, there is none. So the main thread only waits, and tells DuckDB to stop when it is interrupted.
    """

    def __init__(self, config: Mapping[str, Any], memory_limit_mb: int) -> None:
        self._config = dict(config)
        self._memory_limit_mb = memory_limit_mb
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="duckdb")
        self._opened: duckdb.DuckDBPyConnection | None = None

    @property
    def raw(self) -> duckdb.DuckDBPyConnection:
        """Opened when first needed: commands that never ask for SQL do not pay for it."""
        if self._opened is None:
            import duckdb

            self._opened = duckdb.connect(config=self._config)
            self._opened.execute("SET TimeZone = 'UTC'")
        return self._opened

    def execute(self, statement: str, params: Mapping[str, Any], what: str) -> duckdb.DuckDBPyConnection:
        """Runs a statement up to its first rows; `what` names it in errors."""
        return self.call(lambda: self.raw.execute(statement, dict(params)), what, statement)

    def one(self, statement: str, params: Mapping[str, Any], what: str) -> tuple[Any, ...]:
        """The first row of what a statement gives, run to its end."""

        def run() -> tuple[Any, ...]:
            rows = self.raw.execute(statement, dict(params)).fetchall()
            return tuple(rows[0]) if rows else ()

        return self.call(run, what, statement)

    def call(self, call: Callable[[], T], what: str, statement: str = "") -> T:
        """The result of a call on `raw`. Raises `EngineError`, or KeyboardInterrupt when DuckDB has stopped."""
        with self._told(what, statement):
            running = self._thread.submit(call)
            try:
                return running.result()
            finally:
                if not running.done():
                    self.raw.interrupt()
                    wait([running])

    def close(self) -> None:
        self._thread.shutdown()
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    @contextmanager
    def _told(self, what: str, statement: str) -> Iterator[None]:
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


def _first_line(error: Exception) -> str:
    """What went wrong, and the names DuckDB proposes instead of one that it does not know."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    proposed = [line for line in lines[1:] if line.startswith(("Did you mean", "Candidate bindings"))]
    return " ".join([*lines[:1], *proposed]) or type(error).__name__
