"""What politeness costs: the time a fetch list takes, beside the least it can take, whatever order it comes in.

    uv run python benchmarks/politeness.py
    uv run python benchmarks/politeness.py --hosts 400 --delay 0.5 --connections 32

A list of many hosts on the simulated web, a few pages each, with a delay between two requests to one host, in three
orders: interleaved as `generate` writes it, one host after the other, and shuffled. The least time is that of the
host with most pages: its pages are fetched one delay apart. Few connections must not wait behind slow hosts, and the
order must not matter. The shortest pause at one host is taken from the web's own log.
"""

from __future__ import annotations

import argparse
import asyncio
import platform
import random
import sys
import time
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from pinyon.fetcher import Capture, FetcherConfig, FetchItem, HostFacts, Summary, fetch_items
from pinyon.simweb import SimWeb
from pinyon.urls import domain_of, host_of

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from support.crawls import closest


class Nothing:
    """A sink that keeps nothing."""

    def capture(self, capture: Capture) -> None:
        return None

    def host(self, facts: HostFacts) -> None:
        return None


def lists(web: SimWeb, most: int) -> dict[str, list[str]]:
    """The URLs in each order: at most so many of a host."""
    by_host: dict[str, list[str]] = defaultdict(list)
    for url in sorted(web.reachable(web.seeds())):
        host = host_of(url) or ""
        if len(by_host[host]) < most:
            by_host[host].append(url)
    rows = sorted(by_host.values(), key=len, reverse=True)
    interleaved = [urls[i] for i in range(most) for urls in rows if i < len(urls)]
    shuffled = random.Random(1).sample(interleaved, len(interleaved))
    return {
        "interleaved": interleaved,
        "host by host": [url for urls in rows for url in urls],
        "shuffled": shuffled,
    }


def items(urls: Iterable[str]) -> Iterable[FetchItem]:
    for position, url in enumerate(urls):
        host = host_of(url) or ""
        yield FetchItem(url, host, domain_of(host), position)


def fetch(web: SimWeb, urls: list[str], options: argparse.Namespace) -> tuple[Summary, float]:
    config = FetcherConfig(
        user_agent="benchmark",
        agent_names=("benchmark",),
        server_delay_s=options.delay,
        connections=options.connections,
        allow_addresses=("127.0.0.0/8",),
        connect_to=tuple(web.connect_to()),
        only_connect_to=True,
        obey_robots=False,
    )
    begun = time.perf_counter()
    summary = asyncio.run(fetch_items(items(urls), config, Nothing()))
    return summary, time.perf_counter() - begun


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--hosts", type=int, default=200)
    parser.add_argument("--most", type=int, default=10, help="pages of a host at most")
    parser.add_argument("--delay", type=float, default=0.5, help="seconds between two requests to one host")
    parser.add_argument("--connections", type=int, default=16)
    options = parser.parse_args()
    web = SimWeb(seed=1, hosts=options.hosts, awkward=False, mean_pages=options.most)
    orders = lists(web, options.most)
    total = len(next(iter(orders.values())))
    least_s = (options.most - 1) * options.delay
    print(
        f"{platform.machine()}, Python {platform.python_version()}; {total:,} pages of {options.hosts} hosts"
    )
    print(f"{options.connections} connections, {options.delay:g} s delay: {least_s:.1f} s at least")
    for name, urls in orders.items():
        with SimWeb(seed=1, hosts=options.hosts, awkward=False, mean_pages=options.most) as web:
            summary, seconds = fetch(web, urls, options)
            shortest_s, _ = closest(web.requests())
        assert summary.captured == total, f"{summary.captured} of {total} pages"
        print(
            f"   {name:12} {seconds:6.2f} s, {seconds / least_s:.2f} of the least; {total / seconds:4.0f} pages/s; "
            f"shortest pause {shortest_s:.3f} s"
        )


if __name__ == "__main__":
    main()
