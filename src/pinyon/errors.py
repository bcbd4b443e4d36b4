"""Every error pinyon raises on purpose, as one tree.

A caller who wants "this library failed" catches `PinyonError`. Foreign errors (engine, Delta log, network)
are translated at the edge where they appear, with the cause kept. The text is one line that says what
happened, where, and how to mend it; the command line prints that line and nothing else.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class PinyonError(Exception):
    """Something pinyon was asked to do failed."""

    exit_status = 1


class UsageError(PinyonError):
    """The request itself was wrong: an option, an argument, a name that does not exist."""

    exit_status = 2


class SettingError(UsageError):
    """A setting is unknown, or its value cannot be used."""


class ExpressionError(UsageError):
    """An expression was refused before anything ran; the text holds the position and the reason."""


class NothingDue(PinyonError):
    """Nothing is due: no segment was made. Not a failure, but nothing to go on with."""

    exit_status = 3


class StoreError(PinyonError):
    """A table, a segment or the crawl directory is not what it should be."""


class LockedError(StoreError):
    """Another process writes to this crawl; the text names its host, process and since when."""


class EngineError(PinyonError):
    """A query failed; the text names the step and the cause, `sql` holds the statement."""

    def __init__(self, message: str, sql: str = "") -> None:
        super().__init__(message)
        self.sql = sql


class InputError(PinyonError):
    """A file given to pinyon cannot be read, or says something that makes no sense."""


class FetchError(PinyonError):
    """The fetcher as a whole cannot go on (a single page never raises: it becomes an outcome)."""


class MissingExtra(PinyonError):
    """A part of pinyon that not everybody needs is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs the extra '{extra}': pip install 'pinyon[{extra}]'")


def nearest(name: str, known: Iterable[str]) -> str:
    """ ", did you mean 'x'?" for the known name that looks most like `name`, or an empty text."""
    found = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f", did you mean '{found[0]}'?" if found else ""
