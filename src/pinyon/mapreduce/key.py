"""The composite key of the secondary sort, and its encoding, whose order is the order of the sort."""

from __future__ import annotations

import functools
import math
import struct
import sys
from dataclasses import dataclass

#: Score of a HostDb row's key. It alone would sort a HostDb row last: the comparator looks at the host first.
LOWEST_SCORE = -sys.float_info.max

_HOSTDB, _URL = b"\0", b"\1"
_SIGN = 1 << 63
_ALL = (1 << 64) - 1


@functools.total_ordering
@dataclass(frozen=True, slots=True, eq=False)
class ScoreHostKey:
    """Key of job 1: a URL's sort value and no host, or the lowest score and the host of a HostDb row.

    It has two orders. Its own (`<`): by score, NaN above everything as in Java, then by host. That of the sort:
    compare what `encode` returns. -0.0 is 0.0, and NaN equals NaN.

    Nutch: `Generator.FloatTextPair` and `ScoreHostKeyComparator` (NUTCH-2455).
    """

    score: float
    host: str = ""

    def __post_init__(self) -> None:
        if "\0" in self.host:
            raise ValueError(f"a host with a NUL byte: {self.host!r}")
        object.__setattr__(self, "score", self.score + 0.0)  # -0.0 + 0.0 is 0.0

    @classmethod
    def of_host(cls, host: str) -> ScoreHostKey:
        """The key of a HostDb row."""
        return cls(LOWEST_SCORE, host)

    def encode(self) -> bytes:
        """Bytes that compare as the sort wants it, so that a record is compared without being decoded.

        HostDb rows before URLs, HostDb rows by rising host, URLs by falling score, NaN first. One byte says which
        it is; then the host, ended by NUL (HostDb rows only); then 8 bytes of score as IEEE 754 double, big
        endian, its bits turned so that a higher score gives lower bytes. A Hadoop FloatWritable would be 4 bytes,
        too few for a sort value such as a count of inlinks.
        """
        score = _falling(self.score)
        if self.host:
            return _HOSTDB + self.host.encode("utf-8", "surrogatepass") + b"\0" + score
        return _URL + score

    @classmethod
    def decode(cls, data: bytes) -> ScoreHostKey:
        """The key that `encode` made `data` of; `ValueError` if none did."""
        kind, host, score = data[:1], data[1:-8], data[-8:]
        whole = not host if kind == _URL else kind == _HOSTDB and host.endswith(b"\0")
        if len(data) < 9 or not whole:
            raise ValueError(f"not a ScoreHostKey: {data[:40]!r}")
        return cls(_from_falling(score), host[:-1].decode("utf-8", "surrogatepass"))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ScoreHostKey) and self._rising() == other._rising()

    def __hash__(self) -> int:
        return hash(self._rising())

    def __lt__(self, other: ScoreHostKey) -> bool:
        return self._rising() < other._rising()

    def __str__(self) -> str:
        return f"({self.score}, {self.host or '-'})"

    def _rising(self) -> tuple[bool, float, str]:
        unordered = math.isnan(self.score)
        return unordered, 0.0 if unordered else self.score, self.host


def url_order(sort_value: float, url_key: int, url: str) -> bytes:
    """Place of a URL among all: by falling sort value, then rising `url_key` (signed 64 bits), then `url`."""
    tie = (url_key + _SIGN).to_bytes(8, "big") + url.encode("utf-8", "surrogatepass")
    return ScoreHostKey(sort_value).encode() + tie


def _falling(score: float) -> bytes:
    (bits,) = struct.unpack(">Q", struct.pack(">d", math.nan if math.isnan(score) else score))
    rising = bits ^ (_ALL if bits & _SIGN else _SIGN)
    return int(rising ^ _ALL).to_bytes(8, "big")


def _from_falling(data: bytes) -> float:
    rising = int.from_bytes(data, "big") ^ _ALL
    bits = rising ^ (_SIGN if rising & _SIGN else _ALL)
    return float(struct.unpack(">d", struct.pack(">Q", bits))[0])
