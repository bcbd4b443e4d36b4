"""segments abort, drop: fetch lists given up, and segments that have done their work."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from pinyon.crawl import Crawl
from pinyon.errors import UsageError
from pinyon.store import Segment
from pinyon.tables import CRAWLDB, HOSTDB


def abort(crawl: Crawl, names: Sequence[str], *, with_warc: bool = False) -> list[str]:
    """Removes segments whose results are not in the crawldb: their URLs are free for the next generate at once.

    What was archived by then is kept, in `warc/NAME`, unless told. Raises `UsageError` for a segment that was updated
    already, and then removes none.
    """
    with crawl.writing("segments abort"):
        segments = _named(crawl, names)
        done = crawl.store.applied(CRAWLDB, [segment.name for segment in segments])
        if done:
            raise UsageError(
                f"segment {min(done)} is updated: 'pinyon segments {crawl.root} drop' removes it"
            )
        return _remove(crawl, segments, with_warc)


def drop(crawl: Crawl, names: Sequence[str], *, with_warc: bool = False) -> list[str]:
    """Removes segments that both tables have taken in. Their WARC files are kept, in `warc/NAME`, unless told.

    Raises `UsageError` for one that is not updated, and then removes none.
    """
    with crawl.writing("segments drop"):
        segments = _named(crawl, names)
        wanted = {segment.name for segment in segments}
        missing = wanted - crawl.store.applied(CRAWLDB, wanted)
        if missing:
            raise UsageError(
                f"segment {min(missing)} is not in the crawldb yet: run 'pinyon updatedb {crawl.root}', "
                f"or 'pinyon segments {crawl.root} abort {min(missing)}' if its results are not wanted"
            )
        missing = wanted - crawl.store.applied(HOSTDB, wanted)
        if missing:
            raise UsageError(
                f"segment {min(missing)} is not in the hostdb yet: run 'pinyon updatehostdb {crawl.root}'"
            )
        return _remove(crawl, segments, with_warc)


def _named(crawl: Crawl, names: Iterable[str]) -> list[Segment]:
    """Each segment once, by name or by path."""
    return list({segment.name: segment for segment in map(crawl.segments.__getitem__, names)}.values())


def _remove(crawl: Crawl, segments: Iterable[Segment], with_warc: bool) -> list[str]:
    removed = []
    for segment in segments:
        if not with_warc:
            _keep_warc(segment.folder("warc"), crawl.root / "warc" / segment.name)
        crawl.segments.remove(segment)
        removed.append(segment.name)
    return removed


def _keep_warc(source: Path, target: Path) -> None:
    """Moved as it is, in one rename; beside what an earlier segment of that name left."""
    if not source.is_dir() or not any(source.iterdir()):
        return
    target.parent.mkdir(exist_ok=True)
    free, number = target, 1
    while free.exists():
        free, number = target.with_name(f"{target.name}.{number}"), number + 1
    source.rename(free)
