"""`SimWeb`: a simulated web that runs in a thread of this process."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import cycle, islice
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from pinyon.errors import UsageError
from pinyon.simweb.hosts import ORDINARY, Host, plan
from pinyon.simweb.kind import Door
from pinyon.simweb.kinds import KINDS, kind_named
from pinyon.simweb.log import Request
from pinyon.simweb.oracle import reachable, settled
from pinyon.simweb.site import World

if TYPE_CHECKING:
    from pinyon.simweb.running import Running

#: In a large web one host in so many is awkward; in a small one there is one of each kind.
AWKWARD_EVERY = 5
#: Ordinary hosts there are at least beside the awkward ones.
FEWEST_ORDINARY = 8
START_HOSTS = 5


class SimWeb:
    """A web of some hundred hosts on loopback, as a context manager. Raises UsageError for what it cannot be.

    `seed` decides every name, page and link; `hosts` is how many there are, raised where the kinds need more.
    `awkward`: every kind (True), none (False), or the kinds of those names. `https`: None means where awkward and
    possible; in such a web some hosts have it and the kinds about TLS exist. `slow_s` is how long slow hosts take,
    and the unit of Crawl-delay and Retry-After. `mean_pages` of an ordinary host, with about `text_bytes` of text
    on each. Requests go to the file `log`, or are kept in memory without one.
    """

    def __init__(
        self,
        seed: int = 1,
        hosts: int = 300,
        *,
        awkward: bool | Collection[str] = True,
        https: bool | None = None,
        slow_s: float = 2.0,
        mean_pages: int = 20,
        text_bytes: int = 1500,
        log: Path | str | None = None,
    ) -> None:
        self.https = _https(https, bool(awkward))
        kinds = _kinds(awkward, hosts, self.https)
        with_https = [kind.name for kind in KINDS if kind.https] + [ORDINARY]
        count = max(hosts, len(kinds) + 1 + (FEWEST_ORDINARY if kinds else 1))
        planned = plan(
            seed, count, kinds, mean_pages=mean_pages, https_kinds=with_https if self.https else []
        )
        self.world = World(seed, planned, slow_s=float(slow_s), text_bytes=text_bytes)
        self._log_path = None if log is None else Path(log)
        self._running: Running | None = None

    # -- running ----------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Listens; when this returns, every host that ever answers does. A web can be started once."""
        if self._running is not None:
            raise UsageError("this simulated web was started before: make another one")
        # Imported here: asyncio and ssl take longer to import than all the rest.
        from pinyon.simweb.running import Running

        self._running = Running(self.world, self._log_path, self.https)

    def stop(self) -> None:
        """Closes every socket. The requests stay readable; ports and certificates are gone."""
        if self._running is not None:
            self._running.stop()

    def __enter__(self) -> SimWeb:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def ca_file(self) -> Path | None:
        """The PEM file of the authority to trust, while it runs; None in a web without https."""
        contexts = self._started().contexts
        return None if contexts is None else contexts.ca_file

    def connect_to(self) -> list[str]:
        """Where to connect for each host and port: `HOST:PORT:ADDRESS:PORT`, as curl's --connect-to has it.

        A host that does not resolve has no line.
        """
        ports = self._started().server.ports
        lines = []
        for host in self.hosts:
            for scheme, port in (("http", 80), ("https", 443)):
                place = ports.get((host.address, scheme))
                if place is not None and _offers(host, scheme):
                    lines.append(f"{host.name}:{port}:{place[0]}:{place[1]}")
        return lines

    def requests(self) -> list[Request]:
        """All requests so far, the oldest first."""
        return self._started().log.requests()

    def write_connect_to(self, path: Path | str) -> None:
        """Writes `connect_to()` into a file, one a line."""
        _write_lines(path, self.connect_to())

    def write_seeds(self, path: Path | str) -> None:
        """Writes `seeds()` into a file, one a line."""
        _write_lines(path, self.seeds())

    def _started(self) -> Running:
        if self._running is None:
            raise UsageError("the simulated web was not started: use it in a with statement, or call start()")
        return self._running

    # -- what there is ----------------------------------------------------------------------------------------

    @property
    def hosts(self) -> Sequence[Host]:
        """All hosts: the hub, the awkward ones, the ordinary ones."""
        return self.world.hosts

    @property
    def edition(self) -> int:
        """How often the web has changed. Raising it changes the text of one page in four, and adds a post to feeds."""
        return self.world.edition

    @edition.setter
    def edition(self, edition: int) -> None:
        self.world.edition = edition

    def seeds(self) -> list[str]:
        """Start URLs, from which everything can be reached: the hub, which lists all hosts, and a few homes."""
        ordinary = [host for host in self.hosts if host.kind == ORDINARY]
        return [self.hosts[0].url("/"), *(host.url("/") for host in ordinary[:START_HOSTS])]

    def reachable(self, start_urls: Iterable[str], max_depth: int | None = None) -> set[str]:
        """The pages a perfect crawler fetches from those URLs. The exact rule stands in `oracle`."""
        return reachable(self.world, start_urls, max_depth)

    def settled(self, url: str) -> bool:
        """Whether it is certain what a perfect crawler makes of a URL: not so for traps and the like."""
        return settled(self.world, url)


def _https(wanted: bool | None, awkward: bool) -> bool:
    from pinyon.simweb.tls import is_available

    if wanted and not is_available():
        raise UsageError(
            "a simulated web with https needs the package 'cryptography': pip install cryptography"
        )
    return awkward and is_available() if wanted is None else wanted


def _kinds(awkward: bool | Collection[str], hosts: int, https: bool) -> list[str]:
    """The kinds of the awkward hosts, one entry a host."""
    if not isinstance(awkward, bool):
        kinds = [kind_named(name) for name in awkward]
        for kind in kinds:
            if kind.needs_tls and not https:
                raise UsageError(f"hosts of kind '{kind.name}' need https, which this web does not have")
        return [kind.name for kind in kinds]
    if not awkward:
        return []
    names = [kind.name for kind in KINDS if https or not kind.needs_tls]
    return list(islice(cycle(names), max(len(names), hosts // AWKWARD_EVERY)))


def _offers(host: Host, scheme: str) -> bool:
    """Whether a host has a port for a scheme; hosts that share an address need not both have https."""
    door = kind_named(host.kind).door
    return door is not Door.NOWHERE and (scheme == "http" or host.scheme == "https" or door is Door.BOTH)


def _write_lines(path: Path | str, lines: Iterable[str]) -> None:
    Path(path).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
