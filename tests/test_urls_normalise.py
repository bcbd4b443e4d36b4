"""One spelling for each URL, and the same one again on a second pass."""

from __future__ import annotations

import time
from pathlib import Path
from urllib.parse import unquote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinyon.urls import MAX_URL_CHARS, Normaliser, resolve

normalise = Normaliser()


@pytest.mark.parametrize(
    ("given_url", "expected"),
    [
        # the URL Standard's part
        ("HTTP://Example.COM", "http://example.com/"),
        ("http://example.com?a=1", "http://example.com/?a=1"),
        ("http://example.com:80/a/../b/./c", "http://example.com/b/c"),
        ("https://example.com:443/", "https://example.com/"),
        ("https://example.com:80/", "https://example.com:80/"),
        ("  http://example.com/a\tb\n ", "http://example.com/ab"),
        ("http:\\\\example.com\\a", "http://example.com/a"),
        ("https:////x.test/robots.txt", "https://x.test/robots.txt"),
        ("http://example.com/a b", "http://example.com/a%20b"),
        ("http://example.com/ä?ö", "http://example.com/%C3%A4?%C3%B6"),
        # hosts
        ("https://example%2Ecom/", "https://example.com/"),
        ("https://www.s%c3%a4x.test/", "https://www.xn--sx-via.test/"),
        ("https://тест.тест:33", "https://xn--e1aybc.xn--e1aybc:33/"),
        ("http://[::1]:8080/a", "http://[::1]:8080/a"),
        ("http://foo_bar.test/", "http://foo_bar.test/"),
        ("http://example.com./a", "http://example.com/a"),
        ("http://u:p@example.com.:8080/a./b", "http://u:p@example.com:8080/a./b"),
        ("http://тест.тест.../x", "http://xn--e1aybc.xn--e1aybc.../x"),  # no name at all: left as it is
        # fragments
        ("http://example.com/#top", "http://example.com/"),
        ("http://example.com/a#b?c", "http://example.com/a"),
        ("http://example.com/a%20%2376#f", "http://example.com/a%20%2376"),
        # escapes
        ("http://example.com/90%+of", "http://example.com/90%25+of"),
        ("http://example.com/a%zz", "http://example.com/a%25zz"),
        ("http://example.com/%7Euser/%41%2d%2E%5f", "http://example.com/~user/A-._"),
        ("http://example.com/a%2fb%3f", "http://example.com/a%2Fb%3F"),
        ("http://example.com/?q=%e4%bd%a0&r=%", "http://example.com/?q=%E4%BD%A0&r=%25"),
        ("http://example.com/%2541", "http://example.com/%2541"),
        ("http://%25u:%25p@h/", "http://%25u:%25p@h/"),
        ("http://%u@h/%", "http://%u@h/%25"),
        # sessions
        ("http://example.com/a;jsessionid=0A1B?x=1", "http://example.com/a?x=1"),
        ("http://example.com/a;JSESSIONID=0A1B", "http://example.com/a"),
        ("http://example.com/a?x=1;jsessionid=0A1B&y=2", "http://example.com/a?x=1&y=2"),
        ("http://example.com/a?PHPSESSID=1f&x=1", "http://example.com/a?x=1"),
        ("http://example.com/a?PHPSESSID=1f", "http://example.com/a"),
        ("http://example.com/news?sid=42", "http://example.com/news?sid=42"),
        ("http://example.com/news?sid=0123456789abcdef", "http://example.com/news"),
        ("http://example.com/view?op=show;sid=42", "http://example.com/view?op=show;sid=42"),
        ("http://example.com/a/..;jsessionid=1/b", "http://example.com/b"),
        ("http://;sid=1/a", "http://;sid=1/a"),
        # what no fetcher asks for is normalised all the same
        ("mailto:A@B.test", "mailto:A@B.test"),
        ("httpx://a/%7e", "httpx://a/%7e"),
    ],
)
def test_urls_have_one_spelling(given_url: str, expected: str) -> None:
    assert normalise(given_url) == expected
    assert normalise(expected) == expected


@pytest.mark.parametrize(
    "text", ["", "http://", "example.com", "http://a b/", "http://1.2.3.4.5/", "\ud800", "//x"]
)
def test_what_is_no_url_is_none(text: str) -> None:
    assert normalise(text) is None


def test_links_are_resolved_against_their_base() -> None:
    assert normalise("../c?d#e", "https://example.com/a/b") == "https://example.com/c?d"
    assert normalise("//b.test/x", "https://example.com/") == "https://b.test/x"
    assert normalise("www.g.test/p/", "https://example.com/a/") == "https://example.com/a/www.g.test/p/"
    assert normalise("c", "no base") is None


