"""The update job over small tables in memory, day after day: years pass in seconds, and every fetch is counted."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa
from update_crawls import DAY, Row, T, page

from pinyon.cycle.schedules import bounds_table
from pinyon.cycle.updatedb_inputs import RESULTS
from pinyon.cycle.updatedb_rules import Rules
from pinyon.engines.duckdb_engine import DuckDBEngine
from pinyon.jobs import load
from pinyon.tables import CRAWLDB, FETCHLIST, HOST_FACTS, HOSTDB, LINKS, TableSpec

#: What a page answers on a day: action of the update job, content, and columns of the result.
Answer = tuple[str, str | None, Mapping[str, Any]]
Page = Callable[[datetime], Answer]


class Years:
    """A crawl that fetches every URL on the day it is due. `fetches` are their times, in order."""

    def __init__(self, engine: DuckDBEngine, rules: Rules, rows: list[Row], web: Mapping[str, Page]) -> None:
        self._engine, self._rules, self._web = engine, rules, web
        self.rows = {row["url"]: row for row in rows}
        self.fetches: dict[str, list[datetime]] = {url: [] for url in self.rows}

    def pass_by(self, days: int, *, start: datetime = T) -> None:
        for day in range(days):
            now = start + day * DAY
            due = [url for url, row in self.rows.items() if row["fetch_time"] <= now]
            if due:
                for url in due:
                    self.fetches[url].append(now)
                self._update([_result(url, now, self._web[url](now)) for url in due], now)

    def gaps(self, url: str) -> list[float]:
        """Days between two fetches."""
        times = self.fetches[url]
        return [(b - a) / DAY for a, b in itertools.pairwise(times)]

    def _update(self, results: list[Row], now: datetime) -> None:
        tables = {
            "crawldb": arrow(CRAWLDB, list(self.rows.values())),
            "results": arrow(RESULTS, results),
            "links": arrow(LINKS, []),
            "fetchlist": arrow(FETCHLIST, []),
            "hosts": arrow(HOST_FACTS, []),
            "hostdb": arrow(HOSTDB, []),
            "bounds": bounds_table(self._rules.bounds),
        }
        job = load("pinyon.cycle", "updatedb")
        fragments = self._rules.fragments()
        self._engine.run(job, tables, self._rules.params(now), fragments)
        rows = self._engine.rows(f"SELECT {', '.join(CRAWLDB.names)} FROM ({job.result(fragments)})")
        self.rows = {row["url"]: row for row in rows}


def _result(url: str, now: datetime, answer: Answer) -> Row:
    action, content, columns = answer
    row = {name: value for name, value in page(url, at=now).items() if name != "outcome"}
    return row | {"action": action, "signature": content.encode() if content else None} | columns


def arrow(spec: TableSpec, rows: list[Row]) -> pa.Table:
    plain = [{k: list(v.items()) if isinstance(v, dict) else v for k, v in row.items()} for row in rows]
    return pa.Table.from_pylist(plain, schema=spec.arrow_schema())


# -- pages ----------------------------------------------------------------------------------------------------


def always(action: str, content: str | None = None, **columns: Any) -> Page:
    return lambda now: (action, content, columns)


def changing(every: timedelta, *, told: bool = False) -> Page:
    """New content every so often, from the beginning on; `told`: with a Last-Modified."""

    def answer(now: datetime) -> Answer:
        number = (now - T) // every
        date = (T + number * every).strftime("%a, %d %b %Y %H:%M:%S GMT")
        return "fetched", f"content {number}", {"last_modified": date} if told else {}

    return answer


def flapping(answers: Iterator[Answer]) -> Page:
    """The next answer at every fetch."""
    return lambda now: next(answers)
