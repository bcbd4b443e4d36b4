"""The names an expression may use, and the SQL each stands for.

The columns of a table are there in camelCase (`dnsFailures`) and as the table has them (`dns_failures`), times
as milliseconds since 1970, as in Nutch. A metadata key is there in three ways: as a name with `_` for every
character that a name cannot hold (`Content_Type`), as `metadata.Content_Type`, and as it is, in quotes:
`metadata['Content-Type']`. Two keys that would share a name have none and are reached in quotes. A row that
lacks a key has null for it.

Where a column and a metadata key have one name, it is the column if Nutch has that name too (`score`, `status`,
`fetched` …). A column that is ours alone gives way (`depth`, `inlinks`): whoever comes from Nutch means the
metadata. `crawldb.depth` and `hostdb.domain` are always the columns.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from pinyon.expressions.dialects import DECIMAL_TEXT, DIALECTS, INTEGER_TEXT, Dialect, DialectName
from pinyon.expressions.types import Type
from pinyon.tables import CRAWLDB, HOSTDB, Column, TableSpec


@dataclass(frozen=True, slots=True)
class Name:
    """One name: its SQL, its type, and whether a row may lack it.

    The SQL gives BIGINT, DOUBLE, text or BOOLEAN and can stand as an operand: a column, a call, or parenthesised.
    """

    sql: str
    type: Type
    nullable: bool = True


@dataclass(frozen=True, slots=True)
class Scope:
    """All names an expression may use, spelled as in expressions (`hostdb.fetched`, `metadata['a b']`)."""

    names: Mapping[str, Name] = field(default_factory=dict)

    def under(self, prefix: str) -> Scope:
        """The same names behind a prefix: `hostdb.` makes `hostdb.fetched` of `fetched`, and stays one `hostdb.`."""
        return Scope({prefix + spelled.removeprefix(prefix): name for spelled, name in self.names.items()})

    def __or__(self, other: Scope) -> Scope:
        """The names of both; this scope's own win."""
        return Scope({**other.names, **self.names})


def quoted_key(path: str, key: str) -> str:
    """How a scope spells `path['key']`, whatever the key holds."""
    return f"{path}['{key}']"


#: Names that Nutch's own expressions have, in updatehostdb, readhostdb and the generator: no metadata hides them.
_NUTCH_HOST = frozenset(
    "dnsFailures connectionFailures unfetched fetched notModified redirTemp redirPerm redirs gone ok numRecords "
    "score homepageUrl lastCheck".split()
)
_NUTCH_URL = frozenset("url status fetchTime modifiedTime retries interval score signature".split())


def host_scope(alias: str, metadata: Mapping[str, Type], dialect: DialectName = "duckdb") -> Scope:
    """The names of a HostDb row read as `alias`; `metadata` gives each key ever seen its widest type.

    Beside the columns there are Nutch's `redirs` and `ok` (of its readhostdb), and `crawlDelay`, in
    milliseconds. All counters are integers and never null.
    """
    columns = _columns(HOSTDB, alias, dialect)
    spell = DIALECTS[dialect].spell
    columns["redirs"] = Name(spell("+", columns["redirTemp"].sql, columns["redirPerm"].sql), Type.INTEGER)
    columns["ok"] = Name(spell("+", columns["fetched"].sql, columns["notModified"].sql), Type.INTEGER)
    columns["crawlDelay"] = columns["crawlDelayMs"]
    return _together("hostdb.", columns, _metadata(alias, metadata, dialect), _NUTCH_HOST)


def url_scope(
    alias: str, metadata: Mapping[str, Type], host: Scope | None = None, dialect: DialectName = "duckdb"
) -> Scope:
    """The names of a crawldb row read as `alias`, and those of its host's row behind `hostdb.`.

    Beside the columns there are Nutch's `interval` (seconds), and its `modifiedTime`, 0 where none is known;
    `signature` is hexadecimal text. A URL whose host has no row has null for every name of the host, also for
    those that a host's row always has.
    """
    columns = _columns(CRAWLDB, alias, dialect)
    modified = Name(f"coalesce({columns['modifiedTime'].sql}, 0)", Type.INTEGER, nullable=False)
    columns |= {
        "interval": columns["fetchInterval"],
        "modifiedTime": modified,
        "modified_time": modified,
    }
    own = _together("crawldb.", columns, _metadata(alias, metadata, dialect), _NUTCH_URL)
    return own if host is None else own | _all_nullable(host).under("hostdb.")


