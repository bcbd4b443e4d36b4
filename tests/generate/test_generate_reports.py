"""What went wrong in other crawlers' generators, or was asked of them, on crawls that show it here."""

from __future__ import annotations

import heapq
import json
import random
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest
from small_crawls import (
    NOW,
    Record,
    change,
    chosen,
    expect,
    fetch_list,
    from_now,
    generate,
    host,
    made,
    refusal,
    url,
    urls,
)

from command_line import run_pinyon
from pinyon.tables import CRAWLDB, HOSTDB

# -- the HostDb -----------------------------------------------------------------------------------------------


def test_every_host_has_the_limit_of_its_own_row(tmp_path: Path) -> None:
    """NUTCH-2420: after the first look-up the HostDb was at its end, and no later host was found."""
    crawldb = [
        url(f"http://h{n}.test/{k}", 1 - k / 100 - n / 10_000) for n in range(50) for k in range(n + 2)
    ]
    hostdb = [host(f"h{n}.test", connection_failures=n) for n in range(50)]
    crawl = made(tmp_path, crawldb, hostdb, buckets=4)
    found = chosen(crawl, "--max-count-expr", "connectionFailures")
    assert found.by_host() == {f"h{n}.test": n for n in range(1, 50)}


@pytest.mark.parametrize("choice", ["on", "nowhere", "empty"])
def test_a_hostdb_that_is_asked_for_and_has_no_rows_is_an_error(choice: str, tmp_path: Path) -> None:
    """NUTCH-2717, NUTCH-2454: the setting was lost, and every host silently had the default limit."""
    crawl = made(tmp_path, urls("a.test", 5))
    (tmp_path / "empty").mkdir()
    path = choice if choice == "on" else str(tmp_path / choice)
    told = refusal(crawl, "--hostdb", path, "--max-count-expr", "1", status=1)
    assert "hostdb" in told


def test_two_services_of_one_host_share_its_limit(tmp_path: Path) -> None:
    """The HostDb knows hosts without ports: limits, delays and counters are those of the name."""
    services = [*urls("a.test:8001", 5), *urls("a.test:8002", 5), url("https://a.test/")]
    crawl = made(tmp_path, services, [host("a.test", unfetched=11)])
    assert chosen(crawl, "--max-count-expr", "4").by_host() == {"a.test": 4}


def test_a_lifetime_cap_stops_new_urls_and_lets_due_ones_be_fetched_again(tmp_path: Path) -> None:
    """opensearchserver#515: a limit of 0 stops all of a host; `generate.expr` tells new URLs from known ones."""
    known = [url(f"http://full.test/{n}", status="db_fetched") for n in range(3)]
    crawldb = [*known, *urls("full.test/new", 5), *urls("young.test", 4)]
    hostdb = [host("full.test", fetched=60_000, not_modified=40_000), host("young.test", fetched=99_999)]
    crawl = made(tmp_path, crawldb, hostdb)
    in_all = "hostdb.fetched + hostdb.notModified"
    everything = ("--max-count-expr", "fetched + notModified >= 100000 ? 0 : 50", "--dry-run")
    assert json.loads(generate(crawl, *everything).stdout)["selected"] == 4
    found = chosen(crawl, "--expr", f"status != 'db_unfetched' || {in_all} < 100000")
    assert found.urls == {row["url"] for row in [*known, *urls("young.test", 4)]}
    assert found.rejected == {"expression": 5}


# -- limits over several lists --------------------------------------------------------------------------------


def test_a_limit_of_one_lets_one_through(tmp_path: Path) -> None:
    """NUTCH-1155: the limit per host was limit + 1."""
    found = chosen(made(tmp_path, urls("a.test", 5)), "--max-count", 1)
    assert found.urls == {"http://a.test/0"}
    assert found.rejected == {"host_limit": 4}


def test_every_list_holds_as_many_of_a_host_as_allowed_best_first(tmp_path: Path) -> None:
    """NUTCH-2574: a comparison off by one left the last list short."""
    found = chosen(made(tmp_path, urls("a.test", 10)), "--max-count", 3, "--segments", 2)
    assert [[row["url"] for row in rows] for rows in found.lists] == [
        [f"http://a.test/{n}" for n in (0, 1, 2)],
        [f"http://a.test/{n}" for n in (3, 4, 5)],
    ]


def test_top_n_holds_for_every_list_when_hosts_are_limited_too(tmp_path: Path) -> None:
    """NUTCH-1074: topN was ignored when a limit per host and several lists were set."""
    crawldb = [row for n in range(10) for row in urls(f"h{n}.test", 5, best=1 - n / 100)]
    found = chosen(made(tmp_path, crawldb), "--top-n", 7, "--max-count", 2, "--segments", 2)
    assert [len(rows) for rows in found.lists] == [7, 7]
    assert all(max(Counter(row["host"] for row in rows).values()) <= 2 for rows in found.lists)


