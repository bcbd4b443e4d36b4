"""Select, second half: lists, one after another, each over what the lists before left.

candidates ─▶ limits of hosts ─▶ limits of domains ─▶ the first top_n ─▶ list k
     ▲                                                     │
     └───────────────── what is left ◀─────────────────────┘
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from pinyon.cycle.candidates import NARROW_COLUMNS, note_hosts_over_limit
from pinyon.cycle.narrow import CHOSEN, NARROW
from pinyon.cycle.selection import Selection
from pinyon.jobs import Files, load


def fill_lists(selection: Selection, candidates: Sequence[str]) -> list[str]:
    """Files of the chosen rows, one a list that is not empty. Rows no list takes are counted as the last met them."""
    if selection.settings.spread:
        return _deal(selection, candidates)
    remaining = list(candidates)
    chosen: list[str] = []
    last = selection.settings.segments - 1
    for number in range(last + 1):
        limits: Counter[str] = Counter()
        taken = _fill_list(selection, remaining, number, limits)
        if taken:
            chosen.append(taken)
        if number == last:
            selection.rejected.update(limits)
        elif taken:
            remaining = _left(selection, remaining, taken, number)
    return chosen


def _deal(selection: Selection, candidates: Sequence[str]) -> list[str]:
    """Runs of `keep_together` URLs of a host go round the lists, beginning at one that its key decides."""
    settings, engine = selection.settings, selection.crawl.engine
    n, k = settings.segments, settings.keep_together
    chosen = []
    for number in range(n):
        engine.bind({"remaining": Files.of(NARROW, candidates)})
        path = selection.scratch / f"dealt-{number}.parquet"
        # the remainder of a negative key is negative in SQL
        dealt = f"(((host_key % {n}) + {n}) % {n} + (host_rank - 1) // {k}) % {n} = {number}"
        engine.write(f"SELECT {NARROW_COLUMNS} FROM remaining WHERE {dealt}", path)
        limits: Counter[str] = Counter()
        taken = _fill_list(selection, [str(path)], number, limits)
        selection.rejected.update(limits)
        if taken:
            chosen.append(taken)
    return chosen


def _fill_list(selection: Selection, remaining: Sequence[str], number: int, limits: Counter[str]) -> str:
    """The file of what list `number` takes, '' if nothing; `limits` counts what it leaves, by reason."""
    engine, settings = selection.crawl.engine, selection.settings
    source = Files.of(NARROW, remaining)
    relation = "remaining"
    engine.bind({"remaining": source})
    if settings.segments > 1:  # for one list the candidates are cut already
        engine.run(load("pinyon.cycle", "generate_hosts"), {"remaining": source})
        limits.update({row["reason"]: row["urls"] for row in engine.rows("SELECT * FROM host_cut_counts")})
        if settings.spread or number == settings.segments - 1:  # only the last list says what no list takes
            note_hosts_over_limit(selection, "host_judged")
        within = selection.scratch / f"within-{number}.parquet"
        engine.write(f"SELECT {NARROW_COLUMNS} FROM host_judged WHERE cut IS NULL", within)
        source, relation = Files.of(NARROW, [str(within)]), "within"
        engine.bind({"within": source})
    if _limits_domains(selection):
        relation = _cut_domains(selection, source, limits)
    return _cut_top(selection, relation, number, limits)


def _limits_domains(selection: Selection) -> bool:
    settings = selection.settings
    given = settings.limits_file is not None
    return given or selection.policy.domain_limit >= 0 or settings.max_hosts_per_domain >= 0


def _cut_domains(selection: Selection, source: Files, limits: Counter[str]) -> str:
    params = {
        "max_hosts_per_domain": selection.settings.max_hosts_per_domain,
        "max_per_domain": selection.policy.domain_limit,
    }
    engine = selection.crawl.engine
    engine.run(load("pinyon.cycle", "generate_domains"), {"within_hosts": source}, params)
    limits.update(engine.rows("SELECT * FROM domain_cut_counts")[0])
    return "within_domains"


def _cut_top(selection: Selection, relation: str, number: int, limits: Counter[str]) -> str:
    """Exactly the first top_n in the order of the list."""
    engine, top_n = selection.crawl.engine, selection.settings.top_n
    total = engine.rows(f"SELECT count(*) AS n FROM {relation}")[0]["n"]
    taken: str = ""
    params: dict[str, Any] = {}
    if top_n is not None and total > top_n:
        taken, params = _first(selection, relation, top_n)
    path = selection.scratch / f"list-{number}.parquet"
    file = engine.write(f"SELECT {NARROW_COLUMNS}, {number} AS list FROM {relation} {taken}", path, params)
    limits["top_n"] += total - file.rows
    return str(path) if file.rows else ""


def _first(selection: Selection, relation: str, top_n: int) -> tuple[str, dict[str, Any]]:
    """SQL for the first top_n rows: the last of them is looked up in two narrow columns, no row is sorted in full."""
    if top_n == 0:
        return "LIMIT 0", {}
    order = "ORDER BY sort_value DESC, url_key LIMIT 1"
    rows = selection.crawl.engine.rows(
        f"SELECT sort_value, url_key FROM {relation} {order} OFFSET {top_n - 1}"
    )
    # equal keys are as good as impossible, but a list is never longer than asked for
    better = f"WHERE sort_value > :value OR (sort_value = :value AND url_key <= :key) LIMIT {top_n}"
    return better, {"value": rows[0]["sort_value"], "key": rows[0]["url_key"]}


def _left(selection: Selection, remaining: Sequence[str], taken: str, number: int) -> list[str]:
    engine = selection.crawl.engine
    engine.bind({"taken": Files.of(CHOSEN, [taken]), "remaining": Files.of(NARROW, remaining)})
    left = selection.scratch / f"left-{number}.parquet"
    engine.write(
        f"SELECT {NARROW_COLUMNS} FROM remaining AS r "
        "ANTI JOIN taken AS t ON t.url_key = r.url_key AND t.host_key = r.host_key",
        left,
    )
    return [str(left)]
