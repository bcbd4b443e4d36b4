"""Every state of a URL x everything a fetch may meet, as data/states.tsv has it, through the real job."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from update_crawls import DAY, Row, T, doc, page, put, put_segment, url_row, urls_of

from pinyon.crawl import Crawl
from pinyon.cycle.updatedb import updatedb
from pinyon.tables import CRAWLDB, OUTCOMES, STATUSES

DATA = Path(__file__).parent / "data"


@dataclass(frozen=True)
class Case:
    """One line of states.tsv: the URL it is tried on, what is there before, and what is expected after."""

    url: str
    before: Row
    outcome: str
    content: str
    after: Row


def test_every_state_meets_every_outcome_as_the_matrix_says(crawl: Crawl) -> None:
    cases = read_cases()
    put(crawl, CRAWLDB, [case.before for case in cases])
    put_segment(
        crawl,
        "20260301000000",
        pages=[page(c.url, c.outcome, **validators(c)) for c in cases],
        docs=[body(c) for c in cases if c.outcome == "success"],
    )
    report = updatedb(crawl, now=T + DAY)
    found = urls_of(crawl)
    assert report.rows == len(found) == len(cases)
    wrong = [told(c, found[c.url]) for c in cases if found[c.url] != c.after]
    assert not wrong, "\n".join(wrong)


def test_the_matrix_is_complete() -> None:
    lines = table("states.tsv")
    assert {(line[0], line[1]) for line in lines} == {(s, o) for s in STATUSES for o in OUTCOMES}
    assert {line[2] for line in lines if line[1] == "success"} == {"same", "changed", "unreadable"}
    assert set(STATUSES) == {line[0] for line in table("states_before.tsv")}


# -- the files ------------------------------------------------------------------------------------------------


def table(name: str) -> list[list[str]]:
    lines = (DATA / name).read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if not line.startswith("#")][1:]


def read_cases() -> list[Case]:
    befores = {line[0]: line[1:] for line in table("states_before.tsv")}
    return [
        case(f"http://h{n % 7}.test/{n}", line, befores[line[0]])
        for n, line in enumerate(table("states.tsv"))
    ]


def case(url: str, line: list[str], known: list[str]) -> Case:
    status, outcome, content, retries, *expected = line
    before = url_row(url, status, retries=int(retries), etag=None, last_modified=None, generate_time=None)
    before |= columns(*known)
    after = dict(before)
    after |= {"status": expected[0], "fetch_time": moment(expected[1]), "retries": int(expected[3])}
    after |= columns(expected[2], *expected[4:])
    return Case(url, before, outcome, content, after)


def columns(interval: str, last_fetch: str, modified: str, signature: str, validators: str) -> Row:
    return {
        "fetch_interval": round(span(interval).total_seconds()),
        "last_fetch_time": moment(last_fetch),
        "modified_time": moment(modified),
        "signature": None if signature == "none" else signature.encode(),
        "etag": None if validators == "none" else f'"{validators}"',
        "last_modified": None if validators == "none" else f"date of {validators}",
    }


def span(text: str) -> timedelta:
    return timedelta(days=float(text.removesuffix("d")))


def moment(text: str) -> datetime | None:
    return None if text == "never" else T if text == "now" else T + span(text)


# -- what the fetch met ---------------------------------------------------------------------------------------


def validators(c: Case) -> Row:
    return {"etag": '"new"', "last_modified": "date of new"} if c.outcome == "success" else {}


def body(c: Case) -> Row:
    parse_status = "failed" if c.content == "unreadable" else "parsed"
    return doc(c.url, b"old" if c.content == "same" else b"new", parse_status)


def told(c: Case, found: Row) -> str:
    differences = {name: (found[name], c.after[name]) for name in c.after if found[name] != c.after[name]}
    return f"{c.before['status']} x {c.outcome} ({c.content}, {c.before['retries']} retries): {differences}"
