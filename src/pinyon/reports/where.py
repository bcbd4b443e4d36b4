"""--where: rows for which an expression holds, of the names that generate knows."""

from __future__ import annotations

from pinyon import expressions
from pinyon.crawl import Crawl
from pinyon.expressions import Type
from pinyon.store import Published
from pinyon.tables import CRAWLDB, HOSTDB

#: Of each table the alias that expressions read it by.
_ALIASES = {"crawldb": "c", "hostdb": "h"}
_HOST_JOIN = "LEFT JOIN hostdb AS h ON h.host = c.host"


def rows_where(crawl: Crawl, table: str, where: str | None, *, at_version: int | None = None) -> str:
    """A SELECT of the rows of `crawldb` or `hostdb` for which the expression is true; all of them without one.

    For URLs the row of their host stands behind `hostdb.`. Raises `ExpressionError`.
    """
    if where is None:
        return f"SELECT * FROM {table}"
    host = expressions.host_scope("h", _metadata(crawl.store.current(HOSTDB)))
    scope = host
    if table == "crawldb":
        scope = expressions.url_scope("c", _metadata(crawl.store.current(CRAWLDB, at_version)), host)
    compiled = expressions.compile(where, scope, want="boolean")
    of_host = any(name.startswith("hostdb.") for name in compiled.names_used)
    alias = _ALIASES[table]
    join = _HOST_JOIN if of_host and table == "crawldb" else ""
    return f"SELECT {alias}.* FROM {table} AS {alias} {join} WHERE coalesce({compiled.sql}, false)"


def _metadata(table: Published) -> dict[str, Type]:
    return {name: Type(kind) for name, kind in table.facts.get("metadata", {}).items()}
