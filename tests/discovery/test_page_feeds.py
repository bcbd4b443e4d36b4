"""Feeds: every spelling of an announcement is understood, and what is none is not taken for one."""

from __future__ import annotations

import pytest
from discovery_cases import URL, page

from pinyon.discovery import FeedLink, Limits

_RSS, _ATOM = "application/rss+xml", "application/atom+xml"


def _feed_urls(body: str, **given: object) -> list[str]:
    return [feed.url for feed in page(body, **given).feeds]


@pytest.mark.parametrize(
    "element",
    [
        f'<link rel="alternate" type="{_RSS}" href="f">',
        f"<link rel=alternate type={_ATOM} href=f>",
        '<LINK REL="Alternate" TYPE="Application/RSS+XML; charset=utf-8" HREF="f">',
        f'<link rel="alternate feed" type="{_ATOM}" href="f">',
        f'<link rel="home ALTERNATE" type="{_RSS}" href="f">',
        "<link rel=feed href=f>",
        '<link rel="feed" type="application/xml" href="f">',
        '<link rel="alternate" type="application/rdf+xml" href="f">',
        '<link rel="alternate" type="application/feed+json" href="f">',
        '<link rel="alternate" type="application/x.atom+xml" href="f">',
        '<link rel="alternate" type="application/rss" href="f">',
        '<link rel="alternate" type="text/rss+xml" href="f">',
        '<link rel="alternate" type="text/xml" title="RSS" href="f">',
        '<link rel="alternate" type="application/xml" title="Our feed" href="f">',
        f'<link rel="service.feed" type="{_ATOM}" href="f">',
        f'<a type="{_RSS}" href="f">subscribe</a>',
        '<a rel="feed" href="f">subscribe</a>',
        f'<body><div><link rel="alternate" type="{_RSS}" href="f"></div>',
        f'<link rel="alternate" type="{_RSS}" href="feed:http://site.test/dir/f">',
        f'<link rel="alternate" type="{_RSS}" href="FEED://site.test/dir/f">',
    ],
)
def test_a_feed_is_found_however_it_is_announced(element: str) -> None:
    assert _feed_urls(f"<head>{element}") == ["http://site.test/dir/f"]


@pytest.mark.parametrize(
    "element",
    [
        '<link rel="alternate stylesheet" type="text/css" href="f">',
        f'<link rel="alternate stylesheet" type="{_RSS}" href="f">',
        '<link rel="alternate" hreflang="de" href="f">',
        '<link rel="alternate" type="text/html" href="f">',
        '<link rel="alternate" type="application/json+oembed" href="f">',
        '<link rel="alternate" type="text/xml+oembed" href="f.xml">',
        '<link rel="alternate" type="application/json" title="JSON" href="/wp-json/x">',
        '<link rel="alternate" type="application/xml" href="data">',
        '<link rel="EditURI" type="application/rsd+xml" href="f">',
        '<link rel="search" type="application/opensearchdescription+xml" title="feed" href="f.xml">',
        f'<link rel="self" type="{_RSS}" href="f">',
        '<link rel="feed" type="text/html" href="f">',
        f'<link rel="alternate" type="{_RSS}">',
        f'<link rel="alternate" type="{_RSS}" href="javascript:x">',
        '<a href="feed.xml">feed</a>',
        f'<!-- <link rel="alternate" type="{_RSS}" href="f"> -->',
    ],
)
def test_what_announces_no_feed_gives_none(element: str) -> None:
    assert page(f"<head>{element}").feeds == []


def test_a_relative_feed_is_joined_to_the_base() -> None:
    assert _feed_urls(f"<base href=/blog/><link rel=alternate type={_RSS} href=feed.xml>") == [
        "http://site.test/blog/feed.xml"
    ]


def test_one_address_with_two_types_is_one_feed() -> None:
    body = (
        '<link rel="alternate" type="application/rdf+xml" href="feed">'
        f'<link rel="alternate" type="{_RSS}" href="feed#x">'
    )
    assert page(body).feeds == [FeedLink("http://site.test/dir/feed", "", "application/rdf+xml")]


def test_the_first_type_that_is_a_feeds_counts() -> None:
    body = (
        f'<link rel=alternate type=text/html href=feed><link rel=alternate type="{_RSS}" title=T href=feed>'
    )
    assert page(body).feeds == [FeedLink("http://site.test/dir/feed", "T", _RSS)]


