"""What generate carries from the selection to the fetch list: enough of a row to rank it and to find it again."""

from __future__ import annotations

from pinyon.tables import CRAWLDB, Column, TableSpec

#: A set of URLs: those of open segments, or those of a list that was given.
URLS = TableSpec("urls", (CRAWLDB.columns[1], CRAWLDB.columns[0]), "URLs")

LIMITS = TableSpec(
    "limits",
    (
        Column("name", "VARCHAR", "a domain, or a host that is not one", nullable=False),
        Column("urls", "BIGINT", "URLs of it in a list"),
        Column("urls_per_host", "BIGINT", "URLs of each host of the domain in a list"),
        Column("hosts", "BIGINT", "hosts of the domain in a list"),
        Column("parts", "BIGINT", "parts of a list its hosts may be spread over"),
        Column("delay_ms", "BIGINT", "between two requests to one host"),
        Column("interval", "BIGINT", "seconds: `urls` counts what was fetched in so long a time too"),
    ),
    "limits of single domains and hosts",
)

NARROW = TableSpec(
    "narrow",
    (
        Column("url_key", "BIGINT", "of the URL"),
        Column("host", "VARCHAR", ""),
        Column("host_key", "BIGINT", ""),
        Column("domain", "VARCHAR", ""),
        Column("bucket", "INTEGER", ""),
        Column("row_address", "BIGINT", "where its row lies in the files of this version"),
        Column("sort_value", "DOUBLE", "what it is sorted by"),
        Column("too_far", "BOOLEAN", "scheduled beyond the longest interval"),
        Column("interval_now", "INTEGER", "seconds, lowered if so"),
        Column("host_limit", "BIGINT", "negative: none"),
        Column("host_budget", "BIGINT", "URLs of the host the time budget allows; null: none"),
        Column("fetch_delay_ms", "BIGINT", "from the expression"),
        Column("not_before", "TIMESTAMPTZ", "Retry-After"),
        Column("ip", "VARCHAR", "from the HostDb"),
        Column("domain_limit", "BIGINT", "URLs of its domain, from the limits file"),
        Column("domain_hosts", "BIGINT", "hosts of its domain, likewise"),
        Column("domain_parts", "BIGINT", "parts its domain may be spread over, likewise"),
        Column("delay_ms", "BIGINT", "expected between two requests"),
        Column("host_rank", "BIGINT", "within its host, from 1"),
    ),
    "candidates within their hosts' limits",
)
CHOSEN = TableSpec("chosen", (*NARROW.columns, Column("list", "INTEGER", "from 0")), "selected URLs")
#: What of a chosen row the fetch list takes over; the rest is read from the crawldb.
PLACED_COLUMNS = (
    "url_key",
    "bucket",
    "row_address",
    "too_far",
    "interval_now",
    "fetch_delay_ms",
    "not_before",
)

PLACED = TableSpec(
    "placed",
    (
        *(c for c in CHOSEN.columns if c.name in PLACED_COLUMNS),
        Column("list", "INTEGER", "from 0"),
        Column("part", "INTEGER", "from 0"),
        Column("position", "BIGINT", "from 0"),
    ),
    "selected URLs with their place",
)
