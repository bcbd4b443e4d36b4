"""Commands that keep a crawl in order, and the demo."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pinyon.cli import common
from pinyon.cli.common import counts, output, table
from pinyon.cli.steps import note_to
from pinyon.errors import UsageError


@click.command(epilog="Example: pinyon segments my-crawl drop 20261130120000")
@common.directory
@click.argument("action", type=click.Choice(["list", "abort", "drop"]), default="list")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option(
    "--with-warc", is_flag=True, help="Delete its WARC files too, instead of keeping them in warc/."
)
@common.common
def segments(crawl_dir: Path, action: str, names: tuple[str, ...], with_warc: bool, **options: Any) -> None:
    """List segments; abort gives the URLs of one free again; drop removes one that is updated."""
    from pinyon.cycle.discard import abort, drop
    from pinyon.reports.status import segment_lines

    out = output(options)
    with common.opened(crawl_dir, options, out) as crawl:
        if action == "list":
            found = segment_lines(crawl)
            rows = [(line.name, line.state, line.urls) for line in found]
            out.data({"segments": found}, table(["segment", "state", "urls"], rows))
            return
        if not names:
            raise UsageError(
                f"segments {action}: name the segments; 'pinyon segments {crawl_dir}' lists them"
            )
        done = {"abort": abort, "drop": drop}[action](crawl, names, with_warc=with_warc)
    out.data({action: done}, [f"{name}: {'aborted' if action == 'abort' else 'dropped'}" for name in done])


@click.command(epilog="Example: pinyon demo --hosts 100 --rounds 3")
@click.option("--hosts", type=int, default=60, show_default=True, help="Hosts of the simulated web.")
@click.option("--rounds", type=int, default=3, show_default=True)
@click.option("--seed", type=int, default=1, show_default=True, help="Another seed, another web.")
@click.option(
    "--keep", type=click.Path(path_type=Path), metavar="DIR", help="Keep the crawl there [deleted]."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("-q", "--quiet", is_flag=True, help="Only the report.")
@click.option("--debug", is_flag=True, help="Show a traceback when something fails.")
def demo(
    hosts: int, rounds: int, seed: int, keep: Path | None, as_json: bool, quiet: bool, debug: bool
) -> None:
    """Crawl a simulated web on loopback and report: needs no network."""
    from pinyon.cycle.demo import demo as run

    out = common.Out(as_json, quiet)
    report = run(hosts=hosts, rounds=rounds, seed=seed, directory=keep, told=note_to(out))
    lines = [
        f"{report.rounds} rounds in {report.elapsed_s:.1f} s: {report.pages:,} pages of {report.hosts_met:,} hosts, "
        f"{report.urls:,} URLs known",
        f"outcomes: {counts(report.outcomes)}",
        f"statuses: {counts(report.statuses)}",
        f"politeness: {report.requests:,} requests in the web's own log, shortest pause at one host "
        f"{report.shortest_pause_s:.3f} s (promised {report.promised_pause_s:.3f} s)",
    ]
    if keep is not None:
        lines.append(f"look around: pinyon readdb {keep} --stats")
    out.data(report, lines)
