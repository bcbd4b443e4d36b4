"""What status codes and header fields are taken to mean."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinyon.fetcher import Answer
from pinyon.fetcher.capture import captured
from pinyon.fetcher.headers import all_of, content_type, header, header_text, location
from pinyon.fetcher.outcomes import FAILURES, outcome_of, retry_after_s
from pinyon.tables import OUTCOMES
from pinyon.urls import Normaliser

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)

BY_STATUS = {
    "success": [200, 201, 203, 204, 206, 226, 299],
    "redir_perm": [301, 308],
    "redir_temp": [300, 302, 303, 307],
    "not_modified": [304],
    "bad_redirect": [305, 306, 310, 399],
    "access_denied": [401, 403, 407, 451],
    "not_found": [400, 402, 404, 405, 406, 408, 418, 499],
    "gone": [410],
    "rate_limited": [429],
    "server_error": [500, 502, 503, 504, 520, 599],
    "protocol_error": [0, 100, 199, 600, 999],
}


@pytest.mark.parametrize(("outcome", "status"), [(o, s) for o, codes in BY_STATUS.items() for s in codes])
def test_every_status_has_its_outcome(outcome, status):
    assert outcome_of(status, conditional=True, retry_after=False) == outcome


@given(st.integers(0, 999), st.booleans(), st.booleans())
def test_every_status_has_an_outcome_of_the_vocabulary(status, conditional, retry_after):
    assert outcome_of(status, conditional=conditional, retry_after=retry_after) in OUTCOMES


def test_an_overloaded_server_that_says_until_when_is_rate_limited():
    assert outcome_of(503, conditional=False, retry_after=True) == "rate_limited"


def test_a_304_nobody_asked_for_is_no_answer():
    assert outcome_of(304, conditional=False, retry_after=False) == "protocol_error"


def test_failures_are_outcomes():
    assert set(OUTCOMES) >= FAILURES


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("7", 7.0),
        (" 120 ", 120.0),
        ("0", 0.0),
        ("Mon, 30 Nov 2026 12:01:00 GMT", 60.0),
        ("Mon, 30 Nov 2026 12:01:00 -0000", 60.0),
        ("Monday, 30-Nov-26 13:00:00 GMT", 3600.0),
        ("Mon, 30 Nov 2026 11:00:00 GMT", 0.0),
        ("99999999999999999999", 366 * 86_400.0),
        ("", None),
        (None, None),
        ("soon", None),
        ("-5", None),
        ("7.5", None),
        ("٧", None),
        ("Mon, 99 Nov 2026 12:00:00 GMT", None),
    ],
)
def test_retry_after_is_read_in_both_forms_and_garbage_is_none(value, seconds):
    assert retry_after_s(value, NOW) == seconds


@given(st.text(max_size=60))
def test_no_retry_after_raises_or_asks_for_more_than_a_year(text):
    seconds = retry_after_s(text, NOW)
    assert seconds is None or 0 <= seconds <= timedelta(days=366).total_seconds()


@pytest.mark.parametrize(
    ("value", "mime", "charset"),
    [
        ("text/html; charset=utf-8", "text/html", "utf-8"),
        ("Text/HTML;Charset='ISO-8859-1'", "text/html", "ISO-8859-1"),
        (
            'application/xhtml+xml; profile="x"; charset="windows-1251"',
            "application/xhtml+xml",
            "windows-1251",
        ),
        ("text/html;;; charset = gbk ; x", "text/html", "gbk"),
        ("text/html, text/html; charset=x", None, "x"),
        ("html", None, None),
        ("", None, None),
        (None, None, None),
    ],
)
def test_content_types_are_read_leniently(value, mime, charset):
    assert content_type(value) == (mime, charset)


def test_headers_are_found_in_any_case_and_the_first_wins():
    headers = ((b"X-A", b"1"), (b"ETAG", b' "one" '), (b"etag", b"two"))
    assert header(headers, b"etag") == b'"one"'
    assert header(headers, b"nothing") is None
    assert all_of(headers, b"etag") == '"one", two'


def test_a_value_that_could_not_be_sent_back_is_not_kept():
    assert header_text(((b"ETag", b'"\xff\xfe"'),), b"etag") is None
    assert header_text(((b"ETag", b"x" * 5000),), b"etag") is None
    assert header_text(((b"ETag", '"ü"'.encode()),), b"etag") == '"ü"'


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"/fa/\xd8\xa7", "/fa/ا"),
        (b"/caf\xe9", "/caf%E9"),
        (b" http://x.test/ ", "http://x.test/"),
        (b"", None),
    ],
)
def test_raw_bytes_of_a_location_are_what_the_server_meant(raw, text):
    assert location(((b"Location", raw),)) == text


NORMALISER = Normaliser()
NAMES = st.sampled_from(
    [
        b"Location",
        b"Content-Type",
        b"ETag",
        b"Last-Modified",
        b"Retry-After",
        b"X-Robots-Tag",
        b"Content-Encoding",
    ]
)


@settings(max_examples=150)
@given(st.integers(0, 999), st.lists(st.tuples(NAMES, st.binary(max_size=60))), st.booleans())
def test_whatever_the_head_says_there_is_a_capture_that_tables_can_hold(status, headers, conditional):
    answer = Answer(NOW, 1, status=status, headers=tuple(headers), body=b"x")
    capture = captured(
        "http://a.test/",
        0,
        answer,
        lambda base, text: NORMALISER(text, base),
        NOW,
        kind="page",
        conditional=conditional,
    )
    assert capture.outcome in OUTCOMES
    for text in (capture.etag, capture.redirect_to, capture.error, capture.robots_tag, capture.content_type):
        assert text is None or text.encode("utf-8")
    assert (capture.redirect_to is not None) == (capture.outcome in ("redir_temp", "redir_perm"))
