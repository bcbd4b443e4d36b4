"""What generate goes by: the HostDb to use, limits, and expressions as SQL."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pinyon import expressions
from pinyon.crawl import Crawl
from pinyon.errors import SettingError, StoreError, UsageError, nearest
from pinyon.expressions import Compiled, Scope, Type
from pinyon.settings import Generate, Settings
from pinyon.store import DeltaStore, Published
from pinyon.tables import HOSTDB, STATUSES

#: Sets of settings by name. `classic`: Nutch's first generator sorted by links and left gone pages alone.
PRESETS: Mapping[str, Mapping[str, Any]] = {
    "classic": {
        "exclude_status": ("db_gone", "db_redir_perm"),
        "sort_by": "inlinks",
        "partition_mode": "hash",
    },
}


@dataclass(frozen=True, slots=True)
class Policy:
    """`host_limit` and `domain_limit` are the defaults (negative: none); `hostdb` is None where it is not used.

    `fragments` are the expressions in SQL over the aliases `c` (crawldb) and `h` (hostdb). `needs_host`: one of
    those over URLs looks at the host's row.
    """

    hostdb: Published | None
    host_limit: int
    domain_limit: int
    fragments: Mapping[str, str]
    needs_host: bool
    notes: Sequence[str]


def effective(settings: Settings, options: Mapping[str, Any]) -> Settings:
    """The settings with those of a preset and the options of this call; checked where one value is not enough.

    An option beats the preset, the preset beats what stands in files.
    """
    preset = options.get("preset") or settings.generate.preset
    if preset is not None:
        if preset not in PRESETS:
            raise SettingError(
                f"generate.preset = '{preset}': wanted one of {', '.join(PRESETS)}{nearest(preset, PRESETS)}"
            )
        settings = settings.with_values(_keyed(PRESETS[preset]), f"preset {preset}")
    options = dict(options)
    engine = options.pop("engine", None)
    settings = settings.with_values({"engine.name": engine} if engine else {}, "arguments")
    settings = settings.with_values(_keyed(options), "arguments")
    return replace(settings, generate=_checked(settings.generate))


def _keyed(values: Mapping[str, Any]) -> dict[str, Any]:
    return {f"generate.{name}": value for name, value in values.items()}


#: Least and greatest value of numbers that mean nothing beyond: a hundred years are for ever.
_BOUNDS: Mapping[str, tuple[float, float]] = {
    "top_n": (0, math.inf),
    "segments": (1, 10_000),
    "fetchers": (1, 1_000_000),
    "keep_together": (1, 1_000_000_000),
    "time_budget": (0, math.inf),
    "gen_delay": (0, 3_153_600_000),
    "add_days": (-36_500, 36_500),
}


def _checked(settings: Generate) -> Generate:
    for name, (least, most) in _BOUNDS.items():
        value = getattr(settings, name)
        if value is not None and not least <= value <= most:  # NaN is within no bounds
            wanted = f"{least:,} or more" if most == math.inf else f"{least:,} to {most:,}"
            raise UsageError(f"generate.{name} = {value}: wanted {wanted}")
    return replace(
        settings,
        restrict_status=_statuses("restrict_status", settings.restrict_status),
        exclude_status=_statuses("exclude_status", settings.exclude_status),
    )


def _statuses(name: str, given: Sequence[str]) -> tuple[str, ...]:
    """In any case, as Nutch takes them; an unknown one is refused: it would restrict nothing, or everything."""
    found = tuple(status.strip().lower() for status in given)
    for status in found:
        if status not in STATUSES:
            raise UsageError(f"generate.{name} = '{status}': unknown status{nearest(status, STATUSES)}")
    return found


def policy_of(crawl: Crawl, settings: Generate, crawldb: Published) -> Policy:
    """The policy of this generate.

    Raises `ExpressionError` for an expression that cannot be used, whether or not there is a HostDb, and
    `StoreError` if the HostDb is asked for and is missing or empty.
    """
    by_domain = settings.count_mode == "domain"
    limits = [
        limit for limit in (settings.max_count if by_domain else -1, settings.max_per_domain) if limit >= 0
    ]
    hostdb = _hostdb(crawl, settings.hostdb)
    host = expressions.host_scope("h", metadata_types(hostdb or crawl.store.current(HOSTDB)))
    url = expressions.url_scope("c", metadata_types(crawldb), host)
    compiled = _compiled(settings, url, host)
    by_host = [name for name in ("max_count_expr", "fetch_delay_expr") if getattr(settings, name) is not None]
    notes = []
    if hostdb is None and by_host:
        told = " and ".join(f"generate.{name}" for name in by_host)
        notes.append(f"no HostDb is used: {told} checked, not evaluated; every host has the defaults")
    fragments = {name: f"({found.sql})" for name, found in compiled.items()}
    for name in by_host if hostdb is None else ():
        fragments[name] = _NOTHING
    return Policy(
        hostdb=hostdb,
        host_limit=-1 if by_domain else settings.max_count,
        domain_limit=min(limits, default=-1),
        fragments=fragments,
        needs_host=any(
            used.startswith("hostdb.")
            for name in ("sort_value", "expression")
            for used in compiled[name].names_used
        ),
        notes=notes,
    )


_NOTHING = "CAST(NULL AS DOUBLE)"


def _compiled(settings: Generate, url: Scope, host: Scope) -> dict[str, Compiled]:
    nothing = Compiled(_NOTHING, Type.DECIMAL, frozenset(), True)
    compile_ = expressions.compile
    return {
        "sort_value": compile_(settings.sort_by, url, want="number"),
        "expression": compile_(settings.expr or "true", url, want="boolean"),
        "max_count_expr": compile_(settings.max_count_expr, host, want="number")
        if settings.max_count_expr
        else nothing,
        "fetch_delay_expr": compile_(settings.fetch_delay_expr, host, want="number")
        if settings.fetch_delay_expr
        else nothing,
    }


def metadata_types(table: Published) -> dict[str, Type]:
    """The metadata keys ever seen in a table, each with its widest type."""
    return {name: Type(kind) for name, kind in table.facts.get("metadata", {}).items()}


def _hostdb(crawl: Crawl, choice: str) -> Published | None:
    """auto: the crawl's own once it has rows. on, or a path: an error if there are none."""
    if choice == "off":
        return None
    if choice in ("auto", "on"):
        hostdb = crawl.store.current(HOSTDB)
    else:
        path = Path(choice)
        hostdb = DeltaStore(path.parent).current(replace(HOSTDB, name=path.name))
    if hostdb.rows:
        return hostdb
    if choice == "auto":
        return None
    raise StoreError(
        f"{hostdb.root}: generate.hostdb = {choice}, but the HostDb is empty; "
        f"'pinyon updatehostdb {crawl.root}' fills it"
    )
