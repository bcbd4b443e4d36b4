"""The request log: one line for each request, in the order in which they arrived."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from pinyon.errors import InputError


class Request(NamedTuple):
    """One request as the web saw it.

    `at_s` is when its head was complete, in seconds of CLOCK_MONOTONIC, which all processes of a Linux machine
    share. `status` is 0 where the web answers nothing. `agent` is empty where none was sent.
    """

    at_s: float
    host: str
    address: str
    scheme: str
    method: str
    path: str
    status: int
    agent: str

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.host}{self.path}"


class Log:
    """Where requests are written: a file where a path is given, memory otherwise.

    A line is one `write` to a file opened for appending: readers never see half of one, and none is lost when
    the process is killed. Raises InputError where the file cannot be opened.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._kept: list[Request] = []
        self._file = None if path is None else _opened(path)

    def add(self, request: Request) -> None:
        if self._file is None:
            self._kept.append(request)
        else:
            os.write(self._file, _line(request))

    def requests(self) -> list[Request]:
        """All requests so far, the oldest first."""
        return list(self._kept) if self._path is None else read_log(self._path)

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None


def read_log(path: Path | str) -> list[Request]:
    """The requests in a log file, the oldest first; raises InputError if it is no such file."""
    try:
        lines = Path(path).read_bytes().decode("utf-8", "surrogateescape").split("\n")
        return [_request(line) for line in lines if line]
    except (OSError, ValueError) as error:
        raise InputError(f"{path} is no request log: {error}") from error


def _opened(path: Path) -> int:
    try:
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    except OSError as error:
        raise InputError(f"the request log {path} cannot be written: {error.strerror}") from error


def _line(request: Request) -> bytes:
    fields = (f"{request.at_s:.6f}", *map(str, request[1:]))
    return ("\t".join(field.replace("\t", " ").replace("\n", " ") for field in fields) + "\n").encode()


def _request(line: str) -> Request:
    at_s, host, address, scheme, method, path, status, agent = line.split("\t")
    return Request(float(at_s), host, address, scheme, method, path, int(status), agent)
