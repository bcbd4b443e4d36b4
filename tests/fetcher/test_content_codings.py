"""Bodies are unpacked whole, or to the limit and not a byte further."""

from __future__ import annotations

import gzip
import random
import sys
import tracemalloc
import zlib

import brotli
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinyon.fetcher import Decoded, decode_body

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


PACK = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstd.compress,
}
TEXT = b"".join(b"<p>line %d</p>\n" % n for n in range(5_000))
LIMIT = 1_000_000


@pytest.mark.parametrize("coding", PACK)
def test_every_coding_gives_back_what_was_packed(coding):
    for data in (TEXT, b"x", random.Random(1).randbytes(300_000)):
        assert decode_body(PACK[coding](data), coding.upper(), LIMIT) == Decoded(data)


def test_deflate_is_understood_with_and_without_its_wrapper():
    assert decode_body(raw_deflate(TEXT), "deflate", LIMIT) == Decoded(TEXT)


@settings(max_examples=50, deadline=None)
@given(st.binary(max_size=3000), st.sampled_from(sorted(PACK)), st.integers(0, 3100))
def test_a_limit_cuts_at_that_byte_and_says_so(data, coding, limit):
    decoded = decode_body(PACK[coding](data), coding, limit)
    assert decoded == Decoded(data[:limit], len(data) > limit)


def test_codings_on_top_of_each_other_are_taken_off_in_turn():
    assert decode_body(brotli.compress(gzip.compress(TEXT)), "gzip, br", LIMIT) == Decoded(TEXT)


@pytest.mark.parametrize("header", [None, "", "identity", " Identity ,, "])
def test_a_body_without_a_coding_comes_back_cut_to_the_limit(header):
    assert decode_body(b"abc", header, 10) == Decoded(b"abc")
    assert decode_body(b"abc", header, 2) == Decoded(b"ab", True)


@pytest.mark.parametrize("coding", PACK)
def test_a_bomb_stops_at_the_limit(coding):
    bomb = PACK[coding](bytes(100_000_000 if coding != "br" else 30_000_000))
    tracemalloc.start()
    decoded = decode_body(bomb, coding, LIMIT)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(decoded.data) == LIMIT
    assert decoded.truncated
    assert peak < 8 * LIMIT


def test_a_bomb_inside_a_bomb_stops_at_the_limit():
    bomb = gzip.compress(gzip.compress(bytes(50_000_000)))
    assert decode_body(bomb, "gzip, gzip", 100_000) == Decoded(bytes(100_000), True)


def test_too_many_codings_are_refused():
    decoded = decode_body(TEXT, "gzip, gzip, gzip, gzip", LIMIT)
    assert decoded.data == b""
    assert decoded.error is not None


@pytest.mark.parametrize("coding", ["gzip", "deflate", "zstd"])
def test_of_a_torn_body_everything_before_the_tear_is_kept(coding):
    data = random.Random(2).randbytes(400_000)
    packed = PACK[coding](data)
    decoded = decode_body(packed[: len(packed) // 2], coding, LIMIT)
    assert decoded.truncated
    assert len(decoded.data) > 50_000
    assert data.startswith(decoded.data)


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd"])
def test_a_body_that_lies_about_its_coding_comes_back_as_it_is(coding):
    decoded = decode_body(b"<html>plain</html>", coding, LIMIT)
    assert decoded.data == b"<html>plain</html>"
    assert decoded.error is not None


def test_an_unknown_coding_is_named():
    decoded = decode_body(TEXT, "sdch", LIMIT)
    assert decoded.data == TEXT
    assert "sdch" in (decoded.error or "")


def test_damage_in_the_middle_keeps_what_came_before_it():
    packed = bytearray(gzip.compress(random.Random(3).randbytes(400_000)))
    packed[200_000:200_100] = bytes(100)
    decoded = decode_body(bytes(packed), "gzip", LIMIT)
    assert decoded.truncated
    assert decoded.error is not None
    assert len(decoded.data) > 100_000


def test_members_one_after_another_are_one_body_and_what_stands_behind_is_not():
    assert decode_body(gzip.compress(b"one ") + gzip.compress(b"two"), "gzip", LIMIT) == Decoded(b"one two")
    assert decode_body(gzip.compress(b"one") + b"\0\0garbage", "gzip", LIMIT) == Decoded(b"one")
    assert decode_body(zstd.compress(b"one ") + zstd.compress(b"two"), "zstd", LIMIT) == Decoded(b"one two")


def test_many_small_members_across_reads_are_joined():
    parts = [random.Random(n).randbytes(3_000) for n in range(100)]
    assert decode_body(b"".join(map(gzip.compress, parts)), "gzip", LIMIT) == Decoded(b"".join(parts))


def test_a_million_empty_members_are_an_attack_and_cost_little():
    empty = gzip.compress(b"")
    assert decode_body(empty * 200_000, "gzip", LIMIT).data == b""


def test_a_window_larger_than_the_web_allows_is_refused():
    options = {zstd.CompressionParameter.window_log: 27, zstd.CompressionParameter.content_size_flag: 0}
    packer = zstd.ZstdCompressor(options=options)
    data = random.Random(4).randbytes(1_000_000)
    packed = packer.compress(data) + packer.flush()
    assert decode_body(packed, "zstd", 10 * LIMIT).error is not None


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=300), st.sampled_from([*PACK, "sdch", "gzip, br", "zstd, deflate"]))
def test_no_body_raises(body, coding):
    assert len(decode_body(body, coding, 1000).data) <= 1000
