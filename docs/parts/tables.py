"""docs/tables.md: columns, and the two vocabularies."""

from __future__ import annotations

from pathlib import Path

from parts import code, sentence, table
from pinyon import jobs, tables


def columns() -> str:
    return "\n\n".join(_section(spec) for spec in tables.ALL_TABLES)


def _section(spec: tables.TableSpec) -> str:
    rows = [
        [code(c.name), c.type + ("" if c.nullable else " not null"), sentence(c.help)] for c in spec.columns
    ]
    return f"### {spec.name}\n\n{sentence(spec.help)}\n\n{table(['column', 'type', 'meaning'], rows)}"


def statuses() -> str:
    rows = [[code(status), code(counter)] for status, counter in tables.STATUSES.items()]
    return table(["crawldb.status", "counter in the HostDb"], rows)


def outcomes() -> str:
    actions = _actions()
    rows = [[code(name), sentence(text), actions[name]] for name, text in tables.OUTCOMES.items()]
    return table(["pages.outcome", "what the fetch met", "what updatedb makes of it"], rows)


def _actions() -> dict[str, str]:
    """Outcome → action, out of the one SQL step that says so."""
    import duckdb

    for path in sorted((Path(jobs.__file__).parent / "cycle").glob("*.sql")):
        for step in jobs.parse(path.stem, path.read_text(encoding="utf-8")).steps:
            if step.name == "meanings":
                return {row[0]: row[1].replace("_", " ") for row in duckdb.execute(step.sql).fetchall()}
    raise LookupError("no step 'meanings' in src/pinyon/cycle: which outcome leads to which action?")
