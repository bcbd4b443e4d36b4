"""Commands that read tables: nothing here takes a lock or changes one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from pinyon.cli import common
from pinyon.cli.common import Out, counts, fields, output, table
from pinyon.errors import InputError

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


COMMANDS = (readdb, readhostdb, readseg, sql)
