"""docs/generate.md: how DuckDB runs both shapes of the selection, for one bucket of a small crawl."""

from __future__ import annotations

import json
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
#: The step in which URLs have met the HostDb and the limits.
STEP = "host_ranked"
#: Operators that only rename and compute.
LEFT_OUT = frozenset({"PROJECTION", "CREATE_TABLE_AS", "BATCH_CREATE_TABLE_AS"})
TOLD = ("Join Type", "Conditions", "Expression", "Expressions", "Filters")


class Explaining(DuckDBEngine):
    """Keeps the plan of the step on the way."""

    plan: list[Any]

    def _execute(self, statement: str, params: Mapping[str, Any], what: str) -> Any:
        if what.endswith(f": {STEP}"):
            explained = super()._execute(f"EXPLAIN (FORMAT json) {statement}", params, what).fetchall()
            self.plan = json.loads(explained[0][1])
        return super()._execute(statement, params, what)


def plans() -> str:
    with tempfile.TemporaryDirectory() as folder:
        return "\n\n".join(_blocks(Path(folder)))


def _blocks(folder: Path) -> Iterator[str]:
    Crawl.create(folder / "crawl", store__buckets=1)
    seeds = folder / "seeds.txt"
    seeds.write_text("".join(f"http://h{n % 20}.example.com/{n}\n" for n in range(1000)))
    with Crawl.open(folder / "crawl") as crawl:
        inject(crawl, [seeds], now=NOW)
        updatehostdb(crawl)
        engine = Explaining(folder / "spill", threads=2)
        crawl.__dict__["engine"] = engine
        for shape in ("join", "secondary-sort"):
            generate(crawl, now=NOW, dry_run=True, plan=shape, max_count_expr="connectionFailures > 100 ? 10 : 1000")
            yield f"`--plan {shape}`:\n\n```\n{chr(10).join(_lines(engine.plan[0], 0))}\n```"


def _lines(operator: Mapping[str, Any], depth: int) -> Iterator[str]:
    print(operator["name"], operator.get("extra_info"))
    shown = operator["name"] not in LEFT_OUT
    if shown:
        yield "  " * depth + " ".join([operator["name"], *_details(operator["extra_info"])])
    for child in operator["children"]:
        yield from _lines(child, depth + shown)


def _details(told: Mapping[str, Any]) -> Iterator[str]:
    for name in TOLD:
        if name in told:
            value = told[name]
            yield value if isinstance(value, str) else ", ".join(value)
