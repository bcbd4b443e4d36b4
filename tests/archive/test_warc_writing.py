"""What is written is read back byte for byte, by us and by others, and says truly what it is."""

from __future__ import annotations

import gzip
import hashlib
import random
from base64 import b32encode
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator

from pinyon.archive import Original, RecordPlace, WarcWriter, iter_records, read_record
from pinyon.archive.http_head import parse_head, split_head, stored_head
from pinyon.errors import InputError

NOW = datetime(2026, 11, 30, 12, 30, 15, 123456, tzinfo=UTC)
REQUEST = b"GET /x HTTP/1.1\r\nHost: a.test\r\nUser-Agent: test\r\n\r\n"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nX-Odd:  \xe9 \r\n\r\n"


@dataclass(frozen=True)
class Exchange:
    """What a fetcher hands over."""

    url: str = "http://a.test/x"
    fetch_time: datetime = NOW
    http_status: int | None = 200
    ip: str | None = "192.0.2.7"
    digest: str | None = None
    truncated: str | None = None
    request_head: bytes = REQUEST
    response_head: bytes = HEAD
    body: bytes = b"<html>body</html>"


def writer(folder: Path, **options: object) -> WarcWriter:
    return WarcWriter(folder, "20261130123015", 3, software="pinyon/test", **options)  # type: ignore[arg-type]


def write(folder: Path, *exchanges: Exchange, **options: object) -> tuple[Path, list[RecordPlace | None]]:
    with writer(folder, **options) as warc:
        places = [warc.write(exchange) for exchange in exchanges]
    return folder / warc.files[0], places


def sha1(data: bytes) -> str:
    return "sha1:" + b32encode(hashlib.sha1(data).digest()).decode()


def checked_by_warcio(path: Path) -> list[tuple[str, str | None, bytes]]:
    """Type, URL and payload of every record as warcio reads them; its digest checks must hold."""
    found = []
    with path.open("rb") as file:
        for record in ArchiveIterator(file, no_record_parse=False, check_digests=True):
            payload = record.raw_stream.read()
            assert record.digest_checker.passed is not False, record.digest_checker.problems
            found.append((record.rec_type, record.rec_headers.get_header("WARC-Target-URI"), payload))
    return found


def test_an_exchange_is_read_back_by_its_place_byte_for_byte(tmp_path):
    body = random.Random(1).randbytes(100_000)
    path, (place,) = write(tmp_path, Exchange(body=body))
    assert place is not None
    record = read_record(path, place.offset, place.length)
    assert (record.type, record.url, record.date) == ("response", "http://a.test/x", NOW)
    assert (record.head, record.payload, record.http_status) == (HEAD, body, 200)
    assert record.header("x-odd") == "é"
    assert record.header("nothing") is None
    assert record.truncated is None
    assert record.warc_header("WARC-IP-Address") == "192.0.2.7"
    assert record.warc_header("WARC-Payload-Digest") == sha1(body)
    assert record.warc_header("WARC-Block-Digest") == sha1(HEAD + body)
    assert (record.offset, record.length) == (place.offset, place.length)


def test_every_record_is_a_gzip_member_of_its_own(tmp_path):
    path, places = write(
        tmp_path, *(Exchange(url=f"http://a.test/{n}", body=b"%d" % n * 50) for n in range(20))
    )
    data = path.read_bytes()
    for number, place in enumerate(places):
        assert place is not None
        member = gzip.decompress(data[place.offset : place.offset + place.length])
        assert member.startswith(b"WARC/1.1\r\nWARC-Type: response\r\n")
        assert member.endswith(b"%d\r\n\r\n" % number)
        assert member.count(b"WARC/1.1") == 1


def test_warcio_reads_everything_and_its_digest_check_passes(tmp_path):
    bodies = [b"", b"x", random.Random(2).randbytes(300_000), gzip.compress(b"y" * 10_000)]
    path, _ = write(
        tmp_path, *(Exchange(url=f"http://a.test/{n}", body=body) for n, body in enumerate(bodies))
    )
    found = checked_by_warcio(path)
    assert [kind for kind, _, _ in found] == ["warcinfo"] + ["response", "request"] * 4
    assert [payload for kind, _, payload in found if kind == "response"] == bodies


def test_our_reader_and_warcio_see_the_same(tmp_path):
    path, _ = write(tmp_path, *(Exchange(url=f"http://a.test/{n}", body=b"%d" % n) for n in range(5)))
    ours = [(record.type, record.url, record.payload) for record in iter_records(path)]
    assert ours == checked_by_warcio(path)


def test_the_request_stands_beside_its_answer(tmp_path):
    path, _ = write(tmp_path, Exchange())
    _, response, request = iter_records(path)
    assert (request.type, request.head, request.payload) == ("request", REQUEST, b"")
    assert request.warc_header("WARC-Concurrent-To") == response.record_id
    assert request.warc_header("Content-Type") == "application/http; msgtype=request"
    assert response.warc_header("Content-Type") == "application/http; msgtype=response"
    assert request.date == response.date


