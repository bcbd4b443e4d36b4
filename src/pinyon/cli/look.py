"""Commands that tell how a crawl stands: nothing here takes a lock or changes a table."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pinyon.cli import common
from pinyon.cli.common import Out, clock, counts, output, table
from pinyon.crawl import Crawl
from pinyon.errors import UsageError

if TYPE_CHECKING:
    from pinyon.settings import Settings, Spec


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


COMMANDS = (status, history, settings)
