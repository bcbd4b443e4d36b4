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


def names_of(selection: Selection, placement: Placement) -> dict[int, str]:
    """A segment name for each list that has URLs: the time of the lists, `-k` for the k-th."""
    stamp = selection.now.strftime("%Y%m%d%H%M%S")
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
    wide = _write_wide(selection, crawldb, placement.files)
    _write_locks(selection, wide, drafts)
    _write_parts(selection, wide, placement, drafts)
    for number, (name, info) in infos.items():
        segments.publish(drafts[number], name, info)


def _write_wide(
    selection: Selection, crawldb: Published, placed: Sequence[str]
) -> dict[tuple[int, ...], str]:
    """Files of the chosen rows in full, by group of buckets: rows are found again by their address."""
    engine = selection.crawl.engine
    job = load("pinyon.cycle", "generate_fetchlist")
    wide = {}
    for group in engine.bucket_groups(crawldb.buckets):
        if not crawldb.paths(group):
            continue
        path = selection.scratch / "wide" / f"{group[0]}.parquet"
        sources = {
            "crawldb": Files.of(CRAWLDB, crawldb.paths(group)).with_addresses(),
            "placed": Files.of(PLACED, placed).only(group),
        }
        if engine.write_result(job, sources, path, {"now": selection.now}).rows:
            wide[tuple(group)] = str(path)
    return wide


def _write_locks(
    selection: Selection, wide: Mapping[tuple[int, ...], str], drafts: Mapping[int, Path]
) -> None:
    """For every list and bucket the URLs that no other list takes until updatedb."""
    engine = selection.crawl.engine
    for path in wide.values():
        engine.bind({"wide_rows": Files.of(FETCHLIST, [path])})
        for row in engine.rows("SELECT DISTINCT list, bucket FROM wide_rows"):
            lock = drafts[row["list"]] / "lock" / f"bucket-{row['bucket']}.parquet"
            where = f"list = {row['list']} AND bucket = {row['bucket']}"
            engine.write(f"SELECT url_key, url FROM wide_rows WHERE {where}", lock)


def _write_parts(
    selection: Selection,
    wide: Mapping[tuple[int, ...], str],
    placement: Placement,
    drafts: Mapping[int, Path],
) -> None:
    """A file a part. Its rows say their position and lie in no order: sorting them in full costs more than all else."""
    engine = selection.crawl.engine
    engine.bind({"wide_rows": Files.of(FETCHLIST, list(wide.values()))})
    columns = ", ".join(FETCHLIST.names)
    for row in placement.sizes:
        number, part = row["list"], row["part"]
        target = drafts[number] / "fetchlist" / f"part-{part:05d}.parquet"
        engine.write(f"SELECT {columns} FROM wide_rows WHERE list = {number} AND part = {part}", target)
