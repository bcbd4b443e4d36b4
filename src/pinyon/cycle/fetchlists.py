"""Partition: the chosen rows with all that is known of them become segments, one a list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pinyon.cycle.narrow import PLACED
from pinyon.cycle.partition import Placement
from pinyon.cycle.selection import Selection
from pinyon.jobs import Files, load
from pinyon.store import Published
from pinyon.tables import CRAWLDB, FETCHLIST

#: As many rows are found again in one go: some 100 bytes of each are held.
_AT_ONCE_URLS = 1_500_000


def names_of(selection: Selection, placement: Placement) -> dict[int, str]:
    """A segment name for each list that has URLs: the time of the lists, `-k` for the k-th."""
    stamp = selection.made_at.strftime("%Y%m%d%H%M%S")
    taken: set[str] = set()
    names: dict[int, str] = {}
    for number in sorted({row["list"] for row in placement.sizes}):
        names[number] = selection.crawl.segments.free_name(stamp, taken)
        taken.add(names[number])
    return names


def write_segments(
    selection: Selection,
    crawldb: Published,
    placement: Placement,
    infos: Mapping[int, tuple[str, dict[str, Any]]],
) -> None:
    """Writes and publishes the segment of every list in `infos` (list → name, what segment.json tells)."""
    segments = selection.crawl.segments
    drafts = {number: segments.draft(name) for number, (name, _) in infos.items()}
    one_file_each = all(len(files) == 1 for files in crawldb.files.values())
    if one_file_each and len(placement.sizes) == 1 and placement.sizes[0]["urls"] <= _AT_ONCE_URLS:
        _write_at_once(selection, crawldb, placement, drafts)
    else:
        _write_by_bucket(selection, crawldb, placement, drafts)
    for number, (name, info) in infos.items():
        segments.publish(drafts[number], name, info)


def _write_at_once(
    selection: Selection, crawldb: Published, placement: Placement, drafts: Mapping[int, Path]
) -> None:
    """One list of one part, small enough for its addresses to be held: its rows are written as they are found."""
    [(number, draft)] = drafts.items()
    target = _part_file(draft, placement.sizes[0]["part"])
    _write_rows(selection, crawldb, placement, None, target)
    _write_locks(selection, [str(target)], {number: draft})


def _write_by_bucket(
    selection: Selection, crawldb: Published, placement: Placement, drafts: Mapping[int, Path]
) -> None:
    """Bucket by bucket aside, then a file a part."""
    wide = []
    for group in selection.crawl.engine.bucket_groups(crawldb.buckets):
        path = selection.scratch / "wide" / f"{group[0]}.parquet"
        if crawldb.paths(group) and _write_rows(selection, crawldb, placement, group, path):
            wide.append(str(path))
    for path_ in wide:
        _write_locks(selection, [path_], drafts)
    selection.crawl.engine.bind({"wide_rows": Files.of(FETCHLIST, wide)})
    columns = ", ".join(FETCHLIST.names)
    for row in placement.sizes:
        where = f"list = {row['list']} AND part = {row['part']}"
        target = _part_file(drafts[row["list"]], row["part"])
        selection.crawl.engine.write(f"SELECT {columns} FROM wide_rows WHERE {where}", target)


def _part_file(draft: Path, part: int) -> Path:
    return draft / "fetchlist" / f"part-{part:05d}.parquet"


def _write_rows(
    selection: Selection, crawldb: Published, placement: Placement, group: Sequence[int] | None, path: Path
) -> int:
    """The placed rows of a group of buckets (None: all) with all that is known of them; how many.

    They are found again by their address and lie in no order: they say their position, and sorting them in full
    would cost more than all else.
    """
    placed = Files.of(PLACED, placement.files)
    tables = {
        "crawldb": Files.of(CRAWLDB, crawldb.paths(group)).with_addresses(),
        "placed": placed if group is None else placed.only(group),
    }
    job = load("pinyon.cycle", "generate_fetchlist")
    return selection.crawl.engine.write_result(job, tables, path, {"now": selection.made_at}).rows


def _write_locks(selection: Selection, files: Sequence[str], drafts: Mapping[int, Path]) -> None:
    """For every list and bucket the URLs that no other list takes until updatedb."""
    engine = selection.crawl.engine
    engine.bind({"wide_rows": Files.of(FETCHLIST, files)})
    for row in engine.rows("SELECT DISTINCT list, bucket FROM wide_rows"):
        lock = drafts[row["list"]] / "lock" / f"bucket-{row['bucket']}.parquet"
        where = f"list = {row['list']} AND bucket = {row['bucket']}"
        engine.write(f"SELECT url_key, url FROM wide_rows WHERE {where}", lock)
