"""demo: a crawl of the simulated web on loopback, and its report. Needs no network."""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pinyon.crawl import CONFIG_NAME, Crawl
from pinyon.cycle.fetch import FetchReport
from pinyon.cycle.inject import inject
from pinyon.cycle.round import crawl_rounds
from pinyon.jobs import Files
from pinyon.simweb import Request, SimWeb
from pinyon.tables import CRAWLDB

#: Between two requests to one host of the demo: long enough to be seen, short enough to wait for.
DELAY_S = 0.05


@dataclass(frozen=True, slots=True)
class DemoReport:
    """What the demo met. `shortest_pause_s` is taken from the web's own log: no host saw two requests closer."""

    rounds: int
    pages: int
    elapsed_s: float
    urls: int
    hosts_met: int
    outcomes: Mapping[str, int]
    statuses: Mapping[str, int]
    requests: int
    shortest_pause_s: float
    promised_pause_s: float


def demo(
    *,
    hosts: int = 60,
    rounds: int = 3,
    seed: int = 1,
    directory: Path | None = None,
    told: Callable[[str, Any], None] = lambda step, report: None,
) -> DemoReport:
    """Crawls a simulated web of so many hosts for so many rounds; see `DemoReport`.

    The crawl is kept if a `directory` is given. Raises `StoreError` if that is not empty.
    """
    begun = time.monotonic()
    home: AbstractContextManager[Any] = (
        nullcontext(directory) if directory else tempfile.TemporaryDirectory(prefix="pinyon-demo-")
    )
    with home as kept, SimWeb(seed=seed, hosts=hosts, slow_s=0.1, https=False) as web:
        root = Path(kept) / "crawl" if directory is None else directory
        with _prepared(root, web) as crawl:
            outcomes: Counter[str] = Counter()

            def heard(step: str, report: Any) -> None:
                told(step, report)
                if isinstance(report, FetchReport):
                    outcomes.update(report.outcomes)

            report = crawl_rounds(crawl, rounds=rounds, told=heard)
            crawl.engine.bind({"crawldb": Files.of(CRAWLDB, crawl.store.current(CRAWLDB).paths())})
            statuses = crawl.engine.rows(
                "SELECT status, count(*) AS n FROM crawldb GROUP BY status ORDER BY n DESC"
            )
        requests = web.requests()
    return DemoReport(
        rounds=report.rounds,
        pages=report.pages,
        elapsed_s=round(time.monotonic() - begun, 1),
        urls=sum(row["n"] for row in statuses),
        hosts_met=len({host_of(request) for request in requests}),
        outcomes=dict(outcomes.most_common()),
        statuses={row["status"]: row["n"] for row in statuses},
        requests=len(requests),
        shortest_pause_s=round(shortest_pause(requests), 3),
        promised_pause_s=DELAY_S,
    )


def _prepared(root: Path, web: SimWeb) -> Crawl:
    """A crawl whose fetchers find the simulated web, and nothing else."""
    Crawl.create(root)
    web.write_connect_to(root / "connect-to.txt")
    (root / CONFIG_NAME).write_text(
        "[fetcher]\n"
        f"server_delay = {DELAY_S}\n"
        "max_crawl_delay = 2.0\n"
        "connect_timeout = 2.0\nread_timeout = 2.0\ntotal_timeout = 4.0\n"
        'allow_addresses = ["127.0.0.0/8"]\n'
        'connect_to_file = "connect-to.txt"\n'
        "min_free_disk = 0\n",
        encoding="utf-8",
    )
    seeds = root / "seeds.txt"
    web.write_seeds(seeds)
    crawl = Crawl.open(root)
    inject(crawl, [seeds])
    return crawl


def host_of(request: Request) -> str:
    """The host a request was for, without port."""
    return request.host.partition(":")[0].lower()


def shortest_pause(requests: Iterable[Request]) -> float:
    """Seconds between the two requests to one host that came closest; infinity if no host had two."""
    last: dict[str, float] = {}
    shortest = float("inf")
    for request in sorted(requests, key=lambda r: r.at_s):
        host = host_of(request)
        if host in last:
            shortest = min(shortest, request.at_s - last[host])
        last[host] = request.at_s
    return shortest
