"""The web as a value: its hosts and parameters, and one host seen from inside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pinyon.simweb.dice import Dice, shuffled, zipf
from pinyon.simweb.hosts import HUB, ORDINARY, Host


class World:
    """All that pages are made from. `edition` may be raised at any time: then a part of the pages changes."""

    def __init__(self, seed: int, hosts: Sequence[Host], *, slow_s: float, text_bytes: int) -> None:
        self.seed = seed
        self.hosts = hosts
        self.slow_s = slow_s
        self.text_bytes = text_bytes
        self.edition = 0
        self._by_name = {host.name: host for host in hosts}
        others = [host for host in hosts if host.kind != HUB] or list(hosts)
        self._ranked = [others[i] for i in shuffled(f"{seed} rank", len(others))]
        self._ordinary = [host for host in self._ranked if host.kind == ORDINARY] or list(hosts[:1])

    def host(self, name: str) -> Host | None:
        return self._by_name.get(name)

    def popular(self, draw: Dice) -> Host:
        """A host, by the power law of links: some are drawn again and again."""
        return self._ranked[zipf(draw(), len(self._ranked))]

    def harmless(self, draw: Dice) -> Host:
        """An ordinary host; the hub where there is none."""
        return self._ordinary[int(draw() * len(self._ordinary))]


@dataclass(frozen=True, slots=True)
class Site:
    """One host of one web: what the functions that answer for it are given.

    Not `outward`: its pages link to no other host, so that what a crawler finds elsewhere does not hang on
    what it makes of this one.
    """

    world: World
    host: Host
    outward: bool = True

    def url(self, path: str) -> str:
        return self.host.url(path)
