"""generate: the best URLs that are due, within limits, as fetch lists whose parts never split a host.

The order of Nutch's two jobs is kept: select by score within limits, then partition for fetching.

    crawldb ─┐
    hostdb  ─┼─▶ candidates, ranked within their host   (bucket by bucket: rows meet by host)
    locks   ─┘        │ narrow rows of what any list could take
                      ▼
             list 0, list 1, …   hosts, then domains, then topN   (each over what the lists before left)
                      │
                      ▼
             parts: hosts never split, balanced by time, interleaved ─▶ segments
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from pinyon.crawl import Crawl, parse_time, utc_now
from pinyon.cycle import partition
from pinyon.cycle.narrow import CHOSEN, LOCKED, NARROW, WIDE
from pinyon.cycle.policy import Policy, policy_of
from pinyon.errors import NothingDue, UsageError
from pinyon.jobs import Files, load
from pinyon.settings import Generate, Settings
from pinyon.store import Published, Segment
from pinyon.tables import CRAWLDB, FETCHLIST, HOSTDB

#: Reasons that drop a row before any limit, in the order they are asked; then those of the limits.
REASONS = (
    "no_host",
    "excluded_status",
    "not_due",
    "awaiting_update",
    "status",
    "min_score",
    "interval",
    "expression",
    "blocked",
    "url_filter",
    "filter_error",
)
LIMITS = ("host_limit", "time_budget", "hosts_per_domain", "domain_limit", "top_n")

_NARROW_COLUMNS = ", ".join(NARROW.names)


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a list: its URLs and hosts, and how long their delays alone will take."""

    urls: int
    hosts: int
    estimated_s: float


@dataclass(frozen=True, slots=True)
class ListReport:
    """One list, a segment of that name unless it was a dry run."""

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


@dataclass(slots=True)
class _Run:
    """One generate on its way: settings as numbers, intermediate files, counts."""

    crawl: Crawl
    everything: Settings
    policy: Policy
    now: datetime
    seed: int
    scratch: Path
    rows: int = 0
    rejected: Counter[str] = field(default_factory=Counter)
    hosts_over_limit: int = 0
    failures: int = 0
    failing: list[str] = field(default_factory=list)

    @property
    def settings(self) -> Generate:
        return self.everything.generate


def generate(
    crawl: Crawl, *, now: datetime | None = None, dry_run: bool = False, **options: Any
) -> GenerateReport:
    """Selects what to fetch next and writes it as segments; see `GenerateReport`.

    `options` are settings of `[generate]` by name, e.g. `top_n=1000`. Raises `NothingDue` if nothing is selected.
    """
    settings = crawl.settings.with_values({f"generate.{name}": v for name, v in options.items()}, "arguments")
    _check(settings.generate)
    moment = now or (parse_time(settings.generate.now) if settings.generate.now else utc_now())
    moment += timedelta(days=settings.generate.add_days)
    with crawl.writing("generate"):
        return _generate(crawl, settings, moment, dry_run)


def _check(settings: Generate) -> None:
    if settings.top_n is not None and settings.top_n < 0:
        raise UsageError(f"generate.top_n = {settings.top_n}: wanted 0 or more, or nothing for no limit")
    for name in ("segments", "fetchers", "keep_together"):
        if getattr(settings, name) < 1:
            raise UsageError(f"generate.{name} = {getattr(settings, name)}: wanted 1 or more")


def _generate(crawl: Crawl, everything: Settings, now: datetime, dry_run: bool) -> GenerateReport:
    settings = everything.generate
    crawldb = crawl.store.current(CRAWLDB)
    policy = policy_of(crawl, settings, crawldb)
    # drawn and recorded before anything is chosen: a run can be repeated exactly
    seed = settings.seed if settings.seed is not None else secrets.randbits(31)
    run = _Run(crawl, everything, policy, now, seed, crawl.scratch("generate"))
    run.rows = crawldb.rows
    _select_candidates(run, crawldb)
    chosen = _fill_lists(run)
    if not chosen:
        raise NothingDue(_nothing_due(run))
    parts = partition.assign(crawl.engine, chosen, settings, seed, run.scratch)
    reports = _publish(run, crawldb, chosen, parts, dry_run)
    selected = sum(report.urls for report in reports)
    return GenerateReport(
        segments=reports,
        rows=run.rows,
        selected=selected,
        rejected={reason: run.rejected[reason] for reason in (*REASONS, *LIMITS) if run.rejected[reason]},
        hosts_over_limit=run.hosts_over_limit,
        expression_failures=run.failures,
        seed=seed,
        notes=[*policy.notes, *_named_failures(run)],
    )


