"""A chunk of seeds, taken apart: normalised, filtered, located, and written aside for the engine.

Runs in the engine's processes when seeds are many: what it is given and what it gives are small and picklable.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pinyon.cycle.seeds import Chunk, Seed
from pinyon.engines.workers import stopping
from pinyon.expressions import text_type, widest
from pinyon.expressions.types import Type
from pinyon.tables import CRAWLDB, Column, TableSpec
from pinyon.urls import Location, Normaliser, UrlFilter, locate

if TYPE_CHECKING:
    import pyarrow as pa

SEEDS = TableSpec(
    "seeds",
    (
        *CRAWLDB.columns[:6],
        Column("score", "FLOAT", "as given"),
        Column("fetch_interval", "INTEGER", "as given, seconds"),
        Column("metadata", "MAP(VARCHAR, VARCHAR)", "as given", nullable=False),
        Column("line", "BIGINT", "order of the seeds", nullable=False),
    ),
    "seeds, normalised and filtered",
)
#: Rows of a row group: a file lies in the order of buckets, so a bucket's reader skips most of it.
_GROUP_ROWS = 8_192
#: Refused seeds that are told one by one.
EXAMPLES = 5


@dataclass(frozen=True, slots=True)
class Rules:
    """What seeds are judged by, and where those that pass are written."""

    folder: Path
    buckets: int
    normalise: Normaliser
    filter: UrlFilter
    private_suffixes: bool
    #: Before anything looks at it: patterns and parsers are not for texts of a megabyte.
    max_chars: int


@dataclass(slots=True)
class Staged:
    """What became of the seeds of one chunk or of several: `seeds` = `accepted` + all `rejected`.

    `files` hold the rows of `accepted`, which lie in `buckets`. `examples` are numbers of refused lines and texts.
    """

    seeds: int = 0
    accepted: int = 0
    rejected: Counter[str] = field(default_factory=Counter)
    examples: list[tuple[int, str]] = field(default_factory=list)
    metadata_types: dict[str, Type] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)
    buckets: set[int] = field(default_factory=set)

    def add(self, other: Staged) -> None:
        self.seeds += other.seeds
        self.accepted += other.accepted
        self.rejected.update(other.rejected)
        self.examples = sorted([*self.examples, *other.examples])[:EXAMPLES]
        self._widen(other.metadata_types)
        self.files += other.files
        self.buckets |= other.buckets

    def note_types(self, metadata: Mapping[str, str]) -> None:
        self._widen({name: text_type(value) for name, value in metadata.items()})

    def _widen(self, types: Mapping[str, Type]) -> None:
        known = self.metadata_types
        for name, kind in types.items():
            known[name] = widest([known.get(name, kind), kind])

    def refuse(self, reason: str, number: int, where: str, url: str) -> None:
        self.rejected[reason] += 1
        if len(self.examples) < EXAMPLES:
            self.examples.append((number, f"{where}: {reason}: {url[:200]}"))


class _Columns:
    """The rows of a chunk, column by column: a dictionary a row would take most of the time."""

    def __init__(self) -> None:
        self.urls: list[str] = []
        self.places: list[Location] = []
        self.scores: list[float | None] = []
        self.intervals: list[int | None] = []
        self.metadata: list[list[tuple[str, str]]] = []
        self.numbers: list[int] = []

    def add(self, url: str, place: Location, number: int, seed: Seed) -> None:
        self.urls.append(url)
        self.places.append(place)
        self.scores.append(seed.score)
        self.intervals.append(seed.interval_s)
        self.metadata.append(list(seed.metadata.items()) if seed.metadata else _NO_METADATA)
        self.numbers.append(number)

    def table(self, buckets: int) -> pa.Table:
        """In the order of buckets."""
        import pyarrow as pa

        places = self.places
        columns: list[list[Any]] = [
            self.urls,
            [place.url_key for place in places],
            [place.host for place in places],
            [place.host_key for place in places],
            [place.domain for place in places],
            [place.bucket(buckets) for place in places],
            self.scores,
            self.intervals,
            self.metadata,
            self.numbers,
        ]
        schema = SEEDS.arrow_schema()
        arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
        return pa.Table.from_arrays(arrays, schema=schema).sort_by("bucket")


_NO_METADATA: list[tuple[str, str]] = []


def stage_chunk(job: tuple[Rules, Chunk]) -> Staged:
    """Writes the seeds of a chunk that pass to one file, in the order of their buckets.

    Interrupted, it ends at once: whoever interrupts has no use for what there is.
    """
    rules, chunk = job
    staged, columns = Staged(), _Columns()
    for number, seed in chunk.seeds():
        if not number & 1023 and stopping():
            return staged
        staged.seeds += 1
        reason = seed.problem or _take(rules, columns, number, seed)
        if reason is not None:
            staged.refuse(reason, number, chunk.where(number), seed.url)
        elif seed.metadata:
            staged.note_types(seed.metadata)
    if columns.urls:
        _write(rules, chunk, staged, columns.table(rules.buckets))
    return staged


def _take(rules: Rules, columns: _Columns, number: int, seed: Seed) -> str | None:
    """Why a seed is refused, or None: it is among the rows then."""
    if len(seed.url) > rules.max_chars:
        return "too_long"
    url = rules.normalise(seed.url)
    if url is None:
        return "not_a_url"
    place = locate(url, rules.private_suffixes)
    reason = rules.filter.reason(url, place.host)
    if reason is None:
        columns.add(url, place, number, seed)
    return reason


def _write(rules: Rules, chunk: Chunk, staged: Staged, table: pa.Table) -> None:
    import pyarrow.parquet as pq

    path = rules.folder / f"seeds-{chunk.number}.parquet"
    # read once and thrown away: neither small nor in need of more statistics than those that skip row groups
    pq.write_table(
        table, path, _GROUP_ROWS, compression="none", use_dictionary=False, write_statistics=["bucket"]
    )
    staged.files = [str(path)]
    staged.accepted = table.num_rows
    staged.buckets = set(table.column("bucket").unique().to_pylist())
