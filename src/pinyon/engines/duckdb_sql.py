"""Spellings of DuckDB: parameters and scans."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

#: A text or a quoted name, which are passed over, or a parameter: not the second colon of a cast, nor a slice.
_PARAM = re.compile(r"""'(?:[^']|'')*'|"[^"]*"|(?<![:\w]):([a-z]\w*)""")


def prepared(sql: str, params: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The query with `:name` as `$name`, and of the parameters those it uses: DuckDB refuses others."""
    used: dict[str, Any] = {}

    def spelled(match: re.Match[str]) -> str:
        name = match[1]
        if name is None:
            return match[0]
        used[name] = params[name]
        return f"${name}"

    return _PARAM.sub(spelled, sql), used


def literal(text: str) -> str:
    """A text as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"


def _address(paths: Sequence[str]) -> str:
    """Where a row lies within its bucket: its row where the bucket is one file, as ours are, else file and row.

    So it is the same whether the bucket is scanned alone or among others; with several files to a bucket it is not.
    """
    folders = [path.rpartition("/")[0] for path in paths]
    if len(set(folders)) == len(folders):
        return "file_row_number"
    return "CAST(file_index AS BIGINT) * 1099511627776 + file_row_number"


def scan(source: Any) -> str | None:
    """A SELECT over a source that has files, None for one that DuckDB scans itself (Arrow)."""
    paths = getattr(source, "paths", None)
    if paths is None:
        return None
    if not paths:
        address = ", CAST(NULL AS BIGINT) AS row_address" if source.addressed else ""
        return f"SELECT *{address} FROM ({source.spec.empty_sql()})"
    listed = ", ".join(map(literal, paths))
    columns = ", ".join(source.spec.names)
    if source.addressed:
        columns += f", {_address(source.paths)} AS row_address"
    partitioned = any("/bucket=" in path for path in paths)
    hive = (
        ", hive_partitioning=true, hive_types={'bucket': 'INTEGER'}"
        if partitioned
        else ", hive_partitioning=false"
    )
    only = "" if source.buckets is None else f" WHERE bucket IN ({', '.join(map(str, source.buckets))})"
    return f"SELECT {columns} FROM read_parquet([{listed}]{hive}){only}"