def _nothing_due(run: _Run) -> str:
    told = ", ".join(
        f"{reason} {run.rejected[reason]}" for reason in (*REASONS, *LIMITS) if run.rejected[reason]
    )
    return f"nothing is due: {run.rows} URLs known" + (
        f" ({told})" if told else "; 'pinyon inject' adds some"
    )


def _named_failures(run: _Run) -> list[str]:
    if not run.failures:
        return []
    named = ", ".join(run.failing[:5])
    return [f"{run.failures} hosts have the defaults, their expression gives nothing: {named}"]


# -- candidates, bucket by bucket -----------------------------------------------------------------------------


def _select_candidates(run: _Run, crawldb: Published) -> None:
    """Writes `candidates/N.parquet` for each group of buckets, and counts what fell out."""
    crawl, settings, policy = run.crawl, run.settings, run.policy
    job = load("pinyon.cycle", "generate_candidates")
    open_segments = _open_segments(run)
    locked = any(segment.files("lock") for segment in open_segments)
    params = {
        "now": run.now,
        "max_interval": run.everything.db.fetch_interval_max,
        "gen_delay_from": run.now - timedelta(seconds=settings.gen_delay),
        "restrict_status": list(settings.restrict_status),
        "exclude_status": list(settings.exclude_status),
        "min_score": settings.min_score,
        "interval_at_most": settings.interval_at_most,
        "max_count": policy.host_limit,
        "lists": settings.segments,
        "time_budget_ms": None if settings.time_budget is None else settings.time_budget * 1000,
        "default_delay_ms": round(run.everything.fetcher.server_delay * 1000),
    }
    fragments = {
        **policy.fragments,
        "is_locked": "l.url IS NOT NULL" if locked else "false",
        "lock_join": "LEFT JOIN locked AS l ON l.url_key = c.url_key AND l.url = c.url" if locked else "",
    }
    for number, group in enumerate(crawl.engine.bucket_groups(crawldb.buckets)):
        paths = crawldb.paths(group)
        if not paths:
            continue
        sources = {
            "crawldb": Files.of(CRAWLDB, paths),
            "hostdb": Files.of(HOSTDB, policy.hostdb.paths(group) if policy.hostdb else ()),
            "locked": Files.of(LOCKED, _lock_files(open_segments, group)),
        }
        crawl.engine.run(job, sources, params, fragments)
        _count_candidates(run)
        path = run.scratch / "candidates" / f"{number}.parquet"
        crawl.engine.write(f"SELECT {_NARROW_COLUMNS} FROM host_ranked WHERE cut IS NULL", path)


def _open_segments(run: _Run) -> list[Segment]:
    """Segments that the crawldb has not taken in, and that are younger than `gen_delay`."""
    segments = list(run.crawl.segments)
    done = run.crawl.store.applied(CRAWLDB, [segment.name for segment in segments])
    oldest = run.now - timedelta(seconds=run.settings.gen_delay)
    return [s for s in segments if s.name not in done and parse_time(s.info()["generate_time"]) > oldest]


def _lock_files(segments: Sequence[Segment], group: Sequence[int]) -> list[str]:
    return [
        str(path)
        for segment in segments
        for bucket in group
        for path in [segment.folder("lock") / f"bucket-{bucket}.parquet"]
        if path.exists()
    ]


