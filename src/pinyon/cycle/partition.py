"""Parts of a list: one fetcher each. What must stay together (a host, domain or address) is never split."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pinyon.cycle.narrow import CHOSEN
from pinyon.cycle.selection import Selection
from pinyon.engines.duckdb_engine import DuckDBEngine
from pinyon.jobs import Files, load
from pinyon.tables import Column, TableSpec

ASSIGNED = TableSpec(
    "assigned",
    (Column("list", "INTEGER", ""), Column("group_key", "VARCHAR", ""), Column("part", "INTEGER", "")),
    "groups that were given a part one by one",
)
#: Groups placed one by one: the heaviest decide how even the parts are, the rest is spread by hash.
PLACED_GROUPS = 10_000


@dataclass(frozen=True, slots=True)
class Placement:
    """Files of `PLACED` rows, and `list`, `part`, `urls`, `hosts`, `estimated_ms` of every part that has any.

    The time is that of the slowest group: groups wait beside each other, not one after another.
    """

    files: Sequence[str]
    sizes: Sequence[Mapping[str, Any]]


#: SQL for what stays together, over the chosen rows `s`. A host without a known address is its own. A domain whose
#: limits give it `parts` is so many groups, each of whole hosts.
_SHARE = "concat(s.domain, '#', CAST(s.host_key & 9223372036854775807 AS BIGINT) % s.domain_parts)"
GROUP_KEYS = {
    "host": f"CASE WHEN s.domain_parts > 0 THEN {_SHARE} ELSE s.host END",
    "domain": "s.domain",
    "ip": "coalesce(s.ip, s.host)",
}


def place(selection: Selection, chosen: Sequence[str]) -> Placement:
    """Gives every chosen row its part and its position there.

    `hash` takes a hash of seed and group. `balanced` places the heaviest groups one by one, longest first, into
    the emptiest part, over what the hash put there of the others.
    """
    engine, settings = selection.crawl.engine, selection.settings
    source = Files.of(CHOSEN, chosen)
    params = {"seed": selection.seed, "parts": settings.fetchers}
    fragments = {"group_key": GROUP_KEYS[settings.partition_by]}
    engine.run(load("pinyon.cycle", "generate_parts"), {"chosen": source}, params, fragments)
    assigned = Files.of(ASSIGNED, _assign(selection))
    engine.bind({"assigned": assigned})
    sizes = engine.rows(_SIZES)
    path = selection.scratch / "placed.parquet"
    tables = {"chosen": source, "assigned": assigned}
    engine.write_result(load("pinyon.cycle", "generate_places"), tables, path, params, fragments)
    return Placement([str(path)], sizes)


def _assign(selection: Selection) -> list[str]:
    """The file of groups that are placed one by one, if any are."""
    engine, settings = selection.crawl.engine, selection.settings
    placed: list[dict[str, Any]] = []
    if settings.fetchers > 1 and settings.partition_mode == "balanced":
        for row in engine.rows("SELECT DISTINCT list FROM grouped ORDER BY list"):
            placed += _placed(engine, row["list"], settings.fetchers)
    return [_written(placed, selection.scratch)] if placed else []


_SIZES = """
SELECT g.list, CAST(coalesce(a.part, g.hashed_part) AS INTEGER) AS part, CAST(sum(g.urls) AS BIGINT) AS urls,
    CAST(sum(g.hosts) AS BIGINT) AS hosts, CAST(max(g.estimated_ms) AS BIGINT) AS estimated_ms
FROM grouped AS g LEFT JOIN assigned AS a ON a.list = g.list AND a.group_key = g.group_key
GROUP BY 1, 2 ORDER BY 1, 2
"""


def _placed(engine: DuckDBEngine, number: int, parts: int) -> list[dict[str, Any]]:
    order = f"ORDER BY estimated_ms DESC, group_key LIMIT {PLACED_GROUPS}"
    heaviest = f"SELECT * FROM grouped WHERE list = {number} {order}"
    groups = engine.rows(heaviest)
    spread = engine.rows(
        f"SELECT hashed_part, CAST(sum(estimated_ms) AS BIGINT) AS load FROM grouped WHERE list = {number} "
        f"AND group_key NOT IN (SELECT group_key FROM ({heaviest})) GROUP BY hashed_part"
    )
    loads = dict.fromkeys(range(parts), 0) | {row["hashed_part"]: row["load"] for row in spread}
    assigned = longest_first([(row["group_key"], int(row["estimated_ms"])) for row in groups], loads)
    return [{"list": number, "group_key": key, "part": part} for key, part in assigned.items()]


def longest_first(groups: Sequence[tuple[str, int]], loads: Mapping[int, int]) -> dict[str, int]:
    """Group → part: each of `groups` (key, milliseconds; longest first) into the part that is emptiest then.

    Graham's LPT rule: the fullest part is at most 4/3 - 1/(3 n) of what is possible.
    """
    heap = [(load, part) for part, load in loads.items()]
    heapq.heapify(heap)
    assigned = {}
    for key, milliseconds in groups:
        load, part = heapq.heappop(heap)
        assigned[key] = part
        heapq.heappush(heap, (load + milliseconds, part))
    return assigned


def _written(placed: list[dict[str, Any]], scratch: Path) -> str:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = scratch / "assigned.parquet"
    pq.write_table(pa.Table.from_pylist(placed, schema=ASSIGNED.arrow_schema()), path)
    return str(path)
