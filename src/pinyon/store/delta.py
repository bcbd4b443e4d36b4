"""Tables as published versions: Parquet files that an engine wrote, named by a Delta log.

Only adds and removes are committed; rows are never merged here. What belongs to a version but is not a row (the
format, the number of buckets, the digest of the filters that its URLs passed, the metadata keys ever seen) are
its facts: one JSON object in the commit's own metadata under `pinyon`, carried on from commit to commit. Table
properties would be the place, but the Delta kernel refuses names it does not know.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pinyon.errors import LockedError, StoreError
from pinyon.tables import FORMAT_VERSION, TableSpec

if TYPE_CHECKING:
    from deltalake import DeltaTable

_CONFIGURATION = {
    "delta.checkpointInterval": "10",
    "delta.logRetentionDuration": "interval 1 hours",
    # a segment forgotten here would be applied a second time
    "delta.setTransactionRetentionDuration": "interval 3650 days",
}


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
        return sum(file.rows for files in self.files.values() for file in files)

    def paths(self, buckets: Iterable[int] | None = None) -> list[str]:
        """Absolute paths of the files of these buckets (all by default), in order."""
        chosen = sorted(self.files) if buckets is None else buckets
        return [str(self.root / file.path) for bucket in chosen for file in self.files.get(bucket, ())]


class DeltaStore:
    """The tables of one crawl directory."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def path(self, spec: TableSpec) -> Path:
        return self.root / spec.name

    def create(self, spec: TableSpec, *, buckets: int, facts: Mapping[str, Any]) -> None:
        """An empty table, version 0; `StoreError` if it is there already."""
        from deltalake import Schema
        from deltalake.exceptions import DeltaError
        from deltalake.transaction import CommitProperties, create_table_with_add_actions

        told = {"format": FORMAT_VERSION, "buckets": buckets, **facts, "operation": "init"}
        try:
            create_table_with_add_actions(
                str(self.path(spec)),
                Schema.from_arrow(spec.arrow_schema()),
                [],
                partition_by=["bucket"],
                configuration=_CONFIGURATION,
                commit_properties=CommitProperties(custom_metadata={"pinyon": json.dumps(told)}),
            )
        except DeltaError as error:
            raise StoreError(f"{self.path(spec)}: cannot create the table: {error}") from error

    def current(self, spec: TableSpec, version: int | None = None) -> Published:
        """The newest version, or an older one that is still kept; `StoreError` if there is none."""
        table = self._open(spec, version)
        if version is not None:
            self._check_kept(table, spec, version)
        facts = _facts(table)
        _check_format(self.path(spec), facts)
        files: dict[int, list[DataFile]] = {}
        for file in _added(table):
            files.setdefault(file.bucket, []).append(file)
        return Published(
            spec,
            self.path(spec),
            table.version(),
            facts["buckets"],
            {bucket: tuple(group) for bucket, group in files.items()},
            facts,
        )

    def _check_kept(self, table: DeltaTable, spec: TableSpec, version: int) -> None:
        """The log outlives the files of a version: without them it cannot be read."""
        root = self.path(spec)
        if not all((root / file.path).exists() for file in _added(table)):
            raise StoreError(
                f"{root}: version {version} is not kept any more (store.keep_versions, store.keep_hours)"
            )

    def applied(self, spec: TableSpec, segments: Iterable[str], version: int | None = None) -> set[str]:
        """Which of these segments the table (or an older version of it) holds the results of."""
        table = self._open(spec, version)
        return {name for name in segments if (table.transaction_version(f"segment:{name}") or 0) > 0}

    def publish(
        self,
        base: Published,
        written: Sequence[DataFile],
        *,
        replaces: Iterable[int] | None = None,
        segments: Iterable[str] = (),
        facts: Mapping[str, Any] | None = None,
        operation: str = "",
    ) -> int:
        """Commits `written` in place of the buckets `replaces` (default all) of `base`, and gives the new version.

        `segments` are recorded as applied, in the same commit. Raises `LockedError` if somebody else published
        since `base` was read, `StoreError` for anything else; nothing is changed then.
        """
        doomed = sorted(base.files) if replaces is None else sorted(set(replaces))
        removed = [file for bucket in doomed for file in base.files.get(bucket, ())]
        told = {**base.facts, **(facts or {}), "operation": operation}
        return self._commit(base, removed, written, told, dict.fromkeys(segments, 1))

    def restore(self, spec: TableSpec, version: int, segments: Iterable[str] = ()) -> int:
        """Publishes an older version once more, as the newest, and gives its new number.

        Of `segments`, exactly those count as applied from now on that `version` held the results of. Raises
        `StoreError` if that version is not kept any more.
        """
        base, old = self.current(spec), self.current(spec, version)
        names = list(segments)
        then = self.applied(spec, names, version)
        now_files, old_files = set(_flat(base)), set(_flat(old))
        return self._commit(
            base,
            sorted(now_files - old_files, key=_by_path),
            sorted(old_files - now_files, key=_by_path),
            {**old.facts, "operation": f"restore {version}"},
            {name: int(name in then) for name in names},
        )

    def _commit(
        self,
        base: Published,
        removed: Iterable[DataFile],
        added: Iterable[DataFile],
        told: Mapping[str, Any],
        segments: Mapping[str, int],
    ) -> int:
        """One commit on top of `base`; `segments` gives the version of each one's app transaction, 0: not applied."""
        from deltalake.exceptions import CommitFailedError, DeltaError
        from deltalake.transaction import AddAction, CommitProperties, RemoveAction, Transaction

        table = self._open(base.spec, base.version)
        now_ms = int(time.time() * 1000)
        actions: list[Any] = [
            RemoveAction(path=file.path, data_change=True, deletion_timestamp=now_ms) for file in removed
        ]
        actions += [
            AddAction(
                f.path,
                f.size_bytes,
                {"bucket": str(f.bucket)},
                now_ms,
                True,
                json.dumps({"numRecords": f.rows}),
            )
            for f in added
        ]
        properties = CommitProperties(
            custom_metadata={"pinyon": json.dumps(told)},
            max_commit_retries=0,
            app_transactions=[Transaction(f"segment:{name}", v) for name, v in segments.items()],
        )
        try:
            table.create_write_transaction(
                actions,
                mode="append",
                schema=table.schema(),
                partition_by=["bucket"],
                commit_properties=properties,
            )
        except CommitFailedError as error:
            raise LockedError(
                f"{base.root}: another process published version {base.version + 1} meanwhile; run the step again"
            ) from error
        except (DeltaError, OSError) as error:
            raise StoreError(f"{base.root}: cannot publish: {error}") from error
        table.update_incremental()
        return table.version()

    def sweep(self, spec: TableSpec, *, keep_versions: int, keep_hours: float = 0.0) -> int:
        """Deletes the files that no kept version names, litter of killed steps among them; how many.

        Only the writer may call it: a file just written and not yet committed looks like litter too.
        """
        newest = self._open(spec)
        kept = self._kept_versions(newest, keep_versions, keep_hours)
        named = {file.path for version in kept for file in _added(self._open(spec, version))}
        root = self.path(spec)
        doomed = [p for p in root.glob("bucket=*/*.parquet") if _relative(p, root) not in named]
        for path in doomed:
            path.unlink(missing_ok=True)
        for folder in root.glob("bucket=*"):
            if not any(folder.iterdir()):
                folder.rmdir()
        return len(doomed)

    def shorten_log(self, spec: TableSpec) -> None:
        """Writes a checkpoint and deletes the log entries before it that are old enough (an hour)."""
        table = self._open(spec)
        table.create_checkpoint()
        table.cleanup_metadata()

    def kept(self, spec: TableSpec) -> list[int]:
        """Versions that can still be read, newest first."""
        table = self._open(spec)
        found = []
        for age, _ in enumerate(table.history()):
            version = table.version() - age
            try:
                self.current(spec, version)
            except StoreError:
                break
            found.append(version)
        return found

    def _kept_versions(self, newest: DeltaTable, keep_versions: int, keep_hours: float) -> list[int]:
        oldest_ms = (time.time() - keep_hours * 3600) * 1000
        kept = []
        for age, entry in enumerate(newest.history(limit=max(keep_versions, 1) if not keep_hours else None)):
            version = newest.version() - age
            if age < max(keep_versions, 1) or entry.get("timestamp", 0) >= oldest_ms:
                kept.append(version)
        return kept

    def history(self, spec: TableSpec, limit: int | None = None) -> list[dict[str, Any]]:
        """Versions, newest first: `version`, `timestamp` (ms), `operation` and what else the commit told."""
        table = self._open(spec)
        entries = table.history(limit=limit)
        return [{"version": table.version() - age, **_told(entry)} for age, entry in enumerate(entries)]

    def _open(self, spec: TableSpec, version: int | None = None) -> DeltaTable:
        from deltalake import DeltaTable
        from deltalake.exceptions import DeltaError, TableNotFoundError

        path = self.path(spec)
        try:
            return DeltaTable(str(path), version=version)
        except TableNotFoundError as error:
            if version is not None and (path / "_delta_log").exists():
                raise StoreError(f"{path}: version {version} is not kept any more") from error
            raise StoreError(f"{path}: there is no {spec.name} here; 'pinyon init' makes one") from error
        except (DeltaError, OSError) as error:
            what = "cannot be opened" if version is None else f"version {version} is not kept any more"
            raise StoreError(f"{path}: {what}: {error}") from error


