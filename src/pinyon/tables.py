"""The tables and the two vocabularies: what a column is called, what it holds, in what unit.

Times are UTC microsecond timestamps, intervals whole seconds, durations milliseconds, hashes `xxh3_64` as
signed 64-bit integers. Column types are written as DuckDB and Spark both read them; `arrow_schema` gives the
same as Arrow. `docs/tables.md` is printed from here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

#: The layout of the tables below. A table written by a newer layout is refused, an older one needs `migrate`.
FORMAT_VERSION = 1


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its SQL type, whether it may be null, and what it means."""

    name: str
    type: str
    help: str
    nullable: bool = True


@dataclass(frozen=True, slots=True)
class TableSpec:
    """One table: its columns in order. Tables with a `bucket` column are partitioned by it."""

    name: str
    columns: tuple[Column, ...]
    help: str

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]

    def arrow_schema(self) -> pa.Schema:
        """The columns as an Arrow schema; timestamps are UTC, in microseconds."""
        import pyarrow as pa

        return pa.schema([pa.field(c.name, _arrow_type(c.type), nullable=c.nullable) for c in self.columns])

    def empty_sql(self) -> str:
        """A SELECT that gives no rows of this table's types: an empty file list is an error in DuckDB."""
        return (
            "SELECT "
            + ", ".join(f"CAST(NULL AS {c.type}) AS {c.name}" for c in self.columns)
            + " WHERE false"
        )


def _arrow_type(sql_type: str) -> pa.DataType:
    import pyarrow as pa

    simple = {
        "VARCHAR": pa.string(),
        "BIGINT": pa.int64(),
        "INTEGER": pa.int32(),
        "SMALLINT": pa.int16(),
        "FLOAT": pa.float32(),
        "DOUBLE": pa.float64(),
        "BOOLEAN": pa.bool_(),
        "BLOB": pa.binary(),
        "TIMESTAMPTZ": pa.timestamp("us", tz="UTC"),
        "MAP(VARCHAR, VARCHAR)": pa.map_(pa.string(), pa.string()),
        "VARCHAR[]": pa.list_(pa.string()),
    }
    return simple[sql_type]


# -- the two vocabularies -------------------------------------------------------------------------------------

#: What we know of a URL (`crawldb.status`), as Nutch names it, and the counter of the HostDb it adds to.
STATUSES: dict[str, str] = {
    "db_unfetched": "unfetched",
    "db_fetched": "fetched",
    "db_notmodified": "not_modified",
    "db_redir_temp": "redir_temp",
    "db_redir_perm": "redir_perm",
    "db_gone": "gone",
    "db_duplicate": "duplicate",
    "db_parse_failed": "parse_failed",
    "db_robots_denied": "robots_denied",
    "db_orphan": "orphan",
}

#: What one fetch met (`pages.outcome`). `cycle/updatedb_states.sql` is the one place that maps it to a status.
OUTCOMES: dict[str, str] = {
    "success": "an answer with a body that is kept (2xx)",
    "not_modified": "304, the copy we have is current",
    "redir_temp": "302, 303, 307: `redirect_to` says where",
    "redir_perm": "301, 308: `redirect_to` says where",
    "not_found": "404, and every 4xx without a word of its own here",
    "gone": "410",
    "access_denied": "401, 403, 407, 451",
    "robots_denied": "robots.txt forbids it: nothing was requested",
    "robots_unavailable": "robots.txt answers with an error or not at all: nothing was requested yet",
    "crawl_delay_too_long": "robots.txt asks for more than `fetcher.max_crawl_delay`: nothing was requested",
    "rate_limited": "429, or 503 with Retry-After",
    "server_error": "5xx",
    "dns_unknown": "the name does not exist",
    "dns_failed": "no name server answered",
    "connect_failed": "refused, reset, unreachable",
    "tls_failed": "no valid certificate, or no common protocol",
    "timeout": "connect, read or total time ran out",
    "protocol_error": "what came is not HTTP",
    "bad_redirect": "a redirect without a target that can be used",
    "address_denied": "the address lies in a network that is not allowed",
    "filtered": "a rule on MIME type, length or path stopped it",
    "host_failing": "the host failed too often in this list: not requested",
    "blocked": "`block` was called for it: not requested",
}

# -- tables ---------------------------------------------------------------------------------------------------

_C = Column

