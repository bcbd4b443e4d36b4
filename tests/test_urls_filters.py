"""Which URLs enter: rules, hosts, endings, traps; in Python and in SQL alike."""

from __future__ import annotations

import pickle
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinyon.errors import SettingError
from pinyon.settings import NOT_PAGES
from pinyon.urls import FILTER_REASONS, HostPatterns, Normaliser, Rule, UrlFilter, host_of


def rules(*texts: str) -> list[Rule]:
    return [Rule.parse(text, "test") for text in texts]


def reason(filter: UrlFilter, url: str) -> str | None:
    return filter.reason(url, host_of(url))


@pytest.mark.parametrize(
    ("options", "url", "expected"),
    [
        ({}, "http://a.test/", None),
        ({}, "ftp://a.test/", "scheme"),
        ({}, "mailto:a@b.test", "scheme"),
        ({}, "httpx://a.test/", "scheme"),
        ({"schemes": ["https"]}, "http://a.test/", "scheme"),
        ({"max_url_length": 20}, "http://a.test/123456", None),
        ({"max_url_length": 20}, "http://a.test/1234567", "too_long"),
        ({"max_url_length": 20}, "mailto:" + "a" * 20, "too_long"),
        # endings of the path
        ({"deny_suffixes": ["PDF"]}, "http://a.test/x.pdf", "suffix"),
        ({"deny_suffixes": [".pdf"]}, "http://a.test/x.PDF?y=1", "suffix"),
        ({"deny_suffixes": ["pdf"]}, "http://a.test/pdf", None),
        ({"deny_suffixes": ["pdf"]}, "http://a.test/x.pdf/y", None),
        ({"deny_suffixes": ["pdf"]}, "http://a.test/?x.pdf", None),
        ({"deny_suffixes": ["pdf"]}, "http://a.test/x?file=/y.pdf", None),
        ({"deny_suffixes": ["zip"]}, "http://a.zip/", None),
        ({"deny_suffixes": ["zip"]}, "http://a.zip", None),
        ({"deny_suffixes": ["tar.gz"]}, "http://a.test/x.1.tar.gz", "suffix"),
        ({"deny_suffixes": ["tar.gz"]}, "http://a.test/x.gz", None),
        # hosts
        ({"deny_hosts": ["b.test"]}, "http://b.test/", "host_denied"),
        ({"deny_hosts": ["b.test"]}, "http://www.b.test/", None),
        ({"deny_hosts": ["*.b.test"]}, "http://b.test:8080/", "host_denied"),
        ({"deny_hosts": ["*.b.test"]}, "http://x.y.b.test/", "host_denied"),
        ({"deny_hosts": ["*.b.test"]}, "http://ab.test/", None),
        ({"deny_hosts": ["*.Тест"]}, "http://a.xn--e1aybc/", "host_denied"),
        ({"deny_hosts": ["[::1]"]}, "http://[::1]:80/", "host_denied"),
        ({"allow_hosts": ["*.a.test"]}, "http://b.a.test/", None),
        ({"allow_hosts": ["*.a.test"]}, "http://b.test/", "host_not_allowed"),
        ({"allow_hosts": ["*.a.test"], "deny_hosts": ["x.a.test"]}, "http://x.a.test/", "host_denied"),
        ({"allow_hosts": ["a.test"], "schemes": ["mailto"]}, "mailto:x@a.test", "host_not_allowed"),
        # traps
        ({}, "http://a.test/x/x/", None),
        ({}, "http://a.test/x/y/x/y/x", "repeated_segments"),
        ({}, "http://a.test/www.g.test/p/www.g.test/p/www.g.test/p/", "repeated_segments"),
        ({}, "http://a.test/?/x/x/x/x", None),
        ({}, "http://a.test////////", None),
        ({"max_repeated_segments": 0}, "http://a.test/x/x/x/x/x", None),
        # rules: the first that is found decides, none refuses
        ({"rules": rules("-/private/", "+^https?://a\\.test/")}, "http://a.test/private/x", "rule"),
        ({"rules": rules("-/private/", "+^https?://a\\.test/")}, "http://a.test/public/x", None),
        ({"rules": rules("-/private/", "+^https?://a\\.test/")}, "http://b.test/", "rule"),
        ({"rules": rules("+/keep/", "-.")}, "http://a.test/keep/", None),
        ({"rules": rules("-(?i)calendar")}, "http://a.test/Calendar", "rule"),
        ({"rules": rules("-[?&]year=\\d{4}", "+.")}, "http://a.test/?month=1&year=2031", "rule"),
        ({"rules": rules("-x", "+.")}, "http://\ud800/", "filter_error"),
    ],
)
def test_the_first_check_that_fails_names_the_reason(
    options: dict[str, Any], url: str, expected: str | None
) -> None:
    assert reason(UrlFilter(**options), url) == expected


