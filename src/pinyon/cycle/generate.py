"""generate: the best URLs that are due, within limits, as fetch lists whose parts never split a host.

The order of Nutch's two jobs is kept: select by score within limits, then partition for fetching.

    crawldb ─┐
    hostdb  ─┼─▶ candidates, ranked within their host    (bucket by bucket: rows meet by host)
    locks   ─┘        │ narrow rows of what any list could take
                      ▼
             list 0, list 1, …    hosts, then domains, then topN    (each over what the lists before left)
                      │
                      ▼
             parts: hosts never split, balanced by time, interleaved ─▶ segments
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from pinyon.crawl import Crawl, parse_time, utc_now
from pinyon.cycle import partition, reference
from pinyon.cycle.candidates import select_candidates
from pinyon.cycle.fetchlists import names_of, write_segments
from pinyon.cycle.lists import fill_lists
from pinyon.cycle.partition import Placement
from pinyon.cycle.policy import effective, policy_of
from pinyon.cycle.selection import Selection
from pinyon.errors import NothingDue
from pinyon.settings import Settings
from pinyon.store import Published
from pinyon.tables import CRAWLDB


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a list: its URLs and hosts, and how long the delays of its slowest host take."""

    urls: int
    hosts: int
    estimated_s: float


@dataclass(frozen=True, slots=True)
class ListReport:
    """One list: a segment of that name, unless it was a dry run."""

    name: str
    urls: int
    hosts: int
    parts: Sequence[Part]


@dataclass(frozen=True, slots=True)
class GenerateReport:
    """What was selected and why the rest was not: `rows` = `selected` + all of `rejected`."""

    segments: Sequence[ListReport]
    rows: int
    selected: int
    rejected: Mapping[str, int]
    hosts_over_limit: int
    expression_failures: int
    seed: int
    notes: Sequence[str]


def generate(
    crawl: Crawl, *, now: datetime | str | None = None, dry_run: bool = False, **options: Any
) -> GenerateReport:
    """Selects what to fetch next and writes it as segments; see `GenerateReport`.

    `options` are settings of `[generate]` by name, e.g. `top_n=1000`. Raises `NothingDue` if nothing is selected,
    `UsageError` (`ExpressionError`, `SettingError`) for options that make no sense, before anything is read.
    """
    settings = effective(crawl.settings, options)
    moment = now or settings.generate.now or utc_now()
    if isinstance(moment, str):
        moment = parse_time(moment)
    moment += timedelta(days=settings.generate.add_days)
    with crawl.writing("generate"):
        return _generate(crawl, settings, moment, dry_run)


def _generate(crawl: Crawl, settings: Settings, now: datetime, dry_run: bool) -> GenerateReport:
    crawldb = crawl.store.current(CRAWLDB)
    policy = policy_of(crawl, settings.generate, crawldb)
    # drawn and recorded before anything is chosen: a run can be repeated exactly
    seed = settings.generate.seed if settings.generate.seed is not None else secrets.randbits(31)
    selection = Selection(crawl, settings, policy, now, seed, crawl.scratch("generate"), crawldb.rows)
    placement = _place(selection, crawldb)
    if not placement.sizes:
        raise NothingDue(_nothing_due(selection))
    reports = {
        number: _list_report(name, number, placement)
        for number, name in names_of(selection, placement).items()
    }
    if not dry_run:
        infos = {number: (report.name, _info(selection, report)) for number, report in reports.items()}
        write_segments(selection, crawldb, placement, infos)
    return _report(selection, list(reports.values()))


def _place(selection: Selection, crawldb: Published) -> Placement:
    """What is selected, and where it goes: by SQL, or by the executable specification."""
    if selection.everything.engine.name == "reference":
        return reference.place(selection, crawldb)
    chosen = fill_lists(selection, select_candidates(selection, crawldb))
    return partition.place(selection, chosen) if chosen else Placement([], [])


def _report(selection: Selection, lists: Sequence[ListReport]) -> GenerateReport:
    failures = [
        f"generate.{name} gives nothing for {hosts:,} hosts (e.g. {selection.examples[name]}): they have the default"
        for name, hosts in selection.failing.items()
    ]
    return GenerateReport(
        segments=lists,
        rows=selection.rows,
        selected=sum(report.urls for report in lists),
        rejected=selection.by_reason(),
        hosts_over_limit=selection.hosts_over_limit(),
        expression_failures=sum(selection.failing.values()),
        seed=selection.seed,
        notes=[*selection.policy.notes, *selection.notes, *failures],
    )


def _nothing_due(selection: Selection) -> str:
    told = ", ".join(f"{reason} {urls:,}" for reason, urls in selection.by_reason().items())
    known = f"nothing is due: {selection.rows:,} URLs known"
    return f"{known} ({told})" if told else f"{known}; 'pinyon inject {selection.crawl.root} SEEDS' adds some"


def _list_report(name: str, number: int, placement: Placement) -> ListReport:
    rows = [row for row in placement.sizes if row["list"] == number]
    return ListReport(
        name,
        sum(row["urls"] for row in rows),
        sum(row["hosts"] for row in rows),
        [Part(row["urls"], row["hosts"], round(row["estimated_ms"] / 1000, 1)) for row in rows],
    )


def _info(selection: Selection, report: ListReport) -> dict[str, Any]:
    """What segment.json tells of a list."""
    return {
        "generate_time": selection.made_at.isoformat(),
        "seed": selection.seed,
        "parts": [{"urls": p.urls, "hosts": p.hosts, "estimated_s": p.estimated_s} for p in report.parts],
        "counts": {"rows": selection.rows, "selected": report.urls, "rejected": selection.by_reason()},
        "settings": selection.everything.effective(),
    }
