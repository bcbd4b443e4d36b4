"""Sitemaps: each file gives what stands beside it; hostile ones give an error in no time."""

from __future__ import annotations

import gzip
import time
from datetime import UTC, datetime

import pytest
from discovery_cases import Case, cases
from hypothesis import given, settings
from hypothesis import strategies as st

from pinyon.discovery import Limits, Sitemap, SitemapEntry, parse_sitemap

URL = "http://site.test/sitemaps/self.xml"
_URLSET = "<urlset>{}</urlset>"


def _urlset(*locations: str) -> bytes:
    return _URLSET.format("".join(f"<url><loc>{location}</loc></url>" for location in locations)).encode()


@pytest.mark.parametrize("case", cases("sitemaps"), ids=lambda case: case.name)
def test_a_sitemap_gives_what_stands_beside_it(case: Case) -> None:
    parsed = parse_sitemap(case.body, URL)
    entries = [
        [entry.url, entry.lastmod and entry.lastmod.isoformat(), entry.changefreq, entry.priority]
        for entry in parsed.entries
    ]
    # How expat words an error, and where it sees it, is its own: only our part of the text is compared.
    error = (
        parsed.error and parsed.error.partition(": ")[0]
        if "well-formed" in (parsed.error or "")
        else parsed.error
    )
    assert {"kind": parsed.kind, "error": error, "entries": entries} == case.expect


class TestGzip:
    _BODY = _urlset("http://site.test/1", "http://site.test/2")

    def test_a_packed_file_is_unpacked(self) -> None:
        assert parse_sitemap(gzip.compress(self._BODY), URL) == parse_sitemap(self._BODY, URL)

    def test_a_bomb_stops_at_the_limit(self) -> None:
        bomb = gzip.compress(self._BODY[:-9] + b" " * 50_000_000)
        limits = Limits(sitemap_bytes=100_000)
        begun = time.process_time()
        parsed = parse_sitemap(bomb, URL, limits)
        assert time.process_time() - begun < 0.5
        assert len(parsed.entries) == 2 and parsed.error

    def test_what_was_unpacked_before_it_broke_is_kept(self) -> None:
        cut = gzip.compress(_urlset(*(f"http://site.test/{n * 7919}" for n in range(10_000))))[:-10_000]
        parsed = parse_sitemap(cut, URL)
        assert 100 < len(parsed.entries) < 10_000 and parsed.error

    @pytest.mark.parametrize("body", [b"\x1f\x8b", b"\x1f\x8bnonsense", gzip.compress(b"", mtime=0)])
    def test_what_is_none_is_an_error(self, body: bytes) -> None:
        parsed = parse_sitemap(body, URL)
        assert (parsed.kind, parsed.entries) == ("unknown", []) and parsed.error