def _count_candidates(run: _Run) -> None:
    engine = run.crawl.engine
    for row in engine.rows("SELECT reason, urls FROM reason_counts WHERE reason IS NOT NULL"):
        run.rejected[row["reason"]] += row["urls"]
    for row in engine.rows("SELECT reason, urls, hosts FROM cut_counts"):
        run.rejected[row["reason"]] += row["urls"]
        if row["reason"] == "host_limit":
            run.hosts_over_limit += row["hosts"]
    for row in engine.rows("SELECT hosts, examples FROM undecided_hosts"):
        if run.policy.decides_by_host:
            run.failures += row["hosts"]
            run.failing += row["examples"] or []


# -- lists ----------------------------------------------------------------------------------------------------


def _fill_lists(run: _Run) -> list[str]:
    """Files of the chosen rows, one a list that is not empty. Counts of the limits are those of the last list."""
    remaining = sorted(str(path) for path in (run.scratch / "candidates").glob("*.parquet"))
    chosen: list[str] = []
    for number in range(run.settings.segments):
        limits: Counter[str] = Counter()
        taken, left = _fill_list(run, remaining, number, limits)
        if taken:
            chosen.append(taken)
        if number == run.settings.segments - 1:
            run.rejected.update(limits)
        remaining = left
    return chosen


def _fill_list(run: _Run, remaining: list[str], number: int, limits: Counter[str]) -> tuple[str, list[str]]:
    """The file of what list `number` takes ('' if nothing), and the files of what it leaves."""
    engine, settings = run.crawl.engine, run.settings
    source = Files.of(NARROW, remaining)
    relation = "remaining"
    engine.bind({"remaining": source})
    if settings.segments > 1:
        engine.run(load("pinyon.cycle", "generate_hosts"), {"remaining": source})
        for row in engine.rows("SELECT reason, urls FROM host_cut_counts"):
            limits[row["reason"]] += row["urls"]
        within = run.scratch / f"within-{number}.parquet"
        engine.write(f"SELECT {_NARROW_COLUMNS} FROM host_judged WHERE cut IS NULL", within)
        source, relation = Files.of(NARROW, [str(within)]), "within"
        engine.bind({"within": source})
    if run.policy.domain_limit >= 0 or settings.max_hosts_per_domain >= 0:
        relation = _cut_domains(run, source, limits)
    return _cut_top(run, relation, number, limits, remaining)


def _cut_domains(run: _Run, source: Files, limits: Counter[str]) -> str:
    params = {
        "max_hosts_per_domain": run.settings.max_hosts_per_domain,
        "max_per_domain": run.policy.domain_limit,
    }
    run.crawl.engine.run(load("pinyon.cycle", "generate_domains"), {"within_hosts": source}, params)
    limits.update(run.crawl.engine.rows("SELECT * FROM domain_cut_counts")[0])
    return "within_domains"


def _cut_top(
    run: _Run, relation: str, number: int, limits: Counter[str], remaining: list[str]
) -> tuple[str, list[str]]:
    """Exactly the first top_n in the order of the list; what is left is written for the next list, if there is one."""
    engine, settings = run.crawl.engine, run.settings
    total = engine.rows(f"SELECT count(*) AS n FROM {relation}")[0]["n"]
    top = "" if settings.top_n is None else f"ORDER BY sort_value DESC, url_key LIMIT {settings.top_n}"
    path = run.scratch / f"list-{number}.parquet"
    file = engine.write(f"SELECT {_NARROW_COLUMNS}, {number} AS list FROM {relation} {top}", path)
    limits["top_n"] += total - file.rows
    if number == settings.segments - 1:
        return (str(path) if file.rows else "", [])
    engine.bind({"taken": Files.of(CHOSEN, [str(path)]), "remaining": Files.of(NARROW, remaining)})
    left = run.scratch / f"left-{number}.parquet"
    engine.write(
        f"SELECT {_NARROW_COLUMNS} FROM remaining AS r "
        "WHERE NOT EXISTS (FROM taken AS t WHERE t.url_key = r.url_key AND t.host_key = r.host_key)",
        left,
    )
    return (str(path) if file.rows else "", [str(left)])


# -- segments -------------------------------------------------------------------------------------------------


