"""The page log of one part: a line of JSON for each page as it comes, turned into Parquet when the part is done.

A line reaches the disk after the WARC record it speaks of, so that a logged page is an archived page. A torn last
line, as a kill leaves it, is cut when the log is opened again. The Parquet file is the mark that the part is done.
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
_BLOCK_BYTES = 65_536


class Log:
    """Append-only rows of a table.

    What was appended is handed to the kernel by `flush` and not a byte of it earlier; there a killed process does not
    lose it. Raises OSError when the disk is full: what was appended since the last flush is given up then.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        cut_torn_tail(path)
        self._file = path.open("ab", buffering=0)
        self._lines: list[str] = []

    def append(self, row: Mapping[str, Any]) -> None:
        self._lines.append(json.dumps(row, default=_as_json, separators=(",", ":")))

    @property
    def pending(self) -> int:
        """Rows appended since the last flush."""
        return len(self._lines)

    def flush(self) -> None:
        if not self._lines:
            return
        data = memoryview("".join(f"{line}\n" for line in self._lines).encode("ascii"))
        # Given up before they are written: after a torn line nothing may follow.
        self._lines.clear()
        while data:
            data = data[self._file.write(data) :]

    def sync(self) -> None:
        """Flushes to the disk."""
        self.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """What was not flushed is given up."""
        self._lines.clear()
        self._file.close()


def _as_json(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    raise TypeError(f"{type(value).__name__} in a page log")


def cut_torn_tail(path: Path) -> int:
    """Bytes cut off the end of a log, after its last whole line; 0 if there is no such file."""
    if not path.exists():
        return 0
    with path.open("rb+") as file:
        end = file.seek(0, os.SEEK_END)
        whole = _end_of_last_line(file, end)
        if whole < end:
            file.truncate(whole)
        return end - whole


def _end_of_last_line(file: Any, end: int) -> int:
    while end > 0:
        start = max(0, end - _BLOCK_BYTES)
        file.seek(start)
        at = file.read(end - start).rfind(b"\n")
        if at >= 0:
            return int(start + at + 1)
        end = start
    return 0


def read_log(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a log, in order; `StoreError` with the line for one that is not whole."""
    if not path.exists():
        return
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                yield json.loads(line)
            except ValueError as error:
                raise StoreError(f"{path}:{number}: not a line of a page log: {error}") from error


def rewrite_log(path: Path, rows: Iterator[dict[str, Any]]) -> None:
    """Puts these rows in the place of a log, whole or not at all."""
    temporary = path.with_name(f".{path.name}.tmp")
    temporary.unlink(missing_ok=True)
    log = Log(temporary)
    try:
        for row in rows:
            log.append(row)
            if log.pending >= _BATCH_ROWS:
                log.flush()
        log.sync()
    finally:
        log.close()
    temporary.replace(path)


def to_parquet(log: Path, spec: TableSpec, target: Path) -> int:
    """Writes the rows of a log as one Parquet file, whole or not at all; how many."""
    import pyarrow.parquet as pq

    schema = spec.arrow_schema()
    temporary = target.with_name(f".{target.name}.tmp")
    count = 0
    with pq.ParquetWriter(temporary, schema, compression="zstd") as writer:
        for batch in _batches(read_log(log), spec):
            writer.write_table(_table(batch, schema))
            count += len(batch)
    with temporary.open("rb") as file:
        os.fsync(file.fileno())
    temporary.replace(target)
    return count


def _batches(rows: Iterator[dict[str, Any]], spec: TableSpec) -> Iterator[list[dict[str, Any]]]:
    times = [column.name for column in spec.columns if column.type == "TIMESTAMPTZ"]
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


def _table(rows: list[dict[str, Any]], schema: Any) -> Any:
    import pyarrow as pa

    try:
        return pa.Table.from_pylist(rows, schema=schema)
    except UnicodeEncodeError:  # lone surrogates, as an error message about hostile bytes may hold
        return pa.Table.from_pylist([_encodable(row) for row in rows], schema=schema)


def _encodable(row: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else value
        for name, value in row.items()
    }
