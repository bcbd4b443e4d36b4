"""One connection to a host: its requests, and the steps of answers that are not simply written."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import struct
import time
from collections.abc import Callable, Iterator

from pinyon.simweb.answer import Answer, Ask
from pinyon.simweb.dates import http_date
from pinyon.simweb.kinds import kind_named
from pinyon.simweb.log import Log, Request
from pinyon.simweb.reading import MAX_HEAD_BYTES, BadRequest, Head, could_begin, read_head
from pinyon.simweb.respond import respond
from pinyon.simweb.site import World
from pinyon.simweb.wire import End, Step, simple, status_of, steps

#: A connection that nothing came from for so long is dropped.
IDLE_S = 120.0
#: How many paths are remembered for hosts that answer by what was asked before; those beyond are always new.
MAX_REMEMBERED = 100_000

_log = logging.getLogger(__name__)


class Desk:
    """What all connections of a web share. `shut` makes an address stop listening."""

    def __init__(self, world: World, log: Log, shut: Callable[[str], None]) -> None:
        self.world = world
        self.log = log
        self.shut = shut
        self.connections: set[Connection] = set()
        self._visits: dict[tuple[str, str], tuple[int, float]] = {}
        self._date = (0, "")

    def ask(self, head: Head, scheme: str, now: float) -> Ask:
        """The request with what the web remembers of earlier ones; `now` is monotonic."""
        host = self.world.host(head.host)
        if host is None or not kind_named(host.kind).remembers:
            return Ask(head.host, head.path, scheme, head.method, head.headers, time.time())
        host_visit, _ = self._visit(host.name, "", now)
        path_visit, first_at = self._visit(host.name, head.path, now)
        return Ask(
            *(head.host, head.path, scheme, head.method, head.headers, time.time()),
            host_visit=host_visit,
            path_visit=path_visit,
            path_age_s=now - first_at,
        )

    def _visit(self, host: str, path: str, now: float) -> tuple[int, float]:
        """How often it was asked before and when first; counts this time."""
        count, first_at = self._visits.get((host, path), (0, now))
        if count or len(self._visits) < MAX_REMEMBERED:
            self._visits[host, path] = (count + 1, first_at)
        return count, first_at

    def date(self) -> str:
        """The Date header of this second."""
        now = int(time.time())
        if self._date[0] != now:
            self._date = (now, http_date(now))
        return self._date[1]


class Connection(asyncio.Protocol):
    """One connection: requests are answered one after another, pipelined ones too."""

    def __init__(self, desk: Desk, address: str, scheme: str) -> None:
        self.heard_at = time.monotonic()
        self._desk = desk
        self._planned_address = address
        self._scheme = scheme
        self._buffer = b""
        self._steps: Iterator[Step] | None = None
        self._timer: asyncio.Handle | None = None
        self._full = False
        self._closing = False

    # -- what asyncio calls ---------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._address: str = transport.get_extra_info("sockname")[0]
        self._desk.connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._desk.connections.discard(self)
        self._closing = True
        self._steps = None
        if self._timer is not None:
            self._timer.cancel()

    def data_received(self, data: bytes) -> None:
        self.heard_at = time.monotonic()
        self._buffer += data
        if self._steps is None:
            self._answer_all()
        elif len(self._buffer) > MAX_HEAD_BYTES:
            self._transport.pause_reading()

    def pause_writing(self) -> None:
        self._full = True

    def resume_writing(self) -> None:
        self._full = False
        if self._steps is not None and self._timer is None:
            # Not at once: a transport that is closed from inside this call is closed twice (asyncio, 3.11).
            self._timer = asyncio.get_running_loop().call_soon(self._play)

    # -- requests -------------------------------------------------------------------------------------------

    def _answer_all(self) -> None:
        """Answers the requests in the buffer, up to one that takes time."""
        while not self._closing and self._steps is None:
            end = self._buffer.find(b"\r\n\r\n")
            if end > MAX_HEAD_BYTES or (end < 0 and len(self._buffer) > MAX_HEAD_BYTES):
                self._refuse(431)
            elif not could_begin(self._buffer):
                self._refuse(400)
            if end < 0 or self._closing:
                return
            data, self._buffer = self._buffer[:end].lstrip(b"\r\n"), self._buffer[end + 4 :]
            try:
                self._answer(read_head(data))
            except BadRequest as error:
                self._refuse(error.status)
            except Exception:
                _log.exception("no answer for %r", data[:200])
                self._refuse(500)

    def _answer(self, head: Head) -> None:
        now = time.monotonic()
        ask = self._desk.ask(head, self._scheme, now)
        answer = self._decide(ask)
        self._note(now, ask, status_of(answer))
        date = self._desk.date()
        whole = simple(answer, ask, date) if head.keep else None
        if whole is not None:
            self._transport.write(whole)
            return
        self._steps = steps(answer, ask, date, keep=head.keep, slow_s=self._desk.world.slow_s)
        self._play()

    def _decide(self, ask: Ask) -> Answer:
        """The answer; 421 where the client has the host at another address than it is."""
        host = self._desk.world.host(ask.host)
        if host is not None and host.address != self._planned_address:
            return Answer(421, b"not a host of this address\n", "text/plain")
        return respond(self._desk.world, ask)

    def _note(self, now: float, ask: Ask, status: int) -> None:
        agent = ask.headers.get("user-agent", "")
        self._desk.log.add(
            Request(now, ask.host, self._address, self._scheme, ask.method, ask.path, status, agent)
        )

    def _refuse(self, status: int) -> None:
        self._buffer = b""
        self._closing = True
        self._transport.write(
            b"HTTP/1.1 %d Refused\r\nContent-Length: 0\r\nConnection: close\r\n\r\n" % status
        )
        self._transport.close()

    # -- answers that take steps ----------------------------------------------------------------------------

    def _play(self) -> None:
        """Takes steps until one has to wait: for time, or for the client to read."""
        self._timer = None
        try:
            while self._steps is not None and self._timer is None and not self._full:
                self._take(next(self._steps))
        except Exception:
            _log.exception("an answer broke off")
            self.drop()

    def _take(self, step: Step) -> None:
        if isinstance(step, bytes):
            self._transport.write(step)
        elif isinstance(step, float):
            self._timer = asyncio.get_running_loop().call_later(step, self._play)
        else:
            self._end(step)

    def _end(self, end: End) -> None:
        loop = asyncio.get_running_loop()
        if end is End.NEVER:
            self._timer = loop.call_later(IDLE_S, self.drop)
            return
        self._steps = None
        if end is End.KEEP:
            self._transport.resume_reading()
            loop.call_soon(self._answer_all)
        elif end is End.CLOSE:
            self._closing = True
            self._transport.close()
        else:
            self._reset()
            if end is End.SHUT:
                self._desk.shut(self._planned_address)

    def _reset(self) -> None:
        """Drops the connection so that the client sees a reset: no lingering on close (SO_LINGER 0)."""
        self._closing = True
        with contextlib.suppress(OSError):
            self._transport.get_extra_info("socket").setsockopt(
                socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
            )
        self._transport.abort()

    def drop(self) -> None:
        """Ends the connection at once."""
        self._closing = True
        self._transport.abort()
