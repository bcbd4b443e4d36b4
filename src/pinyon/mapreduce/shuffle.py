"""Sorting more records than memory holds: sorted runs spilled to disk, then merged (Hadoop's sort and spill)."""

from __future__ import annotations

import heapq
import pickle
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from pinyon.errors import EngineError

V = TypeVar("V")
#: A key whose bytes give the order, and what it carries.
Record = tuple[bytes, V]

#: Runs merged at a time, so many open files (Hadoop: mapreduce.task.io.sort.factor).
MERGE_FACTOR = 64

_NUMBER_BYTES = 8

_key = itemgetter(0)


def prefixed(order: bytes, *numbers: int) -> bytes:
    """A key that sorts by numbers from 0 on, then by `order`."""
    return b"".join(number.to_bytes(_NUMBER_BYTES, "big") for number in numbers) + order


def grouped(
    records: Iterable[Record[V]], numbers: int
) -> Iterator[tuple[tuple[int, ...], Iterator[Record[V]]]]:
    """Sorted records by their leading `numbers`, which are taken off their keys; to be read in order."""
    size = numbers * _NUMBER_BYTES
    for prefix, group in groupby(records, key=lambda record: record[0][:size]):
        values = (prefix[at : at + _NUMBER_BYTES] for at in range(0, size, _NUMBER_BYTES))
        yield tuple(int.from_bytes(value, "big") for value in values), ((k[size:], v) for k, v in group)


def sort(records: Iterable[Record[V]], folder: Path, run_records: int) -> Iterator[Record[V]]:
    """The records by rising key; at most `run_records` are in memory, the rest lies in `folder` meanwhile."""
    with tempfile.TemporaryDirectory(prefix="runs-", dir=folder) as spilled:
        runs: list[Path] = []
        incoming = iter(records)
        run = _next_run(incoming, run_records)
        while len(run) == run_records:
            runs.append(write(run, Path(spilled, f"run-{len(runs)}")))
            run.clear()  # before the next one is read: never two in memory
            run = _next_run(incoming, run_records)
        # the last run is in memory already
        yield from heapq.merge(merge(runs, Path(spilled)), run, key=_key)


def _next_run(incoming: Iterator[Record[V]], size: int) -> list[Record[V]]:
    return sorted(islice(incoming, size), key=_key)


def merge(runs: Sequence[Path], folder: Path) -> Iterator[Record[V]]:
    """The records of sorted runs as one; more than `MERGE_FACTOR` of them are merged in several passes."""
    with tempfile.TemporaryDirectory(prefix="merge-", dir=folder) as merged:
        level = 0
        while len(runs) > MERGE_FACTOR:
            level += 1
            runs = [
                write(_merged(runs[at : at + MERGE_FACTOR]), Path(merged, f"{level}-{at}"))
                for at in range(0, len(runs), MERGE_FACTOR)
            ]
        yield from _merged(runs)


def _merged(runs: Iterable[Path]) -> Iterator[Record[V]]:
    return heapq.merge(*(read(run) for run in runs), key=_key)


class RunWriter:
    """One run on its way to the disk. `EngineError` if the disk does not take it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = path.open("wb")

    def append(self, record: Record[Any]) -> None:
        try:
            # one pickle a record: a Pickler that goes on would remember every object it wrote
            pickle.dump(record, self._file, pickle.HIGHEST_PROTOCOL)
        except OSError as error:
            raise self._refused(error) from error

    def __enter__(self) -> RunWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._file.close()
        except OSError as refused:
            raise self._refused(refused) from refused

    def _refused(self, error: OSError) -> EngineError:
        return EngineError(f"{self.path}: cannot spill: {error.strerror}; is the disk full?")


def write(records: Iterable[Record[Any]], path: Path) -> Path:
    """Writes sorted records as a run."""
    with RunWriter(path) as writer:
        for record in records:
            writer.append(record)
    return path


def read(path: Path) -> Iterator[Record[Any]]:
    """The records of a run in order. Only for files of our own: they are pickles."""
    with path.open("rb") as file:
        while file.peek(1):
            yield pickle.load(file)
