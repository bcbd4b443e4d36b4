"""A small HTTP server on a real socket that says what a test tells it to, and logs what it was asked and when."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import ssl
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from pinyon.fetcher import Capture, FetcherConfig, FetchItem, HostFacts, Summary, fetch_items

Raw = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@dataclass(frozen=True)
class Seen:
    """One request as the server saw it; `at` is the monotonic time its head was read."""

    at: float
    host: str
    path: str
    head: bytes
    connection: int

    def header(self, name: str) -> str | None:
        for line in self.head.decode("latin-1").split("\r\n")[1:]:
            key, _, value = line.partition(":")
            if key.lower() == name.lower():
                return value.strip()
        return None


#: How a connection may end.
_ENDS = (
    ConnectionError,
    asyncio.IncompleteReadError,
    asyncio.LimitOverrunError,
    ssl.SSLError,
    asyncio.CancelledError,
)

Reply = bytes | Raw
Script = Callable[[Seen], Reply | Awaitable[Reply]]


def reply(body: bytes = b"", status: str = "200 OK", headers: tuple[str, ...] = ()) -> bytes:
    """A whole answer with its length."""
    lines = [f"HTTP/1.1 {status}", *headers, f"Content-Length: {len(body)}", "", ""]
    return "\r\n".join(lines).encode("latin-1") + body


NOT_FOUND = reply(b"no", "404 Not Found")


@dataclass
class ScriptedServer:
    """Runs in the loop of the test. A scripted reply of bytes is sent as it is; a callable gets the connection."""

    script: Script
    tls: ssl.SSLContext | None = None
    address: str = "127.0.0.1"
    log: list[Seen] = field(default_factory=list)
    connections: int = 0
    port: int = 0
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _writers: list[asyncio.StreamWriter] = field(default_factory=list)

    async def __aenter__(self) -> ScriptedServer:
        self._server = await asyncio.start_server(self._serve, self.address, 0, ssl=self.tls, limit=1 << 20)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        await asyncio.sleep(0.005)  # lets connections that were just accepted begin
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for writer in self._writers:
            writer.transport.abort()
        await asyncio.sleep(0.005)  # lets the transports close their sockets

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        self._writers.append(writer)
        self.connections += 1
        number = self.connections
        # A cancelled task is told to the loop's error handler by asyncio: it ends here instead.
        with contextlib.suppress(*_ENDS):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                seen = _seen(head, number)
                self.log.append(seen)
                answer = self.script(seen)
                if not isinstance(answer, bytes) and not callable(answer):
                    answer = await answer
                if isinstance(answer, bytes):
                    writer.write(answer)
                    await writer.drain()
                    if (seen.header("connection") or "") == "close":
                        break
                else:
                    await answer(reader, writer)
                    break
        writer.close()

    def paths(self, host: str | None = None) -> list[str]:
        return [seen.path for seen in self.log if host is None or seen.host == host]

    def gaps(self, *hosts: str) -> list[float]:
        """Seconds between one request to any of `hosts` and the next."""
        times = [seen.at for seen in self.log if not hosts or seen.host.partition(":")[0] in hosts]
        return [later - earlier for earlier, later in itertools.pairwise(times)]


def _seen(head: bytes, connection: int) -> Seen:
    at = time.monotonic()
    path = head.split(b" ", 2)[1].decode("latin-1")
    seen = Seen(at, "", path, head, connection)
    return Seen(at, seen.header("host") or "", path, head, connection)


class ListSink:
    """Keeps everything."""

    def __init__(self) -> None:
        self.captures: list[Capture] = []
        self.hosts: dict[str, HostFacts] = {}

    def capture(self, capture: Capture) -> None:
        self.captures.append(capture)

    def host(self, facts: HostFacts) -> None:
        self.hosts[facts.host] = facts

    @property
    def pages(self) -> dict[str, Capture]:
        """Page captures by URL; a URL captured twice is an error of the fetcher."""
        pages = [c for c in self.captures if c.kind == "page"]
        by_url = {c.url: c for c in pages}
        assert len(by_url) == len(pages)
        return by_url

    def of_kind(self, kind: str) -> list[Capture]:
        return [c for c in self.captures if c.kind == kind]


def item(url: str, position: int = 0, **more: object) -> FetchItem:
    host = url.split("/")[2].rpartition("@")[2].partition(":")[0]
    domain = ".".join(host.split(".")[-2:])
    return FetchItem(url, host, domain, position, **more)  # type: ignore[arg-type]


def items(urls: list[str], **more: object) -> list[FetchItem]:
    return [item(url, position, **more) for position, url in enumerate(urls)]


def config(*servers: ScriptedServer, **changes: object) -> FetcherConfig:
    """Settings for tests: every name leads to the (first) server, nothing waits unless told to."""
    values: dict[str, object] = {
        "user_agent": "pinyon-test/1 (+http://tester.example/)",
        "agent_names": ("pinyon-test",),
        "server_delay_s": 0.0,
        "first_back_off_s": 0.01,
        "max_back_off_s": 0.05,
        "connections": 10,
        "connect_timeout_s": 2.0,
        "read_timeout_s": 2.0,
        "total_timeout_s": 4.0,
        "connect_to": tuple(f"*::{server.address}:{server.port}" for server in servers[:1]),
        "only_connect_to": True,
        **changes,
    }
    return FetcherConfig(**values)  # type: ignore[arg-type]


async def fetch(
    server: ScriptedServer,
    wanted: list[str] | list[FetchItem],
    sink: ListSink | None = None,
    **changes: object,
) -> tuple[ListSink, Summary]:
    """Fetches from one scripted server; keyword arguments are settings, or `fetch_items` arguments."""
    sink = sink or ListSink()
    arguments = {
        name: changes.pop(name)
        for name in ("transport", "robots_cache", "normalise", "blocked", "clock", "stop", "progress")
        if name in changes
    }
    todo = [item(w, i) if isinstance(w, str) else w for i, w in enumerate(wanted)]
    summary = await fetch_items(todo, config(server, **changes), sink, **arguments)  # type: ignore[arg-type]
    return sink, summary
