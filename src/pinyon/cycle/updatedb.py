"""updatedb: what a round learned becomes what is known.

pages ─┐
docs  ─┼─▶ results ──┐
links ─┴─▶ linked ───┼─▶ known rows, new rows ─▶ the next version of the crawldb
crawldb ─────────────┘       (bucket by bucket)     (one commit, the segments recorded in it)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pinyon.crawl import Crawl, utc_now
from pinyon.cycle.choose import open_segments
from pinyon.cycle.rewrite import rewrite
from pinyon.errors import NothingDue, UsageError
from pinyon.jobs import Files, load
from pinyon.settings import Db
from pinyon.store import Segment
from pinyon.tables import CRAWLDB, DOCS, LINKS, PAGES

#: Score that a link passes on, and that a URL starts with, as SQL over `l`.
_INTERNAL = "CASE WHEN l.host = l.from_host THEN {internal} ELSE {external} END"
SCORE_MODELS: Mapping[str, tuple[str, str]] = {
    # Abiteboul, Preda, Cobéna: Adaptive On-Line Page Importance Computation (2003), as Nutch's scoring-opic has it
    "opic": (f"l.from_score / l.from_outlinks * {_INTERNAL}", "l.added_score"),
    "none": ("0", "1"),
}
#: Deeper than any link path that is followed.
_NO_DEPTH_LIMIT = 32_767


@dataclass(frozen=True, slots=True)
class UpdateReport:
    """What became of the rows: `changes` counts fetched, not_modified, gone, retry, …, new; `none` is the rest."""

    segments: Sequence[str]
    already_applied: Sequence[str]
    changes: Mapping[str, int]
    rows: int
    version: int


def updatedb(crawl: Crawl, segments: Iterable[str] = (), *, now: datetime | None = None) -> UpdateReport:
    """Applies parsed segments (all that are not applied yet, unless named) to the crawldb, in one rewrite.

    A segment that was applied is not applied again; the report says so. Raises `NothingDue` if there is none to
    apply, `UsageError` if a named one is not parsed yet.
    """
    with crawl.writing("updatedb"):
        chosen, already = _chosen(crawl, list(segments))
        if not chosen:
            if already:
                current = crawl.store.current(CRAWLDB)
                return UpdateReport([], already, {}, current.rows, current.version)
            raise NothingDue(f"no segment is parsed and waits: run 'pinyon parse {crawl.root}' first")
        return _updatedb(crawl, chosen, already, now or utc_now())


def _chosen(crawl: Crawl, names: list[str]) -> tuple[list[Segment], list[str]]:
    waiting = {segment.name: segment for segment in open_segments(crawl)}
    if not names:
        return [segment for segment in waiting.values() if segment.state == "parsed"], []
    named = [crawl.segments[name] for name in dict.fromkeys(names)]
    for segment in named:
        if segment.state != "parsed":
            raise UsageError(f"segment {segment.name} is {segment.state}, wanted one that is parsed")
    return [s for s in named if s.name in waiting], [s.name for s in named if s.name not in waiting]


def _updatedb(crawl: Crawl, segments: Sequence[Segment], already: list[str], now: datetime) -> UpdateReport:
    table = crawl.store.current(CRAWLDB)
    for segment in segments:
        segment.check_whole()
    db = crawl.settings.db
    link_score, new_score = SCORE_MODELS[db.scores]
    sources = _segment_sources(segments)
    written, counts = rewrite(
        crawl,
        table,
        load("pinyon.cycle", "updatedb"),
        lambda group: {
            "crawldb": Files.of(CRAWLDB, table.paths(group)),
            **{name: source.only(group) for name, source in sources.items()},
        },
        _params(db, now),
        result="updated",
        counts="update_counts",
        fragments={
            "link_score": link_score.format(
                internal=float(db.score_internal), external=float(db.score_external)
            ),
            "new_score": new_score,
        },
    )
    names = [segment.name for segment in segments]
    version = crawl.store.publish(table, written, segments=names, operation=f"updatedb {' '.join(names)}")
    crawl.sweep_versions()
    changes: Counter[str] = Counter()
    for row in counts:
        changes[row["what"]] += row["urls"]
    return UpdateReport(names, already, dict(changes), sum(file.rows for file in written), version)


def _segment_sources(segments: Sequence[Segment]) -> dict[str, Files]:
    def files(what: str) -> list[str]:
        return [path for segment in segments for path in segment.files(what)]

    return {
        "pages": Files.of(PAGES, files("pages")),
        "docs": Files.of(DOCS, files("docs")),
        "links": Files.of(LINKS, files("links")),
    }


def _params(db: Db, now: datetime) -> dict[str, Any]:
    return {
        "now": now,
        "retry_max": db.fetch_retry_max,
        "retry_interval": db.retry_interval,
        "interval_default": db.fetch_interval_default,
        "interval_max": db.fetch_interval_max,
        "additions": db.additions,
        "ignore_internal": db.ignore_internal,
        "ignore_external": db.ignore_external,
        "by_domain": db.ignore_external_mode == "domain",
        "max_depth": _NO_DEPTH_LIMIT if db.max_depth is None else db.max_depth,
    }
