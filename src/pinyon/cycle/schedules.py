"""Schedules: how long until a page is fetched again, as SQL over its row and what the fetch found.

The job asks for three expressions, in seconds: `delta`, how long ago the page changed; `interval`, which is kept
with the row; `gap`, until the next fetch. They are seen only by pages that were there: what failed, was denied or is
gone has rules of its own. The job keeps the results within the bounds of the page's host, domain or MIME type.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pinyon.errors import InputError
from pinyon.settings import Db
from pinyon.tables import Column, TableSpec
from pinyon.urls import domain_of, host_of

BOUNDS = TableSpec(
    "bounds",
    (
        Column("kind", "VARCHAR", "host, domain, type ('text/html') or types ('image')", nullable=False),
        Column("name", "VARCHAR", "of the host, domain or MIME type", nullable=False),
        Column("min_s", "INTEGER", "shortest interval"),
        Column("max_s", "INTEGER", "longest interval"),
    ),
    "intervals of some hosts, domains and MIME types",
)

#: A Last-Modified as servers write it ("Sun, 06 Nov 1994 08:49:37 GMT"), null if it is anything else.
_LAST_MODIFIED = (
    "TRY_CAST(concat(substr(result_last_modified, 13, 4), '-', lpad(CAST((strpos("
    "'JanFebMarAprMayJunJulAugSepOctNovDec', substr(result_last_modified, 9, 3)) + 2) // 3 AS VARCHAR), 2, '0'), '-', "
    "substr(result_last_modified, 6, 2), ' ', substr(result_last_modified, 18, 8), '+00:00') AS TIMESTAMPTZ)"
)
#: What a server says is believed where it can be true: after the last fetch, and not in the future.
_CHANGED_AT = (
    f"CASE WHEN what = 'not_modified' THEN coalesce(modified_time, result_time) "
    f"WHEN modified AND {_LAST_MODIFIED} BETWEEN last_fetch_time AND result_time THEN {_LAST_MODIFIED} "
    f"ELSE result_time END"
)


def fragments(db: Db) -> dict[str, str]:
    """`delta`, `interval` and `gap` of the schedule that is set."""
    if db.schedule == "default":
        return {"delta": "0", "interval": "base_s", "gap": "interval_s"}
    grown, shrunk = 1 + float(db.adaptive_inc_rate), 1 - float(db.adaptive_dec_rate)
    stepped = f"base_s * CASE WHEN what = 'not_modified' THEN {grown} WHEN modified THEN {shrunk} ELSE 1 END"
    if not db.adaptive_sync:
        return {"delta": "0", "interval": stepped, "gap": "interval_s"}
    rate = min(max(float(db.adaptive_sync_rate), 0.0), 0.99)
    return {
        "delta": f"greatest(date_diff('second', {_CHANGED_AT}, result_time), 0)",
        # AdaptiveFetchSchedule: what has not changed for so long need not be looked at sooner
        "interval": f"greatest({stepped}, CASE WHEN what = 'not_modified' THEN delta_s ELSE 0 END)",
        # Nutch steps back by the whole age of the change, into the past where the interval is cut by its maximum
        "gap": f"greatest(interval_s - {rate} * least(delta_s, interval_s), least(min_s, max_s), 1)",
    }


def params(db: Db) -> dict[str, int]:
    """`interval_min` and `interval_most`: what holds where no bound says otherwise, in seconds."""
    if db.schedule == "default":
        return {"interval_min": 0, "interval_most": db.fetch_interval_max}
    most = min(round(db.adaptive_max_interval), db.fetch_interval_max)
    return {"interval_min": round(db.adaptive_min_interval), "interval_most": most}


# -- bounds ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Bound:
    """One line of the file. `kind` is host, domain, type or types (all of a family); None: no bound."""

    kind: str
    name: str
    min_s: int | None
    max_s: int | None


def read_bounds(path: Path) -> list[Bound]:
    """The lines `NAME MIN MAX` of an intervals file; `InputError` names the line that is none.

    NAME is a host, a domain ('*.example.org'), a MIME type or a family of them ('image/*'). MIN and MAX are seconds,
    or a number with s, m, h or d; '-' is no bound. '#' begins a comment.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from error
    return list(_bounds(text.splitlines(), path))


def _bounds(lines: Iterable[str], path: Path) -> Iterator[Bound]:
    for number, line in enumerate(lines, 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        try:
            yield _bound(words)
        except ValueError as error:
            raise InputError(
                f"{path}:{number}: {error}; wanted NAME MIN MAX, e.g. 'text/html 30d -'"
            ) from error


def _bound(words: Sequence[str]) -> Bound:
    name, low, high = words
    min_s, max_s = _seconds(low), _seconds(high)
    if min_s is not None and max_s is not None and min_s > max_s:
        raise ValueError(f"{low} is more than {high}")
    name = name.lower()
    if name.endswith("/*"):
        return Bound("types", name.removesuffix("/*"), min_s, max_s)
    if "/" in name:
        return Bound("type", name, min_s, max_s)
    host = host_of(f"http://{name.removeprefix('*.')}/")
    if host is None:
        raise ValueError(f"'{name}' is no host")
    if not name.startswith("*."):
        return Bound("host", host, min_s, max_s)
    if domain_of(host) != host:
        raise ValueError(f"'{host}' is no registered domain (that is '{domain_of(host)}')")
    return Bound("domain", host, min_s, max_s)


_SPAN = re.compile(r"(\d{1,9})([smhd]?)")
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400}


def _seconds(text: str) -> int | None:
    if text == "-":
        return None
    match = _SPAN.fullmatch(text)
    if match is None:
        raise ValueError(f"'{text}' is no time")
    return min(int(match[1]) * _UNITS[match[2]], 2**31 - 1)


def bounds_table(bounds: Sequence[Bound]) -> Any:
    """The bounds as an Arrow table; of several lines for one name the last one counts."""
    import pyarrow as pa

    newest = {(bound.kind, bound.name): bound for bound in bounds}.values()
    rows = [{"kind": b.kind, "name": b.name, "min_s": b.min_s, "max_s": b.max_s} for b in newest]
    return pa.Table.from_pylist(rows, schema=BOUNDS.arrow_schema())
