"""What commands share: the crawl they work on, their common options, and how they print."""

from __future__ import annotations

import dataclasses
import json
import logging
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

import click

from pinyon.crawl import Crawl
from pinyon.errors import UsageError

F = TypeVar("F", bound=Callable[..., Any])


def _compose(*decorators: Callable[[Any], Any]) -> Callable[[F], F]:
    def decorate(function: F) -> F:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


directory = click.argument("crawl_dir", metavar="DIR", type=click.Path(path_type=Path))

_COMMON = (
    click.option(
        "--conf", metavar="FILE", type=click.Path(path_type=Path), help="Settings: TOML, or nutch-site.xml."
    ),
    click.option(
        "--set", "assigned", metavar="SECTION.NAME=VALUE", multiple=True, help="One setting; may be repeated."
    ),
    click.option("--json", "as_json", is_flag=True, help="Print one JSON object."),
    click.option("-q", "--quiet", is_flag=True, help="No progress, no notes."),
    click.option("-v", "--verbose", count=True, help="More log lines; twice: all."),
    click.option("--debug", is_flag=True, help="Show a traceback when something fails."),
)
common = _compose(*_COMMON)


class Out:
    """Where a command prints: `data` on standard output, `note` on standard error."""

    def __init__(self, as_json: bool, quiet: bool, verbose: int = 0) -> None:
        self.as_json, self.quiet = as_json, quiet
        level = (logging.WARNING, logging.INFO, logging.DEBUG)[min(verbose, 2)]
        logging.basicConfig(
            level=level, stream=sys.stderr, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
        )

    def data(self, value: Any, lines: Sequence[str]) -> None:
        """`value` as JSON if that was asked for, else the lines."""
        if self.as_json:
            click.echo(json.dumps(plain(value), ensure_ascii=False))
        else:
            for line in lines:
                click.echo(line)

    def note(self, line: str) -> None:
        if not self.quiet:
            click.echo(line, err=True)


def opened(crawl_dir: Path, options: Mapping[str, Any], out: Out, **settings: Any) -> Crawl:
    """The crawl with the settings of the command line; notes what was odd about them."""
    crawl = Crawl.open(crawl_dir, conf=options["conf"], **assignments(options["assigned"]), **settings)
    for warning in crawl.warnings:
        out.note(f"note: {warning}")
    return crawl


def assignments(texts: Sequence[str]) -> dict[str, str]:
    """`section.name=value` texts as 'section__name' → value."""
    found = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or "." not in name:
            raise UsageError(f"--set {text}: wanted SECTION.NAME=VALUE, e.g. fetcher.server_delay=2")
        found[name.strip().replace(".", "__", 1)] = value.strip()
    return found


def output(options: Mapping[str, Any]) -> Out:
    return Out(options["as_json"], options["quiet"], options["verbose"])


def plain(value: Any) -> Any:
    """A value as JSON takes it: times in ISO 8601 (UTC), bytes as hexadecimal digits."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return {"inf": "Infinity", "-inf": "-Infinity"}.get(str(value), "NaN")
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return str(value)


def counts(found: Mapping[Any, int]) -> str:
    """'fetched 12, gone 3', or 'none'."""
    return ", ".join(f"{name} {number:,}" for name, number in found.items()) or "none"


def table(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[str]:
    """Rows in columns, numbers to the right."""
    cells = [[_cell(value) for value in row] for row in rows]
    widths = [max([len(name), *(len(row[i]) for row in cells)]) for i, name in enumerate(names)]
    right = [bool(rows) and all(isinstance(row[i], (int, float)) for row in rows) for i in range(len(names))]

    def line(values: Sequence[str]) -> str:
        parts = [v.rjust(w) if r else v.ljust(w) for v, w, r in zip(values, widths, right, strict=True)]
        return "  ".join(parts).rstrip()

    return [line(list(names)), *(line(row) for row in cells)]


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%d %H:%M:%S")
    if isinstance(value, bytes):
        return value.hex()
    return str(value).replace("\n", " ")


def fields(row: Mapping[str, Any]) -> list[str]:
    """One field a line."""
    width = max((len(name) for name in row), default=0)
    return [f"{name.ljust(width)}  {_cell(value)}" for name, value in row.items()]
