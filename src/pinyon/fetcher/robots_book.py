"""The robots.txt files of one run: what is known of an authority, what an answer teaches, in bounded memory."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from pinyon.fetcher import robots
from pinyon.fetcher.capture import Normalise
from pinyon.fetcher.content import decode_body
from pinyon.fetcher.headers import header_text, location
from pinyon.fetcher.robots_cache import RobotsCache, RobotsRecord
from pinyon.fetcher.transport import Answer

#: RFC 9309, section 2.3.1.2: five redirects are followed.
MAX_HOPS = 5
#: Parsed rules kept in memory; what is forgotten is read from the cache again.
_MAX_MEMORY_BYTES = 64 * 1024 * 1024

#: Not reaching a host at all says more than that its robots.txt could not be read.
_TELLING = frozenset({"dns_unknown", "dns_failed", "address_denied"})


@dataclass(frozen=True, slots=True)
class Known:
    """What holds for one authority until `expires_at` (UTC). Without `rules` nothing may be asked."""

    status: str
    rules: robots.Rules | None
    expires_at: datetime
    digest: str | None
    outcome: str = "robots_unavailable"
    error: str | None = None


class RobotsBook:
    """Looks up and learns. Parsed rules in memory, records in the cache."""

    def __init__(
        self, cache: RobotsCache, agent_names: Sequence[str], max_memory_bytes: int = _MAX_MEMORY_BYTES
    ) -> None:
        self._cache = cache
        self._agents = tuple(agent_names)
        self._max_memory = max_memory_bytes
        self._known: OrderedDict[str, Known] = OrderedDict()
        self._memory = 0

    def look(self, authority: str, now: datetime) -> Known | None:
        """What holds for `authority` at `now` (UTC), or None: its robots.txt is to be asked for."""
        known = self._known.get(authority)
        if known is None:
            record = self._cache.get(authority)
            if record is None or record.expires_at() <= now:
                return None
            return self._keep(authority, self._read(record, now))
        if known.expires_at <= now:
            return None
        self._known.move_to_end(authority)
        return known

    def learn(self, record: RobotsRecord, now: datetime) -> Known:
        """Takes in what asking gave. How long a file has been out of reach is carried over from the record before."""
        if record.status == "unavailable":
            before = self._cache.get(record.authority)
            since = before.unavailable_since if before is not None else None
            record = replace(record, unavailable_since=since or record.fetched_at)
        self._cache.put(record)
        return self._keep(record.authority, self._read(record, now))

    def _read(self, record: RobotsRecord, now: datetime) -> Known:
        expires_at = record.expires_at()
        if record.status == "rules":
            rules = robots.parse(record.body, self._agents)
            return Known("rules", rules, expires_at, robots.digest(record.body))
        if record.status == "allowed" or record.given_up(now):
            return Known("allowed", robots.ALLOW_ALL, expires_at, None)
        error = f"robots.txt: {record.error}"
        if record.outcome in _TELLING:
            return Known("unavailable", None, expires_at, None, record.outcome or "", error)
        return Known("unavailable", None, expires_at, None, error=error)

    def _keep(self, authority: str, known: Known) -> Known:
        self._drop(authority)
        self._known[authority] = known
        self._memory += _size(known)
        while self._memory > self._max_memory and len(self._known) > 1:
            self._drop(next(iter(self._known)))
        return known

    def _drop(self, authority: str) -> None:
        known = self._known.pop(authority, None)
        if known is not None:
            self._memory -= _size(known)


def _size(known: Known) -> int:
    return 500 + (known.rules.size if known.rules is not None and known.rules is not robots.ALLOW_ALL else 0)


@dataclass(frozen=True, slots=True)
class Moved:
    """The robots.txt is to be read elsewhere; what it says holds for the authority that was asked."""

    url: str


def judge(
    authority: str, url: str, hop: int, answer: Answer, outcome: str, normalise: Normalise
) -> Moved | RobotsRecord:
    """What the answer for a robots.txt means, by RFC 9309, section 2.3.1; `outcome` is that of its capture.

    2xx: its rules. 4xx: there is none. A redirect is followed five times. Everything else, 429 included (it says
    "not now", not "there is none"), as well as a sixth redirect: unavailable, nothing is asked of the host.
    """
    if outcome in ("redir_temp", "redir_perm"):
        target = normalise(url, location(answer.headers) or "")
        if hop < MAX_HOPS and target is not None:
            return Moved(target)
        return _unavailable(authority, answer, "bad_redirect", f"more than {MAX_HOPS} redirects")
    status = answer.status
    if answer.error is None and status is not None:
        if 200 <= status < 300 and answer.truncated in (None, "length"):
            packed = header_text(answer.headers, b"content-encoding")
            body = decode_body(answer.body, packed, robots.MAX_BYTES).data
            return RobotsRecord(authority, "rules", answer.started_at, body)
        if 400 <= status < 500 and status != 429:
            return RobotsRecord(authority, "allowed", answer.started_at)
    reason = answer.reason or (f"HTTP status {status}" if status is not None else outcome)
    return _unavailable(authority, answer, outcome, f"{outcome}: {reason}" if answer.error else reason)


def _unavailable(authority: str, answer: Answer, outcome: str, error: str) -> RobotsRecord:
    return RobotsRecord(authority, "unavailable", answer.started_at, outcome=outcome, error=error)
