"""Job 1 as a whole: map, partition, sort, reduce, merge."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from types import TracebackType

from pinyon.errors import UsageError
from pinyon.mapreduce.mappers import HostDbMapper, LimitsMapper, Row, SelectorMapper
from pinyon.mapreduce.partitioner import Partitioner
from pinyon.mapreduce.rounds import Rounds, list_file
from pinyon.mapreduce.rows import Selected
from pinyon.mapreduce.rules import Rules
from pinyon.mapreduce.shuffle import Record, read, sort


@dataclass(frozen=True, slots=True)
class Selection:
    """What was selected, in files of its own until `close`, and why the rest was not.

    `rows` = `selected` + all of `rejected`. `sizes` are the URLs of each list. `hosts_over_limit` have URLs counted
    as `host_limit`. `undecided_hosts` counts by expression the hosts that have candidates and a HostDb row for which
    it gave nothing; `undecided_examples` names the first of them.
    """

    folder: Path
    spill_records: int
    rows: int
    sizes: tuple[int, ...]
    rejected: Counter[str]
    hosts_over_limit: int
    undecided_hosts: Counter[str]
    undecided_examples: Mapping[str, str]

    @property
    def selected(self) -> int:
        return sum(self.sizes)

    def lists(self) -> Iterator[Selected]:
        """The selected rows: list after list, each by falling sort value, `url_key`, `url`."""
        for number, size in enumerate(self.sizes):
            if size:
                records: Iterator[Record[Selected]] = read(list_file(self.folder, number))
                yield from (row for _, row in records)

    def close(self) -> None:
        """Removes the files."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> Selection:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def select(
    crawldb_rows: Iterable[Row],
    hostdb_rows: Iterable[Row],
    rules: Rules,
    *,
    partitions: int,
    spill_dir: Path,
    spill_records: int = 100_000,
    limits_rows: Iterable[Row] | None = None,
) -> Selection:
    """The lists of one generate. Each input is read once, in any order.

    `crawldb_rows`: see `SelectorMapper`. `hostdb_rows`: `host`, `domain`, `ip`, `crawl_delay_ms`, `retry_at`, and
    `max_count` and `fetch_delay_ms` as their expressions gave them. `limits_rows`: the limits file, see `Limits`.

    At most `spill_records` rows are in memory, the others in `spill_dir`; each of `partitions` is reduced alone.
    Raises `UsageError` unless both numbers are positive, `EngineError` if the disk does not take what is spilled.
    """
    for name, number in (("partitions", partitions), ("spill_records", spill_records)):
        if number < 1:
            raise UsageError(f"{name} = {number}: wanted 1 or more")
    folder = Path(tempfile.mkdtemp(prefix="select-", dir=spill_dir))
    try:
        mapper = SelectorMapper(rules)
        pairs = chain(
            chain.from_iterable(map(HostDbMapper().map, hostdb_rows)),
            chain.from_iterable(map(LimitsMapper().map, limits_rows or ())),
            chain.from_iterable(map(mapper.map, crawldb_rows)),
        )
        partitioner = Partitioner(rules.limits_domains or limits_rows is not None, rules.seed, partitions)
        rounds = Rounds(rules, partitions, folder)
        rounds.run(sort(map(partitioner.record, pairs), folder, spill_records))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return _selection(folder, spill_records, mapper, rounds)


def _selection(folder: Path, spill_records: int, mapper: SelectorMapper, rounds: Rounds) -> Selection:
    return Selection(
        folder=folder,
        spill_records=spill_records,
        rows=mapper.rows,
        sizes=tuple(rounds.sizes),
        rejected=mapper.rejected + rounds.rejected,
        hosts_over_limit=rounds.hosts_over_limit,
        undecided_hosts=rounds.undecided_hosts,
        undecided_examples=rounds.undecided_examples,
    )
