"""Commands that read: nothing here takes a lock or changes a table."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pinyon.cli import common
from pinyon.cli.common import Out, clock, counts, fields, output, table
from pinyon.crawl import Crawl
from pinyon.errors import InputError, UsageError

if TYPE_CHECKING:
    from pinyon.settings import Settings, Spec

_dump = click.option(
    "--dump",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write all rows: .csv, .jsonl or .parquet.",
)
_where = click.option(
    "--where", metavar="EXPR", help="Only rows for which this expression holds (not with --url)."
)
_version = click.option(
    "--at-version", type=click.IntRange(0), metavar="N", help="An older version of the crawldb (see history)."
)


@click.command(epilog="Example: pinyon readdb my-crawl --url https://example.org/")
@common.directory
@click.option("--stats", is_flag=True, help="Totals by status and depth (what is shown by default).")
@click.option("--url", help="All that is known of one URL.")
@click.option("--top", type=click.IntRange(1), metavar="N", help="The first URLs by score.")
@click.option("--host", help="Only URLs of this host (with --top or --dump).")
@_where
@_dump
@_version
@common.common
def readdb(
    crawl_dir: Path,
    stats: bool,
    url: str | None,
    top: int | None,
    host: str | None,
    where: str | None,
    dump: Path | None,
    at_version: int | None,
    **options: Any,
) -> None:
    """What the crawldb holds."""
    from pinyon.reports import readdb as reports

    out = output(options)
    with common.opened(crawl_dir, options, out) as crawl:
        if dump is not None:
            rows = reports.dump(crawl, "crawldb", dump, host=host, where=where, at_version=at_version)
            _dumped(out, rows, dump)
        elif url is not None:
            _row(out, reports.url_row(crawl, url, at_version=at_version), f"{url}: not in the crawldb")
        elif top is not None or host is not None:
            _rows(
                out, reports.top(crawl, "crawldb", top or 20, host=host, where=where, at_version=at_version)
            )
        else:
            _stats(out, reports.crawldb_stats(crawl, at_version=at_version, where=where))


def _stats(out: Out, stats: Any) -> None:
    lines = fields(stats.totals)
    lines += [f"status {name}: {number:,}" for name, number in stats.by_status.items()]
    lines += [f"depth {depth}: {number:,}" for depth, number in stats.by_depth.items()]
    out.data(stats, lines)


def _dumped(out: Out, rows: int, path: Path) -> None:
    out.data({"rows": rows, "file": str(path)}, [f"{rows:,} rows written to {path}"])


def _row(out: Out, row: dict[str, Any] | None, missing: str) -> None:
    if row is None:
        raise InputError(missing)
    out.data(row, fields(row))


def _rows(out: Out, rows: list[dict[str, Any]]) -> None:
    lines = table(list(rows[0]), [list(row.values()) for row in rows]) if rows else ["no rows"]
    out.data({"rows": rows}, lines)


@click.command(epilog="Example: pinyon readhostdb my-crawl --top 20")
@common.directory
@click.option("--stats", is_flag=True, help="Totals (what is shown by default).")
@click.option("--host", help="All that is known of one host.")
@click.option("--top", type=click.IntRange(1), metavar="N", help="The hosts with most URLs.")
@_where
@_dump
@common.common
def readhostdb(
    crawl_dir: Path,
    stats: bool,
    host: str | None,
    top: int | None,
    where: str | None,
    dump: Path | None,
    **options: Any,
) -> None:
    """What the HostDb holds."""
    from pinyon.reports import readdb as reports

    out = output(options)
    with common.opened(crawl_dir, options, out) as crawl:
        if dump is not None:
            rows = reports.dump(crawl, "hostdb", dump, host=host, where=where)
            _dumped(out, rows, dump)
        elif host is not None:
            _row(out, reports.host_row(crawl, host), f"{host}: not in the HostDb")
        elif top is not None:
            _rows(out, reports.top(crawl, "hostdb", top, where=where))
        else:
            totals = reports.hostdb_stats(crawl, where=where)
            out.data(totals, fields(totals))


@click.command(epilog="Example: pinyon readseg my-crawl 20261130120000 --dump fetchlist.jsonl")
@common.directory
@click.argument("segment")
@click.option("--stats", is_flag=True, help="State and counts (what is shown by default).")
@click.option(
    "--what",
    type=click.Choice(["fetchlist", "pages", "hosts", "links", "docs"]),
    default="fetchlist",
    show_default=True,
    help="Which table of it, for --url, --top and --dump.",
)
@click.option("--url", help="Only rows of this URL.")
@click.option("--top", type=click.IntRange(1), metavar="N", help="The first rows.")
@_dump
@common.common
def readseg(
    crawl_dir: Path,
    segment: str,
    stats: bool,
    what: str,
    url: str | None,
    top: int | None,
    dump: Path | None,
    **options: Any,
) -> None:
    """What a segment holds."""
    from pinyon.reports import readseg as reports

    out = output(options)
    with common.opened(crawl_dir, options, out) as crawl:
        if dump is not None:
            rows = reports.dump_segment(crawl, segment, dump, what=what)
            _dumped(out, rows, dump)
        elif url is not None or top is not None:
            _rows(out, reports.segment_rows(crawl, segment, what, url=url, limit=top or 100))
        else:
            totals = reports.segment_stats(crawl, segment)
            lines = fields(
                {k: counts(v) if isinstance(v, dict) else v for k, v in totals.items() if k != "parts"}
            )
            out.data(totals, [*lines, f"parts  {len(totals['parts'])}"])


@click.command(epilog="Example: pinyon sql my-crawl 'SELECT status, count(*) FROM crawldb GROUP BY 1'")
@common.directory
@click.argument("query")
@_version
@common.common
def sql(crawl_dir: Path, query: str, at_version: int | None, **options: Any) -> None:
    """Read-only SQL over crawldb, hostdb, fetchlist, pages, hosts, links and docs ('-': from standard input)."""
    from pinyon.reports.readdb import query as run

    out = output(options)
    text = sys.stdin.read() if query == "-" else query
    with common.opened(crawl_dir, options, out) as crawl:
        out.rows(*run(crawl, text, at_version=at_version))


@click.command(epilog="Example: pinyon status my-crawl")
@common.directory
@common.common
def status(crawl_dir: Path, **options: Any) -> None:
    """Who writes to this crawl, how far it is, and what to run next."""
    from pinyon.reports.status import status as run

    out = output(options)
    with common.opened(crawl_dir, options, out) as crawl:
        found = run(crawl)
    lines = [
        f"{found.urls:,} URLs (version {found.crawldb_version}), {found.hosts:,} hosts",
        f"writer: {found.writer or 'none'}",
    ]
    lines += [_fetching(part) for part in found.fetching]
    lines += [f"segment {line.name}: {line.state}, {line.urls:,} URLs" for line in found.open_segments]
    lines.append(f"disk: {found.disk_bytes / 1e6:,.1f} MB used, {found.disk_free_bytes / 1e9:,.1f} GB free")
    lines.append(f"next: {found.next}")
    out.data(found, lines)


def _fetching(part: Mapping[str, Any]) -> str:
    rate = part["captured"] / max(part["elapsed_s"], 0.1)
    line = f"fetching {part['segment']} {part['part']}: {part['captured']:,}"
    if "urls" in part:
        line += f" of {part['urls']:,}"
    line += f" pages, {rate:.1f}/s"
    if part.get("left_s") is not None:
        line += f", {clock(part['left_s'])} left at this rate"
    wait_s = part.get("next_start_in_s")
    return line + (
        f", next request in {wait_s:.0f} s ({counts(part['waiting'])})" if wait_s and wait_s > 1 else ""
    )


@click.command(epilog="Example: pinyon history my-crawl --table hostdb")
@common.directory
@click.option(
    "--table", "name", type=click.Choice(["crawldb", "hostdb"]), default="crawldb", show_default=True
)
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True, help="How many.")
@common.common
def history(crawl_dir: Path, name: str, limit: int, **options: Any) -> None:
    """Versions of a table, newest first, what made them, and whether they can still be read."""
    from pinyon.reports.history import history as run

    out = output(options)
    with common.opened(crawl_dir, options, out) as crawl:
        found = run(crawl, table=name, limit=limit)
    rows = [(v.version, v.published_at, v.operation, "yes" if v.kept else "no") for v in found]
    out.data({"versions": found}, table(["version", "published (UTC)", "by", "kept"], rows))


@click.command(epilog="Example: pinyon settings fetcher --crawl my-crawl")
@click.argument("section", required=False)
@click.option(
    "--crawl",
    "crawl_dir",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="The values of this crawl, and where each was set.",
)
@click.option("--conf", metavar="FILE", type=click.Path(path_type=Path), help="With these settings too.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--debug", is_flag=True, help="Show a traceback when something fails.")
def settings(
    section: str | None, crawl_dir: Path | None, conf: Path | None, as_json: bool, debug: bool
) -> None:
    """All settings, or those of a section: name, default, unit, meaning."""
    from pinyon.settings import specs

    if conf is not None and crawl_dir is None:
        raise UsageError("--conf needs --crawl DIR: whose settings?")
    chosen = [s for s in specs() if section is None or s.section == section]
    if not chosen:
        sections = dict.fromkeys(s.section for s in specs())
        raise UsageError(f"no section '{section}': wanted one of {', '.join(sections)}")
    found = None if crawl_dir is None else Crawl.open(crawl_dir, conf=conf).settings
    described = [_described(spec, found) for spec in chosen]
    Out(as_json, False).data(
        {spec.key: about for spec, about in zip(chosen, described, strict=True)},
        [line for spec, about in zip(chosen, described, strict=True) for line in _setting_lines(spec, about)],
    )


def _described(spec: Spec, settings: Settings | None) -> dict[str, Any]:
    about = {"default": spec.default, "unit": spec.unit, "help": spec.help, "nutch": spec.nutch}
    if settings is not None:
        about["value"] = getattr(getattr(settings, spec.section), spec.name)
        about["set_by"] = settings.origins.get(spec.key)
    return about


def _setting_lines(spec: Spec, about: Mapping[str, Any]) -> list[str]:
    value = about.get("value", spec.default)
    text = repr(" ".join(value) if isinstance(value, tuple) else value)
    origin = f"    # {about['set_by']}" if about.get("set_by") else ""
    unit = f" [{spec.unit}]" if spec.unit else ""
    nutch = f" ({spec.nutch})" if spec.nutch else ""
    return [
        f"{spec.key} = {text if len(text) < 60 else text[:57] + ' …'}{origin}",
        f"    {spec.help}{unit}{nutch}",
    ]


COMMANDS = (readdb, readhostdb, readseg, sql, status, history, settings)
