"""How long the slowest fetcher takes: parts that are balanced by estimated time, against parts by a hash.

    uv run python benchmarks/partition.py
    uv run python benchmarks/partition.py --urls 1e6 --hosts 1e5 --fetchers 32

A crawl whose hosts follow a power law is made, and generate cuts one and the same list of it into parts in both modes.
What is then simulated is the fetching: every part has one fetcher with so many connections, a request takes its time
(log-normal, the same for a URL in both modes) and holds a connection, and a host rests for its delay after each. The
fetcher gives a free connection to the host that has been ready longest, at first in the order of the list. The bound
is what no partition can beat: the host that takes longest alone, or all connections of all fetchers always busy.
"""

from __future__ import annotations

import argparse
import heapq
import math
import random
import statistics
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from generate import NOW, make

DELAY = "connectionFailures > 100 ? 20000 : connectionFailures > 50 ? 5000 : 1000"
#: Median time of a request and spread of its logarithm.
REQUEST_S, REQUEST_SIGMA = 0.4, 0.8


@dataclass(frozen=True)
class Host:
    """A host of a part: seconds of each of its requests, and how long it rests after one."""

    requests_s: Sequence[float]
    delay_s: float

    @property
    def alone_s(self) -> float:
        return math.fsum(self.requests_s) + self.delay_s * (len(self.requests_s) - 1)


Parts = Mapping[int, Mapping[str, Host]]


def fetch_s(hosts: Iterable[Host], connections: int) -> float:
    """How long one fetcher takes for these hosts."""
    waiting = [(0.0, number, host, 0) for number, host in enumerate(hosts)]
    heapq.heapify(waiting)
    free = [0.0] * connections
    while waiting:
        ready, number, host, done = heapq.heappop(waiting)
        ended = max(ready, free[0]) + host.requests_s[done]
        heapq.heapreplace(free, ended)
        if done + 1 < len(host.requests_s):
            heapq.heappush(waiting, (ended + host.delay_s, number, host, done + 1))
    return max(free)


def bound_s(parts: Parts, connections: int, fetchers: int) -> float:
    """No partition can be faster than its longest host, or than all connections busy to the end."""
    hosts = [host for part in parts.values() for host in part.values()]
    work_s = math.fsum(math.fsum(host.requests_s) for host in hosts)
    return max(work_s / (connections * fetchers), max(host.alone_s for host in hosts))


def cut(data: Path, options: Mapping[str, Any]) -> Parts:
    """The parts of one generate; its segment is removed."""
    import pyarrow.parquet as pq

    from pinyon.crawl import Crawl
    from pinyon.cycle.generate import generate

    with Crawl.open(data) as crawl:
        report = generate(crawl, now=NOW, fetch_delay_expr=DELAY, filter=False, **options)
        segment = crawl.segments[report.segments[0].name]
        columns = ["part", "position", "host", "url_key", "fetch_delay_ms"]
        rows = pq.ParquetDataset(segment.files("fetchlist")).read(columns).to_pylist()
        crawl.segments.remove(segment)
    return _parts(sorted(rows, key=lambda row: (row["part"], row["position"])))


def _parts(rows: Iterable[Mapping[str, Any]]) -> Parts:
    keys: defaultdict[tuple[int, str, int], list[int]] = defaultdict(list)
    for row in rows:
        keys[row["part"], row["host"], row["fetch_delay_ms"]].append(row["url_key"])
    parts: defaultdict[int, dict[str, Host]] = defaultdict(dict)
    for (part, host, delay_ms), found in keys.items():
        parts[part][host] = Host([_request_s(key) for key in found], delay_ms / 1000)
    return parts


def _request_s(url_key: int) -> float:
    return random.Random(url_key).lognormvariate(math.log(REQUEST_S), REQUEST_SIGMA)


def compare(data: Path, options: argparse.Namespace, limit: int) -> None:
    """One table row a number of connections: makespans of both modes, their ratio, and the bound."""
    common = {"fetchers": options.fetchers, "max_count": limit}
    balanced = cut(data, {**common, "partition_mode": "balanced", "seed": 0})
    hashed = [cut(data, {**common, "partition_mode": "hash", "seed": seed}) for seed in range(options.runs)]
    urls = sum(len(host.requests_s) for part in balanced.values() for host in part.values())
    told = f"at most {limit:,} URLs of a host" if limit >= 0 else "no limit of hosts"
    print(
        f"\n{urls:,} URLs, {told}\n{'connections':>11} {'balanced':>10} {'hash':>26} {'ratio':>6} {'bound':>10}"
    )
    for connections in options.connections:
        even = max(fetch_s(part.values(), connections) for part in balanced.values())
        runs = [max(fetch_s(part.values(), connections) for part in parts.values()) for parts in hashed]
        middle = statistics.median(runs)
        spread = f"{middle:,.0f} s ({min(runs):,.0f} to {max(runs):,.0f})"
        bound = bound_s(balanced, connections, options.fetchers)
        print(f"{connections:>11} {even:>8,.0f} s {spread:>26} {middle / even:>6.2f} {bound:>8,.0f} s")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--urls", type=float, default=200e3, help="known; a bit less than half are due")
    parser.add_argument("--hosts", type=float, default=20e3)
    parser.add_argument("--fetchers", type=int, default=16)
    parser.add_argument("--connections", type=int, nargs="+", default=[2, 8, 32, 128], help="of each fetcher")
    parser.add_argument("--limits", type=int, nargs="+", default=[10, 50, -1], help="generate.max_count")
    parser.add_argument("--runs", type=int, default=3, help="seeds of the hash")
    options = parser.parse_args()
    print(f"{int(options.hosts):,} hosts, {options.fetchers} fetchers; hash: median of {options.runs} seeds")
    with tempfile.TemporaryDirectory(prefix="pinyon-partition-") as folder:
        data = Path(folder) / "crawl"
        make(data, int(options.urls), int(options.hosts), 4)
        for limit in options.limits:
            compare(data, options, limit)


if __name__ == "__main__":
    main()
