"""What went over the wire, noted beside aiohttp: heads byte for byte, the peer, whether the connection was a kept one.

aiohttp parses a head and lets its bytes go, and forgets the peer once a short body has ended. Its protocol class is
extended to note both. Should a later aiohttp no longer build connections through `_factory`, the heads are written
anew from the parsed fields (`rebuilt_head`), which differ from what was sent in spacing only.
"""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from dataclasses import dataclass

from aiohttp import ClientResponse, RequestInfo
from aiohttp.client_proto import ResponseHandler
from aiohttp.connector import Connection

#: Of a response head; aiohttp refuses single fields above 64 KiB by itself.
MAX_HEAD_BYTES = 262_144


@dataclass(slots=True)
class Census:
    """Connections that are open now, kept ones included."""

    open: int = 0


class WireHandler(ResponseHandler):
    """One connection. Between `set_response_params` (a request begins) and the end of its head, bytes are copied."""

    def __init__(self, loop: asyncio.AbstractEventLoop, census: Census) -> None:
        super().__init__(loop=loop)
        self.exchanges = 0
        self.head = b""
        self.received = False
        self.ip: str | None = None
        self._census = census
        self._in_head = False

    @property
    def whole_head(self) -> bytes:
        """The head of the answer, once its end has come; empty before."""
        return b"" if self._in_head else self.head

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._census.open += 1
        peer = transport.get_extra_info("peername")
        self.ip = peer[0] if isinstance(peer, tuple) else None
        super().connection_made(transport)

    def connection_lost(self, exc: BaseException | None) -> None:
        self._census.open -= 1
        super().connection_lost(exc)

    def set_response_params(self, **params: object) -> None:
        self.exchanges += 1
        self.head = b""
        self.received = False
        self._in_head = True
        super().set_response_params(**params)  # type: ignore[arg-type]

    def data_received(self, data: bytes) -> None:
        if self._in_head:
            self._note(data)
        super().data_received(data)

    def _note(self, data: bytes) -> None:
        self.received = True
        head = self.head + data
        while True:
            end = _end_of_head(head)
            if end is None:
                self.head = head[:MAX_HEAD_BYTES]
                self._in_head = len(head) <= MAX_HEAD_BYTES
                return
            if not _is_interim(head):
                self.head, self._in_head = head[:end], False
                return
            head = head[end:]


def _end_of_head(data: bytes) -> int | None:
    """Offset behind the empty line; servers that end lines with a bare LF are understood too."""
    end = data.find(b"\r\n\r\n")
    if end >= 0:
        return end + 4
    end = data.find(b"\n\n")
    return end + 2 if end >= 0 else None


def _is_interim(head: bytes) -> bool:
    """100 Continue, 103 Early Hints: not the answer yet."""
    status = head.split(b"\n", 1)[0].split(b" ")[1:2]
    return bool(status) and status[0][:1] == b"1" and not status[0].startswith(b"101")


@dataclass(slots=True)
class Call:
    """One request under way: the connection it got, if it got one."""

    keep_alive: bool
    connection: WireHandler | None = None

    @property
    def reused(self) -> bool:
        return self.connection is not None and self.connection.exchanges > 1

    @property
    def received(self) -> bool:
        return self.connection is not None and self.connection.received


#: aiohttp makes its response objects itself: this is how one finds the request it belongs to. One task, one request.
current_call: ContextVar[Call] = ContextVar("current_call")


class WireResponse(ClientResponse):
    """Tells the call its connection before the first byte is awaited."""

    async def start(self, connection: Connection) -> ClientResponse:
        call = current_call.get()
        handler = connection.protocol
        if isinstance(handler, WireHandler):
            call.connection = handler
        if handler is not None and not call.keep_alive:
            handler.force_close()
        return await super().start(connection)


def request_head(info: RequestInfo) -> bytes:
    """The request as it was sent."""
    lines = [f"{info.method} {info.url.raw_path_qs} HTTP/1.1"]
    lines += [f"{name}: {value}" for name, value in info.headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("utf-8", "surrogateescape")


def rebuilt_head(response: ClientResponse) -> bytes:
    """The response head from its parsed fields, where its bytes were not seen."""
    version = response.version
    number = f"{version.major}.{version.minor}" if version is not None else "1.1"
    line = f"HTTP/{number} {response.status} {response.reason or ''}".encode("utf-8", "surrogateescape")
    fields = [name + b": " + value for name, value in response.raw_headers]
    return b"\r\n".join([line, *fields, b"", b""])
