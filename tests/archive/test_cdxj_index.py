"""The index leads to every answer, in the order replay tools want."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from test_warc_writing import NOW, Exchange, writer

from pinyon.archive import index_warc, read_record, url_key, write_index


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://a.test/", "test,a)/"),
        ("https://WWW.A.Test", "test,a)/"),
        ("http://www2.a.test:80/b/", "test,a)/b"),
        ("http://a.test:8080/B?y=1&x=2#z", "test,a:8080)/b?x=2&y=1"),
        ("https://u:p@a.b.test:443/x@y", "test,b,a)/x@y"),
        ("http://127.0.0.1/x", "127.0.0.1)/x"),
        ("http://[::1]:8080/x", "[::1]:8080)/x"),
        ("http://a.test?q", "test,a)/?q"),
        ("http://www.test/", "test)/"),
    ],
)
def test_keys_sort_by_reversed_host(url, key):
    assert url_key(url) == key


def test_an_index_leads_to_every_answer_of_every_file(tmp_path):
    exchanges = [
        Exchange(url=f"http://{host}.test/{n}", body=b"%d" % n, fetch_time=NOW + timedelta(seconds=n))
        for n in range(10)
        for host in "ba"
    ]
    exchanges.append(
        Exchange(url="http://c.test/", http_status=304, response_head=b"HTTP/1.1 304 x\r\n\r\n", body=b"")
    )
    with writer(tmp_path, max_file_bytes=2_000) as warc:
        for exchange in exchanges:
            warc.write(exchange)
    files = [tmp_path / name for name in warc.files]
    assert len(files) > 2
    assert write_index(files, tmp_path / "index.cdxj") == len(exchanges)
    lines = (tmp_path / "index.cdxj").read_text().splitlines()
    assert lines == sorted(lines)
    assert sorted(lines) == sorted(line for path in files for line in index_warc(path))
    found = {}
    for line in lines:
        key, stamp, text = line.split(" ", 2)
        fields = json.loads(text)
        record = read_record(tmp_path / fields["filename"], int(fields["offset"]), int(fields["length"]))
        assert record.url == fields["url"]
        assert url_key(fields["url"]) == key
        assert f"{record.date:%Y%m%d%H%M%S}" == stamp
        assert fields["status"] == str(record.http_status)
        found[fields["url"]] = fields
    assert set(found) == {exchange.url for exchange in exchanges}
    assert found["http://a.test/3"]["mime"] == "text/html"
    assert found["http://a.test/3"]["digest"].startswith("sha1:")
    assert found["http://c.test/"]["mime"] == "warc/revisit"
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []
