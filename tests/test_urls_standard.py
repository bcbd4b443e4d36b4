"""Resolving and splitting, against the cases of web-platform-tests and by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import ada_url
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinyon.urls import Location, domain_of, host_of, is_address, key_of, locate, resolve

_ALMOST = st.tuples(
    st.sampled_from(["http://", "https://", "http:/"]),
    st.lists(st.sampled_from(["a", "b-c", "-", "xn--", "1", "A", "com", "x_y", "ä", ""]), max_size=4).map(
        ".".join
    ),
    st.lists(st.sampled_from([*"/?.:@!$&'()*+,=;%~-_ab1|^[]{}\"\\", "..", "%2e", "//"]), max_size=8).map(
        "".join
    ),
).map("".join)


def cases(path: Path) -> list[dict[str, Any]]:
    return [case for case in json.loads(path.read_text()) if isinstance(case, dict)]


def test_urls_resolve_as_the_url_standard_says(others_data: Path) -> None:
    found = cases(others_data / "wpt_urltestdata.json")
    wrong = [
        (case["input"], case.get("base"), expected, got)
        for case in found
        if (got := resolve(case["input"], case.get("base")))
        != (expected := None if case.get("failure") else case["href"])
    ]
    assert len(found) > 800
    assert wrong == []


@given(_ALMOST)
def test_urls_that_are_taken_as_they_are_are_what_the_parser_makes_of_them(url: str) -> None:
    try:
        parsed = ada_url.URL(url).href
    except ValueError:
        parsed = None
    assert resolve(url) == parsed


def test_hosts_become_ascii_as_the_url_standard_says(others_data: Path) -> None:
    found = cases(others_data / "wpt_toascii.json")
    wrong = [
        case["input"]
        for case in found
        if resolve(f"https://{case['input']}/x")
        != (None if case["output"] is None else f"https://{case['output']}/x")
    ]
    assert len(found) > 50
    assert wrong == []


def test_the_host_of_a_url_is_what_the_url_standard_calls_hostname(others_data: Path) -> None:
    for case in cases(others_data / "wpt_urltestdata.json"):
        if case.get("failure"):
            continue
        expected = case["hostname"] if case["protocol"] in ("http:", "https:") else None
        assert host_of(case["href"]) == expected, case


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://a.test/", "a.test"),
        ("HTTP://A.Test:80/x", "a.test"),
        ("http://a.test:8080/x?y@z", "a.test"),
        ("http://user:pass@a.test/", "a.test"),
        ("http://a.test?q=http://b.test/", "a.test"),
        ("http://[::1]:8080/a", "[::1]"),
        ("http://0x7f.1/", "127.0.0.1"),
        ("http://foo_bar.test/", "foo_bar.test"),
        ("http://www.s%c3%a4x.test/", "www.xn--sx-via.test"),
        ("http://тест.тест:33/", "xn--e1aybc.xn--e1aybc"),
        ("http://xn--a\u00e4.test/", None),
        ("http:///x", "x"),
        ("http://", None),
        ("mailto:a@b.test", None),
        ("ftp://a.test/", None),
        ("a.test/x", None),
        ("", None),
        ("http://\ud800.test/", None),
        ("http://" + "a" * 70_000 + ".test/", "a" * 70_000 + ".test"),
    ],
)
def test_a_host_is_lower_case_ascii_without_port(url: str, host: str | None) -> None:
    assert host_of(url) == host


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("www.example.co.uk", "example.co.uk"),
        ("example.co.uk", "example.co.uk"),
        ("co.uk", "co.uk"),
        ("a.b.c.example.com", "example.com"),
        ("blog.alice.github.io", "github.io"),
        ("xn--e1aybc.xn--p1ai", "xn--e1aybc.xn--p1ai"),
        ("www.xn--85x722f.xn--55qx5d.cn", "xn--85x722f.xn--55qx5d.cn"),
        ("www.city.kawasaki.jp", "city.kawasaki.jp"),  # an exception of the list
        ("localhost", "localhost"),
        ("a.b.unknownsuffix", "a.b.unknownsuffix"),
        ("192.0.2.1", "192.0.2.1"),
        ("[2001:db8::1]", "[2001:db8::1]"),
        ("www.example.com.", "example.com"),
        ("...", "..."),
        ("node7.test7.example2.org", "example2.org"),
    ],
)
def test_the_domain_is_the_registered_one(host: str, domain: str) -> None:
    assert domain_of(host) == domain


def test_private_suffixes_count_only_if_told() -> None:
    assert domain_of("blog.alice.github.io", private=True) == "alice.github.io"
    assert locate("https://blog.alice.github.io/").domain == "github.io"
    assert locate("https://blog.alice.github.io/", private_suffixes=True).domain == "alice.github.io"


def test_keys_are_the_same_everywhere_and_signed() -> None:
    # the reference values of xxh3_64 with seed 0, as the library's own command prints them
    assert key_of("") == 0x2D06800538D394C2
    assert key_of("a") == 0xE6C632B61E964E1F - (1 << 64)


def test_buckets_follow_the_host_and_no_host_is_bucket_0() -> None:
    one, other = locate("https://a.test/1"), locate("http://a.test:8080/2")
    assert one.bucket(16) == other.bucket(16) == one.host_key & 15  # type: ignore[operator]
    assert locate("mailto:a@b.test") == Location(key_of("mailto:a@b.test"), None, None, None)
    assert locate("mailto:a@b.test").bucket(16) == 0
    assert {locate(f"https://h{n}.test/").bucket(8) for n in range(200)} == set(range(8))


def test_addresses_are_told_from_names() -> None:
    assert is_address("192.0.2.1") and is_address("[::1]") and is_address("::1")
    assert not is_address("192.0.2.1.example") and not is_address("localhost")
