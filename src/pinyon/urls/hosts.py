"""Sets of hosts as people write them in settings."""

from __future__ import annotations

from collections.abc import Iterable

from pinyon.errors import SettingError
from pinyon.urls.places import host_of


class HostPatterns:
    """A set of hosts: 'a.example' is that host, '*.example' the domain itself and every host under it.

    Names are given in any spelling that a URL may have (Unicode, upper case). Raises `SettingError` for a text
    that cannot be a host.
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        hosts, suffixes = set(), set()
        for pattern in patterns:
            name = pattern.strip()
            if name.startswith("*."):
                suffixes.add(_ascii_host(name[2:]))
            elif name:
                hosts.add(_ascii_host(name))
        self._hosts, self._suffixes = frozenset(hosts), frozenset(suffixes)

    def __bool__(self) -> bool:
        return bool(self._hosts or self._suffixes)

    def __contains__(self, host: str) -> bool:
        if host in self._hosts:
            return True
        name = host if self._suffixes else ""
        while name:
            if name in self._suffixes:
                return True
            _, _, name = name.partition(".")
        return False

    def parts(self) -> tuple[list[str], list[str]]:
        """The hosts and the domains, sorted."""
        return sorted(self._hosts), sorted(self._suffixes)


def _ascii_host(name: str) -> str:
    bare = name[1:-1] if name.startswith("[") and name.endswith("]") else name
    unbracketed = bare if bare is not name else bare.replace(":", "/")  # outside brackets ':' begins a port
    host = None if set(unbracketed) & set("/?#@\\*") else host_of(f"http://{name}/")
    if host is None:
        raise SettingError(
            f"'{name[:80]}': wanted a host, 'a.example', or a domain with its hosts, '*.a.example'"
        )
    return host
