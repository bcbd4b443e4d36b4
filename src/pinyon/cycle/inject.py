"""inject: seeds become rows of the crawldb.

sources ─▶ chunks ─▶ staged seeds ─┐
                                   ├─▶ known rows, new rows ─▶ the next version of the crawldb
crawldb ───────────────────────────┘       (bucket by bucket)     (one commit)
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pinyon.crawl import Crawl, utc_now
from pinyon.cycle.rewrite import rewrite
from pinyon.cycle.seeds import Chunk, check_sources, read_chunks
from pinyon.cycle.stage_seeds import SEEDS, Rules, Staged, stage_chunk
from pinyon.expressions import widest
from pinyon.expressions.types import Type
from pinyon.jobs import Files, load
from pinyon.store import Published
from pinyon.tables import CRAWLDB

#: So many chunks are read here; of more, processes take them apart side by side.
_CHUNKS_HERE = 2


@dataclass(frozen=True, slots=True)
class InjectReport:
    """What became of the seeds: `seeds` = `new` + `known` + `duplicates` + all `rejected`.

    `examples` tell the first few rejected ones, with where they stand.
    """

    seeds: int
    new: int
    known: int
    duplicates: int
    rejected: Mapping[str, int]
    examples: Sequence[str]
    version: int


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
    settings = crawl.settings.with_values({} if mode is None else {"inject.mode": mode}, "arguments")
    with crawl.writing("inject"):
        table = crawl.store.current(CRAWLDB)
        staged = _stage(crawl, table, read_chunks(sources))
        return _publish(crawl, table, staged, settings.inject.mode, now or utc_now())


def _stage(crawl: Crawl, table: Published, chunks: Iterator[Chunk]) -> Staged:
    """Takes the chunks apart: a few in this process, which costs no start, many in those of the engine."""
    urls = crawl.settings.urls
    rules = Rules(
        crawl.scratch("inject"),
        table.buckets,
        crawl.normalise,
        crawl.url_filter,
        urls.private_suffixes,
        4 * urls.max_url_length,
    )
    staged = Staged()
    here = list(itertools.islice(chunks, _CHUNKS_HERE + 1))
    if len(here) <= _CHUNKS_HERE:
        for chunk in here:
            staged.add(stage_chunk((rules, chunk)))
        return staged
    jobs = ((rules, chunk) for chunk in itertools.chain(here, chunks))
    with closing(crawl.engine.map_parts(stage_chunk, jobs)) as coming:
        for part in coming:
            staged.add(part)
    return staged


def _publish(crawl: Crawl, table: Published, staged: Staged, mode: str, now: datetime) -> InjectReport:
    params = {
        "now": now,
        "mode": mode,
        "default_score": crawl.settings.inject.score,
        "default_interval": crawl.settings.db.fetch_interval_default,
    }
    seeds = Files.of(SEEDS, sorted(staged.files))
    written, counts = rewrite(
        crawl,
        table,
        load("pinyon.cycle", "inject"),
        lambda group: {"crawldb": Files.of(CRAWLDB, table.paths(group)), "seeds": seeds.only(group)},
        params,
        result="injected",
        counts="inject_counts",
        buckets=staged.buckets,
    )
    version = table.version
    if staged.accepted:
        facts = {"metadata": _widened(table.facts.get("metadata", {}), staged.metadata_types)}
        operation = f"inject ({mode})"
        version = crawl.store.publish(
            table, written, replaces=staged.buckets, facts=facts, operation=operation
        )
        crawl.sweep_versions()
    urls, new = sum(c["urls"] for c in counts), sum(c["new"] for c in counts)
    return InjectReport(
        seeds=staged.seeds,
        new=new,
        known=urls - new,
        duplicates=staged.accepted - urls,
        rejected=dict(sorted(staged.rejected.items())),
        examples=[text for _, text in staged.examples],
        version=version,
    )


def _widened(known: Mapping[str, str], found: Mapping[str, Type]) -> dict[str, str]:
    """One type a key, the widest ever seen: a name stays known when its last row goes."""
    types = {name: Type(kind) for name, kind in known.items()}
    for name, kind in found.items():
        types[name] = widest([types.get(name, kind), kind])
    return {name: kind.value for name, kind in types.items()}
