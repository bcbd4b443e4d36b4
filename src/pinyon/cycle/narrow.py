"""What generate carries from the selection to the fetch list: enough of a row to rank it and to find it again."""

from __future__ import annotations

from pinyon.tables import CRAWLDB, FETCHLIST, Column, TableSpec

LOCKED = TableSpec("locked", (CRAWLDB.columns[1], CRAWLDB.columns[0]), "URLs of open segments")

NARROW = TableSpec(
    "narrow",
    (
        Column("url_key", "BIGINT", "of the URL"),
        Column("host", "VARCHAR", ""),
        Column("host_key", "BIGINT", ""),
        Column("domain", "VARCHAR", ""),
        Column("bucket", "INTEGER", ""),
        Column("sort_value", "DOUBLE", "what it is sorted by"),
        Column("too_far", "BOOLEAN", "scheduled beyond the longest interval"),
        Column("interval_now", "INTEGER", "seconds, lowered if so"),
        Column("host_limit", "BIGINT", "negative: none"),
        Column("host_budget", "BIGINT", "URLs of the host the time budget allows; null: none"),
        Column("fetch_delay_ms", "BIGINT", "from the expression"),
        Column("not_before", "TIMESTAMPTZ", "Retry-After"),
        Column("ip", "VARCHAR", "from the HostDb"),
        Column("delay_ms", "BIGINT", "expected between two requests"),
        Column("host_rank", "BIGINT", "within its host, from 1"),
    ),
    "candidates within their hosts' limits",
)
CHOSEN = TableSpec("chosen", (*NARROW.columns, Column("list", "INTEGER", "from 0")), "selected URLs")
WIDE = TableSpec(
    "wide",
    (
        *(column for column in FETCHLIST.columns if column.name != "position"),
        Column("host_rank", "BIGINT", ""),
        Column("sort_value", "DOUBLE", ""),
    ),
    "fetch list rows before they have a place",
)