def test_a_full_list_hands_no_host_more_than_its_limit_to_the_next(tmp_path: Path) -> None:
    """Nutch's counter of a host began anew when a list was full, and the next list held limit + 1."""
    crawldb = [*urls("a.test", 10), *urls("b.test", 2, best=0.9985), *urls("c.test", 4, best=0.5)]
    found = chosen(made(tmp_path, crawldb), "--top-n", 3, "--max-count", 2, "--segments", 2)
    assert [len(rows) for rows in found.lists] == [3, 3]
    for rows in found.lists:
        assert max(Counter(row["host"] for row in rows).values()) <= 2


@pytest.mark.parametrize(
    "options",
    [
        ("--segments", 3, "--top-n", 11),
        ("--segments", 3, "--top-n", 11, "--max-count", 2, "--max-per-domain", 5),
        ("--segments", 3, "--spread", "--keep-together", 2, "--top-n", 11),
        ("--segments", 2, "--top-n", 20, "--fetchers", 4, "--partition-by", "domain"),
    ],
    ids=str,
)
def test_no_url_is_chosen_twice_and_no_list_is_longer_than_asked(
    options: Sequence[object], tmp_path: Path
) -> None:
    """frontera#87, #94: a batch held each request several times and ignored the size that was asked for."""
    crawldb = [row for n in range(9) for row in urls(f"h{n % 3}.d{n // 3}.com", 12, best=1 - n / 100)]
    found = chosen(made(tmp_path, crawldb), *options)
    counted = Counter(row["url"] for row in found.rows)
    assert max(counted.values()) == 1
    top_n = options[list(options).index("--top-n") + 1]
    assert max(len(rows) for rows in found.lists) <= int(str(top_n))


def test_urls_over_a_limit_wait_for_the_next_list(tmp_path: Path) -> None:
    """frontera#393: users believed that URLs above a host's cap were dropped."""
    crawl = made(tmp_path, urls("a.test", 10))
    taken: list[str] = []
    for _ in range(4):
        taken += sorted(chosen(crawl, "--max-count", 3).urls)
    assert taken == [f"http://a.test/{n}" for n in range(10)]
    assert generate(crawl, "--max-count", 3).status == 3


@pytest.mark.parametrize("asked", [("--top-n", 5), ("--top-n", 4, "--segments", 2)], ids=str)
def test_lists_generated_without_an_update_between_are_disjoint(
    asked: Sequence[object], tmp_path: Path
) -> None:
    """generate.update.crawldb: two generates gave identical lists, unless an extra job ran."""
    crawl = made(tmp_path, urls("a.test", 10) + urls("b.test", 10))
    first, second = chosen(crawl, *asked), chosen(crawl, *asked)
    assert first.urls and second.urls
    assert first.urls.isdisjoint(second.urls)
    assert second.rejected["awaiting_update"] == len(first.urls)


# -- domains --------------------------------------------------------------------------------------------------


def test_a_cap_of_a_domain_counts_what_was_fetched_in_its_period_and_begins_anew_after_it(
    tmp_path: Path,
) -> None:
    """url-frontier#90: 100 a domain and day, over all of its hosts."""
    crawl = made(tmp_path, [row for n in range(3) for row in urls(f"h{n}.one.com", 60)])
    (tmp_path / "limits.tsv").write_text("domain\turls\tinterval\none.com\t100\t86400\n")
    limits = ("--limits", tmp_path / "limits.tsv", "--gen-delay", 0)
    assert len(chosen(crawl, *limits).rows) == 100
    # 70 of them were fetched an hour ago, of all hosts; they are due again for this test's sake
    noon = f"TIMESTAMPTZ '{(NOW - timedelta(hours=1)).isoformat()}'"
    number = "CAST(regexp_extract(url, '[0-9]+$') AS INTEGER)"
    hosts = "CASE WHEN host = 'h0.one.com' THEN 30 ELSE 20 END"
    change(crawl, CRAWLDB, last_fetch_time=f"CASE WHEN {number} < {hosts} THEN {noon} END")
    within = chosen(crawl, *limits)
    assert len(within.rows) == 30
    assert within.rejected == {"domain_limit": 150}
    later = (NOW + timedelta(hours=23, seconds=1)).isoformat()
    assert len(chosen(crawl, *limits, "--now", later).rows) == 100


