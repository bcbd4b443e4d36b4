"""The limits file: what an operator says of single domains and hosts."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from small_crawls import NOW, change, chosen, every_plan, host, made, refusal, urls

from pinyon.tables import CRAWLDB

ONE = ("a.one.com", "b.one.com", "c.one.com")


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    crawldb = [row for n, name in enumerate((*ONE, "two.org")) for row in urls(name, 10, best=1 - n / 10)]
    return made(tmp_path, crawldb, [host("a.one.com", gone=4), host("two.org", gone=6)])


def limits(folder: Path, *lines: str) -> Sequence[object]:
    """Options for a TSV of these lines; `|` stands for a tab."""
    path = folder / "limits.tsv"
    path.write_text("".join(line.replace("|", "\t") + "\n" for line in lines), encoding="utf-8")
    return ("--limits", path)


# -- rows of domains ------------------------------------------------------------------------------------------


@every_plan
def test_a_domain_has_its_own_number_of_urls(crawl: Path, tmp_path: Path, plan: Sequence[object]) -> None:
    found = chosen(crawl, *plan, *limits(tmp_path, "domain|urls", "one.com|12"), "--max-per-domain", 5)
    assert found.by_host() == {"a.one.com": 10, "b.one.com": 2, "two.org": 5}
    assert found.rejected == {"domain_limit": 23}


def test_a_domain_has_its_own_number_of_urls_of_each_host(crawl: Path, tmp_path: Path) -> None:
    found = chosen(crawl, *limits(tmp_path, "domain|urls_per_host", "one.com|2"), "--max-count", 7)
    assert found.by_host() == {**dict.fromkeys(ONE, 2), "two.org": 7}
    assert found.rejected == {"host_limit": 27}


@every_plan
def test_a_domain_has_its_own_number_of_hosts(crawl: Path, tmp_path: Path, plan: Sequence[object]) -> None:
    found = chosen(crawl, *plan, *limits(tmp_path, "domain|hosts", "one.com|2"), "--max-hosts-per-domain", 0)
    assert found.by_host() == {"a.one.com": 10, "b.one.com": 10}
    assert found.rejected == {"hosts_per_domain": 20}


def test_a_domain_has_its_own_delay(crawl: Path, tmp_path: Path) -> None:
    found = chosen(crawl, *limits(tmp_path, "domain|delay_ms", "one.com|250"))
    assert found.delays() == {**dict.fromkeys(ONE, 250), "two.org": None}


@every_plan
def test_a_domain_is_kept_to_its_number_of_parts_and_no_host_is_split(
    tmp_path: Path, plan: Sequence[object]
) -> None:
    crawl = made(tmp_path, [row for n in range(40) for row in urls(f"h{n}.one.com", 2)] + urls("two.org", 1))
    for mode in ("hash", "balanced"):
        options = (*plan, *limits(tmp_path, "domain|parts", "one.com|2"), "--fetchers", 8, "--gen-delay", 0)
        found = chosen(crawl, *options, "--partition-mode", mode)
        parts = {(row["host"], row["part"]) for row in found.rows if row["domain"] == "one.com"}
        assert len(parts) == 40
        assert len({part for _, part in parts}) <= 2


@every_plan
def test_urls_of_an_interval_count_those_fetched_in_it(
    crawl: Path, tmp_path: Path, plan: Sequence[object]
) -> None:
    """Of domains and of hosts alike; what was fetched earlier, or never, does not count."""
    ages = {"a.one.com": 30, "b.one.com": 90, "two.org": 30}
    age = " ".join(f"WHEN host = '{name}' THEN {minutes}" for name, minutes in ages.items())
    now = f"TIMESTAMPTZ '{NOW.isoformat()}'"
    change(crawl, CRAWLDB, last_fetch_time=f"{now} - to_minutes(CAST(CASE {age} END AS BIGINT))")
    lines = ("domain|urls|interval", "one.com|12|3600", "b.one.com|6|3600", "two.org|11|3600")
    found = chosen(crawl, *plan, *limits(tmp_path, *lines))
    # one.com: 12, less the 10 of a.one.com; b.one.com's were an hour and a half ago; two.org: 11 less 10
    assert found.by_host() == {"a.one.com": 2, "two.org": 1}
    later = (NOW + timedelta(minutes=31)).isoformat()
    found = chosen(crawl, *plan, *limits(tmp_path, *lines), "--now", later, "--gen-delay", 0)
    assert found.by_host() == {"a.one.com": 10, "b.one.com": 2, "two.org": 10}


def test_an_interval_without_a_number_of_urls_limits_nothing(crawl: Path, tmp_path: Path) -> None:
    change(crawl, CRAWLDB, last_fetch_time=f"TIMESTAMPTZ '{NOW.isoformat()}'")
    lines = ("domain|urls|urls_per_host|interval", "one.com||9|3600", "two.org|-1||3600")
    assert chosen(crawl, *limits(tmp_path, *lines)).by_host() == {**dict.fromkeys(ONE, 9), "two.org": 10}


# -- rows of hosts, and who beats whom ------------------------------------------------------------------------


@every_plan
def test_what_is_said_of_a_host_beats_its_domain_its_expression_and_the_setting(
    crawl: Path, tmp_path: Path, plan: Sequence[object]
) -> None:
    lines = ("host|urls|urls_per_host|delay_ms", "a.one.com|1||100", "one.com||3|200")
    expressions = ("--max-count-expr", "gone", "--fetch-delay-expr", "gone * 100", "--max-count", 8)
    found = chosen(crawl, *plan, *limits(tmp_path, *lines), *expressions)
    # two.org has only its expression: 6 URLs at 600 ms; without the file a.one.com would have 4
    assert found.by_host() == {"a.one.com": 1, "b.one.com": 3, "c.one.com": 3, "two.org": 6}
    assert found.delays() == {"a.one.com": 100, "b.one.com": 200, "c.one.com": 200, "two.org": 600}


def test_a_host_that_is_its_own_domain_is_named_as_a_domain(crawl: Path, tmp_path: Path) -> None:
    found = chosen(crawl, *limits(tmp_path, "host|urls", "two.org|3"))
    assert found.by_host()["two.org"] == 3
    assert found.rejected == {"domain_limit": 7}


@pytest.mark.parametrize("lines", [("host|urls", "a.one.com|0"), ("host|urls", "A.One.COM.|0")])
def test_zero_is_nothing_from_that_host(lines: Sequence[str], crawl: Path, tmp_path: Path) -> None:
    assert "a.one.com" not in chosen(crawl, *limits(tmp_path, *lines)).by_host()


def test_a_negative_number_is_no_limit(crawl: Path, tmp_path: Path) -> None:
    lines = ("domain|urls|urls_per_host|hosts", "one.com|-1|-1|-1")
    few = ("--max-count", 1, "--max-per-domain", 1, "--max-hosts-per-domain", 1)
    found = chosen(crawl, *limits(tmp_path, *lines), *few)
    assert found.by_host() == {**dict.fromkeys(ONE, 10), "two.org": 1}


# -- the file itself ------------------------------------------------------------------------------------------


def test_a_parquet_file_says_the_same_as_a_tsv(crawl: Path, tmp_path: Path) -> None:
    path = tmp_path / "limits.parquet"
    pq.write_table(
        pa.table({"domain_or_host": ["one.com", "two.org"], "urls": [3, None], "hosts": [2, 1]}), path
    )
    assert chosen(crawl, "--limits", path).by_host() == {"a.one.com": 3, "two.org": 10}


def test_comments_blank_cells_and_short_lines_are_understood(crawl: Path, tmp_path: Path) -> None:
    lines = ("# who", "domain|urls|delay_ms", "one.com|3", "# and", "two.org||7")
    found = chosen(crawl, *limits(tmp_path, *lines))
    assert found.by_host() == {"a.one.com": 3, "two.org": 10}
    assert found.delays() == {"a.one.com": None, "two.org": 7}


def test_domains_and_hosts_may_stand_in_columns_of_their_own(crawl: Path, tmp_path: Path) -> None:
    found = chosen(crawl, *limits(tmp_path, "domain|host|urls", "|a.one.com|1", "two.org||2"))
    assert found.by_host() == {"a.one.com": 1, "b.one.com": 10, "c.one.com": 10, "two.org": 2}


def test_a_file_without_rows_limits_nothing(crawl: Path, tmp_path: Path) -> None:
    assert len(chosen(crawl, *limits(tmp_path, "domain|urls")).rows) == 40


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (("domain|urls", "one.com|3", "One.com|4"), "'one.com' stands there twice"),
        (("domain|urls", "one.com|many"), "many"),
        (("domain|delay_ms", "one.com|-1"), "'one.com' has a delay_ms below zero"),
        (("domain|urlz", "one.com|1"), "urlz"),
        (("urls|hosts", "1|1"), "wanted columns domain (or host)"),
        (("domain,urls", "one.com,1"), "wanted columns domain (or host)"),
    ],
)
def test_a_file_that_says_nothing_clear_is_refused(
    lines: Sequence[str], told: str, crawl: Path, tmp_path: Path
) -> None:
    line = refusal(crawl, *limits(tmp_path, *lines), status=1)
    assert "limits.tsv" in line and told in line


def test_a_file_that_is_not_there_is_an_error(crawl: Path, tmp_path: Path) -> None:
    assert "no such limits file" in refusal(crawl, "--limits", tmp_path / "none.tsv", status=1)