class TestLimits:
    @pytest.mark.parametrize(
        "body",
        [_urlset(*(f"/{n}" for n in range(20))), b"\n".join(b"http://x.test/%d" % n for n in range(20))],
    )
    def test_no_more_entries_than_asked_for(self, body: bytes) -> None:
        parsed = parse_sitemap(body, URL, Limits(sitemap_entries=7))
        assert len(parsed.entries) == 7
        assert parsed.error == "cut at 7 entries"

    def test_exactly_as_many_is_no_error(self) -> None:
        assert parse_sitemap(_urlset("/1", "/2"), URL, Limits(sitemap_entries=2)).error is None

    def test_a_large_file_is_cut_and_read_that_far(self) -> None:
        body = _urlset(*(f"http://site.test/{n}" for n in range(1000)))
        parsed = parse_sitemap(body, URL, Limits(sitemap_bytes=len(body) // 2))
        assert 450 < len(parsed.entries) < 550
        assert parsed.error

    def test_deep_nesting_is_refused(self) -> None:
        assert "nested" in (parse_sitemap(b"<urlset>" + b"<url>" * 100_000, URL).error or "")

    def test_an_endless_location_is_dropped(self) -> None:
        body = _urlset("http://site.test/" + "x" * 5_000_000, "/1")
        assert [entry.url for entry in parse_sitemap(body, URL).entries] == ["http://site.test/1"]


@pytest.mark.parametrize(
    "body",
    [
        b"<urlset>" + b"<url><loc>" * 100_000,
        b"<urlset " + b" ".join(b"a%d=''" % n for n in range(100_000)) + b"/>",
        b"<urlset>" + b"&" * 1_000_000,
        b"<urlset><![CDATA[" * 60_000,
        b"<!--" * 250_000,
        b"<?xml " * 150_000,
        b"<!DOCTYPE " + b"[" * 1_000_000,
        b"<urlset><url><loc>" + b"<a/>x" * 200_000,
        b"<urlset><url>" + b"<lastmod>" + b"1" * 1_000_000 + b"</lastmod></url></urlset>",
        b"<urlset><url>" + b"<priority>" + b"9" * 1_000_000 + b"</priority></url></urlset>",
        b"http://x.test/\n" + b"\n" * 1_000_000,
        b"http://x.test/\n" + b" " * 1_000_000,
        b" " * 1_000_000,
        b"\x00" * 1_000_000,
        bytes(range(256)) * 4_000,
    ],
    ids=lambda body: repr(body[:24]),
)
def test_hostile_files_end_soon_and_without_an_exception(body: bytes) -> None:
    begun = time.process_time()
    parsed = parse_sitemap(body, URL)
    assert time.process_time() - begun < 2
    assert isinstance(parsed, Sitemap)


@pytest.mark.parametrize(
    ("written", "utc"),
    [
        ("2026", datetime(2026, 1, 1, tzinfo=UTC)),
        ("2026-11", datetime(2026, 11, 1, tzinfo=UTC)),
        ("2026-1-5", datetime(2026, 1, 5, tzinfo=UTC)),
        ("2026-11-30T10:20Z", datetime(2026, 11, 30, 10, 20, tzinfo=UTC)),
        ("2026-11-30T10:20:30", datetime(2026, 11, 30, 10, 20, 30, tzinfo=UTC)),
        ("2026-11-30 10:20:30.123456789 +0530", datetime(2026, 11, 30, 4, 50, 30, tzinfo=UTC)),
        ("2026-11-30T10:20:60-08:00", datetime(2026, 11, 30, 18, 20, 59, tzinfo=UTC)),
        ("Mon, 30 Nov 2026 10:20:30 EST", datetime(2026, 11, 30, 15, 20, 30, tzinfo=UTC)),
        ("0001-01-01T00:00:00+14:00", None),
        ("2026-11-30T25:00:00Z", None),
        ("2026-11-30T10:20:30+99:00", None),
        ("30.11.2026", None),
        ("207Oct", None),
        ("Mon, 99 Nov 99999 10:20:30 GMT", None),
        ("-", None),
        ("", None),
    ],
)
def test_dates_are_utc_or_none(written: str, utc: datetime | None) -> None:
    body = f"<urlset><url><loc>/1</loc><lastmod> {written} </lastmod></url></urlset>".encode()
    assert parse_sitemap(body, URL).entries == [SitemapEntry("http://site.test/1", lastmod=utc)]


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("0.5", 0.5),
        (" 1 ", 1.0),
        ("0,5", 0.5),
        ("-3", 0.0),
        ("1e9", 1.0),
        ("inf", 1.0),
        ("nan", None),
        ("x", None),
    ],
)
def test_priorities_lie_within_their_bounds(written: str, value: float | None) -> None:
    body = f"<urlset><url><loc>/1</loc><priority>{written}</priority></url></urlset>".encode()
    assert parse_sitemap(body, URL).entries[0].priority == value


_TOKENS = """
    <urlset> </urlset> <sitemapindex> <url> </url> <loc> </loc> <lastmod> </lastmod> <priority> </priority> <rss>
    <channel> <item> </item> <link> </link> <guid> <pubDate> </pubDate> <feed> <entry> </entry> <link/> <![CDATA[
    ]]> &amp; & < <!-- --> <?xml <!DOCTYPE
    <!ENTITY xmlns:a='b' <a:loc> http://x.test/ 2026 Mon, 30 Nov 99:99 +9999 GMT 1e999 \xff
""".split()


@given(
    st.one_of(
        st.binary(max_size=200),
        st.lists(st.sampled_from(_TOKENS), max_size=40).map(
            lambda tokens: " ".join(tokens).encode("latin-1")
        ),
        st.text(max_size=40).map(lambda text: f"<rss><item><pubDate>{text}</pubDate></item></rss>".encode()),
    )
)
@settings(max_examples=300, deadline=None)
def test_no_input_raises(body: bytes) -> None:
    assert all(entry.url.startswith("http") for entry in parse_sitemap(body, URL).entries)
