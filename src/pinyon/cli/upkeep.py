"""Commands that keep the tables in shape: their versions, their buckets, the rules their rows were made by."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pinyon.cli import common
from pinyon.cli.common import counts, output

_table = click.option(
    "--table", type=click.Choice(["crawldb", "hostdb", "linkdb"]), default="crawldb", show_default=True
)


@click.command(epilog="Example: pinyon restore my-crawl 41")
@common.directory
@click.argument("version", type=int)
@_table
@common.common
def restore(crawl_dir: Path, version: int, table: str, **options: Any) -> None:
    """Make an older version of a table the newest; segments it had not taken in wait to be applied again."""
    from pinyon.cycle.versions import restore as run

    out = output(options)
    with common.opened(crawl_dir, options, out) as crawl:
        report = run(crawl, version, table=table)
    lines = [
        f"{report.table}: version {report.restored} is version {report.version} now, {report.rows:,} rows"
    ]
    if report.reopened:
        step = {"crawldb": "updatedb", "hostdb": "updatehostdb", "linkdb": "invertlinks"}[table]
        lines.append(f"next: pinyon {step} {crawl_dir} applies {', '.join(report.reopened)} again")
    out.data(report, lines)


@click.command(epilog="Example: pinyon vacuum my-crawl --keep-versions 1")
@common.directory
@click.option("--keep-versions", type=int, metavar="N", help="Versions to keep [store.keep_versions].")
@click.option(
    "--keep-hours", type=float, metavar="HOURS", help="And those younger than this [store.keep_hours]."
)
@common.common
def vacuum(crawl_dir: Path, keep_versions: int | None, keep_hours: float | None, **options: Any) -> None:
    """Delete the files of versions that are not kept, and shorten the logs."""
    from pinyon.cycle.versions import vacuum as run

    out = output(options)
    with common.opened(crawl_dir, options, out) as crawl:
        report = run(crawl, keep_versions=keep_versions, keep_hours=keep_hours)
    kept = [
        f"{name}: versions {', '.join(map(str, versions))} are kept" for name, versions in report.kept.items()
    ]
    out.data(report, [f"{report.files:,} files deleted", *kept])


@click.command(epilog="Example: pinyon rebucket my-crawl 64")
@common.directory
@click.argument("buckets", type=int)
@common.common
def rebucket(crawl_dir: Path, buckets: int, **options: Any) -> None:
    """Spread both tables over another number of buckets, a power of two: 2 to 4 million URLs in each are good."""
    from pinyon.cycle.rebucket import rebucket as run

    out = output(options)
    with common.opened(crawl_dir, options, out) as crawl:
        report = run(crawl, buckets)
    what = " and ".join(report.changed) or "nothing"
    out.data(
        report, [f"{report.urls:,} URLs, {report.hosts:,} hosts in {report.buckets} buckets; written: {what}"]
    )


@click.command(epilog="Example: pinyon migrate my-crawl")
@common.directory
@common.common
def migrate(crawl_dir: Path, **options: Any) -> None:
    """Bring URLs and domains to the normaliser and Public Suffix List of this pinyon."""
    from pinyon.cycle.renew import migrate as run

    out = output(options)
    with common.opened(crawl_dir, options, out) as crawl:
        report = run(crawl)
    if report is None:
        out.data({"changes": {}}, ["the tables are up to date"])
        return
    out.data(
        report, [f"crawldb version {report.version}: {report.rows:,} URLs; changed: {counts(report.changes)}"]
    )


@click.command(epilog="Example: pinyon renew my-crawl --filter")
@common.directory
@click.option("--filter", "refilter", is_flag=True, help="Drop URLs that the filters refuse now.")
@click.option("--normalize", "normalise", is_flag=True, help="Write URLs as the normaliser does now.")
@common.common
def renew(crawl_dir: Path, refilter: bool, normalise: bool, **options: Any) -> None:
    """Apply URL filters or normaliser to the crawldb, after their rules changed."""
    from pinyon.cycle.renew import renew as run
    from pinyon.errors import UsageError

    out = output(options)
    if not refilter and not normalise:
        raise UsageError("renew: --filter, --normalize or both")
    with common.opened(crawl_dir, options, out) as crawl:
        report = run(crawl, normalise=normalise, refilter=refilter)
    out.data(
        report, [f"crawldb version {report.version}: {report.rows:,} URLs; changed: {counts(report.changes)}"]
    )


@click.command(epilog="Example: pinyon dedup my-crawl --order score,https")
@common.directory
@click.option(
    "--order",
    default="score,https,length,time",
    show_default=True,
    metavar="CRITERIA",
    help="What decides which URL of a content is kept, first things first.",
)
@common.common
def dedup(crawl_dir: Path, order: str, **options: Any) -> None:
    """Mark all but the best URL of each content as duplicates; none is lost."""
    from pinyon.cycle.dedup import dedup as run

    out = output(options)
    with common.opened(crawl_dir, options, out) as crawl:
        report = run(crawl, order=order.replace(",", " ").split())
    changed = counts({"marked": report.marked, "unmarked": report.unmarked})
    out.data(
        report, [f"{report.contents:,} contents with {report.duplicates:,} duplicates; changed: {changed}"]
    )


@click.command(epilog="Example: pinyon invertlinks my-crawl --orphans-after 40")
@common.directory
@click.argument("segments", nargs=-1)
@click.option(
    "--orphans-after",
    type=float,
    metavar="DAYS",
    help="Mark URLs older than this that nothing links to any more as orphans.",
)
@click.option("--url", help="Only tell which pages link to this URL.")
@common.common
def invertlinks(
    crawl_dir: Path, segments: tuple[str, ...], orphans_after: float | None, url: str | None, **options: Any
) -> None:
    """Take the links of parsed segments (all that are new) into the linkdb; count inlinks from it."""
    from pinyon.cycle.invertlinks import inlinks_of
    from pinyon.cycle.invertlinks import invertlinks as run

    out = output(options)
    with common.opened(crawl_dir, options, out) as crawl:
        if url is not None:
            found = inlinks_of(crawl, url)
            lines = [f"{row['from_url']}  {row['anchor'] or ''}" for row in found] or ["no page links to it"]
            out.data({"inlinks": found}, lines)
            return
        after_s = None if orphans_after is None else round(orphans_after * 86_400)
        report = run(crawl, segments, orphans_after_s=after_s)
    told = {"inlinks changed": report.changed, "orphaned": report.orphaned, "found again": report.found_again}
    out.data(
        report, [f"linkdb: {report.links:,} links of {len(report.segments)} new segments; {counts(told)}"]
    )


COMMANDS = (restore, vacuum, rebucket, migrate, renew, dedup, invertlinks)
