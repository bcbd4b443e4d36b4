"""What is learned of each host while its pages are fetched, to be kept for the next list."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime

from pinyon.fetcher.model import Capture, HostFacts
from pinyon.fetcher.robots_book import Known

_MAX_SITEMAPS = 100


class _Host:
    __slots__ = (
        "checked_at",
        "crawl_delay_ms",
        "dns_failures",
        "ended",
        "ip",
        "known",
        "last_request_at",
        "retry_at",
        "robots_digest",
        "robots_status",
        "sitemaps",
    )

    def __init__(self, checked_at: datetime) -> None:
        self.checked_at = checked_at
        self.ip: str | None = None
        self.known: Known | None = None
        self.dns_failures = 0
        self.crawl_delay_ms: int | None = None
        self.retry_at: datetime | None = None
        self.robots_status: str | None = None
        self.robots_digest: str | None = None
        self.sitemaps: tuple[str, ...] = ()
        self.last_request_at: datetime | None = None
        self.ended: str | None = None


class Facts:
    """One small record a host that was met. With several robots.txt (ports, schemes) the last one read is told."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self._hosts: dict[str, _Host] = {}

    def __len__(self) -> int:
        return len(self._hosts)

    def met(self, host: str) -> None:
        """The turn of a URL of this host has come."""
        if host not in self._hosts:
            self._hosts[host] = _Host(self._clock())

    def asked(self, host: str, capture: Capture, sent: bool) -> None:
        """A request to `host` ended in `capture`; `sent`: the host may have seen it. A host never met is passed over:
        somebody's robots.txt lies there."""
        facts = self._hosts.get(host)
        if facts is None:
            return
        facts.ip = capture.ip or facts.ip
        if sent:
            facts.last_request_at = self._clock()
        if capture.outcome in ("dns_unknown", "dns_failed"):
            facts.dns_failures += 1
        if capture.retry_at is not None:
            facts.retry_at = max(capture.retry_at, facts.retry_at or capture.retry_at)

    def robots(self, host: str, known: Known) -> None:
        """This robots.txt holds for the host now: read, remembered from a run before, or found out of reach."""
        facts = self._hosts[host]
        if facts.known is known:
            return
        facts.known = known
        facts.robots_status, facts.robots_digest = known.status, known.digest
        if known.rules is not None:
            delay_s = known.rules.crawl_delay_s
            facts.crawl_delay_ms = None if delay_s is None else min(round(delay_s * 1000), 2**62)
            new = dict.fromkeys((*facts.sitemaps, *known.rules.sitemaps))
            facts.sitemaps = tuple(new)[:_MAX_SITEMAPS]

    def ended(self, host: str, reason: str) -> None:
        """What is left of the host's part of the list was given up."""
        self._hosts[host].ended = reason

    def all(self) -> Iterator[HostFacts]:
        """Facts of every host, in the order they were met."""
        for name, host in self._hosts.items():
            yield HostFacts(
                host=name,
                checked_at=host.checked_at,
                ip=host.ip,
                dns_failures=host.dns_failures,
                crawl_delay_ms=host.crawl_delay_ms,
                retry_at=host.retry_at,
                robots_status=host.robots_status,
                robots_digest=host.robots_digest,
                sitemaps=host.sitemaps,
                last_request_at=host.last_request_at,
                ended=host.ended,
            )
