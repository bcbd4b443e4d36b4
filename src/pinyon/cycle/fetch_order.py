"""The rows of a part in the order they are to be fetched in. In the file they lie as generate found them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

#: As many rows are sorted in memory (some 30 MB); more by the engine, which goes to disk.
_IN_MEMORY_ROWS = 100_000
_MEMORY_LIMIT_MB = 128


def in_order(path: Path, columns: list[str], spill: Path) -> Iterator[dict[str, Any]]:
    """These columns of the rows of a part, by `position`; `spill` is a folder that may be made and is removed."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        if file.metadata.num_rows <= _IN_MEMORY_ROWS:
            for batch in file.read(columns=columns).sort_by("position").to_batches(2_000):
                yield from batch.to_pylist()
            return
    yield from _sorted_on_disk(path, columns, spill)


def _sorted_on_disk(path: Path, columns: list[str], spill: Path) -> Iterator[dict[str, Any]]:
    from pinyon.engines.duckdb_engine import DuckDBEngine
    from pinyon.jobs import Files
    from pinyon.tables import FETCHLIST

    with DuckDBEngine(spill, memory_limit_mb=_MEMORY_LIMIT_MB, threads=1) as engine:
        engine.bind({"fetchlist": Files.of(FETCHLIST, [str(path)])})
        for batch in engine.batches(f"SELECT {', '.join(columns)} FROM fetchlist ORDER BY position"):
            yield from batch.to_pylist()
