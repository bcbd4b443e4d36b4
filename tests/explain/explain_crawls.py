"""Crawls whose rows are written by hand, and what a slow and obvious generate does with each of their URLs."""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import brute_force
import pyarrow as pa

from pinyon.crawl import Crawl
from pinyon.mapreduce import Rules
from pinyon.store import DataFile
from pinyon.tables import CRAWLDB, HOSTDB, TableSpec
from pinyon.urls import key_of, locate

Row = dict[str, Any]
#: The list that takes a URL and None, or None and the reason why none does.
Fate = tuple[int | None, str | None]


def put(
    crawl: Crawl, spec: TableSpec, rows: Iterable[Row], metadata: Mapping[str, str] | None = None
) -> None:
    """Publishes rows as the table's only content, in the right buckets, written as a crawl's own tables are."""
    base = crawl.store.current(spec)
    by_bucket: dict[int, list[Row]] = {}
    for row in rows:
        key = row["host_key"] if "host_key" in row else key_of(row["host"])
        by_bucket.setdefault(0 if key is None else key & (base.buckets - 1), []).append(row)
    written = []
    for bucket, group in by_bucket.items():
        path = base.root / f"bucket={bucket}" / f"part-{uuid.uuid4().hex}.parquet"
        plain = [{**row, "metadata": list(row["metadata"].items())} for row in group]
        crawl.engine.bind({"given": pa.Table.from_pylist(plain, schema=spec.arrow_schema())})
        file = crawl.engine.write("SELECT * EXCLUDE (bucket) FROM given", path)
        written.append(DataFile(path.relative_to(base.root).as_posix(), bucket, file.rows, file.size_bytes))
    crawl.store.publish(base, written, facts={"metadata": dict(metadata or {})})


def fill(crawl: Crawl, crawldb: list[Row], hostdb: list[Row]) -> None:
    """Both tables; a host's limit and delay stand in its metadata."""
    put(crawl, CRAWLDB, crawldb)
    put(crawl, HOSTDB, hostdb, {"limit": "integer", "delay": "integer"})


def without_hosts(rows: list[Row]) -> list[Row]:
    """Rows that have no host get a URL that has none."""
    found = []
    for number, row in enumerate(rows):
        if row["host"] is None:
            url = f"mailto:someone-{number}@example.org"
            row = {**row, "url": url, "url_key": locate(url).url_key}
        found.append(row)
    return found


def write_limits(path: Path, rows: list[Row]) -> str:
    columns = ("urls", "urls_per_host", "hosts", "parts", "delay_ms")
    lines = ["\t".join(("name", *columns))]
    lines += [
        "\t".join([row["name"], *("" if row[c] is None else str(row[c]) for c in columns)]) for row in rows
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def with_rules(crawl: Crawl, rules: Rules) -> None:
    """Gives the crawl those of the rules that are no settings of generate."""
    values = {
        "db.fetch_interval_max": rules.max_interval_s,
        "fetcher.server_delay": rules.default_delay_ms / 1000,
        "fetcher.min_delay": rules.min_delay_ms / 1000,
    }
    crawl.settings = crawl.settings.with_values(values, "test")


def with_min_score(rules: Rules) -> Rules:
    """The setting is always a number, and a finite one."""
    return rules if rules.min_score is not None else dataclasses.replace(rules, min_score=-1e300)


def options(rules: Rules) -> Row:
    """The rules, of which `min_score` is set, as settings of `[generate]`."""
    return {
        "restrict_status": rules.restrict_status,
        "exclude_status": rules.exclude_status,
        "min_score": rules.min_score,
        "interval_at_most": rules.interval_at_most_s,
        "max_count": rules.max_count,
        "max_per_domain": rules.max_per_domain,
        "max_hosts_per_domain": rules.max_hosts_per_domain,
        "segments": rules.lists,
        "top_n": rules.top_n,
        "time_budget": None if rules.time_budget_ms is None else rules.time_budget_ms // 1000,
        "spread": rules.spread,
        "keep_together": rules.keep_together,
        "gen_delay": rules.gen_delay_s,
        "max_count_expr": "limit" if rules.count_by_host else None,
        "fetch_delay_expr": "delay" if rules.delay_by_host else None,
        "filter": False,
    }


def fates(crawldb: list[Row], hostdb: list[Row], rules: Rules, limits: list[Row]) -> dict[str, Fate]:
    """What becomes of every URL, by sorted lists and dictionaries: see `brute_force`."""
    found: dict[str, Fate] = {}
    candidates = []
    for row in crawldb:
        seen = brute_force.as_the_schedule_sees_it(row, rules)
        reason = brute_force.why_not_a_candidate(seen, rules)
        found[row["url"]] = (None, reason)
        if reason is None:
            candidates.append(seen)
    candidates.sort(key=brute_force.best_first)
    hosts = {row["host"]: _said(row, rules) for row in hostdb}
    limited = {row["name"]: row for row in limits}
    for row in candidates:
        row.update(brute_force.what_holds_for(row, hosts, limited, rules))
    choose = brute_force.spread if rules.spread else brute_force.one_after_another
    lists, refused = choose(candidates, rules)
    found.update({row["url"]: (number, None) for number, taken in enumerate(lists) for row in taken})
    found.update({row["url"]: (None, reason) for row, reason in refused})
    return found


def _said(row: Row, rules: Rules) -> Row:
    """What no expression says, the brute force must not hear either."""
    count = row["max_count"] if rules.count_by_host else None
    return {
        **row,
        "max_count": count,
        "fetch_delay_ms": row["fetch_delay_ms"] if rules.delay_by_host else None,
    }
