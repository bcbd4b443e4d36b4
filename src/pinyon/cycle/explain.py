"""explain: what is known of a URL or a host, and which rule of generate decides about it, with the numbers.

    row of the URL ─▶ rules of a candidate ─▶ policy of its host ─▶ limits, among what comes no later ─▶ findings

The answer is that of a generate with the same options at the same time. Nothing is locked, no table is written. Of one
URL the bucket of its host is read; where domains are limited, a column of all buckets; only the cut of `top_n` needs
the whole selection of all that is no worse: without it (`cut=False`) the answer is "as far as it is up to the others".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pinyon.crawl import Crawl
from pinyon.cycle.explain_asking import asking
from pinyon.cycle.explain_facts import host_row, limits_of, policy_row, url_row, waiting_in
from pinyon.cycle.explain_fates import Fate, fate_of_url, fates_of_host, scope_of
from pinyon.cycle.explain_limits import delay_because, limit_because, of_limits
from pinyon.cycle.explain_lists import Ours
from pinyon.cycle.explain_question import Question
from pinyon.cycle.explain_words import Finding, Waiting, of_candidate
from pinyon.cycle.selection import REASONS
from pinyon.cycle.tryexpr import host_name
from pinyon.errors import InputError
from pinyon.tables import CRAWLDB
from pinyon.urls import domain_of, key_of

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class UrlExplanation:
    """`selected` is None where that is up to `top_n`, and it was not asked; `list` is the number of the list, from 0.

    `reason` is the first rule that drops the URL. `row` is its crawldb row, `host` its host's HostDb row, `limits` what
    the limits file has of its host and domain, `waiting` the open segments that hold it. `findings` are all rules, in
    the order generate asks them.
    """

    url: str
    now: datetime
    selected: bool | None
    list: int | None
    reason: str | None
    findings: Sequence[Finding]
    row: Mapping[str, Any]
    host: Mapping[str, Any] | None
    limits: Sequence[Mapping[str, Any]]
    waiting: Sequence[Waiting]
    notes: Sequence[str]


@dataclass(frozen=True, slots=True)
class HostExplanation:
    """`limit` (URLs in a list; negative: none), `delay_ms` and `budget` (URLs in a list by `time_budget`) hold for the
    host, with the reasons beside them. Of its `urls`, `candidates` pass all rules of a URL; `selected` counts them by
    list, `rejected` all others by reason; a note says so if `top_n` was not asked."""

    host: str
    now: datetime
    limit: int
    limit_because: str
    delay_ms: int
    delay_because: str
    budget: int | None
    urls: int
    candidates: int
    selected: Mapping[int, int]
    rejected: Mapping[str, int]
    row: Mapping[str, Any] | None
    limits: Sequence[Mapping[str, Any]]
    notes: Sequence[str]


def explain_url(
    crawl: Crawl, url: str, *, now: datetime | str | None = None, cut: bool = True, **options: Any
) -> UrlExplanation:
    """Why a generate with these `options`, at `now`, would select the URL, or would not.

    Raises what generate raises for options that make no sense, and `InputError` for a URL that is not known.
    """
    with asking(crawl, now, options) as question:
        return answer(question, url, cut)


def answer(question: Question, url: str, cut: bool) -> UrlExplanation:
    """The explanation of one URL; see `explain_url`."""
    row, names = url_row(question, url)
    policy, host_names = policy_row(question, row["host"], row["domain"])
    names |= host_names
    waiting = waiting_in(question, row["url"], row["bucket"])
    findings = of_candidate(question, row, waiting, names)
    fate, known = None, False
    if row["reason"] is None:
        scope = scope_of(question, policy, cut)
        known = scope == "all" or question.settings.top_n is None
        ours = Ours(
            row["host"], row["host_key"], row["domain"], row["sort_value"], row["url_key"], row["url_key"]
        )
        fate = fate_of_url(question, ours, scope)
    return UrlExplanation(
        url=row["url"],
        now=question.now,
        selected=_verdict(question, row, fate, known),
        list=fate.taken_by if fate and known else None,
        reason=row["reason"] or (fate.reason if fate else None),
        findings=[*findings, *of_limits(question, policy, names, fate, known)],
        row={name: row[name] for name in CRAWLDB.names} | {"fetch_interval": row["known_interval"]},
        host=host_row(question, row["host"]),
        limits=limits_of(question, row["host"], row["domain"]),
        waiting=waiting,
        notes=question.policy.notes,
    )


def _verdict(question: Question, row: Row, fate: Fate | None, known: bool) -> bool | None:
    if fate is None:
        return False
    if known or (fate.reason is not None and question.settings.segments == 1):
        return fate.reason is None
    return None


def explain_host(
    crawl: Crawl, host: str, *, now: datetime | str | None = None, cut: bool = True, **options: Any
) -> HostExplanation:
    """What holds for a host, and how many of its URLs a generate with these `options`, at `now`, would select.

    Raises what generate raises for options that make no sense, and `InputError` for a host that is not known.
    """
    name = host_name(host)
    with asking(crawl, now, options) as question:
        row, domain = host_row(question, name), domain_of(name, crawl.settings.urls.private_suffixes)
        files = ("explain_of_host", "explain_judged", "explain_counts")
        question.run(files, question.bucket_of(name), host=name, host_key=key_of(name))
        counts = {r["reason"]: r["urls"] for r in crawl.engine.rows("SELECT * FROM reason_counts")}
        last = crawl.engine.rows("SELECT * FROM last_candidate")
        if row is None and not counts:
            raise InputError(
                f"{name}: no URL of it in the crawldb, and no row in the HostDb, of {crawl.root}"
            )
        policy, names = policy_row(question, name, domain)
        selected: dict[int, int] = {}
        refused: dict[str, int] = {}
        for end in last:
            ours = Ours(name, key_of(name), domain, end["sort_value"], end["url_key"])
            selected, refused = fates_of_host(question, ours, scope_of(question, policy, cut))
        return HostExplanation(
            host=name,
            now=question.now,
            limit=policy["host_limit"],
            limit_because=limit_because(question, policy, names),
            delay_ms=policy["delay_ms"],
            delay_because=delay_because(question, policy, names),
            budget=policy["host_budget"],
            urls=sum(counts.values()),
            candidates=counts.get(None, 0),
            selected=selected,
            rejected={reason: counts[reason] for reason in REASONS if reason in counts} | refused,
            row=row,
            limits=limits_of(question, name, domain),
            notes=_host_notes(question, cut),
        )


def _host_notes(question: Question, cut: bool) -> list[str]:
    top_n = question.settings.top_n
    unasked = (
        [] if cut or top_n is None else [f"the cut of top_n ({top_n:,}) was not asked: fewer may be selected"]
    )
    return [*question.policy.notes, *unasked]
