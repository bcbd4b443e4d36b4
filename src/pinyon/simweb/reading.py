"""Requests from bytes: as much of HTTP/1.1 as a client that only fetches needs, and no more."""

from __future__ import annotations

from typing import NamedTuple

#: The head of a request may be that long: more than any server allows.
MAX_HEAD_BYTES = 64 * 1024


class Head(NamedTuple):
    """The head of a request. `host` is in lower case and without a port; `keep`: the connection may be kept."""

    method: str
    path: str
    host: str
    headers: dict[str, str]
    keep: bool


class BadRequest(Exception):
    """The client did not send what can be answered; `status` says so."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


def could_begin(data: bytes) -> bool:
    """Whether a request can begin with those bytes: a TLS handshake, for one, cannot, and never ends as one."""
    return not data or data[:1].isalpha() or data[:1] in b"\r\n"


def read_head(data: bytes) -> Head:
    """The request in a head, without the empty line that ends it; raises BadRequest."""
    line, *fields = data.decode("latin-1").split("\r\n")
    method, target, version = _request_line(line)
    headers: dict[str, str] = {}
    for field in fields:
        name, colon, value = field.partition(":")
        if not colon or name != name.strip():
            raise BadRequest(400)
        headers[name.lower()] = value.strip()
    if headers.get("content-length", "0") != "0" or "transfer-encoding" in headers:
        raise BadRequest(413)
    host, path = _place(target, headers.get("host", ""))
    return Head(method, path, host, headers, _keeps(version, headers.get("connection", "").lower()))


def _request_line(line: str) -> tuple[str, str, str]:
    parts = line.split(" ")
    if len(parts) != 3 or not parts[2].startswith("HTTP/1.") or _has_controls(line):
        raise BadRequest(400)
    return parts[0], parts[1], parts[2]


def _has_controls(line: str) -> bool:
    return not line.isprintable() and any(c < " " or c == "\x7f" for c in line)


def _place(target: str, host: str) -> tuple[str, str]:
    """Host and path; a target in absolute form names the host itself (RFC 9112, 3.2.2)."""
    if not target.startswith("/"):
        scheme, separator, rest = target.partition("://")
        if not separator or scheme.lower() not in ("http", "https"):
            raise BadRequest(400)
        host, slash, path = rest.partition("/")
        target = slash + path or "/"
    return host.rpartition(":")[0].lower() if ":" in host else host.lower(), target


def _keeps(version: str, connection: str) -> bool:
    return "close" not in connection and (version != "HTTP/1.0" or "keep-alive" in connection)
