"""Reading records back: one by its place, or all of a file up to a torn end."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pinyon.archive.http_head import parse_head, split_head
from pinyon.archive.members import GZIP_MAGIC, Member, unpack, walk
from pinyon.errors import InputError, StoreError

#: A record that unpacks to more than this is not one of ours.
MAX_RECORD_BYTES = 1 << 30
_HTTP_TYPES = ("response", "request", "revisit")


@dataclass(frozen=True, slots=True)
class Record:
    """One WARC record. `payload` is the body as it was received, content codings kept; for a record that is not HTTP,
    its block. `head` is the HTTP head as stored. `date` is UTC. `offset` and `length` are those of the gzip member.
    """

    type: str
    url: str | None
    date: datetime
    record_id: str
    warc_headers: tuple[tuple[str, str], ...]
    head: bytes
    http_status: int | None
    headers: tuple[tuple[str, str], ...]
    payload: bytes
    offset: int
    length: int

    def header(self, name: str) -> str | None:
        """First HTTP field of that name, in any case; None if there is none."""
        return _first(self.headers, name)

    def warc_header(self, name: str) -> str | None:
        """First WARC field of that name, in any case; None if there is none."""
        return _first(self.warc_headers, name)

    @property
    def truncated(self) -> str | None:
        """Why the body was cut (`length`, `time`, `disconnect`); None if it is whole."""
        return self.warc_header("WARC-Truncated")


def _first(fields: tuple[tuple[str, str], ...], name: str) -> str | None:
    wanted = name.lower()
    return next((value for key, value in fields if key.lower() == wanted), None)


def read_record(path: Path, offset: int, length: int) -> Record:
    """The record whose gzip member is `length` bytes at `offset`; `InputError` if there is no whole record there."""
    try:
        with path.open("rb") as file:
            file.seek(offset)
            data = file.read(length)
        return _parsed(Member(offset, length, unpack(data, MAX_RECORD_BYTES)))
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    except InputError as error:
        raise InputError(f"{path}, offset {offset}: {error}") from error


def iter_records(path: Path) -> Iterator[Record]:
    """All whole records in order; a torn end is passed over. `InputError` if the file cannot be read or is no WARC."""
    try:
        with path.open("rb") as file:
            for member in walk(file, MAX_RECORD_BYTES):
                yield _parsed(member)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def _parsed(member: Member) -> Record:
    head, rest = split_head(member.data)
    if not head.startswith(b"WARC/"):
        raise InputError(f"no WARC record at offset {member.offset}")
    _, fields = parse_head(head)
    try:
        size = int(_first(fields, "Content-Length") or "")
        date = _date(_first(fields, "WARC-Date") or "")
    except ValueError as error:
        raise InputError(f"the WARC record at offset {member.offset} has no length or date") from error
    block = rest[:size]
    if len(block) != size:
        raise InputError(f"the WARC record at offset {member.offset} is shorter than it says")
    kind = _first(fields, "WARC-Type") or ""
    http = kind in _HTTP_TYPES and "http" in (_first(fields, "Content-Type") or "")
    http_head, payload = split_head(block) if http else (b"", block)
    status, http_fields = parse_head(http_head) if http else (None, ())
    return Record(
        type=kind,
        url=_first(fields, "WARC-Target-URI"),
        date=date,
        record_id=_first(fields, "WARC-Record-ID") or "",
        warc_headers=fields,
        head=http_head,
        http_status=status,
        headers=http_fields,
        payload=payload,
        offset=member.offset,
        length=member.length,
    )


def _date(text: str) -> datetime:
    date = datetime.fromisoformat(text)
    return date if date.tzinfo is not None else date.replace(tzinfo=UTC)


# -- after a crash --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Recovery:
    """What `recover` found: whole records, the bytes they take, and the bytes that were cut behind them."""

    records: int
    kept_bytes: int
    cut_bytes: int


def recover(path: Path) -> Recovery:
    """Cuts a torn record off the end of a file whose writer died, and syncs it. A whole file is left as it is.

    Raises `StoreError` if whole records lie behind the damage: that is no torn end, and nothing is cut then.
    """
    records = kept = 0
    try:
        with path.open("r+b") as file:
            for member in walk(file, MAX_RECORD_BYTES):
                with contextlib.suppress(InputError):
                    _parsed(member)
                    records += 1
                kept = member.offset + member.length
            size = file.seek(0, os.SEEK_END)
            if kept < size:
                file.seek(kept)
                _refuse_if_more(path, file.read(), kept)
                file.truncate(kept)
                file.flush()
                os.fsync(file.fileno())
    except OSError as error:
        raise StoreError(f"{path}: cannot be mended: {error.strerror}") from error
    return Recovery(records, kept, size - kept)


def _refuse_if_more(path: Path, tail: bytes, offset: int) -> None:
    at = tail.find(GZIP_MAGIC, 1)
    while at >= 0:
        with contextlib.suppress(InputError):
            _parsed(Member(offset + at, 0, _unpacked_start(tail[at:])))
            raise StoreError(
                f"{path}: damaged at offset {offset}, with whole records from {offset + at} on: not a torn end, "
                "nothing was cut; restore the file, or move it away"
            )
        at = tail.find(GZIP_MAGIC, at + 1)


def _unpacked_start(data: bytes) -> bytes:
    import io

    member = next(walk(io.BytesIO(data), MAX_RECORD_BYTES), None)
    if member is None:
        raise InputError("torn")
    return member.data
