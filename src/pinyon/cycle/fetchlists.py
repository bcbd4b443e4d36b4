"""Partition: the chosen rows with all that is known of them become segments, one a list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pinyon.cycle import partition
from pinyon.cycle.narrow import CHOSEN, WIDE
from pinyon.cycle.selection import Selection
from pinyon.jobs import Files, load
from pinyon.store import Published
from pinyon.tables import CRAWLDB, FETCHLIST


def names_of(selection: Selection, parts: partition.Parts) -> dict[int, str]:
    """A segment name for each list that has URLs: the time of the lists, `-k` for the k-th."""
    stamp = selection.now.strftime("%Y%m%d%H%M%S")
    taken: set[str] = set()
    names: dict[int, str] = {}
    for number in sorted({row["list"] for row in parts.sizes}):
        names[number] = selection.crawl.segments.free_name(stamp, taken)
        taken.add(names[number])
    return names


def write_segments(
    selection: Selection,
    crawldb: Published,
    chosen: Sequence[str],
    parts: partition.Parts,
    infos: Mapping[int, tuple[str, dict[str, Any]]],
) -> None:
    """Writes and publishes the segment of every list in `infos` (list → name, what segment.json tells)."""
    segments = selection.crawl.segments
    drafts = {number: segments.draft(name) for number, (name, _) in infos.items()}
    wide = _write_wide(selection, crawldb, chosen, parts, drafts)
    _write_parts(selection, wide, parts, drafts)
    for number, (name, info) in infos.items():
        segments.publish(drafts[number], name, info)


def _write_wide(
    selection: Selection,
    crawldb: Published,
    chosen: Sequence[str],
    parts: partition.Parts,
    drafts: Mapping[int, Path],
) -> list[str]:
    """Bucket by bucket the chosen rows in full, and the locks."""
    engine, settings = selection.crawl.engine, selection.settings
    job = load("pinyon.cycle", "generate_fetchlist")
    params = {"now": selection.now, "seed": selection.seed, "parts": settings.fetchers}
    fragments = {"group_key": partition.GROUP_KEYS[settings.partition_by]}
    files = []
    for group in engine.bucket_groups(crawldb.buckets):
        sources = {
            "crawldb": Files.of(CRAWLDB, crawldb.paths(group)),
            "chosen": Files.of(CHOSEN, chosen).only(group),
            "assigned": Files.of(partition.ASSIGNED, parts.files),
        }
        if not sources["crawldb"].paths:
            continue
        engine.run(job, sources, params, fragments)
        path = selection.scratch / "wide" / f"{group[0]}.parquet"
        if not engine.write("SELECT * FROM fetchlist_rows", path).rows:
            continue
        files.append(str(path))
        for row in engine.rows("SELECT DISTINCT list, bucket FROM fetchlist_rows"):
            lock = drafts[row["list"]] / "lock" / f"bucket-{row['bucket']}.parquet"
            where = f"list = {row['list']} AND bucket = {row['bucket']}"
            engine.write(f"SELECT url_key, url FROM fetchlist_rows WHERE {where}", lock)
    return files


def _write_parts(
    selection: Selection, wide: Sequence[str], parts: partition.Parts, drafts: Mapping[int, Path]
) -> None:
    """A file a part, hosts interleaved: the first URL of every host, then the second of each, and so on."""
    engine = selection.crawl.engine
    columns = ", ".join(name for name in FETCHLIST.names if name != "position")
    engine.bind({"wide_rows": Files.of(WIDE, wide)})
    for row in parts.sizes:
        number, part = row["list"], row["part"]
        placed = (
            f"SELECT {columns}, row_number() OVER (ORDER BY host_rank, sort_value DESC, url_key) - 1 AS position "
            f"FROM wide_rows WHERE list = {number} AND part = {part}"
        )
        target = drafts[number] / "fetchlist" / f"part-{part:05d}.parquet"
        engine.write(f"SELECT {', '.join(FETCHLIST.names)} FROM ({placed}) ORDER BY position", target)