# -- what is dropped, and why ---------------------------------------------------------------------------------


def test_urls_without_a_host_empty_ones_and_monsters_are_counted_and_stop_nothing(tmp_path: Path) -> None:
    """NUTCH-3044, NUTCH-2551: a URL whose host could not be told ended the whole job."""
    odd = ["http:///", "mailto:a@b", "", "not a url", "http://"]
    monster = "http://a.test/" + "x" * 70_000
    found = chosen(made(tmp_path, [url(text) for text in [*odd, monster, "http://a.test/fine"]]))
    assert found.urls == {"http://a.test/fine"}
    assert found.rejected == {"no_host": 5, "url_filter": 1}


#: One URL for each rule, in the order in which the rules are asked.
_ONE_PER_RULE: Sequence[tuple[str, Record]] = (
    ("no_host", url("mailto:someone@example.org")),
    ("excluded_status", url("http://a.test/excluded", status="db_gone")),
    ("not_due", url("http://a.test/later", fetch_time=from_now(hours=1))),
    ("awaiting_update", url("http://a.test/waiting", metadata={"_ngt_": from_now(hours=-1)})),
    ("status", url("http://a.test/status", status="db_redir_temp")),
    ("min_score", url("http://a.test/worthless", 0.1)),
    ("interval", url("http://a.test/seldom", fetch_interval=604_800)),
    ("expression", url("http://a.test/expression", retries=2)),
    ("url_filter", url("http://a.test/picture.jpg")),
    ("host_limit", url("http://b.test/second", 0.8)),
    ("hosts_per_domain", url("http://c.d.com/", 0.7)),
    ("domain_limit", url("http://b.d.com/", 0.9)),
    ("top_n", url("http://e.test/", 0.5)),
)
_KEPT = [url("http://b.test/first"), url("http://a.d.com/")]
_RULES = (
    *("--exclude-status", "db_gone", "--restrict-status", "db_unfetched"),
    *("--min-score", 0.3, "--interval-at-most", 86_400, "--expr", "retries < 2"),
    *("--max-count", 1, "--max-hosts-per-domain", 2, "--max-per-domain", 1, "--top-n", 2),
)


def test_every_rule_counts_what_it_drops_under_a_name_of_its_own(tmp_path: Path) -> None:
    """NUTCH-2737, NUTCH-3043: "why was my URL not selected?" had no answer."""
    found = chosen(made(tmp_path, [row for _, row in _ONE_PER_RULE] + _KEPT), *_RULES)
    assert found.urls == {row["url"] for row in _KEPT}
    assert list(found.rejected.items()) == [(reason, 1) for reason, _ in _ONE_PER_RULE]


def test_a_filter_that_cannot_be_read_stops_generate_and_lets_nothing_through(tmp_path: Path) -> None:
    """In Nutch a filter that raises lets the URL through. Rules are checked when they are loaded: none can raise."""
    crawl = made(tmp_path, urls("a.test", 3))
    for rule in ("-(unclosed", "-(?=ahead)", "no sign"):
        (crawl / "pinyon.toml").write_text(f"[urls]\nrules = ['{rule}']\n")
        assert rule.lstrip("-") in refusal(crawl)


def test_interval_at_most_keeps_those_that_are_fetched_at_least_so_often(tmp_path: Path) -> None:
    """Nutch's generate.min.interval drops the larger intervals: ours is named for it, and takes its property."""
    crawldb = [url(f"http://a.test/{days}", fetch_interval=days * 86_400) for days in (1, 7, 8, 30)]
    found = chosen(made(tmp_path, crawldb), "--interval-at-most", 7 * 86_400)
    assert found.urls == {"http://a.test/1", "http://a.test/7"}
    assert found.rejected == {"interval": 2}


def test_a_run_can_be_kept_to_urls_that_were_never_fetched(tmp_path: Path) -> None:
    """browsertrix#1372: two crawls share one CrawlDb, and the second takes only what the first never captured."""
    statuses = ("db_unfetched", "db_fetched", "db_gone", "db_redir_temp", "db_notmodified")
    crawldb = [url(f"http://a.test/{status}", status=status) for status in statuses]
    found = chosen(made(tmp_path, crawldb), "--restrict-status", "db_unfetched")
    assert found.urls == {"http://a.test/db_unfetched"}
    assert found.rejected == {"status": 4}


