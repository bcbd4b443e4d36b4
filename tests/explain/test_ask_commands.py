"""explain, plan and expr as commands: what is printed, as text and as one JSON object, and the exit status."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from crawls import host_row, url_row
from explain_crawls import fill

from command_line import Result, run_pinyon
from pinyon.cli.ask import clock
from pinyon.crawl import Crawl

NOW = ("--now", "2026-11-30T12:00:00")
EXPR = "connectionFailures > 100 ? 2 : 1000"


@pytest.fixture
def folder(crawl: Crawl) -> Path:
    """A crawl of two hosts, one of them failing."""
    rows = [
        url_row(f"http://{host}/{n}", 10.0 - n) for host in ("a.one.com", "d.two.co.uk") for n in range(5)
    ]
    fill(crawl, rows, [host_row("a.one.com", connection_failures=120), host_row("d.two.co.uk")])
    crawl.close()
    return crawl.root


def as_json(done: Result) -> Any:
    assert (done.status, done.stderr) == (0, "")
    assert done.stdout.count("\n") == 1
    return json.loads(done.stdout)


def test_explain_prints_the_verdict_first_and_the_numbers_below(folder: Path) -> None:
    done = run_pinyon("explain", folder, "http://a.one.com/3", *NOW, "--max-count-expr", EXPR)
    lines = done.stdout.splitlines()
    assert done.status == 0
    assert lines[0] == "http://a.one.com/3: not selected: host_limit"
    [decided] = [line for line in lines if line.startswith("DROPS")]
    assert "rank 4 of 2, because" in decided
    assert "(connectionFailures 120)" in decided
    assert "  status          db_unfetched" in lines


def test_explain_takes_the_options_of_generate_in_the_spelling_of_nutch_too(folder: Path) -> None:
    selected = {}
    for number in range(5):
        done = run_pinyon("explain", folder, f"http://a.one.com/{number}", *NOW, "-topN", 4, "--json")
        selected[number] = as_json(done)["selected"]
    assert selected == {0: True, 1: True, 2: False, 3: False, 4: False}


def test_explain_without_the_cut_says_that_it_was_not_asked(folder: Path) -> None:
    done = run_pinyon("explain", folder, "http://a.one.com/3", *NOW, "--top-n", 4, "--no-cut")
    assert done.stdout.splitlines()[0].endswith("the rest is up to the cut of top_n")
    host = run_pinyon("explain", folder, "--host", "a.one.com", *NOW, "--top-n", 4, "--no-cut")
    assert host.stderr == "note: the cut of top_n (4) was not asked: fewer may be selected\n"


def test_explain_tells_of_a_host(folder: Path) -> None:
    arguments = ("explain", folder, "--host", "a.one.com", *NOW, "--max-count-expr", EXPR)
    lines = run_pinyon(*arguments).stdout.splitlines()
    assert lines[0] == "a.one.com: 5 URLs, 5 of them could be selected now"
    assert lines[3:5] == ["selected, list 0: 2", "not selected: host_limit 3"]
    found = as_json(run_pinyon(*arguments, "--json"))
    assert (found["limit"], found["selected"], found["rejected"]) == (2, {"0": 2}, {"host_limit": 3})


def test_explain_tells_of_a_past_list(folder: Path) -> None:
    made = as_json(run_pinyon("generate", folder, *NOW, "--top-n", 4, "--json"))["segments"][0]["name"]
    taken = run_pinyon("explain", folder, "http://a.one.com/0", "--segment", made)
    assert taken.stdout.splitlines()[0].startswith(f"http://a.one.com/0: in segment {made} (generated)")
    left = run_pinyon("explain", folder, "http://a.one.com/3", "--segment", made)
    assert "not selected: top_n 6" in left.stdout
    assert "below the cut, 7 < 9" in left.stdout
    found = as_json(run_pinyon("explain", folder, "http://a.one.com/3", "--segment", made, "--json", "-q"))
    assert (found["place"], found["why"]["reason"]) == (None, "top_n")


def test_plan_prints_parts_slowest_hosts_and_savings(folder: Path) -> None:
    done = run_pinyon("plan", folder, *NOW, "--fetchers", 2, "--seed", 1)
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert lines[0] == "list part URLs hosts takes at least"
    assert "a.one.com 0 0 5 5000 0:25 0:00" in lines
    assert "with --max-count 2 the slowest part takes 0:10 instead of 0:25: 6 URLs fewer" in lines
    assert lines[-1] == "of 10 URLs: 10 would be selected; none"
    found = as_json(run_pinyon("plan", folder, *NOW, "--fetchers", 2, "--json"))
    assert (found["selected"], found["slowest_s"], len(found["parts"])) == (10, 25.0, 2)


def test_plan_says_when_nothing_is_due(folder: Path) -> None:
    done = run_pinyon("plan", folder, "--now", "2026-11-01")
    assert (done.status, done.stdout) == (3, "")
    assert done.stderr == "pinyon: nothing is due: 10 URLs known (not_due 10)\n"


def test_expr_prints_value_type_and_names(folder: Path) -> None:
    done = run_pinyon("expr", folder, EXPR, "--host", "a.one.com")
    assert done.stdout == "2  (integer, for a.one.com)\n  connectionFailures  120\n"
    found = as_json(run_pinyon("expr", folder, "score > 8", "--url", "http://a.one.com/1", "--json"))
    assert (found["type"], found["value"], found["names"]) == ("boolean", True, {"score": 9.0})


def test_expr_sums_up_all_rows(folder: Path) -> None:
    done = run_pinyon("expr", folder, "connectionFailures > 100", "--all")
    assert done.stdout.splitlines()[:3] == [
        "boolean over 2 hosts; 0 without a value",
        "  false: 1",
        "  true: 1",
    ]
    found = as_json(run_pinyon("expr", folder, "score", "--all", "urls", "--json"))
    assert (found["summary"]["minimum"], found["summary"]["mean"]) == (6.0, 8.0)


@pytest.mark.parametrize(
    ("arguments", "status", "wanted"),
    [
        (("explain", "{}"), 2, "explain takes a URL, or --host HOST"),
        (("explain", "{}", "http://a.one.com/0", "--host", "a.one.com"), 2, "a URL, or --host"),
        (
            ("explain", "{}", "http://a.one.com/0", "--segment", "20260101000000", "--top-n", "3"),
            2,
            "recorded",
        ),
        (("explain", "{}", "http://a.one.com/0", "--segment", "20260101000000"), 1, "no segment"),
        (("explain", "{}", "http://a.one.com/99"), 1, "not in the crawldb"),
        (("explain", "{}", "http://a.one.com/0", "--expr", "fetched > 3"), 2, "unknown name 'fetched'"),
        (("plan", "{}", "--top-n", "-1"), 2, "wanted 0 or more"),
        (("expr", "{}", "1 +", "--host", "a.one.com"), 2, "position 4"),
        (("expr", "{}", "1"), 2, "tried on one of"),
        (("expr", "{}", "1", "--host", "x.org"), 1, "not in the HostDb"),
        (("plan", "{}/nowhere"), 1, "not a crawl directory"),
    ],
)
def test_what_goes_wrong_is_one_line_and_an_exit_status(
    folder: Path, arguments: tuple[str, ...], status: int, wanted: str
) -> None:
    done = run_pinyon(*(argument.replace("{}", str(folder)) for argument in arguments))
    assert (done.status, done.stdout, done.stderr.count("\n")) == (status, "", 1), done
    assert wanted in done.stderr


def test_a_clock_reads_as_people_write_it() -> None:
    assert [clock(seconds) for seconds in (0, 41.4, 192, 3812)] == ["0:00", "0:41", "3:12", "1:03:32"]
