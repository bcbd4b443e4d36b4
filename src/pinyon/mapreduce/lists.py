"""Filling lists: for each URL that comes, best first, the list that takes it, or the reason why none does."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

from pinyon.mapreduce.rows import Selected
from pinyon.mapreduce.rules import Rules


class Place(NamedTuple):
    """Where a URL goes, and its rank among its host's URLs there, from 1."""

    list: int
    host_rank: int


@dataclass(slots=True)
class _HostInList:
    """What one list has seen of a host: its URLs, and its place among the hosts of its domain, from 1."""

    urls: int = 0
    place: int = 0


@dataclass(slots=True)
class _DomainInList:
    """What one list has seen of a domain: its hosts, and the URLs of those among them that may be selected."""

    hosts: int = 0
    urls: int = 0


class Lists:
    """The lists from `first` on, as one partition sees them.

    A list that refuses a URL refuses every later one of that host for good: what is full stays full. So a host
    stands at one list at a time and only moves on, and the state is a count a host, as in the original.
    A limit counts every URL that the limits before it let pass, also behind the end of the list: the reason is the
    one that ranks over the whole list give.
    """

    def __init__(self, rules: Rules, first: int = 0) -> None:
        self._rules = rules
        self._first = first
        self._sizes: Counter[int] = Counter()
        self._at: dict[str, int] = {}
        self._dealt: Counter[str] = Counter()
        self._hosts: dict[tuple[str, int], _HostInList] = {}
        self._domains: dict[tuple[str, int], _DomainInList] = {}

    def offer(self, row: Selected) -> Place | str:
        """Its place, or the reason (one of `LIMITS`) of the last list that was asked."""
        if self._rules.spread:
            return self._ask(row, self._deal(row))
        number = self._at.get(row.host, self._first)
        place = self._ask(row, number)
        while isinstance(place, str) and number + 1 < self._rules.lists:
            del self._hosts[row.host, number]
            number += 1
            self._at[row.host] = number
            place = self._ask(row, number)
        return place

    def _deal(self, row: Selected) -> int:
        """With `spread` the list is given by the URL's rank among all candidates of its host."""
        run = self._dealt[row.host] // self._rules.keep_together
        self._dealt[row.host] += 1
        return (row.host_key + run) % self._rules.lists

    def _ask(self, row: Selected, number: int) -> Place | str:
        host = self._hosts.setdefault((row.host, number), _HostInList())
        reason = _beyond_host(row, host) or self._beyond_domain(row, number, host) or self._beyond_top(number)
        return reason or Place(number, host.urls)

    def _beyond_domain(self, row: Selected, number: int, host: _HostInList) -> str | None:
        if row.domain_hosts < 0 and row.domain_limit < 0:
            return None
        domain = self._domains.setdefault((row.domain, number), _DomainInList())
        if host.urls == 1:  # its best URL here: the host's place among those of its domain
            domain.hosts += 1
            host.place = domain.hosts
        if 0 <= row.domain_hosts < host.place:
            return "hosts_per_domain"
        domain.urls += 1
        return "domain_limit" if 0 <= row.domain_limit < domain.urls else None

    def _beyond_top(self, number: int) -> str | None:
        top_n = self._rules.top_n
        if top_n is not None and self._sizes[number] >= top_n:
            return "top_n"
        self._sizes[number] += 1
        return None


def _beyond_host(row: Selected, host: _HostInList) -> str | None:
    host.urls += 1
    if 0 <= row.host_limit < host.urls:
        return "host_limit"
    if row.host_budget is not None and row.host_budget < host.urls:
        return "time_budget"
    return None
