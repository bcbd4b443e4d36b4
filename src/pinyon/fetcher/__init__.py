"""Polite fetching.

The nouns. An **item** is one URL of a fetch list. A **queue** holds the jobs of one host (or domain, or address) in
their order, and the time of its next request. A **turn** is the right to ask one host once. A **capture** is what came
of an item.

How an item is born, moves, ends. The feeder reads the list and offers each item to the `frontier`: it waits in memory
or, where many wait, on disk. When its host's time has come, `politeness` hands it out as a turn to an idle worker. Has
nobody asked for the host's robots.txt yet, the item is parked and the turn used for that; a robots.txt that has moved
to another host waits in that host's queue. Then the page is asked for through the `transport`, the turn is given back
with the verdict (nothing asked, answered, failed), which sets the host's next time, and the capture goes to the
`sink`: once for every item, whatever happened. Items of a run that is stopped before their turn have no capture: they
stay due.

The invariant: **between the end of one request to a host and the start of the next lie at least its minimum delay,
its Crawl-delay, its back-off, its Retry-After, and its own delay or else the server delay** — http and https, all
ports, robots.txt, redirects and second tries included, since every request needs a turn and nothing else hands them
out. `politeness` and all that decides (`robots`, `outcomes`, `capture`, `addresses`, `content`, `connect_to`, `pace`)
is pure: no clock, no socket. `run`, `dispatch`, `worker` and `transport` act.

Across processes that fetch parts of one list at the same time: give them one `SharedGate`. Across runs: give the first
item of a host its `not_before`, or set `FetcherConfig.pause_first`.

This package knows nothing of tables, engines or the archive.
"""

from typing import TYPE_CHECKING, Any

from pinyon.fetcher.addresses import AddressPolicy
from pinyon.fetcher.config import FetcherConfig
from pinyon.fetcher.content import Decoded, decode_body
from pinyon.fetcher.gate import Gate, SharedGate
from pinyon.fetcher.model import Capture, FetchItem, HostFacts, Progress, Sink, Summary
from pinyon.fetcher.robots_cache import FileRobotsCache, RobotsCache, RobotsRecord
from pinyon.fetcher.run import fetch_items
from pinyon.fetcher.transport import Answer, Request, Transport

if TYPE_CHECKING:
    from pinyon.fetcher.aiohttp_transport import AiohttpTransport

__all__ = [
    "AddressPolicy",
    "AiohttpTransport",
    "Answer",
    "Capture",
    "Decoded",
    "FetchItem",
    "FetcherConfig",
    "FileRobotsCache",
    "Gate",
    "HostFacts",
    "Progress",
    "Request",
    "RobotsCache",
    "RobotsRecord",
    "SharedGate",
    "Sink",
    "Summary",
    "Transport",
    "decode_body",
    "fetch_items",
]


def __getattr__(name: str) -> Any:
    """`AiohttpTransport` is imported when it is first asked for: aiohttp takes a third of a second."""
    if name == "AiohttpTransport":
        from pinyon.fetcher.aiohttp_transport import AiohttpTransport

        return AiohttpTransport
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
