"""Answers as bytes: status line, headers, and every manner of sending a body wrongly."""

from __future__ import annotations

import gzip
import sys
import zlib
from collections.abc import Callable, Iterator
from enum import Enum
from http import HTTPStatus

from pinyon.simweb.answer import Answer, Ask, Manner


class End(Enum):
    """What happens to the connection after an answer."""

    KEEP = "the next request may come"
    CLOSE = "closed in order"
    RESET = "reset"
    NEVER = "left open without another byte"
    SHUT = "reset, and the host stops listening"


#: What to do next: send bytes, wait that many seconds, or end. Nothing comes after an end.
Step = bytes | float | End

#: Bodies are handed to the socket in blocks, so that a slow reader holds one block and not a whole body.
BLOCK_BYTES = 256 * 1024
#: A dribbled body ends after so many bytes, ten times what slow hosts take, if nobody lost patience before.
DRIBBLE_BYTES = 100

_PHRASES = {status.value: status.phrase for status in HTTPStatus}
_OFFERED_AS = {"x-gzip": "gzip", "raw-deflate": "deflate"}
_BODILESS = frozenset({204, 304})


def steps(answer: Answer, ask: Ask, date: str, *, keep: bool, slow_s: float) -> Iterator[Step]:
    """All that is to be done for an answer, in order. `keep`: the client can use the connection again."""
    if answer.delay_s:
        yield answer.delay_s
    if answer.manner in _SILENT:
        yield _SILENT[answer.manner]
        return
    head, body = _head_and_body(answer, ask, date)
    if ask.method == "HEAD" or answer.status in _BODILESS:
        manner: Callable[[bytes, bytes], Iterator[Step]] = _bare
    elif answer.manner is Manner.DRIBBLE:
        manner = _dribbler(slow_s)
    else:
        manner = _MANNERS[answer.manner]
    for step in manner(head, body):
        yield step
        if isinstance(step, End):
            return
    yield End.KEEP if keep else End.CLOSE


def simple(answer: Answer, ask: Ask, date: str) -> bytes | None:
    """The whole answer if it is one that needs no steps, else None: the way of nearly all pages."""
    if answer.manner is not Manner.LENGTH or answer.delay_s or ask.method != "GET":
        return None
    head, body = _head_and_body(answer, ask, date)
    if len(body) > BLOCK_BYTES:
        return None
    if answer.status in _BODILESS:
        return head + b"\r\n"
    return b"%bContent-Length: %d\r\n\r\n%b" % (head, len(body), body)


def status_of(answer: Answer) -> int:
    """The status for the log: 0 where none is sent."""
    return 0 if answer.manner in _SILENT else answer.status


def _head_and_body(answer: Answer, ask: Ask, date: str) -> tuple[bytes, bytes]:
    """The head without its length and its last line, and the body in its content coding."""
    body = answer.content()
    fields = [
        f"HTTP/1.1 {answer.status} {_PHRASES.get(answer.status, 'Odd')}\r\nServer: simweb\r\nDate: {date}\r\n"
    ]
    if answer.type is not None:
        fields.append(f"Content-Type: {answer.type}\r\n")
    if answer.etag is not None:
        fields.append(f"ETag: {answer.etag}\r\n")
    if answer.last_modified is not None:
        fields.append(f"Last-Modified: {answer.last_modified}\r\n")
    if answer.coding is not None:
        fields.append("Vary: Accept-Encoding\r\n")
        if _accepts(ask, answer.coding):
            body = _CODERS[answer.coding](body)
            fields.append(f"Content-Encoding: {answer.coding.removeprefix('raw-')}\r\n")
    fields.extend(f"{name}: {value}\r\n" for name, value in answer.headers)
    return "".join(fields).encode("latin-1"), body


def _accepts(ask: Ask, coding: str) -> bool:
    for offer in ask.headers.get("accept-encoding", "").lower().split(","):
        name, _, weight = offer.partition(";")
        if name.strip() == _OFFERED_AS.get(coding, coding):
            return weight.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False


# -- content codings ------------------------------------------------------------------------------------------


