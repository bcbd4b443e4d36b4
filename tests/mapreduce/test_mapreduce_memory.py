"""Memory is that of the hosts of a partition and of the rows of a run, however many rows there are."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from crawls import NOW, host_row, url_row

from pinyon.mapreduce import Rules, partition, select

HOSTS = [f"h{n}.example.com" for n in range(200)]
#: Long names, so that rows weigh more than what the interpreter keeps of freed tuples.
PATH = "x" * 1500
#: Made before anything is measured.
CRAWLDB_ROWS = {host: url_row(f"http://{host}/") for host in HOSTS}
HOSTDB_ROWS = [host_row(host, None, 100) for host in HOSTS]


def rows(count: int) -> Iterator[dict[str, Any]]:
    """One row at a time: nothing but the job holds them."""
    for number in range(count):
        host = HOSTS[number * 7 % len(HOSTS)]
        yield {
            **CRAWLDB_ROWS[host],
            "url": f"http://{host}/{number}/{PATH}",
            "url_key": number * 2_654_435_761 % 2**63,
            "sort_value": float(number * 31 % 1009),
        }


def peak_bytes(count: int, folder: Path) -> int:
    rules = Rules(now=NOW, top_n=count // 4, lists=2, parts=2)
    gc.collect()
    tracemalloc.start()
    try:
        with select(
            rows(count), HOSTDB_ROWS, rules, partitions=2, spill_dir=folder, spill_records=400
        ) as selection:
            assert selection.sizes == (count // 4, count // 4)
            assert sum(1 for _ in partition(selection, rules)) == count // 2
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_ten_times_the_rows_of_the_same_hosts_take_no_more_memory(tmp_path: Path) -> None:
    few, many = peak_bytes(1000, tmp_path), peak_bytes(10_000, tmp_path)
    assert many < 1.5 * few, f"{few} bytes became {many}"


def peak_of_hosts(count: int, partitions: int, folder: Path) -> int:
    """One URL a host, every host in the HostDb."""
    hosts = [f"h{number}.{PATH[:200]}.com" for number in range(count)]
    hostdb = ({**HOSTDB_ROWS[0], "host": host, "domain": host} for host in hosts)
    crawldb = ({**CRAWLDB_ROWS[HOSTS[0]], "url": f"http://{host}/", "host": host} for host in hosts)
    rules = Rules(now=NOW, max_count=1)
    gc.collect()
    tracemalloc.start()
    try:
        with select(
            crawldb, hostdb, rules, partitions=partitions, spill_dir=folder, spill_records=100
        ) as selection:
            assert selection.selected == count
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_reducer_holds_the_hosts_of_its_partition_only(tmp_path: Path) -> None:
    whole, parted = peak_of_hosts(2500, 1, tmp_path), peak_of_hosts(2500, 16, tmp_path)
    assert parted < whole / 2, f"{whole} bytes became {parted}"