CRAWLDB = TableSpec(
    "crawldb",
    (
        _C("url", "VARCHAR", "normalised URL, the key", nullable=False),
        _C("url_key", "BIGINT", "hash of url: breaks ties, never the key", nullable=False),
        _C("host", "VARCHAR", "lower-case ASCII host without port; null where the URL has none"),
        _C("host_key", "BIGINT", "hash of host"),
        _C("domain", "VARCHAR", "registered domain by the Public Suffix List; an IP address is its own"),
        _C("bucket", "INTEGER", "host_key & (buckets - 1); 0 without a host", nullable=False),
        _C("status", "VARCHAR", "what is known of it, one of the statuses", nullable=False),
        _C("fetch_time", "TIMESTAMPTZ", "when it is due next", nullable=False),
        _C("fetch_interval", "INTEGER", "seconds between fetches", nullable=False),
        _C("last_fetch_time", "TIMESTAMPTZ", "when it was last fetched"),
        _C("modified_time", "TIMESTAMPTZ", "when its content was last seen to change"),
        _C("first_seen", "TIMESTAMPTZ", "when it entered"),
        _C("retries", "SMALLINT", "failed tries since the last success", nullable=False),
        _C("score", "FLOAT", "worth, higher is fetched earlier", nullable=False),
        _C("inlinks", "INTEGER", "distinct pages that link to it", nullable=False),
        _C("depth", "SMALLINT", "links from the nearest seed; redirects do not count", nullable=False),
        _C("signature", "BLOB", "of the content, for change and duplicates"),
        _C("etag", "VARCHAR", "validator as the server sent it"),
        _C("last_modified", "VARCHAR", "validator as the server sent it"),
        _C("generate_time", "TIMESTAMPTZ", "only as imported: our own lock is an open segment"),
        _C("metadata", "MAP(VARCHAR, VARCHAR)", "from seeds, kept and inherited", nullable=False),
    ),
    "one row a URL: the truth of the crawl",
)

HOSTDB = TableSpec(
    "hostdb",
    (
        _C("host", "VARCHAR", "lower-case ASCII host without port, the key", nullable=False),
        _C("domain", "VARCHAR", "registered domain"),
        _C("bucket", "INTEGER", "as in crawldb", nullable=False),
        _C("score", "FLOAT", "worth of the host", nullable=False),
        _C("homepage_url", "VARCHAR", "its front page, or where that redirects to"),
        _C("ip", "VARCHAR", "address it was last reached at"),
        _C("last_check", "TIMESTAMPTZ", "when its name was last looked up"),
        _C("dns_failures", "BIGINT", "failed look-ups since the last success", nullable=False),
        _C("connection_failures", "BIGINT", "its rows with retries not 0, as in Nutch", nullable=False),
        *(_C(counter, "BIGINT", f"rows {status}", nullable=False) for status, counter in STATUSES.items()),
        _C("num_records", "BIGINT", "sum of the ten counters", nullable=False),
        _C("crawl_delay_ms", "BIGINT", "Crawl-delay of its robots.txt for us"),
        _C("retry_at", "TIMESTAMPTZ", "not before: from 429 or 503 with Retry-After"),
        _C("rt_avg_ms", "BIGINT", "response time, mean"),
        _C("rt_p50_ms", "BIGINT", "response time, median"),
        _C("rt_p75_ms", "BIGINT", "response time, 75th percentile"),
        _C("rt_p95_ms", "BIGINT", "response time, 95th percentile"),
        _C("rt_p99_ms", "BIGINT", "response time, 99th percentile"),
        _C("robots_digest", "VARCHAR", "of its robots.txt: a change frees what it denied"),
        _C("metadata", "MAP(VARCHAR, VARCHAR)", "anything else known of the host", nullable=False),
    ),
    "one row a host: counted from the crawldb, facts of fetching merged from segments",
)

FETCHLIST = TableSpec(
    "fetchlist",
    (
        *CRAWLDB.columns[:-2],
        _C("generate_time", "TIMESTAMPTZ", "when this list was generated", nullable=False),
        CRAWLDB.columns[-1],
        _C("list", "INTEGER", "number of the list, from 0", nullable=False),
        _C("part", "INTEGER", "partition: one fetcher process", nullable=False),
        _C("position", "BIGINT", "order inside the part, hosts interleaved", nullable=False),
        _C("fetch_delay_ms", "BIGINT", "the host's own delay; null: the fetcher's"),
        _C("not_before", "TIMESTAMPTZ", "Retry-After of its host, from the HostDb"),
    ),
    "what to fetch: every crawldb column as selected, and the place in the list",
)

