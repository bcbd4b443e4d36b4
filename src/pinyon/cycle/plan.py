"""plan: what generate would make, how long its parts would take, due to which hosts, and what limits would save.

    the selection of generate ─▶ parts ─▶ hosts by URLs × delay ─▶ the slowest ones
                                               └─▶ the same under lower limits ─▶ savings

It is made as generate makes it, but aside: no lock is taken, no segment is written. All that grows with the crawl is
aggregated by the engine.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pinyon.crawl import Crawl
from pinyon.cycle import partition
from pinyon.cycle.aside import selection_aside
from pinyon.cycle.candidates import select_candidates
from pinyon.cycle.lists import fill_lists
from pinyon.cycle.narrow import CHOSEN, PLACED
from pinyon.cycle.selection import Selection
from pinyon.errors import NothingDue
from pinyon.jobs import Files, load

#: Hosts that are named, and limits of each kind that are tried.
SHOWN = 10
TRIED = 4


@dataclass(frozen=True, slots=True)
class PlannedPart:
    """One part of a list; `estimated_s` is what the delays of its slowest group of hosts take, at least."""

    list: int
    part: int
    urls: int
    hosts: int
    estimated_s: float


@dataclass(frozen=True, slots=True)
class SlowHost:
    """A host that takes long: URLs × delay. Without it its part would take `part_without_s`."""

    host: str
    list: int
    part: int
    urls: int
    delay_ms: int
    estimated_s: float
    part_without_s: float


@dataclass(frozen=True, slots=True)
class Saving:
    """Under a lower limit of hosts (`option`: max_count in URLs, or time_budget in seconds) the slowest part would take
    `slowest_s`, and `urls_fewer` of the chosen URLs would stay out: others may come in their place."""

    option: str
    value: int
    slowest_s: float
    urls_fewer: int


@dataclass(frozen=True, slots=True)
class Plan:
    """What generate with the same options would select; `slowest_s` is the time of the slowest part.

    `rows` = `selected` + all of `rejected`. `slowest` are hosts, slowest first; `savings` are ordered by option, then
    from high limits to low ones.
    """

    rows: int
    selected: int
    rejected: Mapping[str, int]
    parts: Sequence[PlannedPart]
    slowest_s: float
    slowest: Sequence[SlowHost]
    savings: Sequence[Saving]
    notes: Sequence[str]


def plan(crawl: Crawl, *, now: datetime | str | None = None, **options: Any) -> Plan:
    """The plan of a generate with these `options` (settings of `[generate]` by name), at `now`.

    Raises what generate raises, `NothingDue` too if nothing would be selected.
    """
    with selection_aside(crawl, now, options) as (selection, crawldb):
        chosen = fill_lists(selection, select_candidates(selection, crawldb))
        if not chosen:
            told = ", ".join(f"{reason} {urls:,}" for reason, urls in selection.by_reason().items())
            raise NothingDue(f"nothing is due: {selection.rows:,} URLs known ({told})")
        placement = partition.place(selection, chosen)
        parts = [_part(row) for row in placement.sizes]
        slowest_s = max(part.estimated_s for part in parts)
        slowest = _slowest(selection, chosen, placement.files)
        return Plan(
            rows=selection.rows,
            selected=sum(part.urls for part in parts),
            rejected=selection.by_reason(),
            parts=parts,
            slowest_s=slowest_s,
            slowest=slowest,
            savings=[s for s in _savings(selection, slowest[0]) if s.slowest_s < slowest_s],
            notes=[*selection.policy.notes, *selection.notes, *_notes(selection)],
        )


def _notes(selection: Selection) -> list[str]:
    settings = selection.settings
    own = [name for name in ("max_count_expr", "limits_file") if getattr(settings, name) is not None]
    if not own:
        return []
    return [f"hosts have limits of their own (generate.{', generate.'.join(own)}): max_count is not theirs"]


def _part(row: Mapping[str, Any]) -> PlannedPart:
    return PlannedPart(row["list"], row["part"], row["urls"], row["hosts"], _seconds(row["estimated_ms"]))


def _seconds(milliseconds: int) -> float:
    return round(milliseconds / 1000, 1)


def _slowest(selection: Selection, chosen: Sequence[str], placed: Sequence[str]) -> list[SlowHost]:
    engine, settings = selection.crawl.engine, selection.settings
    engine.run(
        load("pinyon.cycle", "plan"),
        {"chosen": Files.of(CHOSEN, chosen), "placed": Files.of(PLACED, placed)},
        {"shown": SHOWN},
        {"group_key": partition.GROUP_KEYS[settings.partition_by]},
    )
    return [
        SlowHost(
            row["host"],
            row["list"],
            row["part"],
            row["urls"],
            row["delay_ms"],
            _seconds(row["time_ms"]),
            _seconds(row["part_without_ms"]),
        )
        for row in engine.rows("SELECT * FROM slowest_hosts ORDER BY time_ms DESC, list, host")
    ]


def _savings(selection: Selection, slowest: SlowHost) -> Iterator[Saving]:
    """Round limits below what the slowest host has and takes."""
    values = {"max_counts": below(slowest.urls), "budgets_s": below(int(slowest.estimated_s))}
    engine = selection.crawl.engine
    engine.run(load("pinyon.cycle", "plan_savings"), {}, values)
    for row in engine.rows("SELECT * FROM savings ORDER BY name, value DESC"):
        yield Saving(row["name"], row["value"], _seconds(row["slowest_ms"]), row["urls_fewer"])


def below(number: int) -> list[int]:
    """The largest few of 1, 2, 5, 10, 20, 50 … that are less than a number, largest first."""
    rounded = [digit * 10**power for power in range(len(str(number))) for digit in (1, 2, 5)]
    return sorted((value for value in rounded if value < number), reverse=True)[:TRIED]