def test_a_host_far_over_its_limit_is_one_number_and_not_a_line_a_url(tmp_path: Path) -> None:
    """ukwa-heritrix#39: each URL over a quota was logged one by one."""
    crawl = made(tmp_path, urls("a.test", 2) + urls("b.test", 1))
    change(
        crawl,
        CRAWLDB,
        url="unnest(CASE WHEN host = 'a.test' THEN [url || n FOR n IN range(100000)] ELSE [url] END)",
    )
    result = expect(generate(crawl, "--max-count", 10, "--no-filter"))
    report = json.loads(result.stdout)
    assert report["rejected"] == {"host_limit": 199_990}
    assert report["hosts_over_limit"] == 1
    assert len(result.stdout) + len(result.stderr) < 2000


# -- what is recorded -----------------------------------------------------------------------------------------

_ASKED = {
    "top_n": 3,
    "max_count": 2,
    "count_mode": "domain",
    "max_per_domain": 4,
    "max_hosts_per_domain": 5,
    "hostdb": "off",
    "expr": "retries < 9",
    "min_score": 0.25,
    "interval_at_most": 90_000,
    "sort_by": "score * 2",
    "segments": 2,
    "spread": True,
    "keep_together": 2,
    "fetchers": 3,
    "partition_by": "domain",
    "partition_mode": "hash",
    "seed": 7,
    "time_budget": 60,
    "gen_delay": 1000,
    "add_days": 0.5,
    "filter": False,
    "preset": "classic",
    "plan": "secondary-sort",
}


@pytest.fixture(scope="module")
def six_urls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("options"), urls("a.test", 6))


@pytest.mark.parametrize("name", _ASKED)
def test_each_option_alone_is_recorded_with_the_list_as_it_was_asked(name: str, six_urls: Path) -> None:
    """NUTCH-2982: some options were silently not passed on to the second stage."""
    value = _ASKED[name]
    option = f"--{'' if value is not False else 'no-'}{name.replace('_', '-')}"
    found = chosen(six_urls, *([option] if isinstance(value, bool) else [option, value]))
    expect(run_pinyon("segments", six_urls, "abort", *(info["name"] for info in found.infos)))
    for info in found.infos:
        assert info["settings"][f"generate.{name}"] == value


# -- the order of a list --------------------------------------------------------------------------------------


def test_a_list_keeps_slots_busy_although_all_urls_of_one_host_are_the_best(tmp_path: Path) -> None:
    """scrapy#1802: a long run of one domain at the head of the queue stalls a polite crawl."""
    crawldb = [row for n in range(200) for row in urls(f"h{n}.test", 5, best=200 - n)]
    listed = [row["host"] for row in chosen(made(tmp_path, crawldb)).lists[0]]
    by_score = [row["url"].split("/")[2] for row in crawldb]
    shuffled = random.Random(1).sample(listed, len(listed))
    assert _duration_s(listed, slots=16, delay_s=1) <= 1.1 * _duration_s(shuffled, slots=16, delay_s=1)
    assert _duration_s(by_score, slots=16, delay_s=1) > 2 * _duration_s(listed, slots=16, delay_s=1)


def _duration_s(hosts: Sequence[str], slots: int, delay_s: float) -> float:
    """How long a crawler takes that hands the list to its slots in order: a slot waits for the host it was given."""
    free = [0.0] * slots
    next_at: dict[str, float] = {}
    for name in hosts:
        begun = max(heapq.heappop(free), next_at.get(name, 0.0))
        next_at[name] = begun + delay_s
        heapq.heappush(free, begun + delay_s)
    return max(free)


def test_hosts_are_interleaved_in_every_part(tmp_path: Path) -> None:
    crawldb = [row for n in range(12) for row in urls(f"h{n}.test", 1 + n % 5, best=12 - n)]
    crawl = made(tmp_path, crawldb)
    name = json.loads(expect(generate(crawl, "--fetchers", 3)).stdout)["segments"][0]["name"]
    seen: dict[int, Counter[str]] = {}
    rounds: dict[int, list[int]] = {}
    for row in fetch_list(crawl / "segments" / name):
        part = seen.setdefault(row["part"], Counter())
        rounds.setdefault(row["part"], []).append(part[row["host"]])
        part[row["host"]] += 1
    assert len(rounds) == 3
    assert all(found == sorted(found) for found in rounds.values())


def test_a_retry_after_of_the_host_goes_with_its_urls_into_the_list(tmp_path: Path) -> None:
    crawl = made(tmp_path, urls("a.test", 2) + urls("b.test", 1), [host("a.test")])
    then = NOW + timedelta(minutes=5)
    change(crawl, HOSTDB, retry_at=f"TIMESTAMPTZ '{then.isoformat()}'")
    assert {(row["host"], row["not_before"]) for row in chosen(crawl).rows} == {
        ("a.test", then),
        ("b.test", None),
    }
