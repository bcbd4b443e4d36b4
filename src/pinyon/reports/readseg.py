"""readseg: what a segment holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pinyon.crawl import Crawl
from pinyon.reports.views import bind, check_what, dump_columns
from pinyon.tables import CRAWLDB


def segment_stats(crawl: Crawl, name: str) -> dict[str, Any]:
    """State, lists and counts of a segment, pages by outcome, documents by parse status."""
    segment = crawl.segments[name]
    bind(crawl, [segment])
    rows = crawl.engine.rows
    info = segment.info()
    applied = segment.name in crawl.store.applied(CRAWLDB, [segment.name])
    return {
        "name": segment.name,
        "state": "updated" if applied else info["state"],
        "generate_time": info.get("generate_time"),
        "urls": rows("SELECT count(*) AS n FROM fetchlist")[0]["n"],
        "hosts": rows("SELECT count(DISTINCT host) AS n FROM fetchlist")[0]["n"],
        "parts": info.get("parts", []),
        "outcomes": _counted(
            rows("SELECT outcome AS k, count(*) AS n FROM pages GROUP BY k ORDER BY n DESC, k")
        ),
        "parsed": _counted(
            rows("SELECT parse_status AS k, count(*) AS n FROM docs GROUP BY k ORDER BY n DESC, k")
        ),
        "links": rows("SELECT count(*) AS n FROM links")[0]["n"],
    }


def _counted(rows: list[dict[str, Any]]) -> dict[str, int]:
    return {row["k"]: row["n"] for row in rows}


def segment_rows(
    crawl: Crawl, name: str, what: str, *, url: str | None = None, limit: int = 10
) -> list[dict[str, Any]]:
    """Rows of one table of a segment: of one URL, or the first ones."""
    check_what(what)
    bind(crawl, [crawl.segments[name]])
    column = "from_url" if what == "links" else "host" if what == "hosts" else "url"
    where, params = (f"WHERE {column} = :url", {"url": url}) if url else ("", {})
    order = "part, position" if what == "fetchlist" else column
    return crawl.engine.rows(f"SELECT * FROM {what} {where} ORDER BY {order} LIMIT {limit}", params)


def dump_segment(crawl: Crawl, name: str, path: Path, *, what: str = "fetchlist") -> int:
    """Writes a table of a segment as .csv, .jsonl or .parquet; how many rows."""
    spec = check_what(what)
    bind(crawl, [crawl.segments[name]])
    columns = ", ".join(spec.names) if path.suffix == ".parquet" else dump_columns(spec)
    order = "ORDER BY list, part, position" if what == "fetchlist" else ""
    return crawl.engine.export(f"SELECT {columns} FROM {what} {order}", path)
