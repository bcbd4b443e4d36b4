"""updatedb: what a round learned becomes what is known.

pages, docs ─▶ results (segment by segment) ─┐
links ─▶ linked ─────────────────────────────┼─▶ known rows, entering rows, new rows ─▶ the next version
crawldb ─────────────────────────────────────┤         (bucket by bucket)               (one commit, the
fetchlist: rows the crawldb has lost ────────┤                                           segments recorded in it)
hosts, hostdb: robots.txt that changed ──────┘
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from pinyon.crawl import Crawl, utc_now
from pinyon.cycle.choose import open_segments
from pinyon.cycle.rewrite import rewrite
from pinyon.cycle.schedules import read_bounds
from pinyon.cycle.updatedb_caps import ENTERED_SQL, Cut, caps, cut_surplus
from pinyon.cycle.updatedb_inputs import crowded, pages_twice, prepare, touched_buckets
from pinyon.cycle.updatedb_rules import Rules
from pinyon.cycle.updatehostdb import HostDbReport, merge_hosts
from pinyon.errors import NothingDue, UsageError
from pinyon.jobs import load
from pinyon.store import DataFile, Published, Segment
from pinyon.tables import CRAWLDB


@dataclass(frozen=True, slots=True)
class UpdateReport:
    """What became of the rows: `changes` counts fetched, not_modified, gone, retry, …, new; `none` is the rest.

    `surplus` counts URLs that did not enter, by the cap that kept them out. `hosts` is the report of the HostDb, if
    that was updated in the same go.
    """

    segments: Sequence[str]
    already_applied: Sequence[str]
    changes: Mapping[str, int]
    rows: int
    version: int
    surplus: Mapping[str, int] = field(default_factory=dict)
    hosts: HostDbReport | None = None


def updatedb(
    crawl: Crawl, segments: Iterable[str] = (), *, hostdb: bool = False, now: datetime | None = None
) -> UpdateReport:
    """Applies parsed segments (all that are not applied yet, unless named) to the crawldb, in one rewrite.

    A segment that was applied is not applied again; the report says so. With `hostdb` the HostDb is updated too.
    Raises `NothingDue` if there is none to apply, `UsageError` if a named one is not parsed yet.
    """
    with crawl.writing("updatedb"):
        chosen, already = _chosen(crawl, list(segments))
        if not chosen and not already:
            raise NothingDue(f"no segment is parsed and waits: run 'pinyon parse {crawl.root}' first")
        report = _updatedb(crawl, chosen, already, now or utc_now())
        return dataclasses.replace(report, hosts=merge_hosts(crawl)) if hostdb else report


def _chosen(crawl: Crawl, names: list[str]) -> tuple[list[Segment], list[str]]:
    waiting = {segment.name: segment for segment in open_segments(crawl)}
    if not names:
        return [segment for segment in waiting.values() if segment.state == "parsed"], []
    named = {segment.name: segment for segment in (crawl.segments[name] for name in names)}
    for segment in named.values():
        if segment.state != "parsed":
            raise UsageError(f"segment {segment.name} is {segment.state}, wanted one that is parsed")
    return [s for s in named.values() if s.name in waiting], [name for name in named if name not in waiting]


def _updatedb(crawl: Crawl, segments: Sequence[Segment], already: list[str], now: datetime) -> UpdateReport:
    table = crawl.store.current(CRAWLDB)
    if not segments:
        return UpdateReport([], already, {}, table.rows, table.version)
    rules = _rules(crawl, table)
    inputs = prepare(crawl, table, segments, rules.bounds)
    touched = touched_buckets(crawl, inputs)
    capped = any(cap is not None for cap in caps(rules.db).values())
    entered = crawl.scratch("entered") if capped else None
    job = load("pinyon.cycle", "updatedb")
    fragments = rules.fragments(
        pages_twice=pages_twice(crawl, inputs), crowded=crowded(crawl, inputs, rules.db.max_inlinks)
    )
    written, counts = rewrite(
        crawl,
        table,
        job,
        inputs.of,
        rules.params(now),
        result=f"({job.result(fragments)})",
        counts="update_counts",
        buckets=touched,
        aside=(ENTERED_SQL, entered) if entered else None,
        fragments=fragments,
    )
    cut = cut_surplus(crawl, table, written, sorted(entered.iterdir())) if entered else Cut(written, {})
    names = [segment.name for segment in segments]
    facts = {"metadata": {**table.facts.get("metadata", {}), **rules.metadata_types}}
    told = f"updatedb {' '.join(names)}"
    version = crawl.store.publish(
        table, cut.files, replaces=touched, segments=names, facts=facts, operation=told
    )
    crawl.sweep_versions()
    untouched = table.rows - _rows(table.files.get(bucket, ()) for bucket in touched)
    rows = untouched + _rows([cut.files])
    changes: Counter[str] = Counter()
    for row in counts:
        changes[row["what"]] += row["urls"]
    changes["new"] -= sum(cut.surplus.values())
    changes["none"] = rows - changes.total()
    return UpdateReport(names, already, dict(+changes), rows, version, cut.surplus)


def _rules(crawl: Crawl, table: Published) -> Rules:
    db = crawl.settings.db
    bounds = [] if db.intervals_file is None else read_bounds(crawl.root / db.intervals_file)
    return Rules(db, bounds, table.facts.get("metadata", {}))


def _rows(groups: Iterable[Sequence[DataFile]]) -> int:
    return sum(file.rows for files in groups for file in files)
