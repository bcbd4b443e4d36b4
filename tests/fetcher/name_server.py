"""A name server on a real UDP socket, with the answers a test gives it."""

from __future__ import annotations

import asyncio
import ipaddress
import struct
from dataclasses import dataclass, field

NXDOMAIN, SERVFAIL, SILENCE = 3, 2, -1
_A, _AAAA = 1, 28


@dataclass
class NameServer(asyncio.DatagramProtocol):
    """`names`: addresses (with `ttl` seconds), a failure code, or `SILENCE`. Unknown names do not exist."""

    names: dict[str, list[str] | int]
    ttl: int = 300
    delay_s: float = 0.0
    asked: list[str] = field(default_factory=list)
    most_at_once: int = 0
    _pending: int = 0

    async def __aenter__(self) -> NameServer:
        loop = asyncio.get_running_loop()
        self._transport, _ = await loop.create_datagram_endpoint(lambda: self, local_addr=("127.0.0.1", 0))
        return self

    async def __aexit__(self, *_: object) -> None:
        self._transport.close()

    @property
    def address(self) -> str:
        host, port = self._transport.get_extra_info("sockname")
        return f"{host}:{port}"

    def datagram_received(self, data: bytes, peer: tuple[str, int]) -> None:
        name, kind, question = _question(data)
        self.asked.append(name)
        self._pending += 1
        self.most_at_once = max(self.most_at_once, self._pending)
        answer = self._answer(data[:2], name, kind, question)
        asyncio.get_running_loop().call_later(self.delay_s, self._send, answer, peer)

    def _send(self, answer: bytes | None, peer: tuple[str, int]) -> None:
        self._pending -= 1
        if answer is not None and not self._transport.is_closing():
            self._transport.sendto(answer, peer)

    def _answer(self, number: bytes, name: str, kind: int, question: bytes) -> bytes | None:
        found = self.names.get(name, NXDOMAIN)
        if found == SILENCE:
            return None
        if isinstance(found, int):
            return number + struct.pack(">HHHHH", 0x8180 | found, 1, 0, 0, 0) + question
        wanted = [a for a in map(ipaddress.ip_address, found) if a.version == (6 if kind == _AAAA else 4)]
        if kind not in (_A, _AAAA):
            wanted = []
        records = b"".join(
            b"\xc0\x0c" + struct.pack(">HHIH", kind, 1, self.ttl, len(a.packed)) + a.packed for a in wanted
        )
        return number + struct.pack(">HHHHH", 0x8180, 1, len(wanted), 0, 0) + question + records


def _question(data: bytes) -> tuple[str, int, bytes]:
    labels, at = [], 12
    while data[at]:
        labels.append(data[at + 1 : at + 1 + data[at]].decode("latin-1").lower())
        at += 1 + data[at]
    (kind,) = struct.unpack(">H", data[at + 1 : at + 3])
    return ".".join(labels), kind, data[12 : at + 5]
