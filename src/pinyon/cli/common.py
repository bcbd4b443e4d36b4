"""What commands share: the crawl they work on, their common options, and how they print."""

from __future__ import annotations

import dataclasses
import itertools
import json
import logging
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

import click

from pinyon.crawl import Crawl
from pinyon.errors import UsageError

F = TypeVar("F", bound=Callable[..., Any])

#: Longer values are cut: --json, and --dump, give them whole.
_CELL_CHARS = 200
_FIELD_CHARS = 4_000
#: Rows that decide how wide the columns of a long table are.
_MEASURED_ROWS = 1_000
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


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
    """Where a command prints: `data` and `rows` on standard output, `note` on standard error."""

    def __init__(self, as_json: bool, quiet: bool, verbose: int = 0) -> None:
        self.as_json, self.quiet = as_json, quiet
        level = (logging.WARNING, logging.INFO, logging.DEBUG)[min(verbose, 2)]
        logging.basicConfig(
            level=level, stream=sys.stderr, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
        )

    def data(self, value: Any, lines: Iterable[str]) -> None:
        """`value` as JSON if that was asked for, else the lines."""
        if self.as_json:
            click.echo(as_json(value))
        else:
            for line in lines:
                click.echo(printable(line))

    def rows(self, names: Sequence[str], rows: Iterator[Sequence[Any]]) -> None:
        """Rows of a query, however many, as they come: a table, or one JSON object with all of them."""
        if self.as_json:
            self._json_rows(names, rows)
            return
        first = list(itertools.islice(rows, _MEASURED_ROWS))
        layout = Layout(names, first)
        for row in itertools.chain([names], first, rows):
            click.echo(printable(layout.line(row)))

    def _json_rows(self, names: Sequence[str], rows: Iterator[Sequence[Any]]) -> None:
        click.echo('{"rows": [', nl=False)
        for number, row in enumerate(rows):
            click.echo((", " if number else "") + as_json(dict(zip(names, row, strict=True))), nl=False)
        click.echo("]}")

    def note(self, line: str) -> None:
        if not self.quiet:
            click.echo(printable(line), err=True)


def printable(text: str) -> str:
    """Without control characters: a page's title must not move the cursor of whoever reads it."""
    return text if text.isprintable() else _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", text)


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


def as_json(value: Any) -> str:
    return json.dumps(plain(value), ensure_ascii=False)


def counts(found: Mapping[Any, int]) -> str:
    """'fetched 12, gone 3', or 'none'."""
    return ", ".join(f"{name} {number:,}" for name, number in found.items()) or "none"


def clock(seconds: float) -> str:
    """12 s as 0:12, and 3,812 s as 1:03:32."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


class Layout:
    """Columns as wide as what stands in them, numbers to the right."""

    def __init__(self, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        columns = [[row[i] for row in rows] for i in range(len(names))]
        self._widths = [
            max([len(name), *(len(_cell(value)) for value in column)])
            for name, column in zip(names, columns, strict=True)
        ]
        self._right = [
            bool(column) and all(isinstance(v, (int, float)) for v in column) for column in columns
        ]

    def line(self, row: Sequence[Any]) -> str:
        cells = [
            _cell(value).rjust(width) if right else _cell(value).ljust(width)
            for value, width, right in zip(row, self._widths, self._right, strict=True)
        ]
        return "  ".join(cells).rstrip()


def table(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[str]:
    """Rows in columns under their names."""
    layout = Layout(names, rows)
    return [layout.line(row) for row in (names, *rows)]


def _cell(value: Any, most: int = _CELL_CHARS) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%d %H:%M:%S")
    text = value.hex() if isinstance(value, bytes) else " ".join(str(value).split("\n"))
    return text if len(text) <= most else f"{text[: most - 2]} …"


def fields(row: Mapping[str, Any]) -> list[str]:
    """One field a line."""
    width = max((len(name) for name in row), default=0)
    return [f"{name.ljust(width)}  {_cell(value, _FIELD_CHARS)}" for name, value in row.items()]
