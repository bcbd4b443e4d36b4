"""Job 1 behind the sort: reducers over partitions, and the merge of what they chose, cut at `top_n`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from pinyon.mapreduce.reducer import SelectorReducer, Value
from pinyon.mapreduce.rows import NO_LIST, Selected
from pinyon.mapreduce.rules import Rules
from pinyon.mapreduce.shuffle import Record, RunWriter, grouped, merge, read, write


def list_file(folder: Path, number: int) -> Path:
    """The sorted run of a list; there is none if the list is empty."""
    return folder / f"list-{number}"


@dataclass(slots=True)
class _Merged:
    """One merge of what the reducers chose: by list the URLs it took, those beyond its end, and the last it took."""

    sizes: Counter[int] = field(default_factory=Counter)
    over: Counter[int] = field(default_factory=Counter)
    last_taken: dict[int, bytes] = field(default_factory=dict)


class Rounds:
    """Fills the lists. A round is every reducer once, and one merge of their sorted output.

    A list that the merge has to cut gives rows back, and they may find room in a later list before others that are
    there already: the lists behind it are filled anew, by another round. That never happens with one partition,
    whose reducer cuts exactly itself, nor with `spread`, where rows do not move.
    """

    def __init__(self, rules: Rules, partitions: int, folder: Path) -> None:
        self.rules = rules
        self.folder = folder
        self.sizes: list[int] = []
        self.rejected: Counter[str] = Counter()
        self.hosts_over_limit = 0
        self.undecided_hosts: Counter[str] = Counter()
        self.undecided_examples: dict[str, str] = {}
        self._rows_move = rules.top_n is not None and partitions > 1 and not rules.spread

    def run(self, records: Iterable[Record[Value]]) -> None:
        """Fills all lists from the sorted records of job 1, each behind the number of its partition."""
        sources: Iterable[Iterable[Record[Value]]] = (group for _, group in grouped(records, numbers=1))
        used: list[Path] = []
        while (first := len(self.sizes)) < self.rules.lists:
            runs = self._reduce(sources, first)
            for run in used:
                run.unlink()
            merged = self._merge(runs)
            self.rejected["top_n"] += merged.over.total()
            last = self._last_settled(merged)
            self.sizes += [merged.sizes[number] for number in range(first, last + 1)]
            sources = [_left(run, last, merged.last_taken.get(last, b"")) for run in runs]
            used = runs
        for run in used:
            run.unlink()

    def _reduce(self, sources: Iterable[Iterable[Record[Value]]], first: int) -> list[Path]:
        """The reducers' runs. What is counted replaces what an earlier round counted: the last list tells."""
        self.rejected, self.hosts_over_limit = Counter(), 0
        # the rows that no list took are kept only if there may be a round that offers them again
        keep_all = self._rows_move and first + 1 < self.rules.lists
        runs = []
        for number, source in enumerate(sources):
            reducer = SelectorReducer(self.rules, first)
            judged = reducer.reduce(source)
            kept = (record for record in judged if keep_all or record[1].list != NO_LIST)
            runs.append(write(kept, self.folder / f"reduced-{first}-{number}"))
            self._count(reducer)
        return runs

    def _count(self, reducer: SelectorReducer) -> None:
        self.rejected += reducer.rejected
        self.hosts_over_limit += len(reducer.over_limit)
        for expression, hosts in reducer.undecided.items():
            self.undecided_hosts[expression] += len(hosts)
            first = min(hosts)
            self.undecided_examples[expression] = min(first, self.undecided_examples.get(expression, first))

    def _merge(self, runs: Sequence[Path]) -> _Merged:
        """Writes the lists: exactly the first `top_n` of all partitions that each was given."""
        merged, top_n = _Merged(), self.rules.top_n
        with ExitStack() as stack:
            writers: dict[int, RunWriter] = {}
            chosen: Iterator[Record[Selected]] = merge(runs, self.folder)
            for key, row in chosen:
                if row.list == NO_LIST:
                    continue
                if top_n is not None and merged.sizes[row.list] >= top_n:
                    merged.over[row.list] += 1
                    continue
                if row.list not in writers:
                    writer = RunWriter(list_file(self.folder, row.list))
                    writers[row.list] = stack.enter_context(writer)
                writers[row.list].append((key, row))
                merged.sizes[row.list] += 1
                merged.last_taken[row.list] = key
        return merged

    def _last_settled(self, merged: _Merged) -> int:
        """The last list whose rows are final: one that was cut unsettles those behind it."""
        every = self.rules.lists - 1
        return min(merged.over, default=every) if self._rows_move else every


def _left(run: Path, last: int, last_taken: bytes) -> Iterator[Record[Value]]:
    """What the lists up to `last` left of a run: `last` was cut behind `last_taken`, those before it were not."""
    records: Iterator[Record[Selected]] = read(run)
    for key, row in records:
        taken = NO_LIST < row.list < last or (row.list == last and key <= last_taken)
        if not taken:
            yield key, row
