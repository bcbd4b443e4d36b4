"""Engines: they run SQL and run a function over partitions, and are the only place where engines differ.

An engine is given a job (named relations in SQL), the files it reads and its parameters, and keeps the
relations the job marks as kept. It writes a relation to Parquet files and says what it wrote; publishing them is
the store's. It knows no step by name. `bucket_groups` says how much it takes at a time: DuckDB one bucket after
another, since one window over everything would not fit in memory; a cluster all of them at once.

Invariant: nothing runs without a memory limit and a temp directory.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    import pyarrow as pa

P = TypeVar("P")
R = TypeVar("R")


class Written(Protocol):
    """A file an engine wrote."""

    path: Path
    rows: int
    size_bytes: int


class Engine(Protocol):
    """What a step needs of an engine."""

    name: str

    def bucket_groups(self, buckets: int) -> list[list[int]]:
        """Buckets that go through a job together, in order."""
        ...

    def run(
        self,
        job: Any,
        tables: Mapping[str, Any],
        params: Mapping[str, Any] | None = None,
        fragments: Mapping[str, str] | None = None,
    ) -> None:
        """Computes the kept relations of a job. Raises `EngineError` naming the relation and the cause."""
        ...

    def rows(self, sql: str, params: Mapping[str, Any] | None = None) -> list[dict[str, Any]]:
        """All rows of a (small) query over kept relations."""
        ...

    def batches(self, sql: str, params: Mapping[str, Any] | None = None) -> Iterator[pa.RecordBatch]:
        """The rows of a query, however many, in batches: read them before anything else is asked."""
        ...

    def write(self, sql: str, path: Path) -> Written:
        """Writes a query over kept relations to one Parquet file."""
        ...

    def map_parts(
        self, function: Callable[[P], R], parts: Iterable[P], processes: int = 0
    ) -> Generator[R, None, None]:
        """`function` of every part, in processes, results as they come. Raises what a part raised.

        Who stops reading must close it: parts under way then end early (`workers.stopping`), or are killed.
        """
        ...

    def close(self) -> None: ...

    def __enter__(self) -> Engine: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
