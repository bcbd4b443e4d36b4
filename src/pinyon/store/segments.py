"""Segments: one fetch list and all that came of it, as folders under `segments/`."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pinyon.errors import StoreError, nearest
from pinyon.store.files import read_json, remove_tree, sync_directory, sync_file, write_json
from pinyon.tables import FORMAT_VERSION

STATES = ("generated", "fetched", "parsed")
_NAME = re.compile(r"\d{14}(?:-\d+)?")


@dataclass(frozen=True, slots=True)
class Segment:
    """One segment on disk. Whether it was *updated* is not known here: the crawldb's log says it."""

    path: Path

    @property
    def name(self) -> str:
        return self.path.name

    def folder(self, what: str) -> Path:
        """`fetchlist`, `lock`, `pages`, `hosts`, `warc`, `links` or `docs`."""
        return self.path / what

    def files(self, what: str) -> list[str]:
        """The Parquet files of that folder, in order; none if it is not there."""
        return sorted(str(p) for p in self.folder(what).glob("*.parquet") if not p.name.startswith("."))

    def info(self) -> dict[str, Any]:
        """`segment.json`: `state`, `generate_time`, `settings`, `counts`, `parts`. Raises `StoreError`."""
        path = self.path / "segment.json"
        try:
            info = read_json(path)
        except StoreError as error:
            raise StoreError(f"{error}; {self._way_out()}") from error
        if info.get("format", 0) > FORMAT_VERSION:
            raise StoreError(f"{path}: written by a newer pinyon: pip install --upgrade pinyon")
        if info.get("state") not in STATES:
            raise StoreError(f"{path}: unknown state '{info.get('state')}'; {self._way_out()}")
        return info

    @property
    def state(self) -> str:
        return str(self.info()["state"])

    def _way_out(self) -> str:
        crawl = self.path.parent.parent
        return f"'pinyon segments {crawl} abort {self.name}' gives the segment up and its URLs free again"

    def advance(self, state: str, **more: Any) -> None:
        """Records that `state` is reached, with what is to be told about it."""
        write_json(self.path / "segment.json", {**self.info(), "state": state, **more})

    def check_whole(self) -> None:
        """`StoreError` if a file that segment.json lists is missing."""
        for listed in self.info().get("files", []):
            if not (self.path / listed).exists():
                raise StoreError(f"{self.path / listed} is missing; {self._way_out()}")


class Segments:
    """The segments of one crawl directory, oldest first."""

    def __init__(self, root: Path) -> None:
        self.root = root / "segments"

    def __iter__(self) -> Iterator[Segment]:
        if not self.root.is_dir():
            return
        for path in sorted(self.root.iterdir(), key=_in_order):
            if _NAME.fullmatch(path.name) and path.is_dir():
                yield Segment(path)

    def __getitem__(self, name: str) -> Segment:
        """By name, or by a path that ends in it; `StoreError` with the nearest name if there is none."""
        wanted = Path(name).name
        path = self.root / wanted
        if not _NAME.fullmatch(wanted) or not path.is_dir():
            raise StoreError(f"{self.root}: no segment '{name}'{nearest(wanted, [s.name for s in self])}")
        return Segment(path)

    def draft(self, name: str) -> Path:
        """An empty folder to build a segment in: nobody sees it until `publish`."""
        path = self.root / f".{name}.draft"
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True)
        return path

    def publish(self, draft: Path, name: str, info: dict[str, Any]) -> Segment:
        """Makes the draft a segment, in one rename."""
        files = sorted(draft.rglob("*.parquet"))
        for file in files:
            sync_file(file)
        listed = [file.relative_to(draft).as_posix() for file in files]
        write_json(
            draft / "segment.json",
            {"format": FORMAT_VERSION, "name": name, "state": "generated", "files": listed, **info},
        )
        path = self.root / name
        draft.rename(path)
        sync_directory(self.root)
        return Segment(path)

    def free_name(self, stamp: str, reserved: Iterable[str] = ()) -> str:
        """`stamp` (yyyyMMddHHmmss), or `stamp-k` for the first k that is free and not reserved."""
        taken = {s.name for s in self}.union(reserved)
        name, k = stamp, 1
        while name in taken:
            name, k = f"{stamp}-{k}", k + 1
        return name

    def remove(self, segment: Segment) -> None:
        remove_tree(segment.path)

    def sweep(self) -> None:
        """Removes drafts and half-removed folders. Only the writer may call it."""
        if self.root.is_dir():
            for path in self.root.iterdir():
                if path.name.startswith("."):
                    shutil.rmtree(path, ignore_errors=True)


def _in_order(path: Path) -> tuple[str, int]:
    stamp, _, k = path.name.partition("-")
    return stamp, int(k) if k.isdigit() else 0