def test_requests_are_left_out_if_so_set(tmp_path):
    path, _ = write(tmp_path, Exchange(), write_requests=False)
    assert [record.type for record in iter_records(path)] == ["warcinfo", "response"]


def test_what_was_not_answered_is_not_archived(tmp_path):
    with writer(tmp_path) as warc:
        assert warc.write(Exchange(http_status=None, response_head=b"", body=b"")) is None
    assert list(tmp_path.iterdir()) == []


def test_a_cut_body_says_that_it_is_cut(tmp_path):
    for reason in ("length", "time", "disconnect"):
        path, _ = write(tmp_path, Exchange(truncated=reason))
        _, response, request = iter_records(path)
        assert (response.truncated, request.truncated) == (reason, None)
        checked_by_warcio(path)


# -- transfer coding ------------------------------------------------------------------------------------------

CHUNKED = b"HTTP/1.1 200 OK\r\nTRANSFER-encoding: gzip, chunked\r\nContent-Encoding: gzip\r\nContent-Length: 99\r\n\r\n"


def test_a_head_does_not_speak_of_chunks_the_body_does_not_have(tmp_path):
    body = gzip.compress(b"<html>chunked</html>")
    path, _ = write(tmp_path, Exchange(response_head=CHUNKED, body=body))
    with path.open("rb") as file:
        records = [r for r in ArchiveIterator(file) if r.rec_type == "response"]
        assert len(records) == 1
    with path.open("rb") as file:
        for record in ArchiveIterator(file):
            if record.rec_type == "response":
                assert record.content_stream().read() == b"<html>chunked</html>"
    _, response, _ = iter_records(path)
    assert response.header("Transfer-Encoding") is None
    assert response.header("X-Crawler-Transfer-Encoding") == "gzip, chunked"
    assert response.header("Content-Length") is None
    assert response.header("X-Crawler-Content-Length") == "99"
    assert response.payload == body


