"""inject: seeds become rows of the crawldb."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from pinyon.crawl import Crawl, utc_now
from pinyon.cycle.rewrite import rewrite
from pinyon.cycle.seeds import Seed, check_sources, read_seeds
from pinyon.jobs import Files, load
from pinyon.tables import CRAWLDB, Column, TableSpec
from pinyon.urls import locate

_SEEDS = TableSpec(
    "seeds",
    (
        *CRAWLDB.columns[:6],
        Column("score", "DOUBLE", "as given"),
        Column("fetch_interval", "INTEGER", "as given, seconds"),
        Column("metadata", "MAP(VARCHAR, VARCHAR)", "as given", nullable=False),
        Column("line", "BIGINT", "order of the seeds", nullable=False),
    ),
    "seeds, normalised and filtered",
)
_STAGE_ROWS = 200_000
#: Origins of refused seeds that are told one by one.
_EXAMPLES = 5


@dataclass(frozen=True, slots=True)
class InjectReport:
    """What became of the seeds: `seeds` = `new` + `known` + `duplicates` + all `rejected`."""

    seeds: int
    new: int
    known: int
    duplicates: int
    rejected: Mapping[str, int]
    examples: Sequence[str]
    version: int


@dataclass(slots=True)
class _Staged:
    """Seeds on their way: rows wait by bucket, and are written aside when there are enough."""

    folder: Path
    rows: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    files: dict[int, list[str]] = field(default_factory=dict)
    waiting: int = 0
    seeds: int = 0
    accepted: int = 0
    rejected: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)
    metadata_types: dict[str, str] = field(default_factory=dict)

    def add(self, bucket: int, row: dict[str, Any]) -> None:
        self.rows.setdefault(bucket, []).append(row)
        self.waiting += 1
        if self.waiting >= _STAGE_ROWS:
            self.flush()

    def refuse(self, reason: str, seed: Seed) -> None:
        self.rejected[reason] += 1
        if len(self.examples) < _EXAMPLES:
            self.examples.append(f"{seed.origin}: {reason}: {seed.url[:200]}")

    def flush(self) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        schema = _SEEDS.arrow_schema()
        for bucket, rows in self.rows.items():
            listed = self.files.setdefault(bucket, [])
            path = self.folder / f"{bucket}-{len(listed)}.parquet"
            pq.write_table(pa.Table.from_pylist(rows, schema=schema), path)
            listed.append(str(path))
        self.rows, self.waiting = {}, 0


def inject(
    crawl: Crawl, sources: Iterable[Path | str], *, mode: str | None = None, now: datetime | None = None
) -> InjectReport:
    """Adds seeds from text files, OPML, folders or '-' to the crawldb; see `InjectReport`.

    `mode` says what a seed does to a row that is there: keep it, update its score, interval and metadata, or
    overwrite it (Nutch's `db.injector.update` and `db.injector.overwrite`). Raises `InputError` if a source
    cannot be read: nothing is changed then.
    """
    sources = list(sources)
    check_sources(sources)
    settings = crawl.settings.inject
    with crawl.writing("inject"):
        return _inject(crawl, read_seeds(sources), mode or settings.mode, now or utc_now())


def _inject(crawl: Crawl, seeds: Iterator[Seed], mode: str, now: datetime) -> InjectReport:
    table = crawl.store.current(CRAWLDB)
    staged = _Staged(crawl.scratch("inject"))
    for number, seed in enumerate(seeds):
        _stage(crawl, staged, seed, number, table.buckets)
    staged.flush()
    params = {
        "now": now,
        "mode": mode,
        "default_score": crawl.settings.inject.score,
        "default_interval": crawl.settings.db.fetch_interval_default,
    }
    written, counts = rewrite(
        crawl,
        table,
        load("pinyon.cycle", "inject"),
        lambda group: {
            "crawldb": Files.of(CRAWLDB, table.paths(group)),
            "seeds": Files.of(_SEEDS, [path for bucket in group for path in staged.files.get(bucket, ())]),
        },
        params,
        result="injected",
        counts="inject_counts",
        buckets=staged.files,
    )
    version = table.version
    if staged.accepted:
        facts = {"metadata": widened(table.facts.get("metadata", {}), staged.metadata_types)}
        version = crawl.store.publish(
            table, written, replaces=staged.files, facts=facts, operation=f"inject ({mode})"
        )
        crawl.sweep_versions()
    urls, new = sum(c["urls"] for c in counts), sum(c["new"] for c in counts)
    return InjectReport(
        seeds=staged.seeds,
        new=new,
        known=urls - new,
        duplicates=staged.accepted - urls,
        rejected=dict(staged.rejected),
        examples=staged.examples,
        version=version,
    )


def _stage(crawl: Crawl, staged: _Staged, seed: Seed, number: int, buckets: int) -> None:
    """Normalises and filters one seed; what is refused is counted under its reason."""
    staged.seeds += 1
    if seed.problem:
        staged.refuse(seed.problem, seed)
        return
    # before anything looks at it: patterns and parsers are not for texts of a megabyte
    if len(seed.url) > 4 * crawl.settings.urls.max_url_length:
        staged.refuse("too_long", seed)
        return
    url = crawl.normalise(seed.url)
    if url is None:
        staged.refuse("not_a_url", seed)
        return
    place = locate(url, crawl.settings.urls.private_suffixes)
    reason = crawl.url_filter.reason(url, place.host)
    if reason is not None:
        staged.refuse(reason, seed)
        return
    staged.accepted += 1
    for name, value in seed.metadata.items():
        known = staged.metadata_types.get(name)
        staged.metadata_types[name] = wider(known, type_of(value))
    bucket = place.bucket(buckets)
    staged.add(
        bucket,
        {
            "url": url,
            "url_key": place.url_key,
            "host": place.host,
            "host_key": place.host_key,
            "domain": place.domain,
            "bucket": bucket,
            "score": seed.score,
            "fetch_interval": seed.interval_s,
            "metadata": list(seed.metadata.items()),
            "line": number,
        },
    )


# -- types of metadata: text that is an integer is one, everywhere or nowhere --------------------------------

_TYPES = ("integer", "double", "text")


def type_of(value: str) -> str:
    """`integer`, `double` or `text`: what expressions take a metadata value for."""
    digits = value.removeprefix("-")
    if digits.isascii() and digits.isdigit() and len(digits) <= 18:
        return "integer"
    try:
        float(value)
    except ValueError:
        return "text"
    return "double" if value.isascii() and not value.strip("+-.0123456789eE") else "text"


def wider(one: str | None, other: str) -> str:
    return other if one is None else max(one, other, key=_TYPES.index)


def widened(known: Mapping[str, str], found: Mapping[str, str]) -> dict[str, str]:
    """One type a key, the widest ever seen: a name stays known when its last row goes."""
    return {**known, **{name: wider(known.get(name), kind) for name, kind in found.items()}}
