"""Some candidates, ours, among the others: every list in turn, as generate fills them.

candidates no later than ours ─▶ ranked within their hosts ─▶ list 0 ─▶ what it leaves ─▶ list 1 ─▶ …

What a list does with a row depends on nothing but the rows before it. So one URL's fate needs only what comes no
later: of its host alone if no other limit is set, of its domain if domains are limited, of all hosts for top_n.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pinyon.cycle.explain_question import Question
from pinyon.jobs import Files
from pinyon.tables import Column, TableSpec

CONTENDERS = TableSpec(
    "contenders",
    (
        Column("url_key", "BIGINT", "of the URL"),
        Column("host", "VARCHAR", ""),
        Column("host_key", "BIGINT", ""),
        Column("domain", "VARCHAR", ""),
        Column("sort_value", "DOUBLE", "what it is sorted by"),
        Column("mine", "BOOLEAN", "one of those that are asked about"),
        Column("host_limit", "BIGINT", "negative: none"),
        Column("host_budget", "BIGINT", "URLs of the host the time budget allows; null: none"),
        Column("domain_limit", "BIGINT", "negative: none"),
        Column("domain_hosts", "BIGINT", "negative: none"),
        Column("delay_ms", "BIGINT", "expected between two requests"),
        Column("host_rank", "BIGINT", "among the candidates of its host, from 1"),
    ),
    "candidates no later than ours",
)
DECIDED = TableSpec(
    "decided",
    (
        *CONTENDERS.columns,
        Column("list_rank", "BIGINT", "among those of its host that are left for the list, from 1"),
        Column("host_place", "BIGINT", "of its host among those of its domain, from 1"),
        Column("domain_rank", "BIGINT", "among those of its domain, from 1"),
        Column("cut", "VARCHAR", "the limit that refuses it"),
    ),
    "contenders of one list, and the limit that refuses them",
)

#: SQL: the row comes no later in the order of a list. NaN comes first: for the engine it is the greatest number.
_NOT_LATER = "(sort_value > :last_value OR (sort_value = :last_value AND url_key <= :last_key))"


@dataclass(frozen=True, slots=True)
class Ours:
    """Those asked about: a host's candidates, or with `url_key` one of them. The last of them, in order, is
    (`last_value`, `last_key`)."""

    host: str
    host_key: int
    domain: str
    last_value: float
    last_key: int
    url_key: int | None = None


@dataclass(frozen=True, slots=True)
class Round:
    """One list: how many rows no later than ours its other limits left, and the last row that top_n lets through.

    `last` is None where top_n lets all of them through, or is not asked; `file` holds `DECIDED` rows.
    """

    number: int
    file: str
    left: int
    last: Mapping[str, Any] | None
    none_taken: bool = False

    @property
    def taken(self) -> str:
        """SQL: what of the file the list takes."""
        if self.none_taken:
            return "false"
        return "cut IS NULL" if self.last is None else f"cut IS NULL AND {_NOT_LATER}"

    @property
    def values(self) -> dict[str, Any]:
        """Of what `taken` names."""
        return (
            {}
            if self.last is None
            else {"last_value": self.last["sort_value"], "last_key": self.last["url_key"]}
        )


def rounds(question: Question, ours: Ours, scope: str) -> Iterator[Round]:
    """Every list in turn, over what the lists before left; ends early when nothing is left."""
    remaining = _contenders(question, ours, scope)
    settings = question.settings
    for number in range(settings.segments):
        offered = _dealt(question, remaining, number) if settings.spread else remaining
        found = _list(question, offered, number, scope)
        yield found
        if not settings.spread:
            remaining = _left(question, found)
        if not remaining:
            return


def _contenders(question: Question, ours: Ours, scope: str) -> list[str]:
    """Files of `CONTENDERS`, one a group of buckets."""
    names = (
        f"explain_of_{scope}",
        "explain_judged",
        "explain_contenders",
        "explain_policy",
        "explain_ranked",
    )
    known: dict[str, Any] = {
        "host": ours.host,
        "host_key": ours.host_key,
        "domain": ours.domain,
        "mine_host": ours.host,
        "mine_url_key": ours.url_key,
        "last_value": ours.last_value,
        "last_key": ours.last_key,
    }
    groups = question.groups()
    if scope == "host":
        bucket = ours.host_key & (question.crawldb.buckets - 1)
        groups = [group for group in groups if bucket in group]
    written = [question.write(names, group, f"contenders-{group[0]}.parquet", **known) for group in groups]
    return [path for path, rows in written if rows]


def _dealt(question: Question, files: Sequence[str], number: int) -> list[str]:
    """What is dealt to a list: runs of `keep_together` URLs of a host go round, from one its key decides."""
    engine, settings = question.crawl.engine, question.settings
    n, k = settings.segments, settings.keep_together
    engine.bind({"contenders": Files.of(CONTENDERS, files)})
    path = question.folder / f"dealt-{number}.parquet"
    # the remainder of a negative key is negative in SQL
    dealt = f"(((host_key % {n}) + {n}) % {n} + (host_rank - 1) // {k}) % {n} = {number}"
    engine.write(f"SELECT * FROM contenders WHERE {dealt}", path)
    return [str(path)]


def _list(question: Question, files: Sequence[str], number: int, scope: str) -> Round:
    domains = question.limits_domains and scope != "host"
    job = ("explain_hosts", "explain_domains" if domains else "explain_no_domains")
    ranked = "row_number() OVER (PARTITION BY host_key, host ORDER BY sort_value DESC, url_key)"
    source = Files.of(CONTENDERS, files)
    rank = ranked if question.settings.segments > 1 else "host_rank"
    file, _ = question.write(job, (), f"decided-{number}.parquet", remaining=source, list_rank=rank)
    engine = question.crawl.engine
    engine.bind({"decided": Files.of(DECIDED, [file])})
    left = engine.rows("SELECT count(*) AS n FROM decided WHERE cut IS NULL")[0]["n"]
    top_n = question.settings.top_n if scope == "all" else None
    if top_n is None or left <= top_n:
        return Round(number, file, left, None)
    if top_n == 0:
        return Round(number, file, left, None, none_taken=True)
    last = engine.rows(
        "SELECT sort_value, url_key FROM decided WHERE cut IS NULL "
        f"ORDER BY sort_value DESC, url_key LIMIT 1 OFFSET {top_n - 1}"
    )
    return Round(number, file, left, last[0])


def _left(question: Question, found: Round) -> list[str]:
    engine = question.crawl.engine
    path = question.folder / f"left-{found.number}.parquet"
    names = ", ".join(CONTENDERS.names)
    file = engine.write(f"SELECT {names} FROM decided WHERE NOT ({found.taken})", path, found.values)
    return [str(path)] if file.rows else []
