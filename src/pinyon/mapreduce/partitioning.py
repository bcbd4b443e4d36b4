"""Job 2: the lists, turned around from score to part, as parts for fetchers."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from pinyon.mapreduce.partitioner import group_of, order_of, part_of
from pinyon.mapreduce.rows import Selected
from pinyon.mapreduce.rules import Rules
from pinyon.mapreduce.selection import Selection
from pinyon.mapreduce.shuffle import Record, grouped, prefixed, sort

#: Groups of a list placed one by one when parts are balanced; the tail is spread by hash.
PLACED_GROUPS = 10_000

#: (groups and their milliseconds, longest first; milliseconds already in each part) → part of each group.
Balance = Callable[[Sequence[tuple[str, int]], Mapping[int, int]], Mapping[str, int]]


class Placed(NamedTuple):
    """A selected row and its place: the part of its list, and the position in it, from 0."""

    part: int
    position: int
    row: Selected


def partition(
    selection: Selection, rules: Rules, *, balance: Balance | None = None, placed_groups: int = PLACED_GROUPS
) -> Iterator[Placed]:
    """The lists' rows by list, part and position; what `rules.partition_by` names is never split over parts.

    In a part hosts are interleaved: the best URL of every host, then the second of each, and so on. A group's part
    is its hash, unless `balance` places it: it is asked once a list, for the `placed_groups` that take longest. A
    group takes its hosts' delay and a millisecond for each of its URLs.
    """
    mapper = SelectorInverseMapper(rules, _balanced(selection, rules, balance, placed_groups))
    inverse = sort(map(mapper.map, selection.lists()), selection.folder, selection.spill_records)
    return PartitionReducer().reduce(inverse)


class SelectorInverseMapper:
    """From score → row to place → row. `placed`: the part of a (list, group) that the hash does not decide."""

    def __init__(self, rules: Rules, placed: Mapping[tuple[int, str], int]) -> None:
        self.rules = rules
        self.placed = placed

    def map(self, row: Selected) -> Record[Selected]:
        """The row under its list, its part, and its order there."""
        group = group_of(row, self.rules.partition_by)
        part = self.placed.get((row.list, group))
        if part is None:
            part = part_of(group, self.rules.seed, self.rules.parts)
        return prefixed(order_of(row), row.list, part, row.host_rank), row


class PartitionReducer:
    """Gives the sorted rows of each part their position."""

    def reduce(self, records: Iterable[Record[Selected]]) -> Iterator[Placed]:
        for (_, part), group in grouped(records, numbers=2):
            for position, (_, row) in enumerate(group):
                yield Placed(part, position, row)


# -- balanced parts: a combiner adds up what the groups take ---------------------------------------------------


def _balanced(
    selection: Selection, rules: Rules, balance: Balance | None, placed_groups: int
) -> dict[tuple[int, str], int]:
    if balance is None or rules.parts == 1:
        return {}
    weighed = sort(
        (_weighed(row, rules) for row in selection.lists()), selection.folder, selection.spill_records
    )
    placed = {}
    for (number,), records in grouped(weighed, numbers=1):
        heaviest, loads = _heaviest(_summed(records), rules, placed_groups)
        for group, part in balance(heaviest, loads).items():
            placed[number, group] = part
    return placed


def _weighed(row: Selected, rules: Rules) -> Record[int]:
    group = group_of(row, rules.partition_by).encode("utf-8", "surrogatepass")
    return prefixed(group, row.list), row.delay_ms + 1


def _summed(records: Iterable[Record[int]]) -> Iterator[tuple[str, int]]:
    """Milliseconds of each group; its rows come one after another."""
    for group, rows in groupby(records, key=itemgetter(0)):
        yield group.decode("utf-8", "surrogatepass"), sum(ms for _, ms in rows)


def _heaviest(
    groups: Iterable[tuple[str, int]], rules: Rules, count: int
) -> tuple[list[tuple[str, int]], dict[int, int]]:
    """The `count` groups that take longest, and what the hash puts into each part of the others."""
    loads = Counter(dict.fromkeys(range(rules.parts), 0))

    def hashed() -> Iterator[tuple[str, int]]:
        for group, milliseconds in groups:
            loads[part_of(group, rules.seed, rules.parts)] += milliseconds
            yield group, milliseconds

    heaviest = heapq.nsmallest(count, hashed(), key=lambda group: (-group[1], group[0]))
    for group, milliseconds in heaviest:
        loads[part_of(group, rules.seed, rules.parts)] -= milliseconds
    return heaviest, dict(loads)
