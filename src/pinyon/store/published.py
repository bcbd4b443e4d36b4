"""A version of a table, as it was published: nothing of it changes any more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pinyon.tables import TableSpec


@dataclass(frozen=True, slots=True)
class DataFile:
    """One Parquet file an engine wrote inside a table's folder; `path` is relative to it."""

    path: str
    bucket: int
    rows: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Published:
    """One version of a table: its files by bucket, and what its log says beside them."""

    spec: TableSpec
    root: Path
    version: int
    buckets: int
    files: Mapping[int, tuple[DataFile, ...]]
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        return sum(file.rows for file in self.all_files())

    def all_files(self) -> list[DataFile]:
        """Every file, in no particular order."""
        return [file for files in self.files.values() for file in files]

    def paths(self, buckets: Iterable[int] | None = None) -> list[str]:
        """Absolute paths of the files of these buckets (all by default), in order."""
        chosen = sorted(self.files) if buckets is None else buckets
        return [str(self.root / file.path) for bucket in chosen for file in self.files.get(bucket, ())]