def _together(
    prefix: str, columns: dict[str, Name], metadata: dict[str, Name], nutch: frozenset[str]
) -> Scope:
    """All names of a row; a metadata key hides a column that Nutch does not have."""
    kept = {spelled: name for spelled, name in columns.items() if _camel(spelled) in nutch}
    return Scope({**columns, **metadata, **kept, **Scope(columns).under(prefix).names})


def _all_nullable(scope: Scope) -> Scope:
    return Scope({spelled: Name(name.sql, name.type) for spelled, name in scope.names.items()})


def _columns(table: TableSpec, alias: str, dialect: DialectName) -> dict[str, Name]:
    names = {}
    for column in table.columns:
        if column.name != "metadata":
            name = _column(column, f"{alias}.{column.name}", DIALECTS[dialect])
            names[column.name] = names[_camel(column.name)] = name
    return names


def _camel(snake: str) -> str:
    first, *rest = snake.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _column(column: Column, sql: str, dialect: Dialect) -> Name:
    """The column in one of the four types; a 32-bit float becomes the double of the same value, as in JEXL."""
    types = {
        "BIGINT": (sql, Type.INTEGER),
        "INTEGER": (f"CAST({sql} AS BIGINT)", Type.INTEGER),
        "SMALLINT": (f"CAST({sql} AS BIGINT)", Type.INTEGER),
        "FLOAT": (f"CAST({sql} AS DOUBLE)", Type.DECIMAL),
        "DOUBLE": (sql, Type.DECIMAL),
        "BOOLEAN": (sql, Type.BOOLEAN),
        "VARCHAR": (sql, Type.TEXT),
        "BLOB": (f"lower(hex({sql}))", Type.TEXT),
        "TIMESTAMPTZ": (dialect.spell("time ms", sql), Type.INTEGER),
    }
    return Name(*types[column.type], nullable=column.nullable)


# -- metadata ---------------------------------------------------------------------------------------------


def _metadata(alias: str, metadata: Mapping[str, Type], dialect: DialectName) -> dict[str, Name]:
    names = {}
    shared = Counter(map(_bare, metadata))
    for key, type_ in metadata.items():
        name = Name(_metadata_sql(alias, key, type_, DIALECTS[dialect]), type_)
        for spelled in _spellings(key, shared):
            names[spelled] = name
    return names


def _spellings(key: str, shared: Counter[str]) -> Iterator[str]:
    bare = _bare(key)
    # A key that needs no change keeps its name, whichever other key is changed into it.
    if bare == key or shared[bare] == 1:
        yield from (bare, f"metadata.{bare}")
    yield quoted_key("metadata", key)


def _bare(key: str) -> str:
    return re.sub(r"[^A-Za-z0-9_$]", "_", key)


def _metadata_sql(alias: str, key: str, type_: Type, dialect: Dialect) -> str:
    sql = f"{alias}.metadata[{dialect.quote(key)}]"
    if type_ is Type.TEXT:
        return sql
    return f"TRY_CAST({sql} AS {'BIGINT' if type_ is Type.INTEGER else 'DOUBLE'})"


def text_type(text: str) -> Type:
    """The type that a metadata text has in expressions: an integer (at most 18 digits), a decimal, or text."""
    if re.fullmatch(INTEGER_TEXT, text):
        return Type.INTEGER
    return Type.DECIMAL if re.fullmatch(DECIMAL_TEXT, text) else Type.TEXT


def text_type_sql(sql: str, dialect: DialectName = "duckdb") -> str:
    """SQL that gives `text_type` of a text as 'integer', 'decimal' or 'text': the values of `Type`."""
    spelled = DIALECTS[dialect]
    integer, decimal = (spelled.full_match(sql, pattern) for pattern in (INTEGER_TEXT, DECIMAL_TEXT))
    return f"CASE WHEN {integer} THEN 'integer' WHEN {decimal} THEN 'decimal' ELSE 'text' END"
