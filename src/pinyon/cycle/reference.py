"""generate by the executable specification: the two MapReduce jobs of `pinyon.mapreduce`, in streaming Python.

The engine reads the tables, says what expressions, filters and locks make of a row, and finds the selected rows again;
which rows are selected, and where they go, is decided by the reference alone.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pinyon import mapreduce
from pinyon.cycle.candidates import Gathered
from pinyon.cycle.narrow import PLACED
from pinyon.cycle.partition import Placement, longest_first
from pinyon.cycle.selection import Selection
from pinyon.jobs import Files, load
from pinyon.mapreduce import Placed, Rules
from pinyon.store import Published
from pinyon.tables import CRAWLDB, HOSTDB, Column, TableSpec
from pinyon.urls import domain_of

#: Reduce partitions: each holds the hosts of a share of the crawl.
_PARTITIONS = 4
_BATCH_ROWS = 10_000

_PLACED_URLS = TableSpec(
    "placed_urls",
    (
        Column("url", "VARCHAR", ""),
        *(column for column in PLACED.columns if column.name != "row_address"),
        Column("host", "VARCHAR", ""),
        Column("group_key", "VARCHAR", "what was not split"),
        Column("delay_ms", "BIGINT", ""),
    ),
    "rows placed by the reference",
)


def place(selection: Selection, crawldb: Published) -> Placement:
    """Selects and places by the reference; counts go into `selection`. An empty placement if nothing is selected."""
    gathered = Gathered(selection, crawldb)
    rules = _rules(selection, gathered)
    with mapreduce.select(
        _crawldb_rows(selection, crawldb, gathered),
        _hostdb_rows(selection),
        rules,
        partitions=_PARTITIONS,
        spill_dir=selection.scratch,
        limits_rows=_limits_rows(selection, gathered),
    ) as selected:
        selection.rejected.update(selected.rejected)
        selection.over_limit_here = selected.hosts_over_limit
        selection.failing.update(selected.undecided_hosts)
        selection.examples.update(selected.undecided_examples)
        balance = longest_first if selection.settings.partition_mode == "balanced" else None
        urls = _written(selection, mapreduce.partition(selected, rules, balance=balance), rules)
    return _addressed(selection, crawldb, urls)


def _rules(selection: Selection, gathered: Gathered) -> Rules:
    settings, params = selection.settings, gathered.params
    return Rules(
        now=selection.now,
        max_interval_s=params["max_interval"],
        gen_delay_s=settings.gen_delay,
        restrict_status=settings.restrict_status,
        exclude_status=settings.exclude_status,
        min_score=settings.min_score,
        interval_at_most_s=settings.interval_at_most,
        max_count=selection.policy.host_limit,
        max_per_domain=selection.policy.domain_limit,
        max_hosts_per_domain=settings.max_hosts_per_domain,
        lists=settings.segments,
        top_n=settings.top_n,
        time_budget_ms=params["time_budget_ms"],
        default_delay_ms=params["default_delay_ms"],
        min_delay_ms=params["min_delay_ms"],
        spread=settings.spread,
        keep_together=settings.keep_together,
        seed=selection.seed,
        parts=settings.fetchers,
        partition_by=settings.partition_by,
        count_by_host=settings.max_count_expr is not None,
        delay_by_host=settings.fetch_delay_expr is not None,
    )


# -- inputs ---------------------------------------------------------------------------------------------------


def _crawldb_rows(selection: Selection, crawldb: Published, gathered: Gathered) -> Iterator[dict[str, Any]]:
    job = load("pinyon.cycle", "reference_rows")
    fragments = {name: gathered.fragments[name] for name in job.fragments}
    params = {name: gathered.params[name] for name in job.params}
    for number, group in enumerate(selection.crawl.engine.bucket_groups(crawldb.buckets)):
        if crawldb.paths(group):
            path = selection.scratch / "mapped" / f"{number}.parquet"
            sources = gathered.sources(group)
            tables = {name: sources[name] for name in job.reads}
            selection.crawl.engine.write_result(job, tables, path, params, fragments)
            yield from _read(path)


def _hostdb_rows(selection: Selection) -> Iterator[dict[str, Any]]:
    if selection.policy.hostdb is None:
        return
    path = selection.scratch / "mapped-hosts.parquet"
    job = load("pinyon.cycle", "reference_hosts")
    fragments = {name: selection.policy.fragments[name] for name in job.fragments}
    hostdb = Files.of(HOSTDB, selection.policy.hostdb.paths())
    selection.crawl.engine.write_result(job, {"hostdb": hostdb}, path, {}, fragments)
    # a reducer must meet a host where its URLs are, whatever domain another crawl gave it
    private = selection.everything.urls.private_suffixes
    yield from ({**row, "domain": domain_of(row["host"], private)} for row in _read(path))


def _limits_rows(selection: Selection, gathered: Gathered) -> Iterator[dict[str, Any]] | None:
    files = gathered.limits
    if not files:
        return None
    private = selection.everything.urls.private_suffixes
    return ({**row, "domain": domain_of(row["name"], private)} for path in files for row in _read(Path(path)))


def _read(path: Path) -> Iterator[dict[str, Any]]:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(_BATCH_ROWS):
            yield from batch.to_pylist()
    path.unlink()


# -- output ---------------------------------------------------------------------------------------------------


def _written(selection: Selection, placed: Iterable[Placed], rules: Rules) -> Files:
    """The placed rows as a file, as they come."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = selection.scratch / "placed-urls.parquet"
    schema = _PLACED_URLS.arrow_schema()
    rows = (_placed_row(one, rules) for one in placed)
    with pq.ParquetWriter(path, schema) as writer:
        for batch in iter(lambda: list(itertools.islice(rows, _BATCH_ROWS)), []):
            writer.write_table(pa.Table.from_pylist(batch, schema=schema))
    return Files.of(_PLACED_URLS, [str(path)])


def _placed_row(placed: Placed, rules: Rules) -> dict[str, Any]:
    row = placed.row._asdict()
    row.update(
        part=placed.part,
        position=placed.position,
        group_key=mapreduce.group_of(placed.row, rules.partition_by),
    )
    return {name: row[name] for name in _PLACED_URLS.names}


def _addressed(selection: Selection, crawldb: Published, urls: Files) -> Placement:
    engine = selection.crawl.engine
    job = load("pinyon.cycle", "reference_addresses")
    files = []
    for number, group in enumerate(engine.bucket_groups(crawldb.buckets)):
        tables = {
            "crawldb": Files.of(CRAWLDB, crawldb.paths(group)).with_addresses(),
            "placed_urls": urls.only(group),
        }
        path = selection.scratch / "placed" / f"{number}.parquet"
        if tables["crawldb"].paths and engine.write_result(job, tables, path).rows:
            files.append(str(path))
    engine.bind({"placed_urls": urls})
    return Placement(files, engine.rows(_SIZES))


_SIZES = """
SELECT
    list, part, CAST(sum(urls) AS BIGINT) AS urls, CAST(sum(hosts) AS BIGINT) AS hosts,
    max(estimated_ms) AS estimated_ms
FROM (
    SELECT list, part, group_key, count(*) AS urls, count(DISTINCT host) AS hosts,
        CAST(sum(delay_ms + 1) AS BIGINT) AS estimated_ms
    FROM placed_urls GROUP BY list, part, group_key
)
GROUP BY list, part ORDER BY list, part
"""
