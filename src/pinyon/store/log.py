"""The Delta log of one table: opened, read, kept short.

Foreign errors end here: what the Delta library raises becomes one line that names the table.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pinyon.errors import StoreError
from pinyon.store.published import DataFile
from pinyon.tables import FORMAT_VERSION

if TYPE_CHECKING:
    from deltalake import DeltaTable

CONFIGURATION = {
    "delta.checkpointInterval": "10",
    # by age alone it takes the log of versions that are kept: `shorten` knows which are
    "delta.enableExpiredLogCleanup": "false",
    # a segment forgotten here would be applied a second time
    "delta.setTransactionRetentionDuration": "interval 3650 days",
}
_LOG = "_delta_log"
_NUMBERED = re.compile(r"(\d{20})\..+")


def log_file(root: Path, version: int) -> Path:
    """The commit that made this version."""
    return root / _LOG / f"{version:020}.json"


def open_table(root: Path, version: int | None = None) -> DeltaTable:
    """The table in `root`, newest version unless told; `StoreError` if there is none, or it cannot be read."""
    from deltalake import DeltaTable
    from deltalake.exceptions import DeltaError, TableNotFoundError

    if version is not None and version < 0:
        raise StoreError(f"{root}: there is no version {version}")
    try:
        table = DeltaTable(str(root), version=version)
    except TableNotFoundError as error:
        if version is not None and (root / _LOG).exists():
            raise StoreError(f"{root}: version {version} is not kept any more") from error
        raise StoreError(
            f"{root}: there is no table here: it was moved, or its _delta_log is lost"
        ) from error
    except (DeltaError, OSError, ValueError, OverflowError) as error:
        what = "cannot be opened" if version is None else f"version {version} cannot be read"
        raise StoreError(f"{root}: {what}: {one_line(error)}") from error
    _refuse_empty_commit(root, table.version())
    return table


def _refuse_empty_commit(root: Path, version: int) -> None:
    """A commit lost in a loss of power: to the library it is one that changes nothing."""
    path = log_file(root, version)
    if path.exists() and path.stat().st_size == 0:
        raise StoreError(f"{path}: an empty commit: without this file the table is what it was before")


def one_line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def files_of(table: DeltaTable) -> list[DataFile]:
    """The files of this version, in no particular order."""
    actions = table.get_add_actions(flatten=True)
    columns = {name: actions.column(name).to_pylist() for name in ("path", "size_bytes")}
    if not columns["path"]:
        return []
    counted = "num_records" in actions.schema.names
    rows = actions.column("num_records").to_pylist() if counted else [0] * len(columns["path"])
    buckets = actions.column("partition.bucket").to_pylist()
    listed = zip(columns["path"], columns["size_bytes"], rows, buckets, strict=True)
    return [DataFile(path, int(bucket), int(count or 0), int(size)) for path, size, count, bucket in listed]


def facts_of(root: Path, version: int) -> dict[str, Any]:
    """Of the newest commit of ours up to `version`: a foreign one (an OPTIMIZE) in between does not lose them.

    Read from the log itself: `DeltaTable.history` tells of the newest commits, whichever version is open.
    """
    for number in range(version, -1, -1):
        entry = log_file(root, number)
        if not entry.exists():
            break
        for line in entry.read_text(encoding="utf-8").splitlines():
            text = json.loads(line).get("commitInfo", {}).get("pinyon")
            if text:
                facts: dict[str, Any] = json.loads(text)
                facts.pop("operation", None)
                return facts
    return {}


def told(entry: Mapping[str, Any]) -> dict[str, Any]:
    """What a commit says of itself: `timestamp` in ms, and the operation in our words if it is one of ours."""
    ours = json.loads(entry["pinyon"]) if "pinyon" in entry else {}
    return {
        "timestamp": entry.get("timestamp"),
        "operation": ours.get("operation") or entry.get("operation"),
    }


def check_format(root: Path, facts: Mapping[str, Any]) -> None:
    """`StoreError` if the table is laid out otherwise than this pinyon reads it."""
    found = int(facts.get("format", 0))
    if found > FORMAT_VERSION:
        raise StoreError(
            f"{root}: written by a newer pinyon (format {found}, this one knows {FORMAT_VERSION}): "
            "pip install --upgrade pinyon"
        )
    if found < FORMAT_VERSION:
        raise StoreError(
            f"{root}: not a table of pinyon, or of an older format ({found}): run 'pinyon migrate'"
        )


def shorten(root: Path, oldest_kept: int) -> None:
    """Deletes what lies before the newest checkpoint from which the oldest kept version can still be read."""
    entries = _entries(root)
    checkpoints = {number for number, path in entries if ".checkpoint" in path.name}
    base = max((number for number in checkpoints if number <= oldest_kept), default=0)
    for number, path in entries:
        if number < base:
            path.unlink(missing_ok=True)


def _entries(root: Path) -> Iterable[tuple[int, Path]]:
    found = [(_NUMBERED.fullmatch(path.name), path) for path in (root / _LOG).iterdir()]
    return [(int(match[1]), path) for match, path in found if match]