def test_parameters_are_dropped_by_name() -> None:
    drop = Normaliser(drop_query_params=["utm_*", "fbclid", "a.b"])
    assert drop("http://a.test/?utm_source=x&id=1&utm_=2&fbclid=3") == "http://a.test/?id=1"
    assert (
        drop("http://a.test/?xutm_source=x&axb=1&UTM_source=2")
        == "http://a.test/?xutm_source=x&axb=1&UTM_source=2"
    )
    assert drop("http://a.test/?fbclid") == "http://a.test/"
    assert drop("http://a.test/fbclid=1?") == "http://a.test/fbclid=1?"


def test_sessions_stay_if_told() -> None:
    keep = Normaliser(strip_session_ids=False)
    assert keep("http://a.test/b;jsessionid=1?PHPSESSID=2") == "http://a.test/b;jsessionid=1?PHPSESSID=2"


def test_a_session_id_that_is_new_on_each_request_makes_no_new_url() -> None:
    pages = [
        "http://a.test/cart;jsessionid={:X}",
        "http://a.test/cart?PHPSESSID={:x}",
        "http://a.test/cart?CFID={}",
    ]
    assert {normalise(page.format(number)) for page in pages for number in range(50)} == {
        "http://a.test/cart"
    }


def test_https_is_used_where_asked_for_and_a_port_is_another_service() -> None:
    upgrade = Normaliser(https_hosts=["a.test", "*.example.org"])
    assert upgrade("http://a.test/x") == "https://a.test/x"
    assert upgrade("http://a.test:80/x") == "https://a.test/x"
    assert upgrade("http://a.test:8080/x") == "http://a.test:8080/x"
    assert upgrade("http://b.a.test/x") == "http://b.a.test/x"
    assert upgrade("http://example.org/") == "https://example.org/"
    assert upgrade("http://deep.down.example.org/") == "https://deep.down.example.org/"
    assert upgrade("http://notexample.org/") == "http://notexample.org/"


@pytest.mark.parametrize("size", [MAX_URL_CHARS + 1, 1_000_000])
def test_a_megabyte_is_refused_unread(size: int) -> None:
    href = "http://a.test/" + ";sid=" * (size // 5)
    begun = time.perf_counter()
    assert normalise(href) is None
    assert normalise(href, "http://b.test/") is None
    assert time.perf_counter() - begun < 0.1  # reading it would take minutes


@pytest.mark.parametrize(
    "piece", ["%", ";sid=", "a/", "../", "?", "&", "&sid=", ";jsessi", ".", "%2e", "ä", "a*"]
)
def test_the_longest_text_takes_no_longer_than_its_length(piece: str) -> None:
    greedy = Normaliser(drop_query_params=["*a*a*a*a*b"])
    for head in ("http://a.test/", "http://a.test/?", "http://"):
        text = (head + piece * MAX_URL_CHARS)[:MAX_URL_CHARS]
        begun = time.perf_counter()
        first = greedy(text)
        assert time.perf_counter() - begun < 2
        assert first is None or len(first) > MAX_URL_CHARS or greedy(first) == first


def test_forty_thousand_real_urls_are_stable(others_data: Path) -> None:
    lines = (others_data / "smallweb.txt").read_text(encoding="utf-8").split("\n")
    urls = [line.strip() for line in lines if line.strip()]
    once = [normalise(url) for url in urls]
    assert len(urls) > 36_000
    assert sum(url is None for url in once) == 0
    assert [normalise(url) for url in once if url] == once


_NASTY = st.lists(
    st.sampled_from(
        [
            *"/.;?&=%#:@\\ aZ2é",
            "..",
            "%2e",
            "%2E",
            "%25",
            "%7e",
            "sid=",
            "jsessionid=",
            ";sid=1",
            "PHPSESSID=",
            "//",
        ]
    ),
    max_size=25,
).map("".join)


@given(
    st.one_of(
        st.text(), _NASTY, _NASTY.map(lambda s: "http://a.test/" + s), _NASTY.map(lambda s: "http://" + s)
    )
)
@settings(max_examples=500)
def test_a_second_pass_changes_nothing(text: str) -> None:
    once = normalise(text)
    if once is not None:
        assert normalise(once) == once


@given(_NASTY)
def test_escapes_mean_the_same_after_as_before(path: str) -> None:
    """Only spelling changes: unescaped, the path is what the URL Standard made of it (but for sessions)."""
    keep = Normaliser(strip_session_ids=False)
    resolved = resolve("http://a.test/" + path.replace("#", ""))
    assert resolved is not None
    normalised = keep(resolved)
    assert normalised is not None
    assert unquote(normalised, errors="surrogateescape") == unquote(resolved, errors="surrogateescape")
