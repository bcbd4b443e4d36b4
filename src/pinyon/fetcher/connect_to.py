"""Where to connect instead of asking DNS: lines HOST:PORT:ADDRESS:PORT, as curl's --connect-to. Pure.

HOST may be `*` (any name) or `*.suffix` (any name under it); the most specific line wins. An empty HOST or PORT
before the second colon means any, an empty ADDRESS or PORT behind it means the one asked for is kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from pinyon.errors import SettingError

_PART = r"(\[[0-9A-Fa-f:.]+\]|[^:\s\[\]]*)"
_LINE = re.compile(rf"{_PART}:(\d*):{_PART}:(\d*)")


class Endpoint(NamedTuple):
    """An address (without brackets) or a name to resolve, and a port."""

    address: str
    port: int


class ConnectTo:
    """The lines, looked up by host and port. Falsy when there are none."""

    def __init__(self, lines: Iterable[str] = ()) -> None:
        self._rules: dict[tuple[str, int], tuple[str, int]] = {}
        for line in lines:
            text = line.strip()
            if text and not text.startswith("#"):
                self._add(text)

    def _add(self, line: str) -> None:
        match = _LINE.fullmatch(line)
        if match is None:
            raise SettingError(f"connect-to line '{line[:200]}': wanted HOST:PORT:ADDRESS:PORT")
        host, port, address, to_port = match.groups()
        self._rules[host.lower() or "*", int(port or 0)] = (address.strip("[]"), int(to_port or 0))

    def __bool__(self) -> bool:
        return bool(self._rules)

    def find(self, host: str, port: int) -> Endpoint | None:
        """Where to connect for `host` (lower case) and `port`, or None if no line says so."""
        if not self._rules:
            return None
        for pattern in _patterns(host.rstrip(".")):
            for candidate in (port, 0):
                rule = self._rules.get((pattern, candidate))
                if rule is not None:
                    return Endpoint(rule[0] or host, rule[1] or port)
        return None


def _patterns(host: str) -> Iterable[str]:
    """From the most specific to the least: the host, each suffix of it, anything."""
    yield host
    rest = host
    while "." in rest:
        rest = rest.partition(".")[2]
        yield f"*.{rest}"
    yield "*"
