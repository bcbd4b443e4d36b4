"""docs/cli.md: every command with its options and its twin in Python."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re
import typing
from collections.abc import Callable, Iterable, Iterator
from inspect import Parameter
from typing import Any

import click

import pinyon
from parts import code, table
from pinyon.cli import cli

#: Command → the function it calls, in `pinyon`.
TWINS = {
    "inject": "cycle.inject:inject",
    "import": "cycle.importing:import_nutch_jsonl",
    "generate": "cycle.generate:generate",
    "fetch": "cycle.fetch:fetch",
    "parse": "cycle.parse:parse",
    "updatedb": "cycle.updatedb:updatedb",
    "updatehostdb": "cycle.updatehostdb:updatehostdb",
    "crawl": "cycle.round:crawl_rounds",
    "status": "reports.status:status",
    "demo": "cycle.demo:demo",
    "restore": "cycle.versions:restore",
    "vacuum": "cycle.versions:vacuum",
    "rebucket": "cycle.rebucket:rebucket",
    "migrate": "cycle.renew:migrate",
    "renew": "cycle.renew:renew",
}
#: Names of the options that every command on a crawl takes.
COMMON = ("conf", "assigned", "as_json", "quiet", "verbose", "debug")
_HEADER = ["option", "meaning"]


def common_options() -> str:
    return table(_HEADER, _rows(p for p in cli.commands["inject"].params if p.name in COMMON))


def sections() -> str:
    return "\n\n".join(text for name, command in cli.commands.items() for text in _section(name, command))


def _section(name: str, command: click.Command) -> Iterator[str]:
    if isinstance(command, click.Group):
        for below, subcommand in command.commands.items():
            yield from _section(f"{name} {below}", subcommand)
        return
    usage = " ".join(command.collect_usage_pieces(click.Context(command)))
    yield f"### {name}\n\n    pinyon {name} {usage}\n\n{inspect.cleandoc(command.help or '')}"
    own, passed_on = _options(name, command)
    if own:
        yield table(_HEADER, _rows(own))
    if passed_on:
        yield "And the options of `generate` that are settings, which it passes on."
    if command.epilog:
        yield re.sub(r"^Example: (.*)$", r"Example: `\1`", command.epilog)
    if name in TWINS:
        yield _twin(TWINS[name])


def _options(name: str, command: click.Command) -> tuple[list[click.Option], bool]:
    """Options of its own, and whether it takes those of generate's settings as well."""
    names = {p.name for p in command.params}
    told_above = COMMON if names.issuperset(COMMON) else ()
    options = [p for p in command.params if isinstance(p, click.Option) and p.name not in told_above]
    generating = {p.name for p in cli.commands["generate"].params}
    if name == "generate" or sum(p.name in generating for p in options) < 10:
        return options, False
    return [p for p in options if p.name not in generating], True


def _rows(options: Iterable[click.Parameter]) -> Iterator[list[str]]:
    for option in options:
        record = option.get_help_record(click.Context(click.Command("pinyon")))
        if record is not None:
            yield [code(record[0]), record[1]]


# -- twins ----------------------------------------------------------------------------------------------------


def _twin(place: str) -> str:
    module, name = place.split(":")
    function = getattr(importlib.import_module(f"pinyon.{module}"), name)
    public = f"pinyon.{name}" if hasattr(pinyon, name) else f"pinyon.{module}.{name}"
    lines = [f"In Python `{public}{_signature(function)}`."]
    report = typing.get_type_hints(function)["return"]
    if dataclasses.is_dataclass(report):
        names = ", ".join(code(field.name) for field in dataclasses.fields(report))
        lines.append(f"It returns a `{_name(report)}`, whose fields `--json` prints: {names}.")
        lines.append(" ".join((inspect.getdoc(report) or "").split()))
    return "\n".join(lines)


def _name(report: Any) -> str:
    return str(report.__name__)


class _Elided:
    """Stands for a default that has no short name."""

    def __repr__(self) -> str:
        return "…"


def _signature(function: Callable[..., Any]) -> str:
    """Names and defaults; types stand in the code."""
    parameters = [_bare(parameter) for parameter in inspect.signature(function).parameters.values()]
    return str(inspect.Signature(parameters))


def _bare(parameter: Parameter) -> Parameter:
    elided = callable(parameter.default) and parameter.default is not Parameter.empty
    default = _Elided() if elided else parameter.default
    return parameter.replace(annotation=Parameter.empty, default=default)
