"""What is known of one URL or host, read where it lies: rows, names that expressions use, segments that hold it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pinyon import expressions
from pinyon.crawl import Crawl
from pinyon.cycle.explain_question import Question, lock_files
from pinyon.cycle.explain_words import Waiting
from pinyon.cycle.narrow import LIMITS, URLS
from pinyon.cycle.tryexpr import named, names_sql, scopes, spellings
from pinyon.errors import InputError
from pinyon.jobs import Files
from pinyon.store import Segment
from pinyon.tables import FETCHLIST, HOSTDB
from pinyon.urls import key_of, locate

Row = dict[str, Any]


def url_row(question: Question, url: str) -> tuple[Row, dict[str, Row]]:
    """The row of a URL as `explain_row.sql` has it, and by setting the values of the names its expressions use.

    Raises `InputError` if the URL is not known.
    """
    scope = scopes(question.crawl, question.crawldb, question.policy.hostdb)[1]
    settings = question.settings
    used = {
        "sort_by": _used(settings.sort_by, scope),
        "expr": _used(settings.expr, scope),
    }
    names = sorted({name for listed in used.values() for name in listed})
    for spelled in spellings(question.crawl, url):
        question.run(
            ("explain_of_url", "explain_judged", "explain_row"),
            [locate(spelled).bucket(question.crawldb.buckets)],
            url=spelled,
            name_values=names_sql(names, scope),
        )
        rows = question.crawl.engine.rows("SELECT * FROM judged_row")
        if rows:
            values = named(names, question.crawl.engine.rows("SELECT * FROM names_of_row")[0])
            return rows[0], _by_setting(used, values)
    raise InputError(_unknown(question, url))


def _used(text: str | None, scope: expressions.Scope) -> list[str]:
    return sorted(expressions.compile(text, scope).names_used) if text else []


def _by_setting(used: Mapping[str, list[str]], values: Row) -> dict[str, Row]:
    return {setting: {name: values[name] for name in names} for setting, names in used.items()}


def _unknown(question: Question, url: str) -> str:
    """Why it may not be there: it would not enter, or another spelling of it did."""
    crawl = question.crawl
    normalised = crawl.normalise(url)
    told = f"{url}: not in the crawldb of {crawl.root}"
    if normalised is None:
        return f"{told}: it is no http or https URL"
    refused = crawl.url_filter.reason(normalised, locate(normalised).host)
    if refused is not None:
        return f"{told}: its URL filters refuse it ({refused})"
    return told if normalised == url else f"{told}, nor is {normalised}"


def policy_row(question: Question, host: str | None, domain: str | None) -> tuple[Row, dict[str, Row]]:
    """The policy of a host as `explain_policy_row.sql` has it, and by setting the values of the names used."""
    scope = scopes(question.crawl, question.crawldb, question.policy.hostdb)[0]
    used = {s: _used(getattr(question.settings, s), scope) for s in ("max_count_expr", "fetch_delay_expr")}
    names = sorted({name for listed in used.values() for name in listed})
    question.run(
        ("explain_one_host", "explain_policy", "explain_policy_row"),
        question.bucket_of(host),
        host=host,
        domain=domain,
        name_values=names_sql(names, scope),
    )
    engine = question.crawl.engine
    row = engine.rows("SELECT * FROM policy_row")[0]
    return row, _by_setting(used, named(names, engine.rows("SELECT * FROM names_of_host")[0]))


def host_row(question: Question, host: str | None) -> Row | None:
    """The HostDb row of a host; None if there is none, or no HostDb is used."""
    hostdb = question.policy.hostdb
    if hostdb is None or host is None:
        return None
    question.crawl.engine.bind(
        {"hostdb": Files.of(HOSTDB, hostdb.paths([key_of(host) & (hostdb.buckets - 1)]))}
    )
    return next(
        iter(question.crawl.engine.rows("SELECT * FROM hostdb WHERE host = :host", {"host": host})), None
    )


def limits_of(question: Question, host: str | None, domain: str | None) -> list[Row]:
    """What the limits file has of a host and of its domain."""
    if not question.limits:
        return []
    question.crawl.engine.bind({"limits": Files.of(LIMITS, question.limits)})
    named_so = {"host": host, "domain": domain}
    return question.crawl.engine.rows(
        "SELECT * FROM limits WHERE name IN (:host, :domain) ORDER BY name", named_so
    )


def waiting_in(question: Question, url: str, bucket: int) -> list[Waiting]:
    """The open segments that hold a URL, oldest first."""
    engine, found = question.crawl.engine, []
    for lock in question.locks:
        engine.bind({"locked": Files.of(URLS, lock_files(lock.segment, [bucket]))})
        if engine.rows(f"SELECT url FROM locked {_THIS_URL}", _keys(url)):
            place = listed_in(question.crawl, lock.segment, url) or {}
            name, state = lock.segment.name, lock.segment.state
            found.append(
                Waiting(name, state, lock.generated_at, lock.holds, place.get("part"), place.get("position"))
            )
    return found


_THIS_URL = "WHERE url_key = :url_key AND url = :url"


def _keys(url: str) -> Row:
    return {"url": url, "url_key": key_of(url)}


def listed_in(crawl: Crawl, segment: Segment, url: str) -> Row | None:
    """The row of a URL, in any spelling, in the fetch list of a segment; None if it is not in it."""
    crawl.engine.bind({"fetchlist": Files.of(FETCHLIST, segment.files("fetchlist"))})
    for spelled in spellings(crawl, url):
        for row in crawl.engine.rows(f"SELECT * FROM fetchlist {_THIS_URL}", _keys(spelled)):
            return row
    return None
