"""Crawls of a few records, made as a user makes them, and what generate chose of them.

Records are those of `pinyon import nutch-jsonl`. Nothing about them drops a URL unless a test says so: it is due,
unfetched and worth 1.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import pyarrow.parquet as pq
import pytest

from command_line import Result, run_pinyon
from pinyon.crawl import Crawl
from pinyon.jobs import Files
from pinyon.store import DataFile
from pinyon.tables import TableSpec

Record = dict[str, Any]

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)

#: The forms of the selection, as options of generate.
PLANS: Sequence[tuple[str, Sequence[object]]] = [
    ("join", ("--plan", "join")),
    ("secondary-sort", ("--plan", "secondary-sort")),
    ("reference", ("--set", "engine.name=reference")),
]
every_plan = pytest.mark.parametrize(
    "plan", [options for _, options in PLANS], ids=[name for name, _ in PLANS]
)


def milliseconds(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)


def from_now(**span: float) -> int:
    """So far ahead of `NOW`, in epoch milliseconds."""
    return milliseconds(NOW + timedelta(**span))


def url(text: str, score: float | str = 1.0, **fields: Any) -> Record:
    return {
        "url": text,
        "status": "db_unfetched",
        "fetch_time": from_now(seconds=-1),
        "fetch_interval": 86_400,
        "score": score,
        "retries": 0,
        "metadata": {},
        **fields,
    }


def urls(host: str, count: int, best: float = 1.0) -> list[Record]:
    """`count` URLs of a host, `http://host/0` the best, each next one a thousandth less."""
    return [url(f"http://{host}/{n}", best - n / 1000) for n in range(count)]


def host(name: str, **fields: Any) -> Record:
    return {"host": name, "metadata": {}, **fields}


def made(folder: Path, crawldb: Iterable[Record], hostdb: Sequence[Record] = (), *, buckets: int = 2) -> Path:
    """A crawl directory in `folder` with these records."""
    crawl = folder / "crawl"
    expect(run_pinyon("init", crawl, "--set", f"store.buckets={buckets}"))
    files: list[object] = ["--crawldb", _written(folder / "crawldb.jsonl", crawldb)]
    if hostdb:
        files += ["--hostdb", _written(folder / "hostdb.jsonl", hostdb)]
    expect(run_pinyon("import", crawl, "nutch-jsonl", *files))
    return crawl


def _written(path: Path, records: Iterable[Record]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def change(crawl: Path, spec: TableSpec, **columns: str) -> None:
    """Publishes a table once more with columns that an import does not have, each as SQL over the row."""
    replaced = ", ".join(f"{sql} AS {name}" for name, sql in columns.items())
    with Crawl.open(crawl) as opened:
        table = opened.store.current(spec)
        written = []
        for bucket in table.files:
            opened.engine.bind({"known": Files.of(spec, table.paths([bucket]))})
            path = table.root / f"bucket={bucket}" / f"changed-{table.version}.parquet"
            file = opened.engine.write(f"SELECT * EXCLUDE (bucket) REPLACE ({replaced}) FROM known", path)
            name = path.relative_to(table.root).as_posix()
            written.append(DataFile(name, bucket, file.rows, file.size_bytes))
        opened.store.publish(table, written)


def nutch_site(folder: Path, **properties: str) -> Path:
    """A nutch-site.xml; `__` in a name stands for a dot."""
    path = folder / "nutch-site.xml"
    entries = "".join(
        f"<property><name>{name.replace('__', '.')}</name><value>{escape(value)}</value></property>"
        for name, value in properties.items()
    )
    path.write_text(f"<?xml version='1.0'?><configuration>{entries}</configuration>", encoding="utf-8")
    return path


@dataclass(frozen=True)
class Chosen:
    """What `generate --json` printed, what it noted, and the rows of its lists by part and position."""

    report: Mapping[str, Any]
    notes: str
    lists: Sequence[Sequence[Record]]
    infos: Sequence[Mapping[str, Any]]

    @property
    def rejected(self) -> Mapping[str, int]:
        found: Mapping[str, int] = self.report["rejected"]
        return found

    @property
    def rows(self) -> Sequence[Record]:
        return [row for rows in self.lists for row in rows]

    @property
    def urls(self) -> set[str]:
        return {row["url"] for row in self.rows}

    def by_host(self) -> Counter[str]:
        return Counter(row["host"] for row in self.rows)

    def delays(self) -> dict[str, int | None]:
        """Delay in milliseconds of each host; a host has one."""
        found = {(row["host"], row["fetch_delay_ms"]) for row in self.rows}
        assert len(found) == len({name for name, _ in found})
        return dict(found)


def generate(crawl: Path, *options: object) -> Result:
    """`pinyon generate` at `NOW`, unless the options name another time."""
    now = () if "--now" in options or "--conf" in options else ("--now", NOW.isoformat())
    return run_pinyon("generate", crawl, "--json", *now, *options)


def chosen(crawl: Path, *options: object) -> Chosen:
    """The lists of a generate that found something; its totals have added up."""
    result = expect(generate(crawl, *options))
    report = json.loads(result.stdout)
    assert report["rows"] == report["selected"] + sum(report["rejected"].values())
    folders = [crawl / "segments" / segment["name"] for segment in report["segments"]]
    found = Chosen(
        report,
        result.stderr,
        [fetch_list(folder) for folder in folders],
        [json.loads((folder / "segment.json").read_text()) for folder in folders],
    )
    assert report["selected"] == len(found.rows)
    assert [s["urls"] for s in report["segments"]] == [len(rows) for rows in found.lists]
    return found


def fetch_list(segment: Path) -> list[Record]:
    rows = [
        row for path in (segment / "fetchlist").glob("*.parquet") for row in pq.read_table(path).to_pylist()
    ]
    return sorted(rows, key=lambda row: (row["part"], row["position"]))


def expect(result: Result, status: int = 0) -> Result:
    assert result.status == status, result.stderr
    return result


def refusal(crawl: Path, *options: object, status: int = 2) -> str:
    """The one line of a generate that failed as a user would see it; nothing has been written."""
    before = sorted((crawl / "segments").iterdir())
    result = expect(generate(crawl, *options), status)
    told = [line for line in result.stderr.splitlines() if not line.startswith("note: ")]
    assert len(told) == 1 and "Traceback" not in result.stderr, result.stderr
    assert result.stdout == ""
    assert sorted((crawl / "segments").iterdir()) == before
    return told[0]