@pytest.mark.parametrize("text", ["", "a", "*.b", "+(", "-(?=x)", "+\\1", "-a{2000}", "-" + "x" * 5000])
def test_a_rule_that_cannot_mean_the_same_everywhere_is_refused_with_its_origin(text: str) -> None:
    with pytest.raises(SettingError, match=r"^rules\.txt: "):
        Rule.parse(text, "rules.txt")


@pytest.mark.parametrize(
    "text", ["http://a.test/", "a.test:80", "a/b", "a b", "*", "*.", "a.*.test", "1.2.3.4.5", "u@h"]
)
def test_a_text_that_is_no_host_is_refused(text: str) -> None:
    with pytest.raises(SettingError, match="wanted a host"):
        HostPatterns([text])


@pytest.mark.parametrize("text", ["", ".", "a/b", "é", "x?"])
def test_a_text_that_is_no_ending_is_refused(text: str) -> None:
    with pytest.raises(SettingError, match="wanted the ending"):
        UrlFilter(deny_suffixes=[text])


def test_a_megabyte_is_refused_first() -> None:
    url = "http://a.test/" + "x/" * 500_000
    filter = UrlFilter(rules=rules("-(x/)+y", "+."), deny_suffixes=NOT_PAGES)
    begun = time.perf_counter()
    for _ in range(1000):
        assert filter.reason(url, "a.test") == "too_long"
    assert time.perf_counter() - begun < 1  # < 1 ms each, whatever the rules


def test_a_calendar_without_end_can_be_stopped_by_rule() -> None:
    filter = UrlFilter(rules=rules("-[?&]year=(19|20[013-9])", "+."))
    accepted = [
        year for year in range(1900, 2100) if reason(filter, f"http://a.test/cal?year={year}") is None
    ]
    assert accepted == list(range(2020, 2030))


def test_what_was_accepted_once_is_accepted_again(others_data: Path) -> None:
    normalise = Normaliser(drop_query_params=["utm_*"])
    filter = UrlFilter(deny_suffixes=["xml", "php"], rules=rules("-[Ff]eed", "+^https"))
    for line in (others_data / "smallweb.txt").read_text(encoding="utf-8").split("\n"):
        once = normalise(line)
        if once is not None:
            twice = normalise(once)
            assert twice is not None
            assert reason(filter, twice) == reason(filter, once)


def test_a_filter_travels_to_worker_processes() -> None:
    filter = UrlFilter(rules=rules("-x$", "+."), deny_hosts=["*.b.test"], deny_suffixes=["pdf"])
    copy = pickle.loads(pickle.dumps(filter))
    assert copy.digest() == filter.digest()
    for url in ("http://a.test/x", "http://a.test/y", "http://b.test/", "http://a.test/y.pdf"):
        assert reason(copy, url) == reason(filter, url)


def test_the_digest_changes_with_everything_that_decides() -> None:
    digests = [
        UrlFilter(**options).digest()
        for options in (
            {},
            {"schemes": ["http"]},
            {"max_url_length": 100},
            {"deny_suffixes": ["pdf"]},
            {"rules": rules("+.")},
            {"rules": rules("-.")},
            {"allow_hosts": ["a.test"]},
            {"deny_hosts": ["a.test"]},
            {"deny_hosts": ["*.a.test"]},
            {"max_repeated_segments": 3},
        )
    ]
    assert len(set(digests)) == len(digests)
    assert UrlFilter(deny_suffixes=["b", ".A"]).digest() == UrlFilter(deny_suffixes=["a", "b"]).digest()


