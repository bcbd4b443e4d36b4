"""expr: what an expression gives for one host or URL, or over all of them, with the values of the names it uses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pinyon import expressions
from pinyon.crawl import Crawl
from pinyon.cycle.policy import metadata_types
from pinyon.errors import ExpressionError, InputError, UsageError, nearest
from pinyon.expressions import Compiled, Scope, Type
from pinyon.jobs import Files, load
from pinyon.store import Published
from pinyon.tables import CRAWLDB, HOSTDB
from pinyon.urls import host_of, key_of, locate

#: Most values and most rows that a summary shows.
SHOWN = 10
KINDS = ("hosts", "urls")

_RELATIONS = {"hosts": "hostdb AS h", "urls": "crawldb AS c LEFT JOIN hostdb AS h ON h.host = c.host"}
_KEYS = {"hosts": "h.host", "urls": "c.url"}


@dataclass(frozen=True, slots=True)
class Summary:
    """Of all `rows`: `nulls` have no value; `counts` are rows by value, most first (booleans and texts, the first few);
    `minimum`, `mean`, `maximum` are of numbers; `first` are some rows, in the order of their keys."""

    rows: int
    nulls: int
    minimum: float | None
    mean: float | None
    maximum: float | None
    first: Sequence[Mapping[str, Any]]
    counts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Tried:
    """`of` is the host or URL, or `hosts` or `urls`, if all were asked: then there is a `summary` and no `value`.

    `type` is integer, decimal, text or boolean (null for the word null); `names` has the values of the names used;
    `tree` is one construct a line.
    """

    expression: str
    of: str
    type: str
    value: Any = None
    names: Mapping[str, Any] = field(default_factory=dict)
    summary: Summary | None = None
    tree: str | None = None


def tryexpr(
    crawl: Crawl,
    text: str,
    *,
    host: str | None = None,
    url: str | None = None,
    every: str | None = None,
    tree: bool = False,
) -> Tried:
    """The value of an expression for the row of `host` or of `url`, or a summary over `every` host or URL.

    `every` is hosts, urls, or auto: hosts if it can be read as an expression over hosts, else urls. Raises
    `ExpressionError`, `UsageError` unless exactly one of the three is given, `InputError` if there is no such row.
    """
    if sum(given is not None for given in (host, url, every)) != 1:
        raise UsageError("an expression is tried on one of: a host, a URL, all of them")
    crawldb, hostdb = crawl.store.current(CRAWLDB), crawl.store.current(HOSTDB)
    by_kind = dict(zip(KINDS, scopes(crawl, crawldb, hostdb), strict=True))
    kind = "hosts" if host is not None else "urls" if url is not None else _kind(text, every, by_kind)
    trial = _Trial(crawl, crawldb, hostdb, kind, by_kind[kind], expressions.compile(text, by_kind[kind]))
    shown = expressions.explain(text, trial.scope) if tree else None
    told = Tried(text, kind, trial.compiled.type.value, tree=shown)
    if every is not None:
        return replace(told, summary=trial.summary())
    row = trial.row(host if host is not None else url or "")
    return replace(told, of=row["key"], value=row["value"], names=named(trial.names, row))


def scopes(crawl: Crawl, crawldb: Published, hostdb: Published | None) -> tuple[Scope, Scope]:
    """The names of a host's row (alias `h`) and of a URL's (`c`, and `h` behind `hostdb.`), as generate knows them."""
    host = expressions.host_scope("h", metadata_types(hostdb or crawl.store.current(HOSTDB)))
    return host, expressions.url_scope("c", metadata_types(crawldb), host)


def names_sql(names: Iterable[str], scope: Scope) -> str:
    """What stands behind SELECT for the values of these names: `n0`, `n1` …, or `nothing` if there are none."""
    listed = [f"{scope.names[name].sql} AS n{number}" for number, name in enumerate(names)]
    return ", ".join(listed) or "NULL AS nothing"


def named(names: Iterable[str], row: Mapping[str, Any] | None) -> dict[str, Any]:
    """The columns of `names_sql` under their names again; all null without a row."""
    return {name: row[f"n{number}"] if row else None for number, name in enumerate(names)}


def spellings(crawl: Crawl, url: str) -> list[str]:
    """A URL as it is given and as it is normalised: an import keeps URLs as they were found."""
    return list(dict.fromkeys((url, crawl.normalise(url) or url)))


def host_name(text: str) -> str:
    """A host as the tables have it, from a name or a URL in any spelling."""
    return host_of(text if "://" in text else f"http://{text}/") or text


def _kind(text: str, every: str | None, by_kind: Mapping[str, Scope]) -> str:
    if every in KINDS:
        return str(every)
    if every != "auto":
        raise UsageError(f"'{every}': wanted hosts, urls or auto{nearest(str(every), KINDS)}")
    try:
        expressions.compile(text, by_kind["hosts"])
    except ExpressionError:
        return "urls"
    return "hosts"


@dataclass(frozen=True, slots=True)
class _Trial:
    """A compiled expression, and what it is tried on."""

    crawl: Crawl
    crawldb: Published
    hostdb: Published
    kind: str
    scope: Scope
    compiled: Compiled

    @property
    def names(self) -> list[str]:
        return sorted(self.compiled.names_used)

    def row(self, wanted: str) -> dict[str, Any]:
        """`key`, `value`, and the names as `names_sql` has them, of one row: only the bucket where it lies is read."""
        hosts = self.kind == "hosts"
        key, values = _KEYS[self.kind], names_sql(self.names, self.scope)
        sql = f"SELECT {key} AS key, {self.compiled.sql} AS value, {values} FROM {_RELATIONS[self.kind]}"
        for spelled in [host_name(wanted)] if hosts else spellings(self.crawl, wanted):
            host_key = key_of(spelled) if hosts else locate(spelled).host_key
            self.crawl.engine.bind(self._tables(host_key or 0))
            rows = self.crawl.engine.rows(f"{sql} WHERE {key} = :key", {"key": spelled})
            if rows:
                return rows[0]
        raise InputError(f"{wanted}: not in the {'HostDb' if hosts else 'crawldb'} of {self.crawl.root}")

    def summary(self) -> Summary:
        engine, compiled = self.crawl.engine, self.compiled
        fragments = {"relation": _RELATIONS[self.kind], "key": _KEYS[self.kind], "value": compiled.sql}
        engine.run(load("pinyon.cycle", "tryexpr"), self._tables(), {"shown": SHOWN}, fragments)
        totals = engine.rows("SELECT * FROM totals")[0]
        if compiled.type not in (Type.INTEGER, Type.DECIMAL):
            totals |= dict.fromkeys(("minimum", "mean", "maximum"))
            commonest = engine.rows("SELECT * FROM commonest ORDER BY rows DESC, value")
            totals["counts"] = {_spelled(row["value"]): row["rows"] for row in commonest}
        return Summary(**totals, first=engine.rows("SELECT * FROM first_rows ORDER BY key"))

    def _tables(self, host_key: int | None = None) -> dict[str, Files]:
        """Both tables, or of each the bucket of one host."""
        crawldb, hostdb = (
            table.paths(None if host_key is None else [host_key & (table.buckets - 1)])
            for table in (self.crawldb, self.hostdb)
        )
        return {"crawldb": Files.of(CRAWLDB, crawldb), "hostdb": Files.of(HOSTDB, hostdb)}


def _spelled(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
