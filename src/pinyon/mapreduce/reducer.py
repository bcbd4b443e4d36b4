"""Job 1, the reducer: policies first, then URLs by falling sort value, each decided when it comes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from pinyon.mapreduce.lists import Lists
from pinyon.mapreduce.policy import is_undecided, join
from pinyon.mapreduce.rows import NO_LIST, Candidate, DomainPolicy, HostPolicy, MappedValue, Selected
from pinyon.mapreduce.rules import Rules
from pinyon.mapreduce.shuffle import Record

Value = MappedValue | Selected


class SelectorReducer:
    """One partition, for the lists from `first` on. It holds what it knows of its own hosts and domains.

    Once `reduce` is exhausted, `rejected` counts the reasons, `over_limit` are the hosts with URLs beyond their
    limit, `undecided` those with URLs whose HostDb row says nothing where an expression should have.
    """

    def __init__(self, rules: Rules, first: int = 0) -> None:
        self.rules = rules
        self.rejected: Counter[str] = Counter()
        self.over_limit: set[str] = set()
        self.undecided: set[str] = set()
        self._hosts: dict[str, HostPolicy] = {}
        self._domains: dict[str, DomainPolicy] = {}
        self._lists = Lists(rules, first)

    def reduce(self, records: Iterable[Record[Value]]) -> Iterator[Record[Selected]]:
        """Every URL in the order it came, with its list or none. A `Selected` one has met its policy before."""
        for key, value in records:
            if isinstance(value, HostPolicy):
                self._hosts[value.host] = value
            elif isinstance(value, DomainPolicy):
                self._domains[value.domain] = value
            else:
                yield key, self._decided(self._joined(value) if isinstance(value, Candidate) else value)

    def _joined(self, candidate: Candidate) -> Selected:
        host = self._hosts.get(candidate.host)
        if host is not None and is_undecided(host, self.rules):
            self.undecided.add(host.host)
        return join(candidate, host, self._domains.get(candidate.domain), self.rules)

    def _decided(self, row: Selected) -> Selected:
        place = self._lists.offer(row)
        if not isinstance(place, str):
            return row._replace(list=place.list, host_rank=place.host_rank)
        self.rejected[place] += 1
        if place == "host_limit":
            self.over_limit.add(row.host)
        return row._replace(list=NO_LIST, host_rank=0)
