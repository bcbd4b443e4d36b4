"""What makes no sense costs nothing but itself: it is counted, named, and has a documented place."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from small_crawls import NOW, chosen, every_plan, expect, host, made, refusal, url, urls

from command_line import run_pinyon
from pinyon.urls import key_of

# -- expressions that fail for some hosts ---------------------------------------------------------------------


@every_plan
def test_a_host_for_which_an_expression_fails_has_the_default_and_is_counted_and_named(
    tmp_path: Path,
    plan: Sequence[object],
) -> None:
    """A division by zero, and what does not fit: never the limit of another host."""
    names = ("fine.test", "zero.test", "huge.test", "unknown.test")
    hostdb = [host("fine.test", gone=3), host("zero.test"), host("huge.test", gone=1, fetched=2**62)]
    crawl = made(tmp_path, [row for name in names for row in urls(name, 6)], hostdb)
    found = chosen(crawl, *plan, "--max-count-expr", "fetched * 4 + 6 / gone", "--max-count", 4)
    assert found.by_host() == {"fine.test": 2, "zero.test": 4, "huge.test": 4, "unknown.test": 4}
    assert found.report["expression_failures"] == 2
    [note] = [line for line in found.notes.splitlines() if "max_count_expr" in line]
    assert "2 hosts" in note and "huge.test" in note


def test_a_missing_metadata_key_is_null_and_null_is_the_default(tmp_path: Path) -> None:
    crawl = made(
        tmp_path,
        [row for name in ("a.test", "b.test") for row in urls(name, 6)],
        [host("a.test", metadata={"my-limit": "2"}), host("b.test")],
    )
    found = chosen(crawl, "--max-count-expr", "my_limit", "--max-count", 3)
    assert found.by_host() == {"a.test": 2, "b.test": 3}
    assert found.report["expression_failures"] == 1
    asked = chosen(crawl, "--max-count-expr", "my_limit ?? 1", "--gen-delay", 0)
    assert asked.by_host() == {"a.test": 2, "b.test": 1}
    assert asked.report["expression_failures"] == 0


@every_plan
def test_a_negative_delay_is_an_error_of_its_host(tmp_path: Path, plan: Sequence[object]) -> None:
    crawl = made(
        tmp_path,
        [row for name in ("a.test", "b.test", "c.test") for row in urls(name, 1)],
        [host("a.test", gone=1), host("b.test"), host("c.test", gone=2)],
    )
    found = chosen(crawl, *plan, "--fetch-delay-expr", "gone * 1000.9 - 1500")
    assert found.delays() == {"a.test": None, "b.test": None, "c.test": 501}
    assert found.report["expression_failures"] == 2
    assert "fetch_delay_expr" in found.notes


def test_a_delay_of_zero_is_a_delay(tmp_path: Path) -> None:
    crawl = made(tmp_path, urls("a.test", 2), [host("a.test")])
    assert chosen(crawl, "--fetch-delay-expr", "gone").delays() == {"a.test": 0}


def test_both_expressions_are_counted(tmp_path: Path) -> None:
    crawl = made(tmp_path, urls("a.test", 2), [host("a.test")])
    found = chosen(crawl, "--fetch-delay-expr", "1 / gone", "--max-count-expr", "1 / gone")
    assert found.report["expression_failures"] == 2


def test_a_url_for_which_the_expression_gives_nothing_is_dropped_and_counted(tmp_path: Path) -> None:
    """As in Nutch: a null operand makes the whole expression null, and null is not true."""
    crawldb = [
        url("http://a.test/1", metadata={"n": 7}),
        url("http://a.test/2", metadata={"n": 0}),
        url("http://a.test/3"),
    ]
    found = chosen(made(tmp_path, crawldb), "--expr", "70 / n == 10 || score > 0.5")
    assert found.urls == {"http://a.test/1"}
    assert found.rejected == {"expression": 2}


def test_a_sort_value_that_is_nothing_is_dropped_as_worth_too_little(tmp_path: Path) -> None:
    crawldb = [url("http://a.test/1", metadata={"n": 7}), url("http://a.test/2")]
    found = chosen(made(tmp_path, crawldb), "--sort-by", "n", "--min-score", "-inf")
    assert found.urls == {"http://a.test/1"}
    assert found.rejected == {"min_score": 1}


# -- scores that are no numbers -------------------------------------------------------------------------------

_SCORES: Sequence[float | str] = ("NaN", "Infinity", 3.4e38, 1.0, 1e-45, 0.0, -1.0, "-Infinity")


@every_plan
def test_scores_have_an_order_even_where_they_are_no_numbers(tmp_path: Path, plan: Sequence[object]) -> None:
    """NaN first, as Java's floats sort, then infinity; what is below generate.min_score is dropped, NaN never."""
    crawldb = [url(f"http://s{n}.test/", score) for n, score in enumerate(_SCORES)]
    crawl = made(tmp_path, reversed(crawldb))
    found = chosen(crawl, *plan, "--min-score", "-inf")
    assert [row["host"] for row in found.rows] == [f"s{n}.test" for n in range(8)]
    found = chosen(crawl, *plan, "--gen-delay", 0)
    assert [row["host"] for row in found.rows] == [f"s{n}.test" for n in range(6)]
    assert found.rejected == {"min_score": 2}
    for top_n in range(1, 6):
        found = chosen(crawl, *plan, "--gen-delay", 0, "--top-n", top_n)
        assert [row["host"] for row in found.rows] == [f"s{n}.test" for n in range(top_n)]


