"""Settings of one run, as plain values: units are in the names. The caller validates and fills them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

QueueMode = Literal["host", "domain", "ip"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FetcherConfig:
    """Who we say we are, how polite we are, how much we take, and how we reach the network."""

    #: The User-Agent header; must name a way to reach whoever runs the crawl.
    user_agent: str
    #: Product tokens robots.txt is read for; the rules of all of them apply together.
    agent_names: tuple[str, ...]
    obey_robots: bool = True
    accept: str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
    accept_language: str | None = None

    # -- politeness -------------------------------------------------------------------------------------------
    #: What a delay is kept for. http and https, and all ports, are one host.
    queue_mode: QueueMode = "host"
    #: Between the end of one request to a host and the start of the next, unless the item has its own delay.
    server_delay_s: float = 5.0
    #: Never less than this, whatever robots.txt or an item says.
    min_delay_s: float = 0.0
    #: Hosts whose robots.txt asks for more are left out (`crawl_delay_too_long`); None: any delay is kept.
    max_crawl_delay_s: float | None = 30.0
    #: Requests at a time in all, and to one host. With more than one, `server_delay_s` is not kept (as in Nutch).
    connections: int = 100
    connections_per_host: int = 1
    #: Failures in a row that end a host's part of this list; 0 or less: never.
    max_failures: int = 10
    #: The pause that doubles with every failure in a row is at least this to begin with, and at most `max_back_off_s`,
    #: which caps Retry-After within this run too.
    first_back_off_s: float = 1.0
    max_back_off_s: float = 3600.0
    #: The first request to every host waits its delay too: for runs that begin soon after another one ended.
    pause_first: bool = False

    # -- limits -----------------------------------------------------------------------------------------------
    connect_timeout_s: float = 10.0
    read_timeout_s: float = 30.0
    total_timeout_s: float = 120.0
    #: A longer body is cut there and marked.
    max_bytes: int = 4_194_304
    #: A longer body is not taken at all (`filtered`), announced or not; None: no such rule.
    refuse_above_bytes: int | None = None
    #: MIME types to keep, as globs ("text/*"); empty: all. Others are `filtered` before their body is read.
    accept_types: tuple[str, ...] = ()
    #: Redirects followed at once, within a host, as in Nutch's `http.redirect.max`; 0: recorded only.
    redirect_max: int = 0
    #: Items kept in memory while their hosts wait; more are put aside on disk.
    max_queued: int = 50_000
    #: Ends the run after this time; the rest stays due (`fetcher.timelimit.mins`).
    time_limit_s: float | None = None
    #: Ends the run when fewer pages a second came over a whole window (`fetcher.throughput.threshold.pages`).
    throughput_min_pages_s: float | None = None
    throughput_window_s: float = 300.0
    #: Received bytes a second, on average over seconds; None: no limit (`fetcher.bandwidth.target`, turned round).
    bandwidth_bytes_s: float | None = None
    #: Ends the run when every host left wants to be let alone for longer than this.
    max_idle_s: float = 600.0
    #: What requests in flight get to end in when the run is stopped.
    stop_grace_s: float = 5.0

    # -- network ----------------------------------------------------------------------------------------------
    #: Networks that may be fetched from although they are private, e.g. "127.0.0.0/8".
    allow_addresses: tuple[str, ...] = ()
    #: Lines HOST:PORT:ADDRESS:PORT, as curl's --connect-to; HOST may be "*" or "*.suffix". Asked before DNS.
    connect_to: tuple[str, ...] = ()
    #: Every name `connect_to` does not have is `dns_unknown`.
    only_connect_to: bool = False
    #: DNS servers ("127.0.0.1:5353"); empty: the system's.
    nameservers: tuple[str, ...] = ()
    #: http://…, socks4://… or socks5://…; names are then resolved by the proxy.
    proxy: str | None = None
    verify_tls: bool = True
    #: PEM file of certificate authorities to trust besides the system's.
    ca_file: str | None = None