PAGES = TableSpec(
    "pages",
    (
        _C("url", "VARCHAR", "as in the fetch list", nullable=False),
        *CRAWLDB.columns[1:6],
        _C("outcome", "VARCHAR", "what the fetch met, one of the outcomes", nullable=False),
        _C("http_status", "SMALLINT", "status code; null where there was no answer"),
        _C("fetch_time", "TIMESTAMPTZ", "when the request began", nullable=False),
        _C("duration_ms", "INTEGER", "request begun to body read"),
        _C("content_type", "VARCHAR", "MIME type, lower case, without parameters"),
        _C("charset", "VARCHAR", "of the Content-Type header"),
        _C("length", "BIGINT", "bytes of the body as received"),
        _C("truncated", "VARCHAR", "length, time or disconnect: the body was cut"),
        _C("digest", "VARCHAR", "sha1 of the body as received, base32 as in the WARC"),
        _C("ip", "VARCHAR", "address connected to"),
        _C("redirect_to", "VARCHAR", "target of a redirect, normalised"),
        _C("error", "VARCHAR", "the reason in words"),
        _C("etag", "VARCHAR", "as sent"),
        _C("last_modified", "VARCHAR", "as sent"),
        _C("retry_at", "TIMESTAMPTZ", "from Retry-After"),
        _C("robots_tag", "VARCHAR", "X-Robots-Tag header"),
        _C("warc_file", "VARCHAR", "file in the segment's warc folder"),
        _C("warc_offset", "BIGINT", "of the response record's gzip member"),
        _C("warc_length", "BIGINT", "of that member"),
    ),
    "one row a fetch",
)

HOST_FACTS = TableSpec(
    "hosts",
    (
        _C("host", "VARCHAR", "as in crawldb", nullable=False),
        _C("checked_at", "TIMESTAMPTZ", "when the name was looked up", nullable=False),
        _C("bucket", "INTEGER", "as in crawldb", nullable=False),
        _C("ip", "VARCHAR", "address connected to"),
        _C("dns_failures", "BIGINT", "failed look-ups", nullable=False),
        _C("crawl_delay_ms", "BIGINT", "Crawl-delay for us"),
        _C("retry_at", "TIMESTAMPTZ", "latest Retry-After"),
        _C("robots_status", "VARCHAR", "allowed (no rules), rules, unavailable"),
        _C("robots_digest", "VARCHAR", "of robots.txt, null where none was read"),
        _C("sitemaps", "VARCHAR[]", "listed in robots.txt", nullable=False),
    ),
    "one row a host of the segment: what the fetcher learned of it",
)

LINKS = TableSpec(
    "links",
    (
        _C("from_url", "VARCHAR", "page it stands on", nullable=False),
        _C("to_url", "VARCHAR", "normalised target", nullable=False),
        _C("url_key", "BIGINT", "hash of to_url", nullable=False),
        _C("host", "VARCHAR", "of to_url"),
        _C("host_key", "BIGINT", "of to_url"),
        _C("domain", "VARCHAR", "of to_url"),
        _C("bucket", "INTEGER", "of to_url", nullable=False),
        _C("anchor", "VARCHAR", "text of the link"),
        _C(
            "rel",
            "VARCHAR",
            "its rel tokens, lower case; 'redirect' for a redirect, 'canonical', 'sitemap' …",
        ),
        _C("from_host", "VARCHAR", "host of from_url"),
        _C("from_domain", "VARCHAR", "domain of from_url"),
        _C("from_score", "FLOAT", "score of from_url when it was generated", nullable=False),
        _C("from_depth", "SMALLINT", "depth of from_url", nullable=False),
        _C("from_outlinks", "INTEGER", "links kept of from_url", nullable=False),
        _C("from_first", "BOOLEAN", "from_url was fetched for the first time", nullable=False),
        _C("from_metadata", "MAP(VARCHAR, VARCHAR)", "of from_url: targets inherit it", nullable=False),
    ),
    "one row a link; what the scores need of its page stands beside it, so that nothing is joined back",
)

DOCS = TableSpec(
    "docs",
    (
        _C("url", "VARCHAR", "page", nullable=False),
        _C("url_key", "BIGINT", "of url", nullable=False),
        _C("bucket", "INTEGER", "of url", nullable=False),
        _C("parse_status", "VARCHAR", "parsed, skipped (no parser for its type) or failed", nullable=False),
        _C("parse_error", "VARCHAR", "why, if failed or skipped"),
        _C("signature", "BLOB", "md5 of the decoded content"),
        _C("title", "VARCHAR", "of the page"),
        _C("text", "VARCHAR", "main text"),
        _C("language", "VARCHAR", "as the page or the Content-Language header declares it"),
        _C("charset", "VARCHAR", "used for decoding"),
        _C("canonical", "VARCHAR", "rel=canonical, normalised"),
        _C("noindex", "BOOLEAN", "meta robots or X-Robots-Tag", nullable=False),
        _C("nofollow", "BOOLEAN", "meta robots or X-Robots-Tag", nullable=False),
        _C("refresh_to", "VARCHAR", "target of a meta refresh"),
        _C("outlinks", "INTEGER", "links kept", nullable=False),
        _C("outlinks_dropped", "INTEGER", "links dropped by filters and limits", nullable=False),
        _C("feeds", "VARCHAR[]", "feeds announced", nullable=False),
    ),
    "one row a page that was parsed, or could not be",
)

ALL_TABLES: tuple[TableSpec, ...] = (CRAWLDB, HOSTDB, FETCHLIST, PAGES, HOST_FACTS, LINKS, DOCS)
