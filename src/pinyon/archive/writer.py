"""Writing WARC 1.1: one gzip member a record, so that each can be read alone; a new file for every run and size."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import os
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Protocol

from fastwarc.stream_io import GzipWriter
from fastwarc.warc import WarcRecord, WarcRecordType

from pinyon.archive.http_head import stored_head
from pinyon.errors import StoreError

_SAME_DIGEST = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
_NOT_MODIFIED = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
_LEVEL = 6
_BUFFER = 262_144


class Exchange(Protocol):
    """One request and its answer, as a fetcher's capture has them: `body` without transfer coding, `digest` the SHA-1
    of it in base32 (None: computed here), `fetch_time` UTC."""

    @property
    def url(self) -> str: ...
    @property
    def fetch_time(self) -> datetime: ...
    @property
    def http_status(self) -> int | None: ...
    @property
    def ip(self) -> str | None: ...
    @property
    def digest(self) -> str | None: ...
    @property
    def truncated(self) -> str | None: ...
    @property
    def request_head(self) -> bytes: ...
    @property
    def response_head(self) -> bytes: ...
    @property
    def body(self) -> bytes: ...


@dataclass(frozen=True, slots=True)
class RecordPlace:
    """Where a record lies: file name without folder, offset and length of its gzip member in bytes."""

    file: str
    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class Original:
    """An earlier capture with the same payload, which a revisit record points to. `date` is UTC."""

    url: str
    date: datetime


class WarcWriter:
    """Appends records to `pinyon-SEGMENT-PART-SERIAL.warc.gz` in `directory`, which must exist.

    The first record makes the file; beyond `max_file_bytes` the next record makes another. A file that is there is
    never opened again. `seen` is asked with the digest of each payload (base32): if it gives an original, a revisit
    record is written in place of the bytes. `info` are fields of the warcinfo record besides the usual ones.
    Bytes reach the system at `flush`, the disk at `flush(sync=True)` and `close`.
    """

    def __init__(
        self,
        directory: Path,
        segment: str,
        part: int,
        *,
        software: str,
        max_file_bytes: int = 1_000_000_000,
        write_requests: bool = True,
        seen: Callable[[str], Original | None] | None = None,
        info: Mapping[str, str] | None = None,
    ) -> None:
        self._directory = directory
        self._stem = f"pinyon-{segment}-{part:05d}"
        self._max_file_bytes = max_file_bytes
        self._write_requests = write_requests
        self._seen = seen
        self._info = {"software": software, "format": "WARC File Format 1.1", **(info or {})}
        self._file: BinaryIO | None = None
        self._gzip: GzipWriter | None = None
        self._name = ""
        self._offset = 0
        #: Files made so far, in order.
        self.files: list[str] = []

    def __enter__(self) -> WarcWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def write(self, exchange: Exchange) -> RecordPlace | None:
        """Writes an exchange: the answer, then the request. Place of the former; None if there was no answer.

        A 304 becomes a revisit record (`server-not-modified`), a payload that `seen` knows one of the other kind.
        Raises OSError when the disk is full, `StoreError` when no file can be made.
        """
        if not exchange.response_head:
            return None
        answer = self._answer(exchange)
        place = self._append(answer)
        if self._write_requests and exchange.request_head:
            request = _record(
                WarcRecordType.request, exchange.request_head, "application/http; msgtype=request"
            )
            _describe(request, exchange)
            request.headers["WARC-Concurrent-To"] = answer.record_id or ""
            self._append(request)
        return place

    def write_metadata(self, url: str, date: datetime, fields: Mapping[str, str]) -> RecordPlace:
        """Writes what is to be said of `url` besides its exchange, as `application/warc-fields`. `date` is UTC."""
        record = _record(WarcRecordType.metadata, _warc_fields(fields), "application/warc-fields")
        record.headers["WARC-Target-URI"] = url
        record.headers["WARC-Date"] = warc_date(date)
        return self._append(record)

    def flush(self, sync: bool = False) -> None:
        """Hands everything written so far to the system; with `sync`, to the disk."""
        if self._file is not None:
            self._file.flush()
            if sync:
                os.fsync(self._file.fileno())

    def close(self) -> None:
        """Syncs and closes; the next record would begin another file."""
        if self._file is None:
            return
        try:
            self.flush(sync=True)
        finally:
            self._file.close()
            self._file = self._gzip = None

    # -- records --------------------------------------------------------------------------------------------------

    def _answer(self, exchange: Exchange) -> WarcRecord:
        head = stored_head(exchange.response_head)
        if exchange.http_status == 304:
            return self._revisit(exchange, head, _NOT_MODIFIED)
        digest = exchange.digest or _sha1(exchange.body)
        original = self._seen(digest) if self._seen is not None and exchange.body else None
        if original is not None:
            record = self._revisit(exchange, head, _SAME_DIGEST)
            record.headers["WARC-Refers-To-Target-URI"] = original.url
            record.headers["WARC-Refers-To-Date"] = warc_date(original.date)
        else:
            record = _record(
                WarcRecordType.response, head + exchange.body, "application/http; msgtype=response"
            )
            _describe(record, exchange)
        record.headers["WARC-Payload-Digest"] = f"sha1:{digest}"
        return record

    def _revisit(self, exchange: Exchange, head: bytes, profile: str) -> WarcRecord:
        record = _record(WarcRecordType.revisit, head, "application/http; msgtype=response")
        record.headers["WARC-Profile"] = profile
        _describe(record, exchange)
        return record

    def _append(self, record: WarcRecord) -> RecordPlace:
        file, packer = self._open()
        start = self._offset
        try:
            record.write(packer)
            packer.finish()  # ends the gzip member: without it all records of a file would share one
        except OSError:
            self._abandon()
            raise
        self._offset = file.tell()
        return RecordPlace(self._name, start, self._offset - start)

    # -- files ----------------------------------------------------------------------------------------------------

    def _open(self) -> tuple[BinaryIO, GzipWriter]:
        if self._file is not None and self._offset >= self._max_file_bytes:
            self.close()
        if self._file is None or self._gzip is None:
            self._name, self._file = self._create()
            self._gzip = GzipWriter(self._file, compression_level=_LEVEL)
            self._offset = 0
            self.files.append(self._name)
            self._append(self._warcinfo())
        return self._file, self._gzip

    def _create(self) -> tuple[str, BinaryIO]:
        """The first serial that is free, taken for ourselves: processes may write to one directory."""
        for serial in range(100_000):
            name = f"{self._stem}-{serial:05d}.warc.gz"
            try:
                return name, (self._directory / name).open("xb", buffering=_BUFFER)
            except FileExistsError:
                continue
            except OSError as error:
                raise StoreError(f"{self._directory / name}: cannot be made: {error.strerror}") from error
        raise StoreError(f"{self._directory}: no serial is free for {self._stem}")

    def _warcinfo(self) -> WarcRecord:
        record = _record(WarcRecordType.warcinfo, _warc_fields(self._info), "application/warc-fields")
        record.headers["WARC-Filename"] = self._name
        return record

    def _abandon(self) -> None:
        """After a failed write nothing may be appended: the next record begins another file."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._file.close()
        self._file = self._gzip = None


