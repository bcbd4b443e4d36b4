"""Tables as published versions: Parquet files that an engine wrote, named by a Delta log.

Only adds and removes are committed; rows are never merged here. What belongs to a version but is not a row (the
format, the number of buckets, the digest of the filters that its URLs passed, the metadata keys ever seen) are
its facts: one JSON object in the commit's own metadata under `pinyon`, carried on from commit to commit. Table
properties would be the place, but the Delta kernel refuses names it does not know.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pinyon.errors import LockedError, StoreError
from pinyon.store import log
from pinyon.store.files import sync_directory, sync_file
from pinyon.store.published import DataFile, Published
from pinyon.tables import FORMAT_VERSION, TableSpec

if TYPE_CHECKING:
    from deltalake.transaction import AddAction, CommitProperties


class DeltaStore:
    """The tables of one crawl directory."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def path(self, spec: TableSpec) -> Path:
        return self.root / spec.name

    def create(self, spec: TableSpec, *, buckets: int, facts: Mapping[str, Any]) -> None:
        """An empty table, version 0; `StoreError` if it is there already."""
        from deltalake import Schema
        from deltalake.transaction import create_table_with_add_actions

        told = {"format": FORMAT_VERSION, "buckets": buckets, **facts, "operation": "init"}
        with _translated(self.path(spec), "cannot create the table"):
            create_table_with_add_actions(
                str(self.path(spec)),
                Schema.from_arrow(spec.arrow_schema()),
                [],
                partition_by=["bucket"],
                configuration=log.CONFIGURATION,
                commit_properties=_properties(told, {}),
            )

    def current(self, spec: TableSpec, version: int | None = None) -> Published:
        """The newest version, or an older one that is still kept; `StoreError` if there is none, or not all of it."""
        found = self._listed(spec, version)
        missing = next((f.path for f in found.all_files() if not (found.root / f.path).exists()), None)
        if missing is None:
            return found
        if version is not None:  # the log of a version outlives its files
            raise StoreError(
                f"{found.root}: version {version} is not kept any more (store.keep_versions, store.keep_hours)"
            )
        raise StoreError(
            f"{found.root / missing} is missing: 'pinyon history' shows older versions, 'pinyon restore' takes one"
        )

    def _listed(self, spec: TableSpec, version: int | None = None) -> Published:
        """What the log says of a version; its files may be gone."""
        root = self.path(spec)
        table = log.open_table(root, version)
        facts = log.facts_of(root, table.version())
        log.check_format(root, facts)
        files: dict[int, list[DataFile]] = {}
        for file in log.files_of(table):
            files.setdefault(file.bucket, []).append(file)
        by_bucket = {bucket: tuple(group) for bucket, group in files.items()}
        return Published(spec, root, table.version(), facts["buckets"], by_bucket, facts)

    def applied(self, spec: TableSpec, segments: Iterable[str], version: int | None = None) -> set[str]:
        """Which of these segments the table (or an older version of it) holds the results of."""
        table = log.open_table(self.path(spec), version)
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
        return _commit(base, removed, written, told, dict.fromkeys(segments, 1))

    def restore(self, spec: TableSpec, version: int, segments: Iterable[str] = ()) -> int:
        """Publishes an older version once more, as the newest, and gives its new number.

        Of `segments`, exactly those count as applied from now on that `version` held the results of. Raises
        `StoreError` if that version is not kept any more.
        """
        base, old = self._listed(spec), self.current(spec, version)
        names = list(segments)
        then = self.applied(spec, names, version)
        now_files, old_files = set(base.all_files()), set(old.all_files())
        return _commit(
            base,
            sorted(now_files - old_files, key=_by_path),
            sorted(old_files - now_files, key=_by_path),
            {**old.facts, "operation": f"restore {version}"},
            {name: int(name in then) for name in names},
        )

    def history(self, spec: TableSpec, limit: int | None = None) -> list[dict[str, Any]]:
        """Versions, newest first: `version`, `timestamp` (ms), `operation`. Not all of them can still be read."""
        table = log.open_table(self.path(spec))
        entries = table.history(limit=limit)
        return [{"version": table.version() - age, **log.told(entry)} for age, entry in enumerate(entries)]

    def kept(self, spec: TableSpec) -> list[int]:
        """Versions that can still be read, newest first."""
        return [published.version for published in self._readable(self.history(spec), spec)]

    def _readable(self, entries: Iterable[dict[str, Any]], spec: TableSpec) -> Iterator[Published]:
        """Versions of a history, newest first, up to the first whose files are gone: so are those before it."""
        for entry in entries:
            try:
                yield self.current(spec, entry["version"])
            except StoreError:
                return

    def sweep(self, spec: TableSpec, *, keep_versions: int, keep_hours: float = 0.0) -> int:
        """Deletes the files that no kept version names, litter of killed steps among them; how many.

        Only the writer may call it: a file just written and not yet committed looks like litter too.
        """
        root = self.path(spec)
        kept = self._wanted(spec, keep_versions, keep_hours)
        named = {root / file.path for version in kept for file in version.all_files()}
        doomed = [path for path in root.glob("bucket=*/*.parquet") if path not in named]
        for path in doomed:
            path.unlink(missing_ok=True)
        for folder in root.glob("bucket=*"):
            if not any(folder.iterdir()):
                folder.rmdir()
        log.shorten(root, min(version.version for version in kept))
        return len(doomed)

    def _wanted(self, spec: TableSpec, keep_versions: int, keep_hours: float) -> list[Published]:
        """The newest version, and those before it that are to be kept and can be."""
        oldest_ms = (time.time() - keep_hours * 3600) * 1000
        history = self.history(spec, None if keep_hours else max(keep_versions, 1))
        wanted = [
            entry
            for age, entry in enumerate(history)
            if 0 < age < keep_versions or (age and (entry["timestamp"] or 0) >= oldest_ms)
        ]
        return [self._listed(spec), *self._readable(wanted, spec)]

    def shorten_log(self, spec: TableSpec) -> None:
        """Writes a checkpoint, and deletes the log before what the kept versions need."""
        root = self.path(spec)
        with _translated(root, "cannot write a checkpoint"):
            log.open_table(root).create_checkpoint()
        log.shorten(root, min(self.kept(spec), default=0))


