"""A .warc.gz as what it is: gzip members one behind the other, each one record. A torn end is seen, never raised."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from pinyon.errors import InputError

_CHUNK = 262_144
GZIP_MAGIC = b"\x1f\x8b\x08"


@dataclass(frozen=True, slots=True)
class Member:
    """One whole member: where it lies, and what it holds."""

    offset: int
    length: int
    data: bytes


def walk(file: BinaryIO, max_member_bytes: int) -> Iterator[Member]:
    """Whole members from the start of `file`; ends at the end, or at the first member that is torn or none at all.

    Raises `InputError` for a member that unpacks to more than `max_member_bytes`.
    """
    offset, rest = 0, b""
    while True:
        member, rest = _next(file, offset, rest, max_member_bytes)
        if member is None:
            return
        yield member
        offset += member.length


def _next(file: BinaryIO, offset: int, rest: bytes, limit: int) -> tuple[Member | None, bytes]:
    """The member that begins with `rest` at `offset`, and the bytes read beyond it; None if there is no whole one."""
    unpacker = zlib.decompressobj(31)
    parts: list[bytes] = []
    size = length = 0
    data = rest or file.read(_CHUNK)
    while data:
        try:
            part = unpacker.decompress(data, limit + 1 - size)
        except zlib.error:
            return None, b""
        parts.append(part)
        size += len(part)
        if size > limit:
            raise InputError(f"the record at offset {offset} unpacks to more than {limit} bytes")
        if unpacker.eof:
            length += len(data) - len(unpacker.unused_data)
            return Member(offset, length, b"".join(parts)), unpacker.unused_data
        length += len(data)
        data = file.read(_CHUNK)
    return None, b""


def unpack(data: bytes, limit: int) -> bytes:
    """What one member holds; raises `InputError` if it is torn, damaged, or larger than `limit` when unpacked."""
    unpacker = zlib.decompressobj(31)
    try:
        out = unpacker.decompress(data, limit + 1)
    except zlib.error as error:
        raise InputError(f"not a gzip member: {error}") from error
    if len(out) > limit:
        raise InputError(f"the record unpacks to more than {limit} bytes")
    if not unpacker.eof:
        raise InputError("the gzip member is torn")
    return out