def _flat(published: Published) -> list[DataFile]:
    return [file for files in published.files.values() for file in files]


def _by_path(file: DataFile) -> str:
    return file.path


def _relative(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix()


def _check_format(path: Path, facts: Mapping[str, Any]) -> None:
    found = int(facts.get("format", 0))
    if found > FORMAT_VERSION:
        raise StoreError(
            f"{path}: written by a newer pinyon (format {found}, this one knows {FORMAT_VERSION}): "
            "pip install --upgrade pinyon"
        )
    if found < FORMAT_VERSION:
        raise StoreError(
            f"{path}: not a table of pinyon, or of an older format ({found}): run 'pinyon migrate'"
        )


def _added(table: DeltaTable) -> list[DataFile]:
    actions = table.get_add_actions(flatten=True)
    columns = {name: actions.column(name).to_pylist() for name in ("path", "size_bytes")}
    names = set(actions.schema.names)
    rows = actions.column("num_records").to_pylist() if "num_records" in names else [0] * len(columns["path"])
    buckets = actions.column("partition.bucket").to_pylist() if columns["path"] else []
    return [
        DataFile(path, int(bucket), int(count or 0), int(size))
        for path, size, count, bucket in zip(
            columns["path"], columns["size_bytes"], rows, buckets, strict=True
        )
    ]


def _facts(table: DeltaTable) -> dict[str, Any]:
    """Of the newest commit of ours: a foreign commit (an OPTIMIZE) in between does not lose them."""
    for limit in (1, None):
        for entry in table.history(limit=limit):
            if "pinyon" in entry:
                facts: dict[str, Any] = json.loads(entry["pinyon"])
                facts.pop("operation", None)
                return facts
    return {}


def _told(entry: Mapping[str, Any]) -> dict[str, Any]:
    told = json.loads(entry["pinyon"]) if "pinyon" in entry else {}
    return {
        "timestamp": entry.get("timestamp"),
        "operation": told.get("operation") or entry.get("operation"),
    }
