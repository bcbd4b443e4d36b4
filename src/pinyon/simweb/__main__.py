"""`python -m pinyon.simweb`: the simulated web as a process of its own, until SIGTERM or SIGINT."""

from __future__ import annotations

import argparse
import contextlib
import os
import resource
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from pinyon.errors import PinyonError
from pinyon.simweb import KINDS, SimWeb


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the web; the exit status is 0 after a signal, that of the error otherwise."""
    options = _parser().parse_args(arguments)
    if options.kinds:
        for kind in KINDS:
            print(f"{kind.name:18} {kind.help}")
        return 0
    try:
        _run(options)
    except PinyonError as error:
        print(error, file=sys.stderr)
        return error.exit_status
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m pinyon.simweb", description=__doc__)
    add = parser.add_argument
    add("--seed", type=int, default=1, help="decides every page (default %(default)s)")
    add("--hosts", type=int, default=300, help="how many (default %(default)s)")
    add(
        "--mean-pages",
        type=int,
        default=20,
        metavar="N",
        help="pages of an ordinary host (default %(default)s)",
    )
    add("--text-bytes", type=int, default=1500, metavar="N", help="text of a page (default %(default)s)")
    add(
        "--slow",
        type=float,
        default=2.0,
        metavar="SECONDS",
        help="what slow hosts take (default %(default)s)",
    )
    add("--no-awkward", action="store_true", help="hub and ordinary hosts only")
    add("--awkward", action="append", metavar="KIND", help="only this kind of awkward host; may be repeated")
    add(
        "--https",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="default: if awkward and possible",
    )
    add("--kinds", action="store_true", help="list the kinds of awkward hosts, and end")
    add("--log", type=Path, metavar="FILE", help="append each request to this file")
    add("--connect-to", type=Path, metavar="FILE", help="write where to connect for each host")
    add("--seeds", type=Path, metavar="FILE", help="write the start URLs")
    add("--ca", type=Path, metavar="FILE", help="write the certificate authority to trust")
    add("--ready", type=Path, metavar="FILE", help="write READY when everything listens")
    return parser


def _raise_file_limit() -> None:
    """Every host takes a file or two, and macOS begins with 256."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 65_536) if hard > 0 else 65_536, hard))


def _run(options: argparse.Namespace) -> None:
    _raise_file_limit()
    stop = threading.Event()
    for signal_number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(signal_number, lambda *_: stop.set())
    web = SimWeb(
        options.seed,
        options.hosts,
        awkward=options.awkward or not options.no_awkward,
        https=options.https,
        slow_s=options.slow,
        mean_pages=options.mean_pages,
        text_bytes=options.text_bytes,
        log=options.log or os.devnull,  # nobody could read what is kept in memory
    )
    with web:
        _write_files(web, options)
        print("READY", flush=True)
        stop.wait()


def _write_files(web: SimWeb, options: argparse.Namespace) -> None:
    """All files that were asked for; READY last, and whole from its first moment on."""
    if options.connect_to:
        web.write_connect_to(options.connect_to)
    if options.seeds:
        web.write_seeds(options.seeds)
    if options.ca and web.ca_file:
        options.ca.write_bytes(web.ca_file.read_bytes())
    if options.ready:
        draft = options.ready.with_name(options.ready.name + ".new")
        draft.write_text("READY\n")
        draft.replace(options.ready)


if __name__ == "__main__":
    sys.exit(main())