def _gzip(body: bytes) -> bytes:
    return gzip.compress(body, compresslevel=1, mtime=0)


def _raw_deflate(body: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(body) + packer.flush()


def _brotli(body: bytes) -> bytes:
    import brotli

    return bytes(brotli.compress(body, quality=4))


def _zstd(body: bytes) -> bytes:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return bytes(zstd.compress(body))


_CODERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": zlib.compress,
    "raw-deflate": _raw_deflate,
    "br": _brotli,
    "zstd": _zstd,
}

# -- manners --------------------------------------------------------------------------------------------------


def _length(head: bytes, body: bytes) -> Iterator[Step]:
    yield b"%bContent-Length: %d\r\n\r\n" % (head, len(body))
    for start in range(0, len(body), BLOCK_BYTES):
        yield body[start : start + BLOCK_BYTES]


def _bare(head: bytes, body: bytes) -> Iterator[Step]:
    yield head + b"\r\n"


def _chunks(body: bytes) -> Iterator[bytes]:
    """Chunks of many sizes, with an extension on each second one (RFC 9112, 7.1)."""
    start, size = 0, 1
    while start < len(body):
        part = body[start : start + size]
        extension = b";part=%d" % start if size % 2 else b""
        yield b"%x%b\r\n%b\r\n" % (len(part), extension, part)
        start, size = start + size, min(size * 3 + 1, 4000)


def _chunked(head: bytes, body: bytes) -> Iterator[Step]:
    yield head + b"Transfer-Encoding: chunked\r\nTrailer: X-Check\r\n\r\n"
    yield from _chunks(body)
    yield b"0\r\nX-Check: done\r\n\r\n"


def _cut_chunk(head: bytes, body: bytes) -> Iterator[Step]:
    yield head + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n" % len(body) + body[: len(body) // 2]
    yield End.CLOSE


def _cut(head: bytes, body: bytes) -> Iterator[Step]:
    yield b"%bContent-Length: %d\r\n\r\n%b" % (head, len(body) + 1000, body)
    yield End.CLOSE


def _until_close(head: bytes, body: bytes) -> Iterator[Step]:
    yield head + b"Connection: close\r\n\r\n" + body
    yield End.CLOSE


def _old(head: bytes, body: bytes) -> Iterator[Step]:
    yield head.replace(b"HTTP/1.1", b"HTTP/1.0", 1) + b"\r\n" + body
    yield End.CLOSE


def _hinted(head: bytes, body: bytes) -> Iterator[Step]:
    yield b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload; as=style\r\n\r\n"
    yield from _length(head, body)


def _split(head: bytes, body: bytes) -> Iterator[Step]:
    whole = b"".join(step for step in _length(head, body) if isinstance(step, bytes))
    for start in range(0, 200, 7):
        yield whole[start : start + 7]
        yield 0.0
    yield whole[203:]


def _dribbler(slow_s: float) -> Callable[[bytes, bytes], Iterator[Step]]:
    def dribble(head: bytes, body: bytes) -> Iterator[Step]:
        yield b"%bContent-Length: %d\r\n\r\n" % (head, DRIBBLE_BYTES)
        for i in range(DRIBBLE_BYTES):
            yield body[i : i + 1] or b" "
            yield slow_s / 10

    return dribble


def _raw(head: bytes, body: bytes) -> Iterator[Step]:
    yield body
    yield End.CLOSE


_MANNERS: dict[Manner, Callable[[bytes, bytes], Iterator[Step]]] = {
    Manner.LENGTH: _length,
    Manner.CHUNKED: _chunked,
    Manner.CUT_CHUNK: _cut_chunk,
    Manner.CUT: _cut,
    Manner.UNTIL_CLOSE: _until_close,
    Manner.OLD: _old,
    Manner.HINTED: _hinted,
    Manner.SPLIT: _split,
    Manner.RAW: _raw,
}

_SILENT: dict[Manner, End] = {
    Manner.RESET: End.RESET,
    Manner.HANG_UP: End.CLOSE,
    Manner.NEVER: End.NEVER,
    Manner.SHUT: End.SHUT,
}
