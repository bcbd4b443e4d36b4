"""The index of an archive: one CDXJ line a capture, sorted by reversed host, path and time, as replay tools read it."""

from __future__ import annotations

import heapq
import json
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from pinyon.archive.reader import Record, iter_records

_WWW = re.compile(r"www\d*\.")


def index_warc(path: Path) -> Iterator[str]:
    """A line, without its end, for each answer in a file: response and revisit records, in the order of the file.

    "KEY TIMESTAMP JSON": the timestamp is UTC to the second, the JSON holds text only (url, mime, status, digest,
    length, offset, filename). Raises `InputError` as `iter_records` does.
    """
    for record in iter_records(path):
        if record.type in ("response", "revisit") and record.url is not None:
            fields = {name: value for name, value in _fields(record, path.name) if value}
            yield f"{url_key(record.url)} {record.date:%Y%m%d%H%M%S} {json.dumps(fields, ensure_ascii=False)}"


def _fields(record: Record, file: str) -> Iterator[tuple[str, str | None]]:
    mime = (record.header("Content-Type") or "").partition(";")[0].strip().lower()
    yield "url", record.url
    yield "mime", "warc/revisit" if record.type == "revisit" else mime or "unk"
    yield "status", None if record.http_status is None else str(record.http_status)
    yield "digest", record.warc_header("WARC-Payload-Digest")
    yield "length", str(record.length)
    yield "offset", str(record.offset)
    yield "filename", file


def write_index(warcs: Iterable[Path], target: Path) -> int:
    """The sorted index of several files, written whole or not at all; number of lines. Memory: the lines, once."""
    lines = 0
    aside = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    with aside.open("w", encoding="utf-8", newline="\n") as out:
        for line in heapq.merge(*(sorted(index_warc(path)) for path in warcs)):
            out.write(line + "\n")
            lines += 1
        out.flush()
        os.fsync(out.fileno())
    aside.replace(target)
    return lines


def url_key(url: str) -> str:
    """The sort-friendly form replay tools look up: "http://www.A.example:80/b?y=1&x=2" → "example,a)/b?x=2&y=1"."""
    rest = url.partition("://")[2] or url
    cut = min((at for at in (rest.find(mark) for mark in "/?#") if at >= 0), default=len(rest))
    authority, tail = rest[:cut].rpartition("@")[2], rest[cut:].partition("#")[0]
    path, _, query = tail.partition("?")
    path = path.rstrip("/") or "/"
    key = f"{_host_key(authority)}){path}"
    if query:
        key += "?" + "&".join(sorted(query.split("&")))
    return key.lower().replace(" ", "%20")


def _host_key(authority: str) -> str:
    if authority.startswith("["):
        return authority
    host, _, port = authority.lower().partition(":")
    host = _WWW.sub("", host, count=1) if _WWW.match(host) else host
    reverse = host if host.replace(".", "").isdigit() else ",".join(reversed(host.split(".")))
    return reverse if port in ("", "80", "443") else f"{reverse}:{port}"
