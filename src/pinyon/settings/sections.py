"""The table of settings: a section is a class, a setting a field of it with its default, unit and help.

`docs/settings.md` is printed from here. Units stand beside the value; a size, a time or a rate that makes no sense
below some number says so (`least`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


def _setting(
    default: Any,
    unit: str,
    help: str,
    *,
    nutch: str = "",
    nutch_factor: float = 1,
    choices: tuple[str, ...] = (),
    least: float | None = None,
    separators: str = ", ",
) -> Any:
    """A field of a section: `nutch_factor` turns the unit of the Nutch property into ours.

    `separators` are the characters that end an item where a list is written as one text.
    """
    return field(
        default=default,
        metadata={
            "unit": unit,
            "help": help,
            "nutch": nutch,
            "nutch_factor": nutch_factor,
            "choices": choices,
            "least": least,
            "separators": separators,
        },
    )


_s = _setting

#: Endings that are never pages: images, media, archives, programs, styles and scripts.
NOT_PAGES = tuple(
    "gif jpg jpeg png ico bmp tif tiff svg webp avif css js mjs woff woff2 ttf eot otf mp3 m4a ogg oga wav flac "
    "mp4 m4v mpg mpeg avi mov mkv webm wmv flv swf zip tgz gz bz2 xz zst 7z rar tar jar exe msi dmg iso deb rpm "
    "apk bin class so dll".split()
)


@dataclass(frozen=True, slots=True)
class Urls:
    """Normalisation and filters, where URLs enter."""

    schemes: tuple[str, ...] = _s(
        ("http", "https"), "", "schemes that enter; generate selects no others than these"
    )
    max_url_length: int = _s(
        2083,
        "characters",
        "longer URLs are refused, before anything else looks at them",
        nutch="db.max.outlink.length",
        least=1,
    )
    deny_suffixes: tuple[str, ...] = _s(NOT_PAGES, "", "endings of the path that are not fetched")
    rules: tuple[str, ...] = _s(
        (), "", "'+regex' accepts, '-regex' refuses, first match decides, no match refuses", separators=" "
    )
    rules_file: str | None = _s(
        None,
        "path",
        "the same from a file, one a line, '#' comments; relative to the crawl",
        nutch="urlfilter.regex.file",
    )
    allow_hosts: tuple[str, ...] = _s((), "", "only these hosts, domains ('*.example.org'); empty: all")
    allow_hosts_file: str | None = _s(None, "path", "the same from a file, one a line")
    deny_hosts: tuple[str, ...] = _s((), "", "not these hosts, domains ('*.example.org')")
    deny_hosts_file: str | None = _s(None, "path", "the same from a file, one a line")
    max_repeated_segments: int = _s(
        2, "", "a path with one segment more often than this is a trap; 0: no limit", least=0
    )
    strip_session_ids: bool = _s(True, "", "drop ;jsessionid=…, PHPSESSID=… and the like")
    drop_query_params: tuple[str, ...] = _s((), "", "query parameters to drop, e.g. 'utm_*'")
    https_hosts: tuple[str, ...] = _s(
        (), "", "hosts ('*.example.org') whose http URLs become https; a port stays"
    )
    private_suffixes: bool = _s(False, "", "domains by the private section of the Public Suffix List too")


@dataclass(frozen=True, slots=True)
class Inject:
    """Seeds."""

    mode: str = _s(
        "keep", "", "what a seed does to a row that is there", choices=("keep", "update", "overwrite")
    )
    score: float = _s(1.0, "", "score of a seed without score=", nutch="db.score.injected")


@dataclass(frozen=True, slots=True)
class Generate:
    """Choosing what to fetch."""

    top_n: int | None = _s(None, "URLs", "most URLs of a list; empty: no limit", nutch="generate.topN")
    max_count: int = _s(
        -1,
        "URLs",
        "most URLs of a host (or domain) in a list; negative: no limit",
        nutch="generate.max.count",
    )
    count_mode: str = _s(
        "host", "", "what max_count counts", nutch="generate.count.mode", choices=("host", "domain")
    )
    max_count_expr: str | None = _s(
        None, "URLs", "limit of a host, from its HostDb row", nutch="generate.max.count.expr"
    )
    fetch_delay_expr: str | None = _s(
        None, "ms", "delay of a host, from its HostDb row", nutch="generate.fetch.delay.expr"
    )
    max_per_domain: int = _s(-1, "URLs", "most URLs of a domain in a list; negative: no limit")
    max_hosts_per_domain: int = _s(-1, "hosts", "most hosts of a domain in a list; negative: no limit")
    hostdb: str = _s("auto", "", "auto, on, off, or the path of another HostDb", nutch="generate.hostdb")
    limits_file: str | None = _s(None, "path", "limits by domain or host, TSV or Parquet")
    expr: str | None = _s(None, "", "only URLs for which this holds", nutch="generate.expr")
    min_score: float = _s(0.0, "", "only URLs with at least this sort value", nutch="generate.min.score")
    interval_at_most: int | None = _s(
        None, "s", "only URLs fetched at least this often", nutch="generate.min.interval"
    )
    restrict_status: tuple[str, ...] = _s(
        (), "", "only these statuses; empty: all", nutch="generate.restrict.status"
    )
    exclude_status: tuple[str, ...] = _s((), "", "never these statuses")
    sort_by: str = _s("score", "", "numeric expression over the URL's row; highest first")
    segments: int = _s(
        1, "lists", "lists in one go, each with its own top_n and limits", nutch="generate.max.num.segments"
    )
    spread: bool = _s(False, "", "deal the URLs of a host over all lists instead of filling list by list")
    keep_together: int = _s(1, "URLs", "with spread: as many of a host go to one list")
    fetchers: int = _s(1, "parts", "parts of a list: one fetcher process each", nutch="mapreduce.job.maps")
    partition_by: str = _s(
        "host",
        "",
        "what is never split over parts",
        nutch="partition.url.mode",
        choices=("host", "domain", "ip"),
    )
    partition_mode: str = _s(
        "balanced", "", "by estimated time, or by a seeded hash", choices=("balanced", "hash")
    )
    seed: int | None = _s(
        None, "", "of the partitions; empty: random, and recorded", nutch="partition.url.seed"
    )
    time_budget: int | None = _s(
        None, "s", "no more URLs of a host than its delay allows in this time", least=0
    )
    gen_delay: int = _s(
        604_800,
        "s",
        "how long an open segment keeps its URLs from being generated again",
        nutch="crawl.gen.delay",
        nutch_factor=0.001,
        least=0,
    )
    add_days: float = _s(0.0, "days", "look this far ahead of now", nutch="generate.add.days")
    now: str | None = _s(
        None, "", "the time to go by: ISO 8601 or epoch milliseconds", nutch="generate.curTime"
    )
    filter: bool = _s(True, "", "apply the URL filters again", nutch="generate.filter")
    from_list: str | None = _s(None, "path", "only the URLs of this file, one a line")
    preset: str | None = _s(None, "", "a set of these settings by name: 'classic' is Nutch's first generator")
    plan: str = _s(
        "auto",
        "",
        "shape of the selection: join and windows, or one sort of both inputs",
        choices=("auto", "join", "secondary-sort"),
    )


@dataclass(frozen=True, slots=True)
class Fetcher:
    """Politeness, limits and the network."""

    agent_name: str = _s("pinyon", "", "product token: what robots.txt is read for", nutch="http.agent.name")
    agent_contact: str | None = _s(
        None, "", "URL or mail address of who runs this crawl: needed off loopback", nutch="http.agent.url"
    )
    robots_agents: tuple[str, ...] = _s(
        (), "", "names to read robots.txt for, instead of agent_name", nutch="http.robots.agents"
    )
    server_delay: float = _s(
        5.0, "s", "between two requests to one host", nutch="fetcher.server.delay", least=0
    )
    min_delay: float = _s(0.0, "s", "never less than this", nutch="fetcher.server.min.delay", least=0)
    max_crawl_delay: float = _s(
        30.0,
        "s",
        "hosts that ask for more are left out, counted apart",
        nutch="fetcher.max.crawl.delay",
        least=0,
    )
    connections: int = _s(100, "", "requests at a time, in all", nutch="fetcher.threads.fetch", least=1)
    connections_per_host: int = _s(
        1, "", "requests at a time to one host", nutch="fetcher.threads.per.queue", least=1
    )
    queue_mode: str = _s(
        "host", "", "what the delay is kept for", nutch="fetcher.queue.mode", choices=("host", "domain", "ip")
    )
    max_failures: int = _s(
        10,
        "",
        "failures in a row that end a host's part of this list",
        nutch="fetcher.max.exceptions.per.queue",
    )
    max_back_off: float = _s(
        3600.0, "s", "longest pause, of doubling or of Retry-After, kept within one list", least=0
    )
    obey_robots: bool = _s(True, "", "robots.txt is read and obeyed; off only for sites of your own")
    connect_timeout: float = _s(10.0, "s", "to connect", least=0.001)
    read_timeout: float = _s(
        30.0, "s", "between two reads", nutch="http.timeout", nutch_factor=0.001, least=0.001
    )
    total_timeout: float = _s(120.0, "s", "for one request in all", least=0.001)
    max_bytes: int = _s(
        4_194_304,
        "bytes",
        "of a body, as sent; what is longer is cut and marked",
        nutch="http.content.limit",
        least=1,
    )
    accept_types: tuple[str, ...] = _s((), "", "MIME types to keep ('text/*'); empty: all")
    redirect_max: int = _s(
        0,
        "",
        "redirects followed at once within a host; 0: all wait for the next round",
        nutch="http.redirect.max",
        least=0,
    )
    allow_addresses: tuple[str, ...] = _s(
        (), "", "private networks that may be fetched from, e.g. '127.0.0.0/8'"
    )
    connect_to_file: str | None = _s(None, "path", "lines HOST:PORT:ADDRESS:PORT, as curl's --connect-to")
    proxy: str | None = _s(None, "", "http://…, socks5://…")
    verify_tls: bool = _s(True, "", "certificates are checked")
    ca_file: str | None = _s(None, "path", "certificate authorities to trust besides the system's")
    time_limit: float | None = _s(
        None,
        "s",
        "stop after this time; the rest stays due",
        nutch="fetcher.timelimit.mins",
        nutch_factor=60,
        least=0,
    )
    min_free_disk: int = _s(1_073_741_824, "bytes", "stop before the disk is fuller than this", least=0)


@dataclass(frozen=True, slots=True)
class Warc:
    """The archive of what was fetched."""

    max_file_bytes: int = _s(1_000_000_000, "bytes", "a new file is begun beyond this", least=1)
    write_requests: bool = _s(True, "", "request records beside the responses")


@dataclass(frozen=True, slots=True)
class Parse:
    """From bytes to links and text."""

    processes: int = _s(0, "", "0: one a core", least=0)
    text: str = _s("main", "", "text kept of a page", choices=("main", "all", "none"))
    max_text_chars: int = _s(1_000_000, "characters", "longer text is cut", least=0)
    max_decoded_bytes: int = _s(
        16_777_216, "bytes", "of a body after decompression; what is longer is cut", least=1
    )
    max_outlinks: int = _s(1000, "links", "kept of a page; negative: all", nutch="db.max.outlinks.per.page")
    max_anchor_chars: int = _s(100, "characters", "of a link's text", nutch="db.max.anchor.length", least=0)
    keep_nofollow: bool = _s(False, "", "keep links marked nofollow too")


@dataclass(frozen=True, slots=True)
class Db:
    """What updatedb makes of a round."""

    fetch_interval_default: int = _s(
        2_592_000, "s", "between fetches of a page", nutch="db.fetch.interval.default", least=0
    )
    fetch_interval_max: int = _s(
        7_776_000,
        "s",
        "longest interval; a page is tried again then at the latest",
        nutch="db.fetch.interval.max",
        least=1,
    )
    fetch_retry_max: int = _s(
        3, "", "failed tries after which a URL is gone", nutch="db.fetch.retry.max", least=0
    )
    retry_interval: int = _s(86_400, "s", "until a failed URL is tried again", least=0)
    schedule: str = _s(
        "default",
        "",
        "default: the interval stays; adaptive: it shrinks when a page changed and grows when it did not",
        nutch="db.fetch.schedule.class",
        choices=("default", "adaptive"),
    )
    adaptive_inc_rate: float = _s(
        0.4,
        "",
        "an interval grows by this part of it when the page did not change",
        nutch="db.fetch.schedule.adaptive.inc_rate",
        least=0,
    )
    adaptive_dec_rate: float = _s(
        0.2,
        "",
        "an interval shrinks by this part of it when the page changed",
        nutch="db.fetch.schedule.adaptive.dec_rate",
        least=0,
    )
    adaptive_min_interval: float = _s(
        60.0, "s", "shortest adaptive interval", nutch="db.fetch.schedule.adaptive.min_interval", least=0
    )
    adaptive_max_interval: float = _s(
        31_536_000.0,
        "s",
        "longest adaptive interval, within fetch_interval_max",
        nutch="db.fetch.schedule.adaptive.max_interval",
        least=1,
    )
    adaptive_sync: bool = _s(
        True,
        "",
        "adaptive: move the next fetch towards the time the page changes at",
        nutch="db.fetch.schedule.adaptive.sync_delta",
    )
    adaptive_sync_rate: float = _s(
        0.3,
        "",
        "by this part of the time since the page changed",
        nutch="db.fetch.schedule.adaptive.sync_delta_rate",
        least=0,
    )
    intervals_file: str | None = _s(
        None,
        "path",
        "lines NAME MIN MAX: bounds of intervals by host, domain ('*.example.org') or MIME type",
    )
    keep_facts: tuple[str, ...] = _s(
        (),
        "",
        "what is kept of a page as metadata of its row: content_type, language",
        nutch="db.parsemeta.to.crawldb",
    )
    additions: bool = _s(True, "", "new URLs enter", nutch="db.update.additions.allowed")
    ignore_internal: bool = _s(
        False, "", "links within a host do not count", nutch="db.ignore.internal.links"
    )
    ignore_external: bool = _s(
        False, "", "links that leave the host do not count", nutch="db.ignore.external.links"
    )
    ignore_external_mode: str = _s(
        "host",
        "",
        "what 'external' leaves",
        nutch="db.ignore.external.links.mode",
        choices=("host", "domain"),
    )
    scores: str = _s(
        "opic",
        "",
        "what links give: opic: the score of their page; links: one each; depth: by distance from the seeds; none",
        choices=("opic", "links", "depth", "none"),
    )
    score_internal: float = _s(1.0, "", "factor for links within a host", nutch="db.score.link.internal")
    score_external: float = _s(1.0, "", "factor for links that leave it", nutch="db.score.link.external")
    max_inlinks: int = _s(
        10_000,
        "links",
        "of those to one URL, as many count in one update, of the best pages",
        nutch="db.update.max.inlinks",
        least=0,
    )
    max_depth: int | None = _s(
        None,
        "links",
        "pages further from the nearest seed do not enter; a seed's max_depth=N goes before",
        nutch="scoring.depth.max",
        least=0,
    )
    max_new_per_host: int | None = _s(
        None, "URLs", "new ones of a host that enter in one update, best first", least=0
    )
    max_rows_per_host: int | None = _s(None, "URLs", "of a host beyond which no new ones enter", least=0)
    max_new_per_domain: int | None = _s(
        None, "URLs", "new ones of a domain that enter in one update, best first", least=0
    )
    max_rows_per_domain: int | None = _s(None, "URLs", "of a domain beyond which no new ones enter", least=0)
    max_hosts_per_domain: int | None = _s(None, "hosts", "of a domain beyond which no URLs of new ones enter")
    scope: str | None = _s(
        None,
        "",
        "prefix, host or domain: links out of that of their seed do not enter; +N: but N links out of it; "
        "a seed's scope=… goes before",
    )


@dataclass(frozen=True, slots=True)
class HostDb:
    """What updatehostdb keeps of hosts."""

    min_records: int = _s(0, "URLs", "hosts with fewer URLs in the crawldb are not kept", least=0)
    score: str = _s(
        "keep",
        "",
        "score of a host, from those of its URLs; keep: as it was",
        choices=("keep", "mean", "max", "sum"),
    )


@dataclass(frozen=True, slots=True)
class Engine:
    """Where the SQL runs."""

    name: str = _s("duckdb", "", "engine", choices=("duckdb", "spark", "reference"))
    memory_limit_mb: int = _s(512, "MB", "of the engine's buffers; the rest goes to disk", least=16)
    threads: int = _s(0, "", "0: one a core", least=0)
    temp_limit_gb: int = _s(0, "GB", "of spilled data; 0: what the disk has", least=0)


@dataclass(frozen=True, slots=True)
class Store:
    """Versions of tables."""

    buckets: int = _s(16, "", "of crawldb and hostdb, a power of two; set once by init", least=1)
    keep_versions: int = _s(3, "versions", "of each table, the newest included", least=1)
    keep_hours: float = _s(0.0, "h", "versions younger than this are kept too", least=0)
    lock_wait: float = _s(0.0, "s", "wait this long for another writer to finish", least=0)
