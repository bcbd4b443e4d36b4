"""The two jobs select, reject and place exactly what the slow and obvious selection does."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import brute_force
import crawls
from hypothesis import given, settings
from hypothesis import strategies as st

from pinyon.mapreduce import Rules, Selected, partition, select

#: What is decided about a row, and what names it.
COLUMNS = [name for name in Selected._fields if name not in ("sort_value",)]


def rows_of(lists: Sequence[Sequence[Mapping[str, Any]]]) -> list[list[Any]]:
    return [[row[column] for column in COLUMNS] for rows in lists for row in rows]


def emptiest_first(groups: Sequence[tuple[str, int]], loads: Mapping[int, int]) -> dict[str, int]:
    filled = dict(loads)
    placed = {}
    for group, milliseconds in groups:
        placed[group] = min(filled, key=lambda part: (filled[part], part))
        filled[placed[group]] += milliseconds
    return placed


@settings(max_examples=150, deadline=None)
@given(
    crawldb=crawls.crawldbs(),
    hostdb=crawls.hostdbs(),
    limits=crawls.limits(),
    rules=crawls.rules(),
    partitions=st.integers(1, 4),
    spill_records=st.sampled_from((1, 7, 1000)),
)
def test_every_row_is_selected_or_counted_as_the_words_say(
    crawldb: list[Any],
    hostdb: list[Any],
    limits: list[Any] | None,
    rules: Rules,
    partitions: int,
    spill_records: int,
) -> None:
    expected = brute_force.select(crawldb, hostdb, rules, limits or ())
    with (
        tempfile.TemporaryDirectory() as folder,
        select(
            crawldb,
            hostdb,
            rules,
            partitions=partitions,
            spill_dir=Path(folder),
            spill_records=spill_records,
            limits_rows=limits,
        ) as selection,
    ):
        selected = list(selection.lists())
        assert [[getattr(row, column) for column in COLUMNS] for row in selected] == rows_of(expected.lists)
        assert selection.sizes == tuple(len(rows) for rows in expected.lists)
        assert selection.rejected == expected.rejected
        assert selection.hosts_over_limit == expected.hosts_over_limit
        assert selection.undecided_hosts == {n: len(h) for n, h in expected.undecided_hosts.items() if h}
        assert selection.undecided_examples == {n: min(h) for n, h in expected.undecided_hosts.items() if h}
        assert selection.rows == len(crawldb) == selection.selected + selection.rejected.total()


@settings(max_examples=70, deadline=None)
@given(
    crawldb=crawls.crawldbs(plain=True),
    hostdb=crawls.hostdbs(),
    limits=crawls.limits(),
    rules=crawls.rules(),
    balanced=st.booleans(),
    placed_groups=st.integers(0, 3),
)
def test_every_selected_row_has_the_part_and_position_the_words_say(
    crawldb: list[Any],
    hostdb: list[Any],
    limits: list[Any] | None,
    rules: Rules,
    balanced: bool,
    placed_groups: int,
) -> None:
    balance = emptiest_first if balanced else None
    lists = brute_force.select(crawldb, hostdb, rules, limits or ()).lists
    parts = [brute_force.parts(rows, rules, balance, placed_groups) for rows in lists]
    expected = [
        (row["list"], number, position, row["url"])
        for of_list in parts
        for number, part in enumerate(of_list)
        for position, row in enumerate(part)
    ]
    with (
        tempfile.TemporaryDirectory() as folder,
        select(
            crawldb, hostdb, rules, partitions=2, spill_dir=Path(folder), spill_records=5, limits_rows=limits
        ) as selection,
    ):
        placed = list(partition(selection, rules, balance=balance, placed_groups=placed_groups))
    assert [(p.row.list, p.part, p.position, p.row.url) for p in placed] == expected
