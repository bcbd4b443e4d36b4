"""Jobs: the SQL that lies beside a step, as named relations.

A `.sql` file opens with comments that declare what it reads, which parameters and fragments it takes, and is
then a list of steps, each named for what its rows are:

    -- reads: crawldb, pages
    -- params: now, retry_max
    -- fragments: sort_value
    -- step: latest_pages
    SELECT … FROM pages WHERE fetch_time <= :now
    -- step: updated (kept)
    SELECT … FROM crawldb LEFT JOIN latest_pages …

A step is a relation for the steps after it; a kept one is computed once and stays for reading. `:name` is a
value, `{name}` is SQL that was compiled and checked elsewhere (an expression): never text from outside.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any

from pinyon.tables import TableSpec

_HEADER = re.compile(r"^-- (reads|params|fragments): *(.*)$", re.MULTILINE)
_STEP = re.compile(r"^-- step: *(\w+)( \(kept\))? *$", re.MULTILINE)
_FRAGMENT = re.compile(r"\{(\w+)\}")
#: A text, which is passed over, or a parameter.
_PARAM = re.compile(r"'(?:[^']|'')*'|(?<![:\w]):([a-z]\w*)")
#: A text, which is kept, or a comment, which may hold colons and braces.
_COMMENT = re.compile(r"('(?:[^']|'')*')|--[^\n]*")


@dataclass(frozen=True, slots=True)
class Files:
    """A source of a job: Parquet files of one table (none is an empty table), or of it the rows of some buckets."""

    spec: TableSpec
    paths: tuple[str, ...]
    buckets: tuple[int, ...] | None = None
    addressed: bool = False

    @classmethod
    def of(cls, spec: TableSpec, paths: Iterable[str]) -> Files:
        return cls(spec, tuple(paths))

    def only(self, buckets: Iterable[int]) -> Files:
        """The rows of these buckets, wherever in the files they lie."""
        return replace(self, buckets=tuple(buckets))

    def with_addresses(self) -> Files:
        """With a column `row_address`: where a row lies in these files, while they are the same files."""
        return replace(self, addressed=True)


#: What a job reads: files of a table, or an Arrow table (or anything an engine scans like one).
Source = Any


@dataclass(frozen=True, slots=True)
class Step:
    """One named relation."""

    name: str
    sql: str
    kept: bool


@dataclass(frozen=True, slots=True)
class Job:
    """The steps of one .sql file (or of several that follow each other), in order."""

    name: str
    reads: frozenset[str]
    params: frozenset[str]
    fragments: frozenset[str]
    steps: tuple[Step, ...]

    def statements(self, fragments: Mapping[str, str]) -> list[tuple[str, str]]:
        """(name, query) of every kept step: steps that are not kept become its WITH clauses, if it uses them."""
        return [(step.name, query) for step, query in self._queries(fragments) if step.kept]

    def result(self, fragments: Mapping[str, str]) -> str:
        """The query of the last step, which is not kept: it is written as it is computed."""
        step, query = self._queries(fragments)[-1]
        if step.kept:
            raise ValueError(
                f"{self.name}: the last step, {step.name}, is kept: it has a relation, not a result"
            )
        return query

    def _queries(self, fragments: Mapping[str, str]) -> list[tuple[Step, str]]:
        misfits = self.fragments ^ fragments.keys()
        if misfits:
            raise ValueError(f"{self.name}: fragments do not fit: {sorted(misfits)}")
        queries: list[tuple[Step, str]] = []
        open_steps: list[Step] = []
        for step in self.steps:
            filled = Step(step.name, _FRAGMENT.sub(lambda m: fragments[m[1]], step.sql), step.kept)
            queries.append((filled, _with(filled, open_steps)))
            if not step.kept:
                open_steps.append(filled)
        return queries

    def check(self, tables: Iterable[str], params: Iterable[str]) -> None:
        """`ValueError` if what is given is not what the file declares: a slip of ours, not of the user."""
        if set(tables) != self.reads or set(params) != self.params:
            raise ValueError(
                f"{self.name} reads {sorted(self.reads)} with {sorted(self.params)}, "
                f"was given {sorted(tables)} with {sorted(params)}"
            )


def _with(step: Step, before: list[Step]) -> str:
    needed: list[Step] = []
    text = step.sql
    for earlier in reversed(before):
        if re.search(rf"\b{earlier.name}\b", text):
            needed.insert(0, earlier)
            text += earlier.sql
    if not needed:
        return step.sql
    clauses = ",\n".join(f"{s.name} AS (\n{s.sql}\n)" for s in needed)
    return f"WITH {clauses}\n{step.sql}"


@functools.cache
def load(package: str, *names: str) -> Job:
    """The job in `name.sql` of that package, e.g. `load("pinyon.cycle", "updatedb")`; of several files one job."""
    jobs = [parse(name, (files(package) / f"{name}.sql").read_text(encoding="utf-8")) for name in names]
    return Job(
        "+".join(names),
        frozenset().union(*(job.reads for job in jobs)),
        frozenset().union(*(job.params for job in jobs)),
        frozenset().union(*(job.fragments for job in jobs)),
        tuple(step for job in jobs for step in job.steps),
    )


def parse(name: str, text: str) -> Job:
    """A job from the text of its file."""
    declared = {kind: frozenset(names.replace(",", " ").split()) for kind, names in _HEADER.findall(text)}
    marks = list(_STEP.finditer(text))
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    steps = tuple(
        Step(mark[1], _bare(text[mark.end() : end]), mark[2] is not None)
        for mark, end in zip(marks, ends, strict=True)
    )
    job = Job(
        name,
        declared.get("reads", frozenset()),
        declared.get("params", frozenset()),
        declared.get("fragments", frozenset()),
        steps,
    )
    body = "\n".join(step.sql for step in steps)
    for what, declares, uses in (
        ("params", job.params, set(_PARAM.findall(body)) - {""}),
        ("fragments", job.fragments, set(_FRAGMENT.findall(body))),
    ):
        if declares != uses:
            raise ValueError(f"{name}.sql: {what}: declares {sorted(declares)}, uses {sorted(uses)}")
    return job


def _bare(sql: str) -> str:
    """Without comments, and without the final semicolon."""
    text = _COMMENT.sub(lambda match: match[1] or "", sql)
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    return "\n".join(lines).strip().removesuffix(";")
