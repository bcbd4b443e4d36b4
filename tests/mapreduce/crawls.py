"""Crawldb and hostdb rows for tests of generate: one by one, and at random for hypothesis.

Rows have every column of `pinyon.tables`, and beside them what `pinyon.mapreduce.select` wants computed. With
`plain=True` the columns alone decide: `sort_value` is the score, and nothing is filtered, blocked or locked, so that
the rows can be written to a table as they are. A host's limit and delay stand in the metadata of its row as well
(`limit`, `delay`), where an expression can read them.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import strategies as st

from pinyon.mapreduce import Rules
from pinyon.urls import locate

Row = dict[str, Any]

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)

HOSTS = (
    "a.one.com",
    "b.one.com",
    "c.one.com",
    "one.com",
    "d.two.co.uk",
    "e.two.co.uk",
    "f.three.org",
    "192.0.2.1",
    "[2001:db8::1]",
)
#: More than a random crawl's rows lie apart from now, or apart from each other.
MAX_INTERVAL_S = 1000


def seconds(number: float) -> datetime:
    """That long after now."""
    return NOW + timedelta(seconds=number)


def url_row(url: str, score: float = 1.0, **columns: Any) -> Row:
    """The row of a URL that is due, and that nothing drops unless `columns` say so."""
    place = locate(url)
    return {
        "url": url,
        "url_key": place.url_key,
        "host": place.host,
        "host_key": place.host_key,
        "domain": place.domain,
        "bucket": 0 if place.host_key is None else place.host_key & 3,
        "status": "db_unfetched",
        "fetch_time": seconds(-1),
        "fetch_interval": 100,
        "last_fetch_time": None,
        "modified_time": None,
        "first_seen": seconds(-10_000),
        "retries": 0,
        "score": score,
        "inlinks": 0,
        "depth": 0,
        "signature": None,
        "etag": None,
        "last_modified": None,
        "generate_time": None,
        "metadata": {},
        "sort_value": score,
        "expression": True,
        "filtered": None,
        "blocked": False,
        "locked": False,
        **columns,
    }


def host_row(
    host: str, max_count: int | None = None, fetch_delay_ms: int | None = None, **columns: Any
) -> Row:
    """The HostDb row of a host, with its limit and delay as their expressions gave them."""
    place = locate(f"http://{host}/")
    said = {"limit": max_count, "delay": fetch_delay_ms}
    counters = (
        "unfetched fetched not_modified redir_temp redir_perm gone duplicate parse_failed "
        "robots_denied orphan num_records dns_failures connection_failures"
    ).split()
    times = ("rt_avg_ms", "rt_p50_ms", "rt_p75_ms", "rt_p95_ms", "rt_p99_ms")
    return {
        "host": host,
        "domain": place.domain,
        "bucket": (place.host_key or 0) & 3,
        "score": 0.0,
        "homepage_url": None,
        "ip": None,
        "last_check": None,
        **dict.fromkeys(counters, 0),
        "crawl_delay_ms": None,
        "retry_at": None,
        **dict.fromkeys(times),
        "robots_digest": None,
        "metadata": {name: str(value) for name, value in said.items() if value is not None},
        "max_count": max_count,
        "fetch_delay_ms": fetch_delay_ms,
        **columns,
    }


def limits_row(name: str, **limits: int | None) -> Row:
    """A row of the limits file; what is not named says nothing."""
    columns = ("urls", "urls_per_host", "hosts", "parts", "delay_ms")
    return {"name": name, "domain": locate(f"http://{name}/").domain, **dict.fromkeys(columns), **limits}


# -- at random ------------------------------------------------------------------------------------------------

#: Few values, so that many are equal; -0.0 and 0.0 are.
SCORES = (float("nan"), float("inf"), float("-inf"), 3.0, 2.0, 1.0, 1.0, 1.0, 0.5, 0.0, -0.0, -1.0)
STATUSES = ("db_unfetched", "db_unfetched", "db_fetched", "db_gone")

#: What makes a row other than a plain candidate, by its columns alone.
_PLAIN_FLAWS: tuple[Row, ...] = (
    {"fetch_time": seconds(0)},
    {"fetch_time": seconds(1)},
    {"fetch_time": seconds(MAX_INTERVAL_S)},
    {"fetch_time": seconds(MAX_INTERVAL_S + 1)},
    {"fetch_time": seconds(MAX_INTERVAL_S + 1), "fetch_interval": 5 * MAX_INTERVAL_S},
    {"fetch_interval": MAX_INTERVAL_S},
    {"generate_time": seconds(-10)},
    {"generate_time": seconds(-100)},
    {"generate_time": seconds(-101)},
    {"host": None, "host_key": None, "domain": None, "bucket": 0},
)
_OTHER_FLAWS: tuple[Row, ...] = (
    {"sort_value": None},
    {"expression": False},
    {"expression": None},
    {"filtered": "url_filter"},
    {"filtered": "filter_error"},
    {"blocked": True},
    {"locked": True},
    {"listed": False},
)


@st.composite
def crawldbs(
    draw: st.DrawFn, *, plain: bool = False, max_rows: int = 40, equal_keys: bool = True
) -> list[Row]:
    """Rows of a crawldb, best and worst mixed; with `equal_keys` some URLs of one host share a `url_key`."""
    flaws = st.sampled_from(_PLAIN_FLAWS if plain else _PLAIN_FLAWS + _OTHER_FLAWS)
    some_flaws: st.SearchStrategy[list[Row]] = st.one_of(
        st.just([]), st.just([]), st.just([]), st.lists(flaws, max_size=2)
    )
    drawn = st.tuples(st.sampled_from(HOSTS), st.sampled_from(SCORES), st.sampled_from(STATUSES), some_flaws)
    # left to itself hypothesis draws five rows or so, too few for several limits to meet
    least = draw(st.sampled_from((0, max_rows // 2, max_rows * 3 // 4)))
    rows = []
    for number, (host, score, status, row_flaws) in enumerate(
        draw(st.lists(drawn, min_size=least, max_size=max_rows))
    ):
        row = url_row(f"http://{host}/{number}", score, status=status)
        if equal_keys and number % 3 == 0:
            row["url_key"] = row["host_key"]
        for flaw in row_flaws:
            row |= flaw
        rows.append(row)
    return rows


@st.composite
def hostdbs(draw: st.DrawFn) -> list[Row]:
    """Rows of a HostDb for some hosts of `crawldbs`, and for one that has no URLs."""
    policy: st.SearchStrategy[Row] = st.fixed_dictionaries(
        {
            "max_count": st.sampled_from((None, -1, 0, 1, 2, 3, 5)),
            "fetch_delay_ms": st.sampled_from((None, -5, 0, 1, 300, 1000, 10_000)),
            "crawl_delay_ms": st.sampled_from((None, None, 500, 2000)),
            "retry_at": st.sampled_from((None, seconds(60))),
            "ip": st.sampled_from((None, "198.51.100.1", "198.51.100.2")),
        }
    )
    hosts = draw(st.lists(st.sampled_from((*HOSTS, "no.urls.net")), unique=True))
    return [host_row(host, **draw(policy)) for host in hosts]


@st.composite
def limits(draw: st.DrawFn) -> list[Row] | None:
    """A limits file for some domains and hosts of `crawldbs`, or None."""
    number = st.sampled_from((None, None, -1, 0, 1, 2, 4))
    row: st.SearchStrategy[Row] = st.fixed_dictionaries(
        {
            "urls": number,
            "urls_per_host": number,
            "hosts": number,
            "parts": st.sampled_from((None, None, 1, 2, 3)),
            "delay_ms": st.sampled_from((None, None, 0, 700, 3000)),
        }
    )
    named = st.sampled_from(("one.com", "two.co.uk", "three.org", "192.0.2.1", "a.one.com", "d.two.co.uk"))
    names = draw(st.none() | st.lists(named, unique=True, min_size=1))
    return None if names is None else [limits_row(name, **draw(row)) for name in names]


def rules() -> st.SearchStrategy[Rules]:
    """Rules that bite on crawls of this size, each of them absent half of the time."""
    limit = st.one_of(st.just(-1), st.integers(0, 6))
    statuses = st.sampled_from(((), (), (), ("db_unfetched",), ("db_gone", "db_fetched")))
    return st.builds(
        Rules,
        now=st.just(NOW),
        max_interval_s=st.just(MAX_INTERVAL_S),
        gen_delay_s=st.just(100),
        restrict_status=statuses,
        exclude_status=st.sampled_from(((), (), ("db_gone",))),
        min_score=st.sampled_from((None, None, 0.0, 0.75)),
        interval_at_most_s=st.sampled_from((None, None, 900, 100)),
        max_count=limit,
        max_per_domain=limit,
        max_hosts_per_domain=limit,
        lists=st.integers(1, 4),
        top_n=st.one_of(st.none(), st.integers(0, 12), st.integers(1, 8)),
        time_budget_ms=st.sampled_from((None, None, 0, 1000, 5000)),
        default_delay_ms=st.sampled_from((0, 1000, 5000)),
        min_delay_ms=st.sampled_from((0, 0, 600)),
        spread=st.booleans(),
        keep_together=st.integers(1, 3),
        seed=st.integers(0, 2**31),
        parts=st.integers(1, 3),
        partition_by=st.sampled_from(("host", "domain", "ip")),
        count_by_host=st.booleans(),
        delay_by_host=st.booleans(),
    )
