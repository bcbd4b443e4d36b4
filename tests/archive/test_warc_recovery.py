"""A writer may die at any moment: what it had flushed is there, what it tore is cut, nothing else is touched."""

from __future__ import annotations

import errno
import gzip
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pinyon.archive import Recovery, WarcWriter, iter_records, recover
from pinyon.errors import InputError, StoreError

NOW = datetime(2026, 11, 30, 12, 30, tzinfo=UTC)


@dataclass(frozen=True)
class Exchange:
    url: str
    body: bytes
    fetch_time: datetime = NOW
    http_status: int | None = 200
    ip: str | None = None
    digest: str | None = None
    truncated: str | None = None
    request_head: bytes = b"GET / HTTP/1.1\r\n\r\n"
    response_head: bytes = b"HTTP/1.1 200 OK\r\n\r\n"


def written(folder: Path, count: int = 5) -> Path:
    with WarcWriter(folder, "20261130123000", 0, software="test") as warc:
        for number in range(count):
            warc.write(Exchange(f"http://a.test/{number}", os.urandom(500)))
    return folder / warc.files[0]


def test_a_whole_file_is_left_as_it_is(tmp_path):
    path = written(tmp_path)
    before = path.read_bytes()
    assert recover(path) == Recovery(records=11, kept_bytes=len(before), cut_bytes=0)
    assert path.read_bytes() == before


def test_wherever_a_file_is_torn_exactly_the_whole_records_are_kept(tmp_path):
    path = written(tmp_path, count=2)
    whole = path.read_bytes()
    ends = [record.offset + record.length for record in iter_records(path)]
    torn = tmp_path / "torn.warc.gz"
    for size in [*range(0, len(whole), 37), *(end + d for end in ends for d in (-1, 0, 1)), len(whole) - 8]:
        torn.write_bytes(whole[:size])
        kept = max((end for end in ends if end <= size), default=0)
        readable = len(list(iter_records(torn)))
        recovery = recover(torn)
        assert (recovery.kept_bytes, recovery.cut_bytes) == (kept, min(size, len(whole)) - kept)
        assert recovery.records == readable == sum(end <= size for end in ends)
        assert torn.read_bytes() == whole[:kept]


@pytest.mark.parametrize("tail", [bytes(5000), b"\x1f\x8b\x08" * 400, b"garbage" * 300, os.urandom(3000)])
def test_what_a_crash_left_behind_the_last_record_is_cut(tmp_path, tail):
    path = written(tmp_path)
    whole = path.read_bytes()
    path.write_bytes(whole + tail)
    assert recover(path) == Recovery(records=11, kept_bytes=len(whole), cut_bytes=len(tail))
    assert path.read_bytes() == whole


def test_damage_in_the_middle_is_no_torn_end_and_nothing_is_cut(tmp_path):
    path = written(tmp_path)
    third = list(iter_records(path))[3]
    data = bytearray(path.read_bytes())
    data[third.offset + 30 : third.offset + 60] = bytes(30)
    path.write_bytes(data)
    with pytest.raises(StoreError, match=f"damaged at offset {third.offset}"):
        recover(path)
    assert path.read_bytes() == data


def test_a_file_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(StoreError, match=r"nothing\.warc\.gz"):
        recover(tmp_path / "nothing.warc.gz")
    with pytest.raises(InputError, match=r"nothing\.warc\.gz"):
        list(iter_records(tmp_path / "nothing.warc.gz"))


def test_a_file_of_something_else_is_an_error_not_an_empty_archive(tmp_path):
    path = tmp_path / "other.warc.gz"
    path.write_bytes(gzip.compress(b"not a record"))
    with pytest.raises(InputError, match="no WARC record at offset 0"):
        list(iter_records(path))


WRITER = """
import os, sys
sys.path.insert(0, sys.argv[2])
from pathlib import Path
from test_warc_recovery import Exchange
from pinyon.archive import WarcWriter
warc = WarcWriter(Path(sys.argv[1]), "20261130123000", 0, software="test")
number = 0
while True:
    place = warc.write(Exchange(f"http://a.test/{number}", os.urandom(20_000)))
    number += 1
    if number % 7 == 0:
        warc.flush()
        print(number, flush=True)
"""


def test_after_a_kill_everything_that_was_flushed_is_there(tmp_path):
    command = [sys.executable, "-c", WRITER, str(tmp_path), str(Path(__file__).parent)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        flushed = 0
        while flushed < 140:
            flushed = int(process.stdout.readline())
        process.send_signal(signal.SIGKILL)
        rest = process.stdout.read().split()
        flushed = int(rest[-1]) if rest else flushed
    (path,) = tmp_path.glob("*.warc.gz")
    recover(path)
    urls = [record.url for record in iter_records(path) if record.type == "response"]
    assert urls == [f"http://a.test/{number}" for number in range(len(urls))]
    assert len(urls) >= flushed
    assert recover(path).cut_bytes == 0
    with WarcWriter(tmp_path, "20261130123000", 0, software="test") as warc:
        warc.write(Exchange("http://a.test/next", b"x"))
    assert warc.files == ["pinyon-20261130123000-00000-00001.warc.gz"]


FULL_DISK = """
import resource, signal, sys
sys.path.insert(0, sys.argv[2])
from pathlib import Path
from test_warc_recovery import Exchange, os
from pinyon.archive import WarcWriter
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, resource.RLIM_INFINITY))
warc = WarcWriter(Path(sys.argv[1]), "20261130123000", 0, software="test")
try:
    for number in range(100):
        warc.write(Exchange(f"http://a.test/{number}", os.urandom(20_000)))
except OSError as error:
    print(error.errno)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
place = warc.write(Exchange("http://a.test/after", b"x"))
warc.close()
print(place.file)
"""


def test_a_disk_that_is_full_is_told_and_the_next_record_begins_another_file(tmp_path):
    command = [sys.executable, "-c", FULL_DISK, str(tmp_path), str(Path(__file__).parent)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [str(errno.EFBIG), "pinyon-20261130123000-00000-00001.warc.gz"]
    first, second = sorted(tmp_path.iterdir())
    recover(first)
    assert 5 < len([r for r in iter_records(first) if r.type == "response"]) < 16
    assert [r.url for r in iter_records(second) if r.type == "response"] == ["http://a.test/after"]
