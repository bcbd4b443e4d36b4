"""segments abort, drop: fetch lists given up, and segments that have done their work."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pinyon.crawl import Crawl
from pinyon.errors import UsageError
from pinyon.tables import CRAWLDB, HOSTDB


def abort(crawl: Crawl, names: Sequence[str]) -> list[str]:
    """Removes segments whose results are not in the crawldb: their URLs are free for the next generate at once.

    Raises `UsageError` for one that was updated already, and then removes none.
    """
    with crawl.writing("segments abort"):
        segments = [crawl.segments[name] for name in names]
        done = crawl.store.applied(CRAWLDB, names)
        for segment in segments:
            if segment.name in done:
                raise UsageError(
                    f"segment {segment.name} is updated: 'pinyon segments {crawl.root} drop' removes it"
                )
        for segment in segments:
            crawl.segments.remove(segment)
    return [segment.name for segment in segments]


def drop(crawl: Crawl, names: Sequence[str], *, with_warc: bool = False) -> list[str]:
    """Removes segments that both tables have taken in. Their WARC files are kept, in `warc/NAME`, unless told.

    Raises `UsageError` for one that is not updated, and then removes none.
    """
    with crawl.writing("segments drop"):
        segments = [crawl.segments[name] for name in names]
        for spec, step in ((CRAWLDB, "updatedb"), (HOSTDB, "updatehostdb")):
            missing = set(names) - crawl.store.applied(spec, names)
            if missing:
                raise UsageError(
                    f"segment {min(missing)} is not in the {spec.name} yet: run 'pinyon {step} {crawl.root}', "
                    f"or 'pinyon segments {crawl.root} abort {min(missing)}' if its results are not wanted"
                )
        for segment in segments:
            if not with_warc:
                _keep_warc(segment.folder("warc"), crawl.root / "warc" / segment.name)
            crawl.segments.remove(segment)
    return [segment.name for segment in segments]


def _keep_warc(source: Path, target: Path) -> None:
    if source.is_dir() and any(source.iterdir()):
        target.parent.mkdir(exist_ok=True)
        source.rename(target)