def _record(kind: WarcRecordType, block: bytes, content_type: str) -> WarcRecord:
    record = WarcRecord()
    record.init_headers(kind, f"uuid:{uuid.uuid4()}".encode())
    record.headers["Content-Type"] = content_type
    record.headers["WARC-Block-Digest"] = f"sha1:{_sha1(block)}"
    record.set_bytes_content(block)
    return record


def _describe(record: WarcRecord, exchange: Exchange) -> None:
    """What the records of one exchange have in common."""
    headers = record.headers
    headers["WARC-Target-URI"] = exchange.url
    headers["WARC-Date"] = warc_date(exchange.fetch_time)
    if exchange.ip is not None:
        headers["WARC-IP-Address"] = exchange.ip
    if exchange.truncated is not None and record.record_type != WarcRecordType.request:
        headers["WARC-Truncated"] = exchange.truncated


def _warc_fields(fields: Mapping[str, str]) -> bytes:
    return "".join(f"{name}: {' '.join(value.split())}\r\n" for name, value in fields.items()).encode()


def warc_date(moment: datetime) -> str:
    """`moment` as WARC 1.1 writes it: UTC, with microseconds."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _sha1(data: bytes) -> str:
    return base64.b32encode(hashlib.sha1(data, usedforsecurity=False).digest()).decode("ascii")
