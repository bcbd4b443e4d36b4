"""Job 2: no group is split, hosts are interleaved, and the seed decides who meets whom."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from crawls import NOW, host_row, limits_row, url_row

from pinyon.mapreduce import Placed, Rules, Selection, partition, select
from pinyon.mapreduce.partitioner import part_of

Row = dict[str, Any]


def placed(
    tmp_path: Path, crawldb: list[Row], rules: Rules, hostdb: Sequence[Row] = (), **options: Any
) -> list[Placed]:
    with select(crawldb, hostdb, rules, partitions=2, spill_dir=tmp_path, spill_records=9) as selection:
        rows = list(partition(selection, rules, **options))
    assert list(tmp_path.iterdir()) == []
    return rows


def crawl(hosts: int = 8, urls: int = 4) -> list[Row]:
    """The second host's URLs are all better than the third's, and so on."""
    return [
        url_row(f"http://h{h}.d{h % 3}.com/{n}", 10 - h - n / 10) for h in range(hosts) for n in range(urls)
    ]


def test_the_part_of_a_group_is_the_same_on_every_machine() -> None:
    parts = [part_of(host, 42, 1000) for host in ("a.com", "b.com", "münchen.de", "192.0.2.1")]
    assert parts == [872, 554, 577, 814]


@pytest.mark.parametrize("partition_by", ["host", "domain", "ip"])
def test_what_must_stay_together_is_never_split(tmp_path: Path, partition_by: str) -> None:
    rules = Rules(now=NOW, parts=4, partition_by=partition_by, seed=5)
    hostdb = [host_row(f"h{h}.d{h % 3}.com", ip=f"192.0.2.{h % 2}") for h in range(6)]
    addresses = {row["host"]: row["ip"] for row in hostdb}
    rows = placed(tmp_path, crawl(), rules, hostdb)
    parts = defaultdict(set)
    for part, _, row in rows:
        group = {"host": row.host, "domain": row.domain, "ip": addresses.get(row.host, row.host)}[
            partition_by
        ]
        parts[group].add(part)
    assert len(rows) == 32
    assert {group: len(of_group) for group, of_group in parts.items()} == dict.fromkeys(parts, 1)
    assert len(set.union(*parts.values())) > 1


def test_in_a_part_the_first_url_of_every_host_comes_before_any_second(tmp_path: Path) -> None:
    rows = placed(tmp_path, crawl(hosts=3, urls=3), Rules(now=NOW))
    assert [row.row.url[7:] for row in rows] == [f"h{h}.d{h}.com/{n}" for n in range(3) for h in range(3)]
    assert [row.position for row in rows] == list(range(9))


def test_rows_come_by_list_part_and_position(tmp_path: Path) -> None:
    rows = placed(tmp_path, crawl(), Rules(now=NOW, lists=3, max_count=2, parts=3))
    places = [(row.row.list, row.part, row.position) for row in rows]
    assert places == sorted(places)
    sizes = Counter((number, part) for number, part, _ in places)
    assert places == [(*key, position) for key in sorted(sizes) for position in range(sizes[key])]
    assert sizes.total() == 32
    assert len(sizes) > 3


def test_another_seed_brings_other_hosts_together(tmp_path: Path) -> None:
    def companions(seed: int) -> frozenset[frozenset[str]]:
        parts: dict[int, set[str]] = defaultdict(set)
        for part, _, row in placed(tmp_path, crawl(hosts=12), Rules(now=NOW, parts=3, seed=seed)):
            parts[part].add(row.host)
        return frozenset(frozenset(hosts) for hosts in parts.values())

    assert companions(1) == companions(1)
    assert len({companions(seed) for seed in range(8)}) == 8


def test_the_groups_that_take_longest_are_placed_by_the_function_given(tmp_path: Path) -> None:
    asked: list[tuple[list[tuple[str, int]], dict[int, int]]] = []

    def all_into_the_last(groups: Sequence[tuple[str, int]], loads: Mapping[int, int]) -> dict[str, int]:
        asked.append((list(groups), dict(loads)))
        return {group: 2 for group, _ in groups}

    crawldb = [
        row
        for host, count in (("a.com", 1), ("b.com", 5), ("c.com", 2))
        for row in (url_row(f"http://{host}/{n}") for n in range(count))
    ]
    hostdb = [host_row("a.com", None, 99_999)]
    rules = Rules(now=NOW, parts=3, default_delay_ms=999, seed=1)
    rows = placed(tmp_path, crawldb, rules, hostdb, balance=all_into_the_last, placed_groups=2)
    hashed = part_of("c.com", 1, 3)
    assert asked == [([("a.com", 100_000), ("b.com", 5000)], {0: 0, 1: 0, 2: 0} | {hashed: 2000})]
    assert {row.row.host: row.part for row in rows} == {"a.com": 2, "b.com": 2, "c.com": hashed}


def test_a_domain_may_be_spread_over_the_parts_its_limits_give_it_by_whole_hosts(tmp_path: Path) -> None:
    crawldb = [url_row(f"http://h{h}.one.com/{n}") for h in range(20) for n in range(2)]
    rules = Rules(now=NOW, parts=50, seed=3)
    with select(
        crawldb, [], rules, partitions=2, spill_dir=tmp_path, limits_rows=[limits_row("one.com", parts=3)]
    ) as selection:
        rows = list(partition(selection, rules))
    keys = {row["host"]: row["host_key"] & (2**63 - 1) for row in crawldb}
    assert {row.row.host: row.part for row in rows} == {
        host: part_of(f"one.com#{key % 3}", 3, 50) for host, key in keys.items()
    }
    assert len({row.part for row in rows}) == 3


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Selection]:
    with select([], [], Rules(now=NOW), partitions=1, spill_dir=tmp_path) as selection:
        yield selection


def test_an_empty_selection_has_no_parts(empty: Selection) -> None:
    assert list(partition(empty, Rules(now=NOW, parts=3))) == []
