"""Which rows meet: a seeded hash of a group (a host, a domain, an address), in both jobs."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from pinyon.mapreduce.key import url_order
from pinyon.mapreduce.rows import Candidate, Limits, MappedValue, Pair, Selected
from pinyon.mapreduce.shuffle import Record, prefixed

#: Clears the sign of a 64-bit key: the remainder of a negative number is negative in SQL.
_NOT_NEGATIVE = 2**63 - 1


def part_of(group: str, seed: int, parts: int) -> int:
    """The part a group hashes to, the same on every machine (Nutch: `URLPartitioner`).

    The seed is hashed along, so that hosts meet others under another seed; an xor would only rename the parts.
    """
    digest = hashlib.md5(f"{seed}:{group}".encode("utf-8", "surrogatepass"), usedforsecurity=False)
    return int(digest.hexdigest()[:15], 16) % parts


def group_of(row: Selected, partition_by: str) -> str:
    """What `row` is never parted from: its host, its domain, or the address of its host if that is known.

    By host, a domain whose limits give it `parts` is so many groups, each of whole hosts.
    """
    if partition_by == "domain":
        return row.domain
    if partition_by == "ip":
        return row.ip or row.host
    if row.domain_parts is None or row.domain_parts <= 0:
        return row.host
    return f"{row.domain}#{(row.host_key & _NOT_NEGATIVE) % row.domain_parts}"


def order_of(row: Candidate | Selected) -> bytes:
    """The place of a URL among all others of a list."""
    return url_order(row.sort_value, row.url_key, row.url)


@dataclass(frozen=True, slots=True)
class Partitioner:
    """Gives each pair of job 1 its reducer: by host, or by domain where a reducer must see whole domains."""

    by_domain: bool
    seed: int
    partitions: int

    def record(self, pair: Pair) -> Record[MappedValue]:
        """What is sorted: number of the partition, then the key, then what breaks the ties of URLs."""
        key, value = pair
        order = order_of(value) if isinstance(value, Candidate) else key.encode()
        return prefixed(order, self._partition(value)), value

    def _partition(self, value: MappedValue) -> int:
        group = value.domain if isinstance(value, Limits) or self.by_domain else value.host
        return part_of(group, self.seed, self.partitions)
