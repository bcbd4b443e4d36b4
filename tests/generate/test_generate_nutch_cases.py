"""What Nutch's own generator selected is what pinyon selects, through the command line, as a user would ask.

Each folder of `tests/data/nutch` is one input and the answer of the real generator (see the README there). Where
that README says "ours", our rule is asserted; the differences stand in docs/generate.md.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import pytest

from command_line import run_pinyon

CASES = Path(__file__).parent.parent / "data" / "nutch"

#: Refused before anything runs: exit status, and what the one line says.
REFUSED = {
    "05b_restrict_status_unknown": "unknown status, did you mean 'db_unfetched'?",
    "06e_expr_nonboolean": "a boolean is needed",
    "06h_expr_syntax_error": "position",
    "09c_count_mode_other": "generate.count_mode",
    "13h_hostdb_expr_error": "nosuchvar",
    "13i_hostdb_expr_string": "a number is needed",
}
FORMS = ["join", "secondary-sort", "reference"]
#: Nutch's counters, and our reasons.
COUNTERS = {
    "schedule_rejected_total": "not_due",
    "wait_for_update_total": "awaiting_update",
    "score_too_low_total": "min_score",
    "interval_rejected_total": "interval",
    "status_rejected_total": "status",
    "expr_rejected_total": "expression",
}


def cases() -> list[str]:
    return sorted(path.name for path in CASES.iterdir() if path.is_dir())


def expected_of(case: str) -> dict[str, Any]:
    for name in ("expected.ours.json", "expected.prfix.json", "expected.json"):
        path = CASES / case / name
        if path.exists():
            return json.loads(path.read_text())
    raise AssertionError(f"{case} has no answer")


def imported(case: str, tmp_path: Path) -> Path:
    """A crawl with the case's tables, and its properties as nutch-site.xml beside it."""
    crawl = tmp_path / "crawl"
    assert run_pinyon("init", crawl).status == 0
    files = ["--crawldb", CASES / case / "crawldb.jsonl"]
    if (CASES / case / "hostdb.jsonl").exists():
        files += ["--hostdb", CASES / case / "hostdb.jsonl"]
    assert run_pinyon("import", crawl, "nutch-jsonl", *files).status == 0
    config = json.loads((CASES / case / "config.json").read_text())
    properties = "".join(
        f"<property><name>{name}</name><value>{escape(text_of(value))}</value></property>\n"
        for name, value in config.items()
        if name != "_note"
    )
    (tmp_path / "nutch-site.xml").write_text(
        f"<?xml version='1.0'?>\n<configuration>\n{properties}</configuration>\n"
    )
    return crawl


def text_of(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def generated(crawl: Path, tmp_path: Path, *options: object) -> Any:
    return run_pinyon("generate", crawl, "--conf", tmp_path / "nutch-site.xml", "--json", *options)


def dumped(crawl: Path, tmp_path: Path, segment: str) -> list[dict[str, Any]]:
    path = tmp_path / f"{segment}.jsonl"
    assert run_pinyon("readseg", crawl, segment, "--dump", path).status == 0
    return [json.loads(line) for line in path.read_text().splitlines()]


def scores(case: str, urls: list[str]) -> list[float]:
    records = (json.loads(line) for line in (CASES / case / "crawldb.jsonl").read_text().splitlines())
    known = {record["url"]: float(record["score"]) for record in records}
    return sorted(known[url] for url in urls)


@pytest.mark.parametrize("form", [(), ("--plan", "secondary-sort"), ("--engine", "reference")], ids=FORMS)
@pytest.mark.parametrize("case", [case for case in cases() if case not in REFUSED])
def test_selects_what_nutch_selects(case: str, form: tuple[str, ...], tmp_path: Path) -> None:
    crawl = imported(case, tmp_path)
    result = generated(crawl, tmp_path, *form)
    expected = expected_of(case)
    lists = expected["segments"]
    if not lists:
        assert result.status == 3
        assert "nothing is due" in result.stderr
        return
    assert result.status == 0, result.stderr
    report = json.loads(result.stdout)
    found = [dumped(crawl, tmp_path, segment["name"]) for segment in report["segments"]]
    if case == "17_ties":
        assert scores(case, [row["url"] for row in found[0]]) == scores(case, lists[0]["urls"])
    else:
        assert [sorted(row["url"] for row in rows) for rows in found] == [
            sorted(one["urls"]) for one in lists
        ]
    for rows, one in zip(found, lists, strict=True):
        delays = one.get("variable_fetch_delay", one.get("fetch_delay_ms", {}))
        assert {
            row["url"]: row["fetch_delay_ms"] for row in rows if row["fetch_delay_ms"] is not None
        } == delays
    assert report["rows"] == report["selected"] + sum(report["rejected"].values())
    for counter, reason in COUNTERS.items():
        if counter in expected.get("counters", {}):
            assert report["rejected"].get(reason) == expected["counters"][counter]
    for reason, urls in expected.get("rejected", {}).items():
        assert report["rejected"].get(reason) == urls


@pytest.mark.parametrize("case", sorted(REFUSED))
def test_what_nutch_takes_silently_is_refused_with_its_reason(case: str, tmp_path: Path) -> None:
    crawl = imported(case, tmp_path)
    result = generated(crawl, tmp_path)
    assert result.status == 2
    assert REFUSED[case] in result.stderr
    assert len([line for line in result.stderr.splitlines() if line.startswith("pinyon: ")]) == 1
    assert not list((crawl / "segments").iterdir())


def test_open_segment_keeps_its_urls_as_nutchs_marks_in_the_crawldb_do(tmp_path: Path) -> None:
    """18_update_crawldb: a second generate before updatedb selects other URLs, without a rewrite."""
    crawl = imported("18_update_crawldb", tmp_path)
    first = json.loads(generated(crawl, tmp_path).stdout)
    second = json.loads(generated(crawl, tmp_path).stdout)
    urls = [
        {row["url"] for row in dumped(crawl, tmp_path, report["segments"][0]["name"])}
        for report in (first, second)
    ]
    assert urls[0] and urls[1]
    assert not urls[0] & urls[1]
    waiting = second["rejected"]["awaiting_update"] - first["rejected"]["awaiting_update"]
    assert waiting == first["selected"]
