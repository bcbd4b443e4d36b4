"""Reading header fields that anybody may have written: bytes in, short clean text or nothing out."""

from __future__ import annotations

import re
from collections.abc import Sequence

RawHeaders = Sequence[tuple[bytes, bytes]]

_STATUS_LINE = re.compile(rb"HTTP/1\.[01] +(\d{3})(?: [^\r\n]*)?\r?\n")

#: Longer values of the headers we keep in tables are not what they claim to be.
_MAX_VALUE = 2048

_MIME = re.compile(r"[a-z0-9!#$&^_.+-]+/[a-z0-9!#$&^_.+*-]+")
_CHARSET = re.compile(r"""charset\s*=\s*["']?\s*([A-Za-z0-9_.:+-]{1,40})""", re.IGNORECASE)


def read_head(head: bytes) -> tuple[int, tuple[tuple[bytes, bytes], ...]] | None:
    """Status and fields of a response head that a stricter parser gave up on; None if it has no status line.

    Lines without a colon are passed over.
    """
    match = _STATUS_LINE.match(head)
    if match is None:
        return None
    fields = (line.partition(b":") for line in head[match.end() :].splitlines())
    return int(match[1]), tuple((name.strip(), value.strip()) for name, colon, value in fields if colon)


def header(headers: RawHeaders, name: bytes) -> bytes | None:
    """Value of the first field called `name` (given in lower case), stripped; None if there is none."""
    for key, value in headers:
        if len(key) == len(name) and key.lower() == name:
            return value.strip()
    return None


def header_text(headers: RawHeaders, name: bytes) -> str | None:
    """The same as text: None also for a value that is empty, overlong or not UTF-8, which could not be sent back."""
    value = header(headers, name)
    if not value or len(value) > _MAX_VALUE:
        return None
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return None


def all_of(headers: RawHeaders, name: bytes) -> str | None:
    """Values of every field called `name`, joined by commas, as RFC 9110 allows for lists; None if there is none."""
    values = [value.strip().decode("utf-8", "replace") for key, value in headers if key.lower() == name]
    return ", ".join(values)[:_MAX_VALUE] or None


def content_type(value: str | None) -> tuple[str | None, str | None]:
    """MIME type in lower case and charset as written, of a Content-Type header; None for what is not there."""
    if value is None:
        return None, None
    mime, _, parameters = value.partition(";")
    mime = mime.strip().lower()
    charset = _CHARSET.search(parameters)
    return (mime if _MIME.fullmatch(mime) else None), (charset[1] if charset else None)


def location(headers: RawHeaders) -> str | None:
    """The Location header as text a URL parser takes; None if there is none.

    Servers send UTF-8 here, raw (what it means to browsers), and sometimes other bytes: those are escaped, so that
    what we request is what they sent.
    """
    value = header(headers, b"location")
    if not value:
        return None
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return "".join(chr(byte) if byte < 0x80 else f"%{byte:02X}" for byte in value)
