"""Parts of a list: what must stay together does, fetchers are evenly loaded, and hosts meet others on another run."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from small_crawls import Record, change, chosen, host, made, urls

from pinyon.tables import HOSTDB

# -- hash -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def many_hosts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    names = [f"h{n}.d{n % 150}.com" for n in range(600)]
    return made(
        tmp_path_factory.mktemp("parts"), [row for name in names for row in urls(name, 1 + len(name) % 3)]
    )


def pairs(rows: Iterable[Record], together: str = "host") -> set[tuple[str, str]]:
    """Pairs of hosts (or of what `together` names) that share a part."""
    parts: defaultdict[int, set[str]] = defaultdict(set)
    for row in rows:
        parts[row["part"]].add(row[together])
    return {pair for found in parts.values() for pair in itertools.combinations(sorted(found), 2)}


def test_hosts_that_shared_a_part_hardly_do_so_in_the_next_run(many_hosts: Path) -> None:
    """An xor with the seed would only rename the parts; of 16 parts one in sixteen pairs should meet again."""
    asked = ("--fetchers", 16, "--partition-mode", "hash", "--gen-delay", 0)
    first, second, third = (pairs(chosen(many_hosts, *asked).rows) for _ in range(3))
    for before, after in ((first, second), (second, third), (first, third)):
        assert len(before & after) <= 0.1 * len(before)


def test_neighbouring_seeds_are_as_different_as_any(many_hosts: Path) -> None:
    asked = ("--fetchers", 16, "--partition-mode", "hash", "--gen-delay", 0)
    found = [pairs(chosen(many_hosts, *asked, "--seed", seed).rows) for seed in (0, 1, 2**31 - 1)]
    for before, after in itertools.combinations(found, 2):
        assert len(before & after) <= 0.1 * len(before)


def test_a_hash_fills_all_parts_alike(many_hosts: Path) -> None:
    found = chosen(many_hosts, "--fetchers", 16, "--partition-mode", "hash", "--gen-delay", 0, "--seed", 1)
    hosts = Counter(part for part, _ in {(row["part"], row["host"]) for row in found.rows})
    assert set(hosts) == set(range(16))
    assert min(hosts.values()) > 600 / 16 / 2
    assert max(hosts.values()) < 600 / 16 * 2


# -- repeated -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["hash", "balanced"])
@pytest.mark.parametrize("plan", ["join", "secondary-sort"])
def test_the_same_seed_gives_the_same_rows_in_the_same_places(plan: str, mode: str, many_hosts: Path) -> None:
    asked = ("--fetchers", 7, "--partition-mode", mode, "--plan", plan, "--gen-delay", 0, "--top-n", 500)
    first = chosen(many_hosts, *asked)
    again = chosen(many_hosts, *asked, "--seed", first.report["seed"])
    assert again.lists == first.lists
    assert again.report["segments"][0]["parts"] == first.report["segments"][0]["parts"]


def test_the_seed_is_recorded_with_the_list(many_hosts: Path) -> None:
    found = chosen(many_hosts, "--fetchers", 2, "--gen-delay", 0)
    assert found.infos[0]["seed"] == found.report["seed"]
    assert found.infos[0]["settings"]["generate.seed"] is None
    given = chosen(many_hosts, "--fetchers", 2, "--gen-delay", 0, "--seed", 17)
    assert given.infos[0]["seed"] == given.infos[0]["settings"]["generate.seed"] == 17


# -- what stays together --------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["hash", "balanced"])
@pytest.mark.parametrize("together", ["host", "domain"])
def test_no_host_or_domain_is_split_over_parts(mode: str, together: str, many_hosts: Path) -> None:
    asked = ("--fetchers", 8, "--partition-by", together, "--partition-mode", mode, "--gen-delay", 0)
    rows = chosen(many_hosts, *asked).rows
    places = {(row[together], row["part"]) for row in rows}
    assert len(places) == len({name for name, _ in places})
    assert len({part for _, part in places}) == 8


@pytest.mark.parametrize("mode", ["hash", "balanced"])
def test_hosts_of_one_address_share_a_part(mode: str, tmp_path: Path) -> None:
    """Addresses are those of the HostDb; a host that has none there is its own."""
    names = [f"h{n}.test" for n in range(40)]
    crawl = made(
        tmp_path, [row for name in names for row in urls(name, 1)], [host(name) for name in names[:30]]
    )
    change(crawl, HOSTDB, ip="'198.51.100.' || (CAST(regexp_extract(host, '[0-9]+') AS INTEGER) % 10)")
    rows = chosen(crawl, "--fetchers", 8, "--partition-by", "ip", "--partition-mode", mode).rows
    parts = {row["host"]: row["part"] for row in rows}
    for n in range(10):
        assert len({parts[f"h{n + more}.test"] for more in (0, 10, 20)}) == 1
    assert len({parts[name] for name in names[30:]}) > 1


# -- balanced -------------------------------------------------------------------------------------------------


def loads_ms(rows: Sequence[Record], delay_ms: dict[str, int], parts: int) -> list[int]:
    """Delay of all URLs of each part, one after another."""
    loads: Counter[int] = Counter(dict.fromkeys(range(parts), 0))
    for row in rows:
        loads[row["part"]] += delay_ms[row["host"]] + 1
    return [loads[part] for part in range(parts)]


def test_parts_are_even_by_the_time_they_take_and_not_by_their_urls(tmp_path: Path) -> None:
    """Longest first into the emptiest part is at most 4/3 of what is possible (Graham)."""
    sizes = {f"h{n}.test": max(1, 60 // (n + 1)) for n in range(80)}
    hostdb = [host(name, gone=10 if n % 7 == 0 else 1) for n, name in enumerate(sizes)]
    crawl = made(tmp_path, [row for name, size in sizes.items() for row in urls(name, size)], hostdb)
    delays = {row["host"]: row["gone"] * 100 for row in hostdb}
    asked = ("--fetchers", 4, "--fetch-delay-expr", "gone * 100", "--gen-delay", 0)
    balanced = loads_ms(chosen(crawl, *asked).rows, delays, 4)
    ideal = max(sum(balanced) / 4, max((delays[name] + 1) * size for name, size in sizes.items()))
    assert max(balanced) <= 4 / 3 * ideal
    for seed in range(5):
        hashed = chosen(crawl, *asked, "--partition-mode", "hash", "--seed", seed)
        assert max(balanced) <= max(loads_ms(hashed.rows, delays, 4))


def test_the_estimate_of_a_part_is_that_of_its_slowest_host(tmp_path: Path) -> None:
    """Hosts wait beside each other, not one after another."""
    crawl = made(tmp_path, [*urls("slow.test", 3), *urls("quick.test", 20)], [host("slow.test", gone=9)])
    found = chosen(crawl, "--fetch-delay-expr", "gone * 1000", "--set", "fetcher.server_delay=0.5")
    [part] = found.report["segments"][0]["parts"]
    assert part["hosts"] == 2 and part["urls"] == 23
    assert part["estimated_s"] == pytest.approx(27, abs=0.1)


def test_parts_of_the_report_are_those_of_the_list(many_hosts: Path) -> None:
    found = chosen(many_hosts, "--fetchers", 5, "--segments", 2, "--top-n", 300, "--gen-delay", 0)
    for segment, rows, info in zip(found.report["segments"], found.lists, found.infos, strict=True):
        urls_of = Counter(row["part"] for row in rows)
        assert [part["urls"] for part in segment["parts"]] == [urls_of[part] for part in sorted(urls_of)]
        assert sum(part["hosts"] for part in segment["parts"]) == segment["hosts"]
        assert info["parts"] == segment["parts"]


def test_more_fetchers_than_hosts_leave_parts_out(tmp_path: Path) -> None:
    found = chosen(made(tmp_path, urls("a.test", 3) + urls("b.test", 1)), "--fetchers", 50)
    assert len(found.report["segments"][0]["parts"]) == 2
    assert len({row["part"] for row in found.rows}) == 2


# -- segment.json ---------------------------------------------------------------------------------------------


def test_a_segment_tells_how_it_came_to_be(many_hosts: Path) -> None:
    found = chosen(many_hosts, "--segments", 2, "--gen-delay", 0, "--max-count", 1)
    assert list(found.rejected) == ["host_limit"]
    for info, segment in zip(found.infos, found.report["segments"], strict=True):
        counts: dict[str, Any] = info["counts"]
        assert info["state"] == "generated"
        assert info["generate_time"] == "2026-11-30T12:00:00+00:00"
        assert counts == {
            "rows": found.report["rows"],
            "selected": segment["urls"],
            "rejected": found.rejected,
        }
        assert info["settings"]["generate.max_count"] == 1
        assert info["settings"]["fetcher.server_delay"] == 5.0
