"""The settings of `[generate]` as options, for the commands that generate or say what generate would do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from pinyon.settings import specs

#: Options of Nutch's generator, in its spelling, and ours.
_NUTCH_OPTIONS = {
    "-topN": "--top-n",
    "-numFetchers": "--fetchers",
    "-maxNumSegments": "--segments",
    "-adddays": "--add-days",
    "-noFilter": "--no-filter",
    "-expr": "--expr",
    "-hostdb": "--hostdb",
}
#: Settings whose option has a shorter name.
_SHORT = {"limits_file": "limits"}


class GenerateCommand(click.Command):
    """Understands Nutch's spellings too."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, [_NUTCH_OPTIONS.get(arg, arg) for arg in args])


def generate_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """One option for each setting of `[generate]`, with its help, unit and default."""
    for spec in reversed([s for s in specs() if s.section == "generate"]):
        name = "--" + _SHORT.get(spec.name, spec.name).replace("_", "-")
        text = spec.help + (f" [{spec.unit}]" if spec.unit else "")
        if spec.kind is bool:
            option = click.option(f"{name}/--no-{name[2:]}", spec.name, default=None, help=text)
        elif spec.choices:
            option = click.option(name, spec.name, type=click.Choice(spec.choices), help=text)
        elif spec.kind is tuple:
            option = click.option(name, spec.name, multiple=True, metavar="NAME", help=text)
        elif spec.name == "hostdb":
            option = click.option(
                name, spec.name, is_flag=False, flag_value="on", metavar="[PATH]", help=text
            )
        else:
            metavar = {int: "N", float: "NUMBER", str: "TEXT"}[spec.kind]
            option = click.option(name, spec.name, metavar=metavar, help=text)
        function = option(function)
    return function


def given(options: dict[str, Any]) -> dict[str, Any]:
    """The settings of `[generate]` that were given as options, taken out of `options`."""
    names = [spec.name for spec in specs() if spec.section == "generate"]
    taken = {name: options.pop(name) for name in names if name in options}
    return {name: value for name, value in taken.items() if value is not None and value != ()}
