"""Which hosts a web has: names, addresses, sizes. Planned once from the seed; pages are never listed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pinyon.simweb.dice import dice, number, pareto
from pinyon.simweb.words import WORDS

HUB = "hub"
ORDINARY = "ordinary"

#: Ordinary hosts share this many addresses at most: every address costs the process a listening socket or two.
MAX_ADDRESSES = 256
#: So many of 100 ordinary hosts share the address of the one before.
SHARING_PERCENT = 15
#: Hosts of one registered domain each. RFC 2606 keeps these names free, so a request that escapes finds nobody.
FAMILIES = ("example.com", "example.net", "example.org")
FAMILY_PERCENT = 15
HTTPS_PERCENT = 25


@dataclass(frozen=True, slots=True)
class Host:
    """One host. `place` is its index in the web's list, `scheme` that of its URLs, `key` its own random bits."""

    name: str
    kind: str
    place: int
    address: str
    scheme: str
    pages: int
    key: int

    def url(self, path: str) -> str:
        return f"{self.scheme}://{self.name}{path}"


def plan(
    seed: int, count: int, kinds: Sequence[str], *, mean_pages: int, https_kinds: Sequence[str]
) -> list[Host]:
    """The hub, one awkward host for each entry of `kinds`, and ordinary hosts up to `count`.

    `https_kinds` names the kinds whose URLs begin with https; for `ordinary` it means a part of them.
    """
    awkward = [_awkward(seed, kind, i, kinds[:i].count(kind), https_kinds) for i, kind in enumerate(kinds)]
    hub = Host("hub.sim.test", HUB, 0, _address(0), "http", 1, number(seed, HUB))
    ordinary: list[Host] = []
    for place in range(len(kinds) + 1, count):
        ordinary.append(_ordinary(seed, place, len(kinds) + 1, ordinary, mean_pages, ORDINARY in https_kinds))
    return [hub, *awkward, *ordinary]


def _awkward(seed: int, kind: str, i: int, earlier: int, https_kinds: Sequence[str]) -> Host:
    name = f"{kind}{earlier + 1}.sim.test"
    scheme = "https" if kind in https_kinds else "http"
    return Host(name, kind, i + 1, _address(i + 1), scheme, 4, number(seed, name))


def _ordinary(
    seed: int, place: int, first: int, before: Sequence[Host], mean_pages: int, https: bool
) -> Host:
    draw = dice(seed, ORDINARY, place)
    word = WORDS[int(draw() * len(WORDS))]
    family = FAMILIES[int(draw() * len(FAMILIES))] if draw() * 100 < FAMILY_PERCENT else "sim.test"
    address = _address(first + (place - first) % MAX_ADDRESSES)
    if draw() * 100 < SHARING_PERCENT and before:
        address = before[-1].address
    scheme = "https" if draw() * 100 < HTTPS_PERCENT and https else "http"
    name = f"{word}{place}.{family}"
    return Host(
        name,
        ORDINARY,
        place,
        address,
        scheme,
        pareto(draw(), mean_pages, 50 * mean_pages),
        number(seed, name),
    )


def _address(i: int) -> str:
    return f"127.1.{i // 250}.{i % 250 + 1}"
