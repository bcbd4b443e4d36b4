"""Content codings: what a body was packed with is taken off, within a limit of bytes. Pure."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import brotli

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

#: More codings on top of each other than this are an attack, not a page.
_MAX_CODINGS = 3
#: Each empty gzip member costs a copy of what follows: more than this many are an attack too.
_MAX_MEMBERS = 256
_CHUNK = 65_536


@dataclass(frozen=True, slots=True)
class Decoded:
    """Bytes as a parser wants them. `truncated`: the limit, or the end of a torn body, cut them. `error`: in words."""

    data: bytes
    truncated: bool = False
    error: str | None = None


class _Decoder(Protocol):
    def feed(self, data: bytes, room: int) -> bytes:
        """Decodes `data` (which may be empty) to at most about `room` bytes; the rest is kept for the next call."""

    @property
    def pending(self) -> bool:
        """Whether more output may come without more input."""

    @property
    def complete(self) -> bool:
        """Whether the stream had its end mark."""


def decode_body(body: bytes, content_encoding: str | None, limit: int) -> Decoded:
    """`body` with the codings of a Content-Encoding header (gzip, deflate, br, zstd) taken off, `limit` bytes at most.

    A body that claims a coding it does not have comes back as it is, with `error` set: many servers lie. What could
    be decoded before an error, or before a torn end, is kept. Memory is bounded by the limit, whatever the body says.
    """
    codings = _codings(content_encoding)
    if len(codings) > _MAX_CODINGS:
        return Decoded(b"", True, f"{len(codings)} content codings on top of each other")
    data, truncated, error = body, False, None
    for coding in reversed(codings):
        step = _decode(data, coding, limit)
        data, truncated = step.data, truncated or step.truncated
        error = error or step.error
    if len(data) > limit:
        return Decoded(data[:limit], True, error)
    return Decoded(data, truncated, error)


def _codings(header: str | None) -> list[str]:
    names = [name.strip().lower() for name in (header or "").split(",")]
    return [name for name in names if name not in ("", "identity", "none", "utf-8")]


def _decode(body: bytes, coding: str, limit: int) -> Decoded:
    if not body:
        return Decoded(b"")
    decoder = _decoder(coding, body)
    if decoder is None:
        return Decoded(
            body, False, f"content coding '{coding[:40]}' is not known, or the body does not have it"
        )
    parts: list[bytes] = []
    try:
        for part in _pump(decoder, body, limit):
            parts.append(part)
    except (zlib.error, brotli.error, zstd.ZstdError, EOFError, ValueError, MemoryError) as problem:
        if not parts:
            return Decoded(body, False, f"{coding}: {problem}")
        return Decoded(b"".join(parts)[:limit], True, f"{coding}: {problem}")
    data = b"".join(parts)
    if len(data) > limit:
        return Decoded(data[:limit], True)
    return Decoded(data, not decoder.complete)


def _pump(decoder: _Decoder, body: bytes, limit: int) -> Iterator[bytes]:
    """Output piece by piece until one byte beyond the limit, so that the caller sees that there was more."""
    size = 0
    for start in range(0, len(body), _CHUNK):
        piece = body[start : start + _CHUNK]
        while True:
            out = decoder.feed(piece, limit + 1 - size)
            if out:
                size += len(out)
                yield out
            if size > limit:
                return
            if not decoder.pending:
                break
            piece = b""


def _decoder(coding: str, body: bytes) -> _Decoder | None:
    if coding in ("gzip", "x-gzip"):
        return _Zlib(31) if body[:2] == b"\x1f\x8b" else None
    if coding == "deflate":
        # RFC 9110 means zlib, but raw deflate is sent as often: the first two bytes of zlib make a multiple of 31.
        wrapped = len(body) > 1 and body[0] & 0x0F == 8 and (body[0] << 8 | body[1]) % 31 == 0
        return _Zlib(15 if wrapped else -15)
    if coding == "br":
        return _Brotli()
    return _Zstd() if coding == "zstd" else None


class _Zlib:
    """gzip (members one after another are one body) and both kinds of deflate."""

    def __init__(self, wbits: int) -> None:
        self._wbits = wbits
        self._object = zlib.decompressobj(wbits)
        self._rest = b""
        self._members = 1

    def feed(self, data: bytes, room: int) -> bytes:
        data = self._rest + data
        if self._object.eof and not self._next_member(data):
            return b""
        out = self._object.decompress(data, max(1, room))
        self._rest = self._object.unused_data if self._object.eof else self._object.unconsumed_tail
        return out

    def _next_member(self, data: bytes) -> bool:
        """Whether another gzip member begins; what else stands behind the end is padding or garbage."""
        if len(data) < 2:
            self._rest = data
            return False
        self._rest = b""
        if self._wbits != 31 or data[:2] != b"\x1f\x8b" or self._members >= _MAX_MEMBERS:
            return False
        self._object = zlib.decompressobj(self._wbits)
        self._members += 1
        return True

    @property
    def pending(self) -> bool:
        return len(self._rest) > 1 if self._object.eof else bool(self._rest)

    @property
    def complete(self) -> bool:
        return self._object.eof


class _Brotli:
    def __init__(self) -> None:
        self._object = brotli.Decompressor()

    def feed(self, data: bytes, room: int) -> bytes:
        if self._object.is_finished():
            return b""
        out: bytes = self._object.process(data, output_buffer_limit=max(1, room))
        return out

    @property
    def pending(self) -> bool:
        return not self._object.is_finished() and not self._object.can_accept_more_data()

    @property
    def complete(self) -> bool:
        return bool(self._object.is_finished())


class _Zstd:
    """zstd frames, one after another. The window is bounded to what RFC 9659 asks of the web: 8 MiB."""

    def __init__(self) -> None:
        self._object = self._new()
        self._rest = b""

    def _new(self) -> zstd.ZstdDecompressor:
        return zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: 23})

    def feed(self, data: bytes, room: int) -> bytes:
        if self._object.eof:
            data = self._rest + data
            if not data:
                return b""
            self._object, self._rest = self._new(), b""
        out = self._object.decompress(data, max_length=max(1, room))
        self._rest = self._object.unused_data if self._object.eof else b""
        return out

    @property
    def pending(self) -> bool:
        return bool(self._rest) if self._object.eof else not self._object.needs_input

    @property
    def complete(self) -> bool:
        return self._object.eof
