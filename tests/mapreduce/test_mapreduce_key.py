"""The composite key: its encoding, its own order, and the order of the sort."""

from __future__ import annotations

import math
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinyon.mapreduce import ScoreHostKey
from pinyon.mapreduce.key import LOWEST_SCORE, url_order

scores = st.floats(allow_nan=True, allow_infinity=True)
hosts = st.text(st.characters(exclude_characters="\0"), max_size=12)


def in_sort_order(keys: list[ScoreHostKey]) -> list[ScoreHostKey]:
    return sorted(keys, key=ScoreHostKey.encode)


@given(scores, hosts)
def test_a_key_comes_back_from_its_encoding(score: float, host: str) -> None:
    key = ScoreHostKey(score, host)
    assert ScoreHostKey.decode(key.encode()) == key


@pytest.mark.parametrize(
    "data", [b"", b"\1short", b"\2" + bytes(8), b"\1host" + bytes(8), b"\0host" + bytes(7) + b"x"]
)
def test_bytes_that_no_key_encodes_to_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="not a ScoreHostKey"):
        ScoreHostKey.decode(data)


def test_keys_are_equal_by_score_and_host() -> None:
    assert ScoreHostKey(1.5, "a.com") == ScoreHostKey(1.5, "a.com")
    assert ScoreHostKey(1.5, "a.com") != ScoreHostKey(1.5, "b.com")
    assert ScoreHostKey(1.5, "a.com") != ScoreHostKey(1.0, "a.com")
    assert ScoreHostKey(1.5) != 1.5
    assert ScoreHostKey(float("nan")) == ScoreHostKey(-math.nan)
    assert ScoreHostKey(-0.0) == ScoreHostKey(0.0)


def test_equal_keys_have_one_hash_and_one_encoding() -> None:
    pairs = [(ScoreHostKey(0.0), ScoreHostKey(-0.0)), (ScoreHostKey(math.nan), ScoreHostKey(-math.nan))]
    for one, other in pairs:
        assert hash(one) == hash(other)
        assert one.encode() == other.encode()
    assert len({ScoreHostKey(float(n % 3), "a.com") for n in range(9)}) == 3


def test_the_text_form_names_score_and_host() -> None:
    assert str(ScoreHostKey(0.25)) == "(0.25, -)"
    assert str(ScoreHostKey.of_host("a.com")) == f"({LOWEST_SCORE}, a.com)"
    assert repr(ScoreHostKey(0.25, "a.com")) == "ScoreHostKey(score=0.25, host='a.com')"


def test_a_key_itself_is_ordered_by_rising_score_then_host() -> None:
    rising = [
        ScoreHostKey(-math.inf),
        ScoreHostKey.of_host("a.com"),
        ScoreHostKey.of_host("b.com"),
        ScoreHostKey(0.0),
        ScoreHostKey(1.0),
        ScoreHostKey(1.0, "a.com"),
        ScoreHostKey(math.inf),
        ScoreHostKey(math.nan),
    ]
    shuffled = Random(1).sample(rising, len(rising))
    assert sorted(shuffled) == rising
    assert ScoreHostKey(math.nan) >= ScoreHostKey(math.inf) > ScoreHostKey(1.0)


@given(scores, hosts.filter(bool))
def test_in_the_sort_a_hostdb_row_comes_before_every_url(score: float, host: str) -> None:
    assert ScoreHostKey.of_host(host).encode() < ScoreHostKey(score).encode()


@given(hosts.filter(bool), hosts.filter(bool))
def test_in_the_sort_hostdb_rows_come_by_rising_host(one: str, other: str) -> None:
    first, second = ScoreHostKey.of_host(one).encode(), ScoreHostKey.of_host(other).encode()
    assert (first < second) == (one < other)


@given(scores, scores)
def test_in_the_sort_urls_come_by_falling_score_nan_first(one: float, other: float) -> None:
    before = not math.isnan(other) if math.isnan(one) else one > other
    assert (ScoreHostKey(one).encode() < ScoreHostKey(other).encode()) == before


def test_a_mixed_list_is_sorted_as_a_whole() -> None:
    expected = [
        *(ScoreHostKey.of_host(host) for host in ("192.0.2.1", "a.com", "a.com.au", "b.com")),
        *(
            ScoreHostKey(score)
            for score in (math.nan, math.inf, 2.5, 1e-300, 0.0, -1.0, LOWEST_SCORE, -math.inf)
        ),
    ]
    for seed in range(20):
        assert in_sort_order(Random(seed).sample(expected, len(expected))) == expected


def test_equal_scores_come_by_signed_url_key_then_url() -> None:
    expected = [(1.0, 5, "http://z/"), (0.5, -(2**63), "http://b/"), (0.5, -1, "http://b/")]
    expected += [
        (0.5, 0, "http://a/"),
        (0.5, 0, "http://a/é"),
        (0.5, 0, "http://b/"),
        (0.5, 2**63 - 1, "http://a/"),
    ]
    assert sorted(Random(2).sample(expected, len(expected)), key=lambda row: url_order(*row)) == expected


def test_a_host_that_would_break_the_order_is_refused() -> None:
    with pytest.raises(ValueError, match="NUL"):
        ScoreHostKey.of_host("a\0.com")