def _publish(
    run: _Run, crawldb: Published, chosen: list[str], parts: partition.Parts, dry_run: bool
) -> list[ListReport]:
    reports = []
    names: dict[int, str] = {}
    drafts: dict[int, Path] = {}
    stamp = run.now.strftime("%Y%m%d%H%M%S")
    for k, number in enumerate(sorted({row["list"] for row in parts.sizes})):
        names[number] = run.crawl.segments.free_name(stamp if k == 0 else f"{stamp}-{k}")
        reports.append(_report(names[number], number, parts))
    if dry_run:
        return reports
    for number, name in names.items():
        drafts[number] = run.crawl.segments.draft(name)
    _write_rows(run, crawldb, chosen, parts, drafts)
    for report, (number, name) in zip(reports, names.items(), strict=True):
        run.crawl.segments.publish(drafts[number], name, _info(run, report))
    return reports


def _report(name: str, number: int, parts: partition.Parts) -> ListReport:
    rows = [row for row in parts.sizes if row["list"] == number]
    return ListReport(
        name,
        sum(row["urls"] for row in rows),
        sum(row["hosts"] for row in rows),
        [Part(row["urls"], row["hosts"], round(row["estimated_ms"] / 1000, 1)) for row in rows],
    )


def _info(run: _Run, report: ListReport) -> dict[str, Any]:
    return {
        "generate_time": run.now.isoformat(),
        "seed": run.seed,
        "parts": [{"urls": p.urls, "hosts": p.hosts, "estimated_s": p.estimated_s} for p in report.parts],
        "counts": {"rows": run.rows, "selected": report.urls, "rejected": dict(run.rejected)},
        "settings": run.everything.effective(),
    }


def _write_rows(
    run: _Run, crawldb: Published, chosen: list[str], parts: partition.Parts, drafts: Mapping[int, Path]
) -> None:
    """Per bucket the wide rows and the locks; then per part its rows, hosts interleaved."""
    engine = run.crawl.engine
    job = load("pinyon.cycle", "generate_fetchlist")
    wide = run.scratch / "wide"
    params = {"now": run.now, "seed": run.seed, "parts": run.settings.fetchers}
    for group in engine.bucket_groups(crawldb.buckets):
        if not crawldb.paths(group):
            continue
        engine.bind({"all_chosen": Files.of(CHOSEN, chosen)})
        slice_path = run.scratch / "slice.parquet"
        listed = ", ".join(str(bucket) for bucket in group)
        if not engine.write(f"SELECT * FROM all_chosen WHERE bucket IN ({listed})", slice_path).rows:
            continue
        sources = {
            "crawldb": Files.of(CRAWLDB, crawldb.paths(group)),
            "chosen": Files.of(CHOSEN, [str(slice_path)]),
            "assigned": Files.of(partition.ASSIGNED, parts.files),
        }
        engine.run(job, sources, params, {"group_key": partition.GROUP_KEYS[run.settings.partition_by]})
        for number, draft in drafts.items():
            for bucket in group:
                _write_lock(run, draft, number, bucket)
        engine.write("SELECT * FROM fetchlist_rows", wide / f"{group[0]}.parquet")
    columns = ", ".join(name for name in FETCHLIST.names if name != "position")
    engine.bind({"wide_rows": Files.of(WIDE, sorted(str(p) for p in wide.glob("*.parquet")))})
    for row in parts.sizes:
        number, part = row["list"], row["part"]
        sql = (
            f"SELECT {columns}, row_number() OVER (ORDER BY host_rank, sort_value DESC, url_key) - 1 AS position "
            f"FROM wide_rows WHERE list = {number} AND part = {part}"
        )
        target = drafts[number] / "fetchlist" / f"part-{part:05d}.parquet"
        ordered = ", ".join(FETCHLIST.names)
        engine.write(f"SELECT {ordered} FROM ({sql}) ORDER BY position", target)


def _write_lock(run: _Run, draft: Path, number: int, bucket: int) -> None:
    path = draft / "lock" / f"bucket-{bucket}.parquet"
    sql = f"SELECT url_key, url FROM fetchlist_rows WHERE list = {number} AND bucket = {bucket}"
    if not run.crawl.engine.write(sql, path).rows:
        path.unlink()
