"""docs/generate.md: how DuckDB runs both shapes of the selection, for one bucket of a small crawl."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pinyon.crawl import Crawl
from pinyon.cycle.generate import generate
from pinyon.cycle.inject import inject
from pinyon.cycle.updatehostdb import updatehostdb
from pinyon.engines.duckdb_engine import DuckDBEngine

NOW = datetime(2026, 11, 30, tzinfo=UTC)
SHAPES = ("join", "secondary-sort")
#: The step in which URLs have met the HostDb and the limits.
STEP = "host_ranked"
#: What only renames and computes.
LEFT_OUT = frozenset({"PROJECTION"})
#: Tables, by a column that no other has.
TABLES = {"url_key": "crawldb", "retry_at": "hostdb", "delay_ms": "limits file"}


class Explaining(DuckDBEngine):
    """Keeps the plan of the step on the way."""

    plan: Mapping[str, Any]

    def run(
        self,
        job: Any,
        tables: Mapping[str, Any],
        params: Mapping[str, Any] | None = None,
        fragments: Mapping[str, str] | None = None,
    ) -> None:
        super().run(job, tables, params, fragments)
        for name, query in job.statements(fragments or {}):
            if name == STEP:
                [row] = self.rows(f"EXPLAIN (FORMAT json) {query}", params)
                [self.plan] = json.loads(row["explain_value"])


def plans() -> str:
    with tempfile.TemporaryDirectory() as folder:
        return "\n\n".join(
            f"`--plan {shape}`:\n\n```\n{plan}\n```" for shape, plan in _explained(Path(folder))
        )


def _explained(folder: Path) -> Iterator[tuple[str, str]]:
    Crawl.create(folder / "crawl", store__buckets=1)
    (folder / "seeds.txt").write_text("".join(f"http://h{n % 20}.example.com/{n}\n" for n in range(1000)))
    (folder / "limits.tsv").write_text(
        "domain\turls\turls_per_host\tdelay_ms\nexample.com\t900\t40\t500\nh1.example.com\t9\n"
    )
    rules = {"max_count_expr": "fetched > 100 ? 10 : 1000", "limits_file": str(folder / "limits.tsv")}
    with Crawl.open(folder / "crawl") as crawl:
        inject(crawl, [folder / "seeds.txt"], now=NOW)
        updatehostdb(crawl)
        crawl.close()
        crawl.__dict__["engine"] = engine = Explaining(folder / "spill", threads=2)
        for shape in SHAPES:
            generate(crawl, now=NOW, dry_run=True, plan=shape, **rules)
            yield shape, "\n".join(_lines(engine.plan, 0))


def _lines(operator: Mapping[str, Any], depth: int) -> Iterator[str]:
    shown = operator["name"] not in LEFT_OUT
    if shown:
        yield f"{'  ' * depth}{operator['name']} {_detail(operator)}".rstrip()
    for child in operator["children"]:
        yield from _lines(child, depth + shown)


def _detail(operator: Mapping[str, Any]) -> str:
    """What the operator works on, in a few words."""
    told = operator["extra_info"]
    match operator["name"]:
        case "READ_PARQUET":
            return next(table for column, table in TABLES.items() if column in told["Projections"])
        case "HASH_JOIN":
            equal = [condition for condition in _listed(told["Conditions"]) if " = " in condition]
            return f"{told['Join Type']} {', '.join(equal)}"
        case "WINDOW":
            window = re.search(r"OVER \((.*?)(?: ROWS .*)?\)$", _listed(told["Projections"])[0])
            return re.sub(r" (ASC )?NULLS LAST", "", window[1]) if window else ""
        case "FILTER":
            return "no reason to drop it" if "no_host" in told["Expression"] else told["Expression"]
    return ""


def _listed(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value
