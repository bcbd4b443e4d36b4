"""Memory is that of the hosts of a partition and of the rows of a run, however many rows there are."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from crawls import NOW, host_row, url_row

from pinyon.mapreduce import Rules, partition, select

HOSTS = [f"h{n}.example.com" for n in range(200)]


def rows(count: int) -> Iterator[dict[str, Any]]:
    """One row at a time: nothing but the job holds them."""
    template = {host: url_row(f"http://{host}/") for host in HOSTS}
    for number in range(count):
        host = HOSTS[number * 7 % len(HOSTS)]
        yield {
            **template[host],
            "url": f"http://{host}/{number}",
            "url_key": number * 2_654_435_761 % 2**63,
            "sort_value": float(number * 31 % 1009),
        }


def peak_bytes(count: int, folder: Path) -> int:
    rules = Rules(now=NOW, top_n=count // 4, lists=2, parts=2)
    tracemalloc.start()
    try:
        hostdb = (host_row(host, None, 100) for host in HOSTS)
        with select(
            rows(count), hostdb, rules, partitions=2, spill_dir=folder, spill_records=800
        ) as selection:
            assert selection.sizes == (count // 4, count // 4)
            assert sum(1 for _ in partition(selection, rules)) == count // 2
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_ten_times_the_rows_of_the_same_hosts_take_no_more_memory(tmp_path: Path) -> None:
    few, many = peak_bytes(2000, tmp_path), peak_bytes(20_000, tmp_path)
    assert many < 1.5 * few, f"{few} bytes became {many}"
