"""The command line: a command parses, opens the crawl, calls one function of the same name, and prints.

Results go to standard output (`--json`: one JSON object), progress and notes to standard error. Exit status: 0
done, 1 failed (one line: what, where, how to mend), 2 wrong usage, 3 nothing due, 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import sys

import click

from pinyon import __version__
from pinyon.cli import ask, keep, read, steps, upkeep
from pinyon.errors import PinyonError


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
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


for module in (steps, read, ask, keep, upkeep):
    for command in module.COMMANDS:
        cli.add_command(command)


def main() -> None:
    """Runs the command line; errors of ours become one line and an exit status."""
    debug = "--debug" in sys.argv
    try:
        status = cli.main(standalone_mode=False)
        sys.exit(status if isinstance(status, int) else 0)
    except click.exceptions.Exit as error:
        sys.exit(error.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, click.Abort):
        print("stopped: what is done is kept; the same command goes on", file=sys.stderr)
        sys.exit(130)
    except PinyonError as error:
        if debug:
            raise
        print(f"pinyon: {error}", file=sys.stderr)
        sys.exit(error.exit_status)
    except OSError as error:
        if debug:
            raise
        print(
            f"pinyon: {error.filename or ''}: {error.strerror or error}; --debug shows where", file=sys.stderr
        )
        sys.exit(1)
