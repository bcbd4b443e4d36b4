"""Files that are there whole or not at all."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

from pinyon.errors import StoreError


def write_atomically(path: Path, text: str) -> None:
    """Writes beside, syncs, renames: a reader, or a crash, sees the old text or the new one. Raises `StoreError`."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        sync_directory(path.parent)
    except OSError as error:
        raise StoreError(f"{path}: cannot be written: {error.strerror}") from error
    finally:
        temporary.unlink(missing_ok=True)


def write_json(path: Path, value: dict[str, Any]) -> None:
    write_atomically(path, json.dumps(value, indent=1, ensure_ascii=False, default=str) + "\n")


def read_json(path: Path) -> dict[str, Any]:
    """The object in a JSON file; `StoreError` naming the file if it is missing or torn."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise StoreError(f"{path}: cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise StoreError(f"{path}: not valid JSON: {error}") from error
    if not isinstance(value, dict):
        raise StoreError(f"{path}: not a JSON object")
    return value


def sync_file(path: Path) -> None:
    """Returns when what was written to the file is on disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_directory(path: Path) -> None:
    """A new name is on disk only once its directory is."""
    sync_file(path)


def remove_tree(path: Path) -> None:
    """Renamed first, so that a half-removed folder is never mistaken for a whole one."""
    doomed = path.with_name(f".{path.name}.removing")
    if doomed.exists():
        shutil.rmtree(doomed, ignore_errors=True)
    path.rename(doomed)
    shutil.rmtree(doomed, ignore_errors=True)
