"""Commands that read: nothing here takes a lock or changes a table."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from pinyon.cli import common
from pinyon.cli.common import Out, counts, fields, output, table
from pinyon.errors import InputError, UsageError

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
    "--at-version", type=int, metavar="N", help="An older version of the crawldb (see history)."
)


@click.command(epilog="Example: pinyon readdb my-crawl --url https://example.org/")
@common.directory
@click.option("--stats", is_flag=True, help="Totals by status and depth (what is shown by default).")
@click.option("--url", help="All that is known of one URL.")
@click.option("--top", type=int, metavar="N", help="The first URLs by score.")
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
            out.data({"rows": rows, "file": str(dump)}, [f"{rows:,} rows written to {dump}"])
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
@click.option("--top", type=int, metavar="N", help="The hosts with most URLs.")
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
            out.data({"rows": rows, "file": str(dump)}, [f"{rows:,} rows written to {dump}"])
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
@click.option("--what", default="fetchlist", help="fetchlist, pages, hosts, links or docs.")
@click.option("--url", help="Only rows of this URL.")
@click.option("--top", type=int, metavar="N", help="The first rows.")
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
            out.data({"rows": rows, "file": str(dump)}, [f"{rows:,} rows written to {dump}"])
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
    for part in found.fetching:
        rate = part["captured"] / max(part["elapsed_s"], 0.1)
        wait = part.get("next_start_in_s")
        waits = f", next request in {wait:.0f} s ({counts(part['waiting'])})" if wait and wait > 1 else ""
        lines.append(
            f"fetching {part['segment']} {part['part']}: {part['captured']:,} pages, {rate:.1f}/s{waits}"
        )
    lines += [f"segment {line.name}: {line.state}, {line.urls:,} URLs" for line in found.open_segments]
    lines.append(f"disk: {found.disk_bytes / 1e6:,.1f} MB used, {found.disk_free_bytes / 1e9:,.1f} GB free")
    lines.append(f"next: {found.next}")
    out.data(found, lines)


@click.command(epilog="Example: pinyon history my-crawl")
@common.directory
@click.option(
    "--table", "name", type=click.Choice(["crawldb", "hostdb"]), default="crawldb", show_default=True
)
@click.option("--limit", type=int, default=20, show_default=True, help="How many, newest first.")
@common.common
def history(crawl_dir: Path, name: str, limit: int, **options: Any) -> None:
    """Versions of a table, newest first."""
    from pinyon.tables import CRAWLDB, HOSTDB

    out = output(options)
    with common.opened(crawl_dir, options, out) as crawl:
        entries = crawl.store.history({"crawldb": CRAWLDB, "hostdb": HOSTDB}[name], limit)
    from datetime import UTC, datetime

    rows = [
        (e["version"], datetime.fromtimestamp(e["timestamp"] / 1000, UTC), e["operation"]) for e in entries
    ]
    out.data({"versions": entries}, table(["version", "time", "operation"], rows))


@click.command(epilog="Example: pinyon settings fetcher")
@click.argument("section", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def settings(section: str | None, as_json: bool) -> None:
    """All settings: name, default, unit, meaning."""
    from pinyon.settings import specs

    chosen = [s for s in specs() if section is None or s.section == section]
    if not chosen:
        raise UsageError(
            f"no section '{section}': wanted one of {', '.join(sorted({s.section for s in specs()}))}"
        )
    out = Out(as_json, False)
    value = {s.key: {"default": s.default, "unit": s.unit, "help": s.help, "nutch": s.nutch} for s in chosen}
    lines = []
    for s in chosen:
        default = " ".join(s.default) if isinstance(s.default, tuple) else s.default
        lines.append(
            f"{s.key} = {default!r}" if len(str(default)) < 60 else f"{s.key} = '{str(default)[:56]} …'"
        )
        lines.append(
            f"    {s.help}" + (f" [{s.unit}]" if s.unit else "") + (f" ({s.nutch})" if s.nutch else "")
        )
    out.data(value, lines)


COMMANDS = (readdb, readhostdb, readseg, sql, status, history, settings)
