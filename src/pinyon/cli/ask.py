"""Commands that ask why, and what if: nothing here takes a lock or changes a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from pinyon.cli import common
from pinyon.cli.common import clock, counts, fields, output, table
from pinyon.cli.generate_options import GenerateCommand, generate_options, given
from pinyon.errors import UsageError

_MARKS = {"passes": "ok", "drops": "DROPS", "unset": "-", "unasked": "?"}


@click.command(
    cls=GenerateCommand, epilog="Example: pinyon explain my-crawl https://example.org/ --top-n 1000"
)
@common.directory
@click.argument("url", required=False)
@click.option("--host", help="Explain a host: what holds for it, how many of its URLs are selected.")
@click.option("--segment", metavar="NAME", help="Whether and why this past list has the URL.")
@click.option(
    "--cut/--no-cut",
    default=True,
    help="Whether to ask for the cut of top_n, which needs a look at all URLs.",
)
@generate_options
@common.common
def explain(
    crawl_dir: Path, url: str | None, host: str | None, segment: str | None, cut: bool, **options: Any
) -> None:
    """Why a URL would (not) be selected by a generate with the same options, and all that is known of it."""
    from pinyon.cycle.explain import explain_host, explain_url
    from pinyon.cycle.explain_segment import explain_segment

    out = output(options)
    chosen = given(options)
    if (url is None) == (host is None):
        raise UsageError("explain takes a URL, or --host HOST")
    if segment is not None and (url is None or chosen):
        raise UsageError("--segment takes a URL and no options of generate: the list recorded its own")
    with common.opened(crawl_dir, options, out) as crawl:
        if host is not None:
            found: Any = explain_host(crawl, host, cut=cut, **chosen)
        elif segment is not None:
            found = explain_segment(crawl, url or "", segment)
        else:
            found = explain_url(crawl, url or "", cut=cut, **chosen)
    for note in found.notes:
        out.note(f"note: {note}")
    lines = _host_lines if host is not None else _url_lines if segment is None else _segment_lines
    out.data(found, lines(found))


def _url_lines(found: Any) -> list[str]:
    if found.selected is None:
        verdict = "within all limits that were asked: the rest is up to the cut of top_n"
    else:
        verdict = f"selected, list {found.list}" if found.selected else f"not selected: {found.reason}"
    lines = [f"{found.url}: {verdict}", "", *_rules(found.findings)]
    lines += ["", "crawldb", *_known(found.row)]
    lines += ["", "HostDb", *_known(found.host)]
    for row in found.limits:
        lines += ["", "limits file", *_known(row)]
    for waiting in found.waiting:
        place = f"part {waiting.part}, position {waiting.position}"
        lines += ["", f"in segment {waiting.segment} ({waiting.state}): {place}"]
    return lines


def _rules(findings: Sequence[Any]) -> list[str]:
    rows = [(_MARKS[f.verdict], f.rule, f.told or "not set") for f in findings]
    return table(["", "rule", ""], rows)[1:]


def _known(row: Mapping[str, Any] | None) -> list[str]:
    """What is known of a row: nothing of what is not."""
    told = {name: value for name, value in (row or {}).items() if value is not None and value != {}}
    return [f"  {line}" for line in fields(told)] if told else ["  no row"]


def _host_lines(found: Any) -> list[str]:
    limit = "no limit" if found.limit < 0 else f"at most {found.limit:,} URLs in a list"
    lines = [
        f"{found.host}: {found.urls:,} URLs, {found.candidates:,} of them could be selected now",
        f"limit: {limit}, because {found.limit_because}",
        f"delay: {found.delay_ms:,} ms, because {found.delay_because}",
    ]
    if found.budget is not None:
        lines.append(f"time budget: at most {found.budget:,} URLs in a list")
    lines += [f"selected, list {number}: {urls:,}" for number, urls in found.selected.items()]
    lines.append(f"not selected: {counts(found.rejected)}")
    lines += ["", "HostDb", *_known(found.row)]
    for row in found.limits:
        lines += ["", "limits file", *_known(row)]
    return lines


def _segment_lines(found: Any) -> list[str]:
    told = f"segment {found.segment} ({found.state}), generated at {found.generated_at:%Y-%m-%d %H:%M:%S}"
    if found.place is not None:
        lines = [f"{found.url}: in {told}", "", *_known(found.place)]
        return lines + (["", "fetched", *_known(found.page)] if found.page else ["", "not fetched"])
    lines = [f"{found.url}: not in {told}"]
    recorded = found.counts.get("rejected", {})
    lines.append(f"it was made of {found.counts.get('rows', 0):,} URLs; not selected: {counts(recorded)}")
    return lines + (["", *_url_lines(found.why)] if found.why else [])


@click.command(cls=GenerateCommand, epilog="Example: pinyon plan my-crawl --top-n 100000 --fetchers 4")
@common.directory
@generate_options
@common.common
def plan(crawl_dir: Path, **options: Any) -> None:
    """What generate would select, how long fetching it takes at least, and what lower limits would save."""
    from pinyon.cycle.plan import plan as run

    out = output(options)
    chosen = given(options)
    with common.opened(crawl_dir, options, out) as crawl:
        found = run(crawl, **chosen)
    for note in found.notes:
        out.note(f"note: {note}")
    names = ["list", "part", "URLs", "hosts", "takes at least"]
    lines = table(names, [(p.list, p.part, p.urls, p.hosts, clock(p.estimated_s)) for p in found.parts])
    names = ["slowest hosts", "list", "part", "URLs", "delay ms", "takes", "part without it"]
    rows = [
        (h.host, h.list, h.part, h.urls, h.delay_ms, clock(h.estimated_s), clock(h.part_without_s))
        for h in found.slowest
    ]
    lines += ["", *table(names, rows), ""]
    lines += [
        f"with --{s.option.replace('_', '-')} {s.value} the slowest part takes {clock(s.slowest_s)} instead of "
        f"{clock(found.slowest_s)}: {s.urls_fewer:,} URLs fewer"
        for s in found.savings
    ]
    lines.append(f"of {found.rows:,} URLs: {found.selected:,} would be selected; {counts(found.rejected)}")
    out.data(found, lines)


@click.command(
    epilog='Example: pinyon expr my-crawl "connectionFailures > 100 ? 10 : 1000" --host example.org'
)
@common.directory
@click.argument("expression")
@click.option("--host", help="For this host's row of the HostDb.")
@click.option("--url", help="For this URL's row of the crawldb; its host's names stand behind hostdb.")
@click.option(
    "--all",
    "every",
    is_flag=False,
    flag_value="auto",
    type=click.Choice(["hosts", "urls", "auto"]),
    metavar="[hosts|urls]",
    help="Over all hosts or URLs: how often which value.",
)
@click.option("--tree", is_flag=True, help="How the expression is understood: position, type, construct.")
@common.common
def expr(
    crawl_dir: Path,
    expression: str,
    host: str | None,
    url: str | None,
    every: str | None,
    tree: bool,
    **options: Any,
) -> None:
    """Try an expression: its type, its value, and the values of the names it uses."""
    from pinyon.cycle.tryexpr import tryexpr

    out = output(options)
    with common.opened(crawl_dir, options, out) as crawl:
        found = tryexpr(crawl, expression, host=host, url=url, every=every, tree=tree)
    lines = [*(found.tree or "").splitlines(), *([""] if found.tree else [])]
    if found.summary is None:
        lines += [f"{_shown(found.value)}  ({found.type}, for {found.of})"]
        lines += [f"  {line}" for line in fields(found.names)]
    else:
        lines += _summary_lines(found)
    out.data(found, lines)


def _summary_lines(found: Any) -> list[str]:
    summary = found.summary
    lines = [f"{found.type} over {summary.rows:,} {found.of}; {summary.nulls:,} without a value"]
    lines += [f"  {value}: {rows:,}" for value, rows in summary.counts.items()]
    if summary.mean is not None:
        lines.append(f"  from {summary.minimum:g} to {summary.maximum:g}, mean {summary.mean:g}")
    rows = [(row["key"], _shown(row["value"])) for row in summary.first]
    return [*lines, "", *table(["first", "value"], rows)]


def _shown(value: Any) -> Any:
    """As expressions spell it."""
    return str(value).lower() if isinstance(value, bool) else "null" if value is None else value


COMMANDS = (explain, plan, expr)
