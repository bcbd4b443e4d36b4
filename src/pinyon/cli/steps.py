"""Commands that run steps of the cycle."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from pinyon.cli import common
from pinyon.cli.common import Out, counts, output
from pinyon.cli.generate_options import GenerateCommand, generate_options, given
from pinyon.crawl import Crawl, parse_time
from pinyon.errors import UsageError


@click.command(epilog="Example: pinyon init my-crawl --expect 100000000")
@common.directory
@click.option(
    "--expect", type=int, default=0, metavar="URLS", help="How many URLs there will be: sets the buckets."
)
@common.common
def init(crawl_dir: Path, expect: int, **options: Any) -> None:
    """Make a crawl directory: settings, empty tables. What --conf and --set say is kept in its pinyon.toml."""
    out = output(options)
    crawl = Crawl.create(
        crawl_dir, expect_urls=expect, conf=options["conf"], **common.assignments(options["assigned"])
    )
    for warning in crawl.warnings:
        out.note(f"note: {warning}")
    lines = [
        f"{crawl_dir}: a new crawl; settings are in {crawl_dir}/pinyon.toml",
        f"next: pinyon inject {crawl_dir} SEEDS",
    ]
    out.data({"directory": str(crawl.root)}, lines)


@click.command(epilog="Example: pinyon inject my-crawl seeds.txt blogs.opml")
@common.directory
@click.argument("sources", metavar="SOURCE...", nargs=-1, required=True)
@click.option(
    "--mode", type=click.Choice(["keep", "update", "overwrite"]), help="What a seed does to a known URL."
)
@click.option("--now", help="The time to go by: ISO 8601 or epoch milliseconds.")
@common.common
def inject(
    crawl_dir: Path, sources: tuple[str, ...], mode: str | None, now: str | None, **options: Any
) -> None:
    """Add seeds: text files (a URL a line, then tab-separated score=2.5, name=value), OPML, folders, '-'."""
    from pinyon.cycle.inject import inject as run

    out = output(options)
    with common.opened(crawl_dir, options, out) as crawl:
        report = run(crawl, sources, mode=mode, now=parse_time(now) if now else None)
    for example in report.examples:
        out.note(f"not used: {example}")
    lines = [f"{report.new:,} new URLs, {report.known:,} known, {report.duplicates:,} given twice"]
    if report.rejected:
        lines.append(f"rejected: {counts(report.rejected)}")
    out.data(report, lines)


@click.command(
    "import",
    epilog="Example: pinyon import my-crawl nutch-jsonl --crawldb crawldb.jsonl --hostdb hostdb.jsonl",
)
@common.directory
@click.argument("format_", metavar="FORMAT", type=click.Choice(["nutch-jsonl"]))
@click.option("--crawldb", type=click.Path(path_type=Path), metavar="FILE", help="Records of URLs.")
@click.option("--hostdb", type=click.Path(path_type=Path), metavar="FILE", help="Records of hosts.")
@common.common
def import_(crawl_dir: Path, format_: str, crawldb: Path | None, hostdb: Path | None, **options: Any) -> None:
    """Take in the CrawlDb and HostDb of another crawler; records are kept as they are."""
    from pinyon.cycle.importing import IMPORTERS

    out = output(options)
    if crawldb is None and hostdb is None:
        raise UsageError("nothing to import: give --crawldb FILE, --hostdb FILE or both")
    with common.opened(crawl_dir, options, out) as crawl:
        report = IMPORTERS[format_](crawl, crawldb=crawldb, hostdb=hostdb)
    out.data(report, [f"{report.urls:,} URLs, {report.hosts:,} hosts imported"])


# -- generate ----------------------------------------------------------------------------------------------------


@click.command(
    cls=GenerateCommand,
    epilog="Example: pinyon generate my-crawl --top-n 100000 --max-count 100 --fetchers 2",
)
@common.directory
@generate_options
@click.option(
    "--engine", type=click.Choice(["duckdb", "reference"]), help="reference: the slow specification."
)
@click.option("--dry-run", is_flag=True, help="Say what would be selected; write nothing.")
@common.common
def generate(crawl_dir: Path, engine: str | None, dry_run: bool, **options: Any) -> None:
    """Select the best URLs that are due, within limits, as a segment. Nothing due: exit status 3."""
    from pinyon.cycle.generate import generate as run

    out = output(options)
    chosen = given(options)
    with common.opened(crawl_dir, options, out) as crawl:
        report = run(crawl, dry_run=dry_run, **chosen, **({"engine": engine} if engine else {}))
    for note in report.notes:
        out.note(f"note: {note}")
    lines = [
        f"segment {s.name}: {s.urls:,} URLs of {s.hosts:,} hosts in {len(s.parts)} part(s), "
        f"{max(p.estimated_s for p in s.parts):,.0f} s at least"
        for s in report.segments
    ]
    lines.append(f"of {report.rows:,} URLs: selected {report.selected:,}; {counts(report.rejected)}")
    if not dry_run:
        lines.append(f"next: pinyon fetch {crawl_dir}")
    out.data(report, lines)


# -- fetch, parse, update ----------------------------------------------------------------------------------------


@click.command(epilog="Example: pinyon fetch my-crawl --set fetcher.server_delay=2")
@common.directory
@click.argument("segment", required=False)
@click.option("--part", type=int, help="Only this part: on any machine that sees the directory.")
@click.option("--time-limit", type=float, metavar="SECONDS", help="Stop then; the rest stays due.")
@common.common
def fetch(
    crawl_dir: Path, segment: str | None, part: int | None, time_limit: float | None, **options: Any
) -> None:
    """Fetch a segment (the oldest that is generated): politely, one process a part. Goes on where it stopped."""
    from pinyon.cli.progress import Watch
    from pinyon.cycle.fetch import fetch as run

    out = output(options)
    limit = {} if time_limit is None else {"fetcher__time_limit": time_limit}
    with common.opened(crawl_dir, options, out, **limit) as crawl, Watch(out) as watch:
        report = run(crawl, segment, part=part, progress=watch.heard)
    out.data(
        report, [_fetched(report), f"next: pinyon {'parse' if report.finished else 'fetch'} {crawl_dir}"]
    )


def _fetched(report: Any) -> str:
    size = f"{report.bytes / 1e6:,.1f} MB"
    unfinished = "" if report.finished else " (not finished)"
    return f"segment {report.segment}: {report.pages:,} pages, {size}: {counts(report.outcomes)}{unfinished}"


@click.command(epilog="Example: pinyon parse my-crawl")
@common.directory
@click.argument("segment", required=False)
@click.option("--again", is_flag=True, help="Parse a segment that was parsed before, from its archive.")
@common.common
def parse(crawl_dir: Path, segment: str | None, again: bool, **options: Any) -> None:
    """Parse a segment (the oldest that is fetched): links, titles, text."""
    from pinyon.cli.progress import Watch
    from pinyon.cycle.parse import parse as run

    out = output(options)
    if again and segment is None:
        raise UsageError("--again needs the name of a segment")
    with common.opened(crawl_dir, options, out) as crawl, Watch(out) as watch:
        report = run(crawl, segment, again=again, progress=watch.heard)
    out.data(report, [_parsed(report), f"next: pinyon updatedb {crawl_dir}"])


def _parsed(report: Any) -> str:
    dropped = f", {report.links_dropped:,} dropped" if report.links_dropped else ""
    return f"segment {report.segment}: pages {counts(report.pages)}; {report.links:,} links{dropped}"


@click.command(epilog="Example: pinyon updatedb my-crawl --hostdb")
@common.directory
@click.argument("segments", nargs=-1)
@click.option("--hostdb", is_flag=True, help="Update the HostDb too, in one go.")
@click.option("--filter", "refilter", is_flag=True, help="Then drop URLs that the filters refuse now.")
@click.option("--normalize", "normalise", is_flag=True, help="Then write URLs as the normaliser does now.")
@click.option("--now", help="The time to go by: ISO 8601 or epoch milliseconds.")
@common.common
def updatedb(
    crawl_dir: Path,
    segments: tuple[str, ...],
    hostdb: bool,
    refilter: bool,
    normalise: bool,
    now: str | None,
    **options: Any,
) -> None:
    """Apply what parsed segments (all that wait) learned to the crawldb; each segment once."""
    from pinyon.cycle.renew import renew
    from pinyon.cycle.updatedb import updatedb as run

    out = output(options)
    with common.opened(crawl_dir, options, out) as crawl:
        report = run(crawl, segments, hostdb=hostdb, now=parse_time(now) if now else None)
        again = renew(crawl, normalise=normalise, refilter=refilter) if refilter or normalise else None
    lines = [_updated(report)]
    if report.hosts is not None:
        lines.append(f"hostdb: {report.hosts.hosts:,} hosts")
    if again is not None:
        lines.append(f"under the rules of now: {again.rows:,} URLs; changed: {counts(again.changes)}")
    for name in report.already_applied:
        lines.append(f"segment {name} was applied before: nothing changed")
    out.data(report, lines)


def _updated(report: Any) -> str:
    changes = {name: number for name, number in sorted(report.changes.items()) if name != "none"}
    return f"crawldb version {report.version}: {report.rows:,} URLs; {counts(changes)}"


@click.command(epilog="Example: pinyon updatehostdb my-crawl")
@common.directory
@common.common
def updatehostdb(crawl_dir: Path, **options: Any) -> None:
    """Count the crawldb by host, and merge what fetching learned of hosts."""
    from pinyon.cycle.updatehostdb import updatehostdb as run

    out = output(options)
    with common.opened(crawl_dir, options, out) as crawl:
        report = run(crawl)
    out.data(report, [f"hostdb version {report.version}: {report.hosts:,} hosts"])


# -- rounds ------------------------------------------------------------------------------------------------------


@click.command(epilog="Example: pinyon crawl my-crawl --rounds 3 --top-n 10000")
@common.directory
@click.option("--rounds", type=int, default=None, help="How many rounds [1].")
@click.option("--until-empty", is_flag=True, help="Until nothing is due.")
@click.option("--duration", type=float, metavar="SECONDS", help="Begin no round after this time.")
@generate_options
@common.common
def crawl(
    crawl_dir: Path, rounds: int | None, until_empty: bool, duration: float | None, **options: Any
) -> None:
    """Run rounds: generate, fetch, parse, updatedb, updatehostdb. An unfinished round is finished first."""
    from pinyon.cli.progress import Watch
    from pinyon.cycle.round import crawl_rounds

    out = output(options)
    if rounds is not None and until_empty:
        raise UsageError("--rounds and --until-empty exclude each other")
    chosen = given(options)
    unlimited = until_empty or (duration is not None and rounds is None)
    with common.opened(crawl_dir, options, out) as opened, Watch(out) as watch:
        report = crawl_rounds(
            opened,
            rounds=None if unlimited else rounds or 1,
            duration_s=duration,
            told=lambda step, done: out.note(f"{step}: {told(done)}"),
            progress=watch.heard,
            **chosen,
        )
    if report.rounds == 0 and report.ended_by == "empty":
        from pinyon.errors import NothingDue

        raise NothingDue(f"{crawl_dir}: nothing is due; 'pinyon inject {crawl_dir} SEEDS' adds URLs")
    lines = [f"{report.rounds} round(s), {report.pages:,} pages; ended by: {report.ended_by}"]
    out.data(report, lines)


def told(report: Any) -> str:
    """One line about a finished step."""
    kind = type(report).__name__
    if kind == "GenerateReport":
        names = ", ".join(s.name for s in report.segments)
        return f"{report.selected:,} of {report.rows:,} URLs selected ({names})"
    if kind == "HostDbReport":
        return f"{report.hosts:,} hosts"
    return {"FetchReport": _fetched, "ParseReport": _parsed, "UpdateReport": _updated}[kind](report)


def note_to(out: Out) -> Callable[[str, Any], None]:
    """A listener that notes every finished step."""
    return lambda step, report: out.note(f"{step}: {told(report)}")


COMMANDS = (init, inject, import_, generate, fetch, parse, updatedb, updatehostdb, crawl)