def test_minus_zero_is_zero_and_equal_scores_go_by_the_key_of_the_url(tmp_path: Path) -> None:
    texts = [f"http://a.test/{n}" for n in range(20)]
    crawl = made(tmp_path, [url(text, -0.0 if n % 2 else 0.0) for n, text in enumerate(texts)])
    found = chosen(crawl, "--top-n", 7)
    assert [row["url"] for row in found.rows] == sorted(texts, key=key_of)[:7]


# -- URLs -----------------------------------------------------------------------------------------------------


@every_plan
def test_what_is_no_url_uses_up_no_limit(tmp_path: Path, plan: Sequence[object]) -> None:
    """Nutch counted malformed URLs of an empty host towards the limit of the host ''."""
    odd = ["", "nothing", "http://", "mailto:a@b", "ftp://a.test/", "file:///etc/passwd", "http://[::1/"]
    crawl = made(tmp_path, [url(text, 9.0) for text in odd] + urls("a.test", 3))
    found = chosen(crawl, *plan, "--top-n", 2, "--max-count", 2)
    assert found.urls == {"http://a.test/0", "http://a.test/1"}
    assert found.rejected == {"no_host": len(odd), "host_limit": 1}


def test_hosts_that_are_addresses_are_hosts_and_their_own_domains(tmp_path: Path) -> None:
    crawldb = [*urls("192.0.2.1", 2), *urls("192.0.2.2:8080", 2), *urls("[2001:DB8::1]", 2)]
    found = chosen(made(tmp_path, crawldb), "--max-per-domain", 1)
    assert found.by_host() == {"192.0.2.1": 1, "192.0.2.2": 1, "[2001:db8::1]": 1}


def test_quotes_and_signs_in_names_are_only_characters(tmp_path: Path) -> None:
    """In paths, expressions and file names: nothing of them reaches SQL as SQL."""
    folder = tmp_path / "it's a $1 {crawl}"
    folder.mkdir()
    odd = "http://a.test/it's?x=:now&y={sort_value}&z=--"
    crawl = made(folder, [url(odd, metadata={"it's": "{a}"}), url("http://a.test/other")])
    listed, limits = folder / "it's.txt", folder / "it's.tsv"
    listed.write_text(f"{odd}\n")
    limits.write_text("domain\turls\tinterval\na.test\t1\t60\n")
    found = chosen(
        crawl,
        "--from-list",
        listed,
        "--limits",
        limits,
        "--segments",
        2,
        "--expr",
        "metadata['it\\'s'] == '{a}'",
    )
    assert found.urls == {odd}


# -- the crawl ------------------------------------------------------------------------------------------------


def test_a_directory_that_is_no_crawl_is_an_error_and_stays_as_it_is(tmp_path: Path) -> None:
    result = run_pinyon("generate", tmp_path)
    assert result.status == 1
    assert "not a crawl directory" in result.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("text", ["", "[1, 2]", "\0" * 40])
def test_a_broken_segment_is_named_and_not_passed_over(text: str, tmp_path: Path) -> None:
    """Passed over, its URLs would be fetched twice."""
    crawl = made(tmp_path, urls("a.test", 4))
    name = chosen(crawl, "--top-n", 2).report["segments"][0]["name"]
    (crawl / "segments" / name / "segment.json").write_text(text)
    assert name in refusal(crawl, status=1)
    expect(run_pinyon("segments", crawl, "abort", name))
    assert len(chosen(crawl).rows) == 4


def test_metadata_of_seeds_can_be_asked_for(tmp_path: Path) -> None:
    crawl = made(tmp_path, [])
    (tmp_path / "seeds.txt").write_text(
        "http://a.test/1\tweight=1.5\thow-many=3\nhttp://a.test/2\tweight=2\n"
    )
    expect(run_pinyon("inject", crawl, tmp_path / "seeds.txt", "--now", NOW.isoformat()))
    assert chosen(crawl, "--expr", "weight > 1.7").urls == {"http://a.test/2"}
    assert chosen(crawl, "--expr", "how_many == 3").urls == {"http://a.test/1"}


def test_json_is_one_object_whatever_is_odd(tmp_path: Path) -> None:
    crawl = made(tmp_path, [url("http://a.test/\udcff".encode("utf-8", "replace").decode(), "NaN")])
    result = run_pinyon("generate", crawl, "--json", "--now", NOW.isoformat(), "--max-count-expr", "1")
    assert json.loads(expect(result).stdout)["selected"] == 1
    assert "HostDb" in result.stderr
