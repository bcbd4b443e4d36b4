"""The server: who listens where. Connections are in `connection`, what is said on them in `respond` and `wire`."""

from __future__ import annotations

import asyncio
import socket
import ssl
import time

from pinyon.errors import PinyonError
from pinyon.simweb.connection import IDLE_S, Connection, Desk
from pinyon.simweb.hosts import Host
from pinyon.simweb.kind import Door
from pinyon.simweb.kinds import kind_named
from pinyon.simweb.log import Log
from pinyon.simweb.site import World
from pinyon.simweb.tls import Contexts

BACKLOG = 512


class Server:
    """All listening sockets of a web and all its connections, on one event loop."""

    def __init__(self, world: World, log: Log, contexts: Contexts | None) -> None:
        #: Where it listens, by the address that was planned and the scheme.
        self.ports: dict[tuple[str, str], tuple[str, int]] = {}
        self._desk = Desk(world, log, self.shut)
        self._contexts = contexts
        self._listening: dict[str, list[asyncio.Server]] = {}
        self._reserved: list[socket.socket] = []

    async def start(self) -> None:
        """Listens for every host; raises PinyonError where an address cannot be had."""
        for host in self._desk.world.hosts:
            door = kind_named(host.kind).door
            if door is Door.REFUSED:
                self._reserve(host)
            elif door is not Door.NOWHERE:
                await self._listen(host, "http", None)
                if host.scheme == "https" or door is Door.BOTH:
                    await self._listen(host, "https", self._context(door))

    def _context(self, door: Door) -> ssl.SSLContext | None:
        if self._contexts is None or door is Door.PLAIN:
            return None
        return self._contexts.untrusted if door is Door.UNTRUSTED else self._contexts.trusted

    async def _listen(self, host: Host, scheme: str, context: ssl.SSLContext | None) -> None:
        if (host.address, scheme) in self.ports:
            return
        bound = _bound(host.address)
        self.ports[host.address, scheme] = bound.getsockname()
        server = await asyncio.get_running_loop().create_server(
            lambda: Connection(self._desk, host.address, scheme), sock=bound, ssl=context, backlog=BACKLOG
        )
        self._listening.setdefault(host.address, []).append(server)

    def _reserve(self, host: Host) -> None:
        """A port that nobody listens at and nobody else can get."""
        bound = _bound(host.address)
        self.ports[host.address, "http"] = bound.getsockname()
        self._reserved.append(bound)

    def shut(self, address: str) -> None:
        """Stops listening at an address, for good."""
        for server in self._listening.pop(address, []):
            server.close()

    async def stop(self) -> None:
        """Closes every socket; answers that are under way are cut."""
        for address in list(self._listening):
            self.shut(address)
        for bound in self._reserved:
            bound.close()
        for turn in range(100):
            # Accepted sockets become connections, and dropped ones close, in later turns of the loop.
            await asyncio.sleep(0.001)
            if turn > 2 and not self._desk.connections:
                break
            for connection in list(self._desk.connections):
                connection.drop()

    async def sweep(self) -> None:
        """Drops idle connections, for ever."""
        while True:
            await asyncio.sleep(IDLE_S / 10)
            oldest = time.monotonic() - IDLE_S
            for connection in [c for c in self._desk.connections if c.heard_at < oldest]:
                connection.drop()


def _bound(address: str) -> socket.socket:
    """A socket bound to a free port of an address; of 127.0.0.1 where a system has only that (macOS)."""
    try:
        bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    except OSError as error:
        raise PinyonError(
            f"the simulated web gets no more sockets ({error.strerror}): raise ulimit -n"
        ) from error
    try:
        bound.bind((address, 0))
    except OSError:
        bound.bind(("127.0.0.1", 0))
    return bound