def _commit(
    base: Published,
    removed: Iterable[DataFile],
    added: Sequence[DataFile],
    told: Mapping[str, Any],
    segments: Mapping[str, int],
) -> int:
    """One commit on top of `base`; `segments` gives the version of each one's app transaction, 0: not applied."""
    from deltalake.transaction import RemoveAction

    table = log.open_table(base.root, base.version)
    _to_disk(base.root, added)
    now_ms = int(time.time() * 1000)
    removes = [RemoveAction(path=f.path, data_change=True, deletion_timestamp=now_ms) for f in removed]
    with _translated(base.root, "cannot publish", base.version + 1):
        table.create_write_transaction(
            [*removes, *(_add(file, now_ms) for file in added)],
            mode="append",
            schema=table.schema(),
            partition_by=["bucket"],
            commit_properties=_properties(told, segments),
        )
        table.update_incremental()
    _to_disk(base.root, [])
    sync_file(log.log_file(base.root, table.version()))
    return table.version()


def _to_disk(root: Path, files: Sequence[DataFile]) -> None:
    """Nothing is named in the log before it is on disk: after a loss of power, too, a version is whole."""
    for file in files:
        sync_file(root / file.path)
    for folder in {(root / file.path).parent for file in files} | {root / "_delta_log"}:
        sync_directory(folder)


def _add(file: DataFile, now_ms: int) -> AddAction:
    from deltalake.transaction import AddAction

    statistics = json.dumps({"numRecords": file.rows})
    return AddAction(file.path, file.size_bytes, {"bucket": str(file.bucket)}, now_ms, True, statistics)


def _properties(told: Mapping[str, Any], segments: Mapping[str, int]) -> CommitProperties:
    from deltalake.transaction import CommitProperties, Transaction

    return CommitProperties(
        custom_metadata={"pinyon": json.dumps(told)},
        max_commit_retries=0,
        app_transactions=[Transaction(f"segment:{name}", version) for name, version in segments.items()],
    )


@contextmanager
def _translated(root: Path, what: str, version: int = 0) -> Iterator[None]:
    """Errors of the Delta library as ours; one of a commit that came too late as `LockedError`."""
    from deltalake.exceptions import CommitFailedError, DeltaError

    try:
        yield
    except CommitFailedError as error:
        raise LockedError(
            f"{root}: another process published version {version} meanwhile; run the step again"
        ) from error
    except (DeltaError, OSError) as error:
        raise StoreError(f"{root}: {what}: {log.one_line(error)}") from error


def _by_path(file: DataFile) -> str:
    return file.path
