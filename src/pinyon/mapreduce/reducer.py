"""Job 1, the reducer: policies first, then URLs by falling sort value, each decided when it comes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from pinyon.mapreduce.lists import Lists
from pinyon.mapreduce.policy import join, undecided
from pinyon.mapreduce.rows import NO_LIST, Candidate, HostPolicy, Limits, MappedValue, Selected
from pinyon.mapreduce.rules import Rules
from pinyon.mapreduce.shuffle import Record

Value = MappedValue | Selected


class SelectorReducer:
    """One partition, for the lists from `first` on. It holds what it knows of its own hosts and domains.

    Once `reduce` is exhausted, `rejected` counts the reasons, `over_limit` are the hosts with URLs beyond their
    limit, `undecided` by expression those with URLs, and a HostDb row for which it gave nothing.
    """

    def __init__(self, rules: Rules, first: int = 0) -> None:
        self.rules = rules
        self.rejected: Counter[str] = Counter()
        self.over_limit: set[str] = set()
        self.undecided: defaultdict[str, set[str]] = defaultdict(set)
        self._hosts: dict[str, HostPolicy] = {}
        self._limits: dict[str, Limits] = {}
        self._lists = Lists(rules, first)

    def reduce(self, records: Iterable[Record[Value]]) -> Iterator[Record[Selected]]:
        """Every URL in the order it came, with its list or none. A `Selected` one has met its policy before."""
        for key, value in records:
            if isinstance(value, HostPolicy):
                self._hosts[value.host] = value
            elif isinstance(value, Limits):
                self._limits[value.name] = value
            else:
                yield key, self._decided(self._joined(value) if isinstance(value, Candidate) else value)

    def _joined(self, candidate: Candidate) -> Selected:
        host = self._hosts.get(candidate.host)
        for expression in undecided(host, self.rules) if host else ():
            self.undecided[expression].add(candidate.host)
        # a host that is a domain itself has the limits of a domain
        of_host = self._limits.get(candidate.host) if candidate.host != candidate.domain else None
        return join(candidate, host, of_host, self._limits.get(candidate.domain), self.rules)

    def _decided(self, row: Selected) -> Selected:
        place = self._lists.offer(row)
        if not isinstance(place, str):
            return row._replace(list=place.list, host_rank=place.host_rank)
        self.rejected[place] += 1
        if place == "host_limit":
            self.over_limit.add(row.host)
        return row._replace(list=NO_LIST, host_rank=0)