def test_feeds_keep_the_order_of_the_page_and_their_titles() -> None:
    body = "".join(
        f'<link rel=alternate type="{_RSS}" title=" feed  {n} &amp; more" href="{n}.xml">' for n in (3, 1, 2)
    )
    assert [(feed.url[-5:], feed.title) for feed in page(body).feeds] == [
        ("3.xml", "feed 3 & more"),
        ("1.xml", "feed 1 & more"),
        ("2.xml", "feed 2 & more"),
    ]


def test_feeds_are_found_under_nofollow_too() -> None:
    assert _feed_urls(f"<meta name=robots content=none><link rel=alternate type={_RSS} href=f>")


def test_no_more_feeds_are_listed_than_asked_for() -> None:
    body = "".join(f"<link rel=alternate type={_RSS} href={n}>" for n in range(50))
    assert len(page(body, limits=Limits(max_feeds=7)).feeds) == 7


class TestLinkHeader:
    @pytest.mark.parametrize(
        ("header", "paths"),
        [
            (f'</f.atom>; rel="alternate"; type="{_ATOM}"', ["/f.atom"]),
            (f"</f>;rel=alternate;type={_ATOM}", ["/f"]),
            (f'<f>; REL="Alternate"; TYPE="{_ATOM}"; title="a, b; \\"c\\" <d>"', ["/dir/f"]),
            (f'</1>; rel="alternate"; type="{_ATOM}", </2>; rel=alternate; type="{_RSS}"', ["/1", "/2"]),
            (f'</s>; rel=preload; as=style, </1>; rel="next alternate"; type="{_RSS}",', ["/1"]),
            (f'</1>; rel=alternate; type={_RSS}\n</2>; rel=alternate; type="{_RSS}"', ["/1", "/2"]),
            (f'</a,b;c>; rel="alternate"; type="{_RSS}"', ["/a,b;c"]),
            ("</f>; rel=feed", ["/f"]),
            (f'</f>; rel=alternate; type="{_RSS}"; rel=stylesheet', ["/f"]),
            (f'</f>; rel=alternate; type="{_RSS}"; anchor="/other"', []),
            ('</f>; rel="alternate stylesheet"; type="text/css"', []),
            (f'</f>; rel="alternate; type={_RSS}', []),
            (f"<a <b <c>; rel=alternate; type={_RSS}", ["/dir/a%20%3Cb%20%3Cc"]),
            ("garbage; rel=feed", []),
            ("<", []),
            (";,;,<>;;", []),
        ],
    )
    def test_announces_feeds_as_well(self, header: str, paths: list[str]) -> None:
        assert _feed_urls("", link_header=header) == [f"http://site.test{path}" for path in paths]

    def test_knows_of_no_base_and_comes_after_the_page(self) -> None:
        body = f"<base href=/blog/><link rel=alternate type={_RSS} href=f>"
        header = f'<f>; rel=alternate; type="{_RSS}", </blog/f>; rel=alternate; type="{_RSS}"; title=again'
        assert _feed_urls(body, link_header=header) == ["http://site.test/blog/f", "http://site.test/dir/f"]

    def test_titles_are_unquoted(self) -> None:
        header = f'</f>; rel=alternate; type="{_RSS}"; title="say \\"hi\\", all"'
        assert page("", link_header=header).feeds == [FeedLink("http://site.test/f", 'say "hi", all', _RSS)]

    def test_gives_the_canonical_address_where_the_page_has_none(self) -> None:
        header = '<https://site.test/c>; rel="canonical"'
        assert page("x", link_header=header).canonical == "https://site.test/c"
        assert (
            page("%PDF", content_type="application/pdf", link_header=header).canonical
            == "https://site.test/c"
        )
        assert page("<link rel=canonical href=/own>", link_header=header).canonical == "http://site.test/own"

    def test_of_any_length_is_read_in_no_time(self) -> None:
        for header in (
            "<" * 1_000_000,
            ";" * 1_000_000,
            '</f>; x="' + "\\" * 999_999,
            "</f>" + " ;" * 500_000,
        ):
            assert page("", link_header=header, url=URL).status == "parsed"
