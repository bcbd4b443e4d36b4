"""The page log of one part: a line of JSON for each page as it comes, turned into Parquet when the part is done.

A line is written after its WARC record, so a logged page is an archived page. A torn last line, as a kill leaves
it, is cut when the log is opened again; the Parquet file is the mark that the part is done.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pinyon.errors import StoreError
from pinyon.tables import TableSpec

_BATCH_ROWS = 5_000


class Log:
    """Append-only rows of a table; `flush` hands them to the kernel, where a killed process does not lose them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        cut_torn_tail(path)
        self._file = path.open("a", encoding="utf-8", errors="surrogatepass")

    def append(self, row: Mapping[str, Any]) -> None:
        self._file.write(json.dumps(row, default=_as_json, ensure_ascii=False, separators=(",", ":")) + "\n")

    def flush(self) -> None:
        self._file.flush()

    def close(self) -> None:
        if not self._file.closed:
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()


def _as_json(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    raise TypeError(f"{type(value).__name__} in a page log")


def cut_torn_tail(path: Path) -> int:
    """Bytes cut off the end of a log, after its last whole line."""
    if not path.exists():
        return 0
    size = path.stat().st_size
    with path.open("rb+") as file:
        end = size
        while end > 0:
            start = max(0, end - 65_536)
            file.seek(start)
            at = file.read(end - start).rfind(b"\n")
            if at >= 0:
                file.truncate(start + at + 1)
                return size - (start + at + 1)
            end = start
        file.truncate(0)
        return size


def read_log(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a log, in order; `StoreError` with the line for one that is not whole."""
    if not path.exists():
        return
    with path.open(encoding="utf-8", errors="surrogatepass") as file:
        for number, line in enumerate(file, 1):
            try:
                yield json.loads(line)
            except ValueError as error:
                raise StoreError(f"{path}:{number}: not a line of a page log: {error}") from error


def to_parquet(log: Path, spec: TableSpec, target: Path, *, newest: str | None = None) -> int:
    """Writes the rows of a log as one Parquet file, whole or not at all; how many.

    With `newest`, of several rows with one value in that column the last one counts (few rows only).
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows: Iterator[dict[str, Any]] = read_log(log)
    if newest is not None:
        rows = iter({row[newest]: row for row in rows}.values())
    schema = spec.arrow_schema()
    times = [column.name for column in spec.columns if column.type == "TIMESTAMPTZ"]
    temporary = target.with_name(f".{target.name}.tmp")
    count = 0
    with pq.ParquetWriter(temporary, schema, compression="zstd") as writer:
        for batch in _batches(rows, times):
            writer.write_table(pa.Table.from_pylist(batch, schema=schema))
            count += len(batch)
    with temporary.open("rb") as file:
        os.fsync(file.fileno())
    temporary.replace(target)
    return count


def _batches(rows: Iterator[dict[str, Any]], times: list[str]) -> Iterator[list[dict[str, Any]]]:
    batch: list[dict[str, Any]] = []
    for row in rows:
        for name in times:
            if row.get(name) is not None:
                row[name] = datetime.fromisoformat(row[name])
        batch.append(row)
        if len(batch) >= _BATCH_ROWS:
            yield batch
            batch = []
    if batch:
        yield batch
