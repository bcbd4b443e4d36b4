"""restore, vacuum: what is done with older versions of the tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pinyon.crawl import Crawl
from pinyon.cycle.invertlinks import LINKDB, has_linkdb, sweep_linkdb
from pinyon.errors import StoreError, UsageError
from pinyon.store import Published
from pinyon.tables import CRAWLDB, HOSTDB, TableSpec

TABLES: dict[str, TableSpec] = {"crawldb": CRAWLDB, "hostdb": HOSTDB, "linkdb": LINKDB}


@dataclass(frozen=True, slots=True)
class RestoreReport:
    """`version` is the number the restored rows have now; `reopened` segments wait to be applied (merged) again."""

    table: str
    restored: int
    version: int
    rows: int
    reopened: Sequence[str]


@dataclass(frozen=True, slots=True)
class VacuumReport:
    """Data files deleted, of versions that are not kept and of killed steps; versions of each table that are left."""

    files: int
    kept: Mapping[str, Sequence[int]]


def restore(crawl: Crawl, version: int, *, table: str = "crawldb") -> RestoreReport:
    """Makes an older version of a table the newest; segments that it had not taken in count as not applied again.

    Raises `StoreError` if that version is not kept any more, `UsageError` if there is none of that number.
    """
    spec = TABLES[table]
    with crawl.writing(f"restore {version}"):
        current = crawl.store.current(spec)
        if not 0 <= version <= current.version:
            raise UsageError(
                f"{current.root}: no version {version}; 'pinyon history {crawl.root}' lists them"
            )
        old = crawl.store.current(spec, version)
        reopened = _reopened(crawl, spec, version)
        _refuse_other_buckets(crawl, current, old, reopened)
        names = [segment.name for segment in crawl.segments]
        newest = crawl.store.restore(spec, version, names)
        crawl.sweep_versions()
        sweep_linkdb(crawl)
    return RestoreReport(table, version, newest, old.rows, reopened)


def _reopened(crawl: Crawl, spec: TableSpec, version: int) -> list[str]:
    names = [segment.name for segment in crawl.segments]
    return sorted(crawl.store.applied(spec, names) - crawl.store.applied(spec, names, version))


def _refuse_other_buckets(crawl: Crawl, current: Published, old: Published, reopened: Sequence[str]) -> None:
    """A segment's rows carry the bucket they had when it was made."""
    if reopened and current.buckets != old.buckets:
        raise StoreError(
            f"{current.root}: version {old.version} has {old.buckets} buckets, segment {reopened[0]} was made for "
            f"{current.buckets}: 'pinyon segments {crawl.root} drop' it first, its results will be lost"
        )


def vacuum(
    crawl: Crawl, *, keep_versions: int | None = None, keep_hours: float | None = None
) -> VacuumReport:
    """Deletes what belongs to no kept version, and shortens the log. By default as `[store]` says.

    Every step does the first at its end; this is for after the settings changed, or a table was written by others.
    """
    store = crawl.settings.store
    versions = store.keep_versions if keep_versions is None else keep_versions
    hours = store.keep_hours if keep_hours is None else keep_hours
    if versions < 1:
        raise UsageError(f"{versions} versions: the newest one is always kept, so 1 or more")
    with crawl.writing("vacuum"):
        there = {name: spec for name, spec in TABLES.items() if spec is not LINKDB or has_linkdb(crawl)}
        files = sum(
            crawl.store.sweep(spec, keep_versions=versions, keep_hours=hours) for spec in there.values()
        )
        for spec in there.values():
            crawl.store.shorten_log(spec)
        kept = {name: crawl.store.kept(spec) for name, spec in there.items()}
    return VacuumReport(files, kept)
