"""What a kind of host is made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from pinyon.simweb.answer import Answer, Ask
from pinyon.simweb.site import Site

Handler = Callable[[Site, Ask], Answer]


class Door(Enum):
    """What stands between a client and the host, before HTTP begins."""

    OPEN = "http; with https where the host's URLs are"
    BOTH = "http and https, as equals"
    NOWHERE = "the name does not resolve"
    REFUSED = "nobody listens at the address"
    UNTRUSTED = "https with a certificate that no known authority signed"
    PLAIN = "the https port speaks plain http"


@dataclass(frozen=True, slots=True)
class Route:
    """One path of a host, or all paths that begin with it if it ends in `*`.

    The home page links to it if it is `listed`. Not `settled`: what a crawler makes of it is open (see `oracle`).
    """

    path: str
    handler: Handler
    listed: bool = True
    settled: bool = True


@dataclass(frozen=True, slots=True)
class Kind:
    """One way of being awkward. Everything but `name` and `help` says how it differs from an ordinary host.

    `denied` and `spared` are prefixes of paths: what robots.txt means for every agent by RFC 9309, the spared ones
    going first; `("/",)` also stands for a robots.txt that cannot be had. `remembers`: answers depend on what was
    asked before.
    """

    name: str
    help: str
    routes: tuple[Route, ...] = ()
    door: Door = Door.OPEN
    denied: tuple[str, ...] = ()
    spared: tuple[str, ...] = ()
    settled: bool = True
    remembers: bool = False
    https: bool = False
    wrap: Callable[[Site, Ask, Answer], Answer] | None = None

    @property
    def needs_tls(self) -> bool:
        """Whether the kind makes no sense in a web without https."""
        return self.https or self.door in (Door.BOTH, Door.UNTRUSTED, Door.PLAIN)

    @property
    def listed(self) -> tuple[str, ...]:
        """The paths its home page links to."""
        return tuple(route.path for route in self.routes if route.listed)

    def allows(self, path: str) -> bool:
        """Whether robots.txt lets a crawler ask for a path."""
        return path.startswith(self.spared) or not path.startswith(self.denied)

    def route(self, path: str) -> Route | None:
        """The route for a path without its query: an equal one, else the first whose prefix fits."""
        prefixed = None
        for route in self.routes:
            if route.path == path:
                return route
            if prefixed is None and route.path.endswith("*") and path.startswith(route.path[:-1]):
                prefixed = route
        return prefixed