def test_the_same_body_has_one_payload_digest_however_it_was_sent(tmp_path):
    plain = Exchange(response_head=b"HTTP/1.1 200 OK\r\nContent-Length: 17\r\n\r\n")
    chunked = Exchange(response_head=b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    path, _ = write(tmp_path, plain, chunked)
    digests = {r.warc_header("WARC-Payload-Digest") for r in iter_records(path) if r.type == "response"}
    assert digests == {sha1(plain.body)}
    checked_by_warcio(path)


@given(st.binary(max_size=200))
def test_a_head_without_transfer_coding_is_kept_byte_for_byte(noise):
    head = b"HTTP/1.1 200 OK\r\n" + noise.replace(b":", b"") + b"\r\nX: transfer-encoding\r\n\r\n"
    assert stored_head(head) == head


@settings(max_examples=200)
@given(st.binary(max_size=300))
def test_no_head_raises(data):
    head, body = split_head(data)
    assert head + body == data
    parse_head(head)
    parse_head(stored_head(head))


def test_folded_fields_and_bare_line_feeds_are_read():
    status, fields = parse_head(b"HTTP/1.1 404\nA: one\n two\nB:\nno colon\n\n")
    assert (status, fields) == (404, (("A", "one two"), ("B", "")))
    assert split_head(b"HTTP/1.1 200 OK\nA: b\n\nbody\r\n\r\n") == (
        b"HTTP/1.1 200 OK\nA: b\n\n",
        b"body\r\n\r\n",
    )


# -- revisits -------------------------------------------------------------------------------------------------


def test_a_304_is_a_revisit_with_the_right_profile(tmp_path):
    head = b'HTTP/1.1 304 Not Modified\r\nETag: "x"\r\n\r\n'
    path, (place,) = write(tmp_path, Exchange(http_status=304, response_head=head, body=b""))
    assert place is not None
    record = read_record(path, place.offset, place.length)
    assert record.type == "revisit"
    assert record.warc_header("WARC-Profile") == "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
    assert record.warc_header("Content-Type") == "application/http; msgtype=response"
    assert (record.head, record.http_status, record.payload) == (head, 304, b"")
    checked_by_warcio(path)


def test_a_payload_archived_already_is_a_revisit_that_says_where(tmp_path):
    first = Exchange()
    again = replace(first, url="http://a.test/copy", fetch_time=NOW + timedelta(days=1))
    archived: dict[str, Original] = {sha1(first.body)[5:]: Original(first.url, first.fetch_time)}
    path, places = write(
        tmp_path, again, replace(again, body=b"other"), replace(again, body=b""), seen=archived.get
    )
    revisit, other, empty = (read_record(path, p.offset, p.length) for p in places if p is not None)
    assert [r.type for r in (revisit, other, empty)] == ["revisit", "response", "response"]
    assert (
        revisit.warc_header("WARC-Profile")
        == "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
    )
    assert revisit.warc_header("WARC-Refers-To-Target-URI") == "http://a.test/x"
    assert revisit.warc_header("WARC-Refers-To-Date") == "2026-11-30T12:30:15.123456Z"
    assert revisit.warc_header("WARC-Payload-Digest") == sha1(first.body)
    assert (revisit.head, revisit.payload) == (HEAD, b"")
    assert [kind for kind, _, _ in checked_by_warcio(path)][1] == "revisit"


def test_a_digest_that_is_known_is_not_computed_again(tmp_path):
    path, _ = write(tmp_path, Exchange(digest="K" * 32))
    _, response, _ = iter_records(path)
    assert response.warc_header("WARC-Payload-Digest") == "sha1:" + "K" * 32


# -- files ----------------------------------------------------------------------------------------------------


def test_a_file_says_who_wrote_it(tmp_path):
    path, _ = write(tmp_path, Exchange(), info={"operator": "somebody\r\nforged: yes", "robots": "classic"})
    info = next(iter_records(path))
    assert info.type == "warcinfo"
    assert info.warc_header("WARC-Filename") == path.name == "pinyon-20261130123015-00003-00000.warc.gz"
    lines = info.payload.decode().splitlines()
    assert lines == [
        "software: pinyon/test",
        "format: WARC File Format 1.1",
        "operator: somebody forged: yes",
        "robots: classic",
    ]


def test_a_new_file_begins_beyond_the_size_and_places_lead_to_the_right_one(tmp_path):
    exchanges = [Exchange(url=f"http://a.test/{n}", body=random.Random(n).randbytes(3000)) for n in range(20)]
    with writer(tmp_path, max_file_bytes=10_000) as warc:
        places = [warc.write(exchange) for exchange in exchanges]
    assert len(warc.files) > 4
    assert warc.files == sorted(path.name for path in tmp_path.iterdir())
    for exchange, place in zip(exchanges, places, strict=True):
        assert place is not None
        record = read_record(tmp_path / place.file, place.offset, place.length)
        assert (record.url, record.payload) == (exchange.url, exchange.body)
    for name in warc.files:
        assert next(iter_records(tmp_path / name)).type == "warcinfo"


def test_every_run_writes_files_of_its_own(tmp_path):
    first, _ = write(tmp_path, Exchange())
    before = first.read_bytes()
    with writer(tmp_path) as one, writer(tmp_path) as two:
        one.write(Exchange())
        two.write(Exchange())
    assert [one.files, two.files] == [[f"pinyon-20261130123015-00003-0000{n}.warc.gz"] for n in (1, 2)]
    assert first.read_bytes() == before


def test_what_was_flushed_can_be_read_while_writing_goes_on(tmp_path):
    with writer(tmp_path) as warc:
        place = warc.write(Exchange())
        warc.flush()
        assert place is not None
        assert read_record(tmp_path / place.file, place.offset, place.length).payload == Exchange().body


def test_what_is_said_besides_the_exchange_is_a_metadata_record(tmp_path):
    with writer(tmp_path) as warc:
        warc.write_metadata("http://a.test/x", NOW, {"via": "http://b.test/", "note": "two\nlines"})
    _, record = iter_records(tmp_path / warc.files[0])
    assert (record.type, record.url, record.http_status) == ("metadata", "http://a.test/x", None)
    assert record.payload == b"via: http://b.test/\r\nnote: two lines\r\n"
    checked_by_warcio(tmp_path / warc.files[0])


def test_a_place_that_holds_no_record_is_an_error_that_names_it(tmp_path):
    path, (place,) = write(tmp_path, Exchange())
    assert place is not None
    for offset, length in ((place.offset + 1, place.length), (place.offset, place.length - 5), (10**9, 10)):
        with pytest.raises(InputError, match=f"offset {offset}"):
            read_record(path, offset, length)
    with pytest.raises(InputError, match="cannot be read"):
        read_record(tmp_path / "nothing.warc.gz", 0, 10)


@settings(max_examples=50, deadline=None)
@given(
    st.binary(max_size=2000),
    st.binary(max_size=100),
    st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=50),
)
def test_any_body_and_any_fields_come_back(tmp_path_factory, body, field, path):
    folder = tmp_path_factory.mktemp("warc")
    head = b"HTTP/1.1 200 OK\r\nX: " + field.replace(b"\r", b"").replace(b"\n", b"") + b"\r\n\r\n"
    file, (place,) = write(folder, Exchange(url=f"http://a.test/{path}", response_head=head, body=body))
    assert place is not None
    record = read_record(file, place.offset, place.length)
    assert (record.url, record.head, record.payload) == (f"http://a.test/{path}", head, body)
