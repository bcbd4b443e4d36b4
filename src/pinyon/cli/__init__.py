"""The command line: a command parses, opens the crawl, calls one function of the same name, and prints.

Results go to standard output (`--json`: one JSON object), progress and notes to standard error. Exit status: 0
done, 1 failed (one line: what, where, how to mend), 2 wrong usage, 3 nothing due, 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click

from pinyon import __version__
from pinyon.cli import ask, keep, look, read, steps, upkeep
from pinyon.cli.common import printable
from pinyon.errors import PinyonError

#: Commands by what they are for; those that make a crawl in the order they are run.
_SECTIONS: dict[str, Sequence[click.Command]] = {
    "Crawling": steps.COMMANDS,
    "Reading": (*look.COMMANDS, *read.COMMANDS),
    "Asking": ask.COMMANDS,
    "Keeping in order": (keep.segments, *upkeep.COMMANDS),
    "Trying": (keep.demo,),
}


class _Sections(click.Group):
    """Lists its commands in sections."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for name, commands in _SECTIONS.items():
            with formatter.section(name):
                formatter.write_dl([(c.name or "", c.get_short_help_str(90)) for c in commands])


@click.group(
    cls=_Sections, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110}
)
@click.version_option(__version__, prog_name="pinyon")
def cli() -> None:
    """A batch web crawler and crawl scheduler that remembers every URL and says why.

    \b
    A first crawl:
      pinyon init my-crawl
      pinyon inject my-crawl seeds.txt
      pinyon crawl my-crawl --rounds 3
      pinyon readdb my-crawl --stats
    Without a network: pinyon demo
    """


for _command in (command for commands in _SECTIONS.values() for command in commands):
    cli.add_command(_command)


def main() -> None:
    """Runs the command line; whatever is raised becomes one line and an exit status."""
    try:
        status = cli.main(standalone_mode=False)
    except click.exceptions.Exit as error:
        status = error.exit_code
    except click.ClickException as error:
        error.show()
        status = error.exit_code
    except (KeyboardInterrupt, click.Abort):
        status = _failed("stopped: what is done is kept; the same command goes on", 130)
    except BrokenPipeError:
        # whoever read us has had enough; the interpreter would complain when it flushes
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 141
    except Exception as error:
        if "--debug" in sys.argv:
            raise
        status = _failed(_line(error), error.exit_status if isinstance(error, PinyonError) else 1)
    sys.exit(status if isinstance(status, int) else 0)


def _line(error: Exception) -> str:
    if isinstance(error, PinyonError):
        return f"pinyon: {error}"
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        return f"pinyon: {where}{error.strerror or error}; --debug shows where"
    return f"pinyon: a fault of pinyon's own, {type(error).__name__}: {error}; --debug shows where"


def _failed(line: str, status: int) -> int:
    print(printable(" ".join(line.split())), file=sys.stderr)
    return status
