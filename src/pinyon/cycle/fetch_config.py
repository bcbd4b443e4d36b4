"""The settings as the fetcher takes them, and what it must not be asked to do."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from pathlib import Path

from pinyon import __version__
from pinyon.errors import InputError, SettingError
from pinyon.fetcher import FetcherConfig
from pinyon.settings import Settings
from pinyon.store import Segment

#: What a delay is kept for (`fetcher.queue_mode`) → what parts may be split by so that no two share one of those.
_KEPT_TOGETHER_BY = {"host": ("host", "domain", "ip"), "domain": ("domain",), "ip": ("ip",)}


def fetcher_config(settings: Settings, root: Path) -> FetcherConfig:
    """Raises `SettingError` for a crawl that nobody could ask about."""
    s = settings.fetcher
    connect_to = _lines(root / s.connect_to_file) if s.connect_to_file else ()
    if not s.agent_contact and not _stays_on_loopback(s.allow_addresses, bool(connect_to)):
        raise SettingError(
            "fetcher.agent_contact is not set: site owners must be able to reach you; "
            "set it to a web page or mail address, in pinyon.toml or as PINYON_FETCHER_AGENT_CONTACT"
        )
    contact = f" (+{s.agent_contact})" if s.agent_contact else ""
    return FetcherConfig(
        user_agent=f"{s.agent_name}/{__version__}{contact}",
        agent_names=s.robots_agents or (s.agent_name,),
        obey_robots=s.obey_robots,
        queue_mode=s.queue_mode,  # type: ignore[arg-type]
        server_delay_s=s.server_delay,
        min_delay_s=s.min_delay,
        max_crawl_delay_s=None if s.max_crawl_delay < 0 else s.max_crawl_delay,
        connections=s.connections,
        connections_per_host=s.connections_per_host,
        max_failures=s.max_failures,
        max_back_off_s=s.max_back_off,
        # whoever was asked at the end of the last run is not asked at once at the start of this one
        pause_first=True,
        connect_timeout_s=s.connect_timeout,
        read_timeout_s=s.read_timeout,
        total_timeout_s=s.total_timeout,
        max_bytes=s.max_bytes,
        accept_types=s.accept_types,
        redirect_max=s.redirect_max,
        time_limit_s=s.time_limit,
        allow_addresses=s.allow_addresses,
        connect_to=connect_to,
        only_connect_to=bool(connect_to),
        proxy=s.proxy,
        verify_tls=s.verify_tls,
        ca_file=str(root / s.ca_file) if s.ca_file else None,
    )


def check_parts(segment: Segment, queue_mode: str) -> None:
    """Refuses parts that would ask one address (or domain) from two processes, each with a clock of its own."""
    info = segment.info()
    partitioned_by = info.get("settings", {}).get("generate.partition_by", "host")
    if len(info.get("parts", ())) > 1 and partitioned_by not in _KEPT_TOGETHER_BY[queue_mode]:
        raise SettingError(
            f"fetcher.queue_mode = {queue_mode}: the parts of segment {segment.name} were made by {partitioned_by}, so "
            f"two processes would ask one {queue_mode} at a time; generate with --partition-by {queue_mode}"
        )


def _stays_on_loopback(allowed: Sequence[str], only_connect_to: bool) -> bool:
    """Nobody outside can be met: every name leads where `connect_to_file` says, and only loopback is allowed."""
    if not allowed:
        return False
    loopback = all(ipaddress.ip_network(network, strict=False).is_loopback for network in allowed)
    return loopback and only_connect_to


def _lines(path: Path) -> tuple[str, ...]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from error
    return tuple(line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#"))