# -- the same in SQL ------------------------------------------------------------------------------------------

_MANY_DOMAINS = [f"*.d{n}.test" for n in range(60)] + ["*.org.test", "*.localhost"]
_MANY_HOSTS = [f"h{n}.test" for n in range(60)]

FILTERS = {
    "defaults": UrlFilter(),
    "suffixes": UrlFilter(deny_suffixes=[*NOT_PAGES, "tar.gz", "c++"]),
    "few hosts": UrlFilter(deny_hosts=["a.test", "*.b.test"], allow_hosts=["*.test", "localhost", "[::1]"]),
    "many hosts": UrlFilter(deny_hosts=[*_MANY_HOSTS, *_MANY_DOMAINS]),
    "many allowed": UrlFilter(
        allow_hosts=[*_MANY_HOSTS, *_MANY_DOMAINS], schemes=["http", "https", "mailto"]
    ),
    "rules": UrlFilter(rules=rules("-(?i)/PRIVATE/", "-\\.(gif|css)$", "-it's", "+^https://", "-[?&]x=\\d+")),
    "accept rest": UrlFilter(rules=rules("-/a/", "+."), max_repeated_segments=0, max_url_length=40),
    "nothing": UrlFilter(schemes=[]),
}


def compared(filters: Sequence[UrlFilter], urls: Sequence[str]) -> None:
    """Both forms of every filter, row by row."""
    hosts = [host_of(url) for url in urls]
    expressions = ", ".join(filter.sql("t.url", "t.host") for filter in filters)
    with duckdb.connect() as connection:
        columns: list[list[Any]] = [list(range(len(urls))), list(urls), hosts]
        connection.execute(
            "CREATE TABLE t AS SELECT unnest(?) AS n, unnest(?) AS url, unnest(?) AS host", columns
        )
        found = connection.execute(f"SELECT {expressions} FROM t ORDER BY n").fetchall()
    for url, host, told in zip(urls, hosts, found, strict=True):
        assert list(told) == [filter.reason(url, host) for filter in filters], url


@pytest.mark.parametrize("name", FILTERS)
def test_sql_and_python_say_the_same_of_real_urls(name: str, others_data: Path) -> None:
    texts = (others_data / "smallweb.txt").read_text(encoding="utf-8").split("\n")[::7]
    texts += [
        f"https://{h}/PRIVATE/{p}" for h in ("a.test", "x.b.test", "h3.test") for p in ("x.gif", "it's")
    ]
    compared([FILTERS[name]], texts)


_HOSTS = st.sampled_from(
    ["a.test", "b.test", "x.b.test", "h3.test", "y.h3.test", "d7.test", "e.d7.test", "f.e.d7.test", "d7.test.",
     "localhost", "a.localhost", "org.test", "x.org.test", "[::1]", "127.0.0.1", "", "test"]
)  # fmt: skip
_PATHS = st.lists(
    st.sampled_from(
        ["/", "//", "a", "A", ".", "..", "?", "&", "#", "x=1", "gif", ".gif", ".GIF", "tar.gz", ".c++", "/private/",
         "it's", "a/a/a", "é", ".K", "\n", "%"]
    ),
    max_size=9,
).map("".join)  # fmt: skip
_URLS = st.one_of(
    st.tuples(st.sampled_from(["http://", "https://", "http:", "mailto:", ""]), _HOSTS, _PATHS).map("".join),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
)


@settings(max_examples=15, deadline=None)
@given(st.lists(_URLS, min_size=50, max_size=200))
def test_sql_and_python_say_the_same_of_any_text(urls: list[str]) -> None:
    compared(list(FILTERS.values()), urls)


def test_every_reason_is_a_known_one() -> None:
    told = {
        f.reason(u, host_of(u))
        for f in FILTERS.values()
        for u in ("http://a.test/x.gif", "x:", "http://b.test/")
    }
    assert told - {None} <= set(FILTER_REASONS)
