"""How a robots.txt is asked for, what its answer means, and how long it is remembered."""

from __future__ import annotations

import asyncio
import gzip
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from scripted_server import NOT_FOUND, ListSink, ScriptedServer, Seen, fetch, item, reply

from pinyon.fetcher import FileRobotsCache, RobotsRecord
from pinyon.fetcher.robots_book import RobotsBook
from pinyon.fetcher.worker import authority_of

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
FORBID_X = b"User-agent: *\nDisallow: /x\n"


def run(script, urls: list[str], **settings: object) -> tuple[ListSink, list[Seen]]:
    async def main() -> tuple[ListSink, list[Seen]]:
        async with ScriptedServer(script) as server:
            sink, _ = await fetch(server, urls, **settings)
            return sink, server.log

    return asyncio.run(main())


def outcomes(sink: ListSink) -> dict[str, str]:
    return {url: capture.outcome for url, capture in sink.pages.items()}


def with_robots(answer: object):
    return lambda seen: answer if seen.path == "/robots.txt" else reply(b"page")


def test_robots_is_asked_for_once_before_the_first_page():
    sink, log = run(with_robots(reply(FORBID_X)), [f"http://a.test/{p}" for p in ("1", "x1", "2", "x2")])
    assert [seen.path for seen in log] == ["/robots.txt", "/1", "/2"]
    assert outcomes(sink) == {
        "http://a.test/1": "success",
        "http://a.test/2": "success",
        "http://a.test/x1": "robots_denied",
        "http://a.test/x2": "robots_denied",
    }
    assert sink.pages["http://a.test/x1"].error == "robots.txt: Disallow: /x"
    (robots,) = sink.of_kind("robots")
    assert (robots.url, robots.body) == ("http://a.test/robots.txt", FORBID_X)
    facts = sink.hosts["a.test"]
    assert (facts.robots_status, facts.crawl_delay_ms) == ("rules", None)
    assert facts.robots_digest


@pytest.mark.parametrize(
    "status", ["400 Bad Request", "401 No", "403 No", "404 No", "410 Gone", "451 No", "499 ?"]
)
def test_a_robots_txt_that_is_not_there_allows_everything(status):
    sink, _ = run(with_robots(reply(b"User-agent: *\nDisallow: /", status)), ["http://a.test/x"])
    assert outcomes(sink) == {"http://a.test/x": "success"}
    assert sink.hosts["a.test"].robots_status == "allowed"


@pytest.mark.parametrize(
    "answer",
    [
        reply(b"<html>User-agent: *\nAllow: /</html>", "500 Internal Server Error"),
        reply(b"", "503 Service Unavailable"),
        reply(b"", "429 Too Many Requests"),
        reply(b"", "304 Not Modified"),
        reply(b"", "302 Found"),
        reply(b"", "302 Found", ("Location: mailto:x@a.test",)),
        b"garbage\r\n\r\n",
    ],
)
def test_a_robots_txt_that_fails_keeps_every_page_from_being_asked_for(answer):
    async def raw(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(answer)
        await writer.drain()

    sink, log = run(with_robots(raw), ["http://a.test/1", "http://a.test/2"])
    assert set(outcomes(sink).values()) == {"robots_unavailable"}
    assert [seen.path for seen in log] == ["/robots.txt"]
    assert sink.pages["http://a.test/1"].error.startswith("robots.txt: ")
    assert sink.hosts["a.test"].robots_status == "unavailable"


def test_a_robots_txt_that_never_answers_is_not_taken_for_one_that_is_not_there():
    async def silence(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(60)

    sink, log = run(with_robots(silence), ["http://a.test/1", "http://a.test/2"], read_timeout_s=0.2)
    assert set(outcomes(sink).values()) == {"robots_unavailable"}
    assert len(log) == 1


def test_a_name_that_does_not_exist_says_so_of_each_page():
    sink, log = run(
        with_robots(NOT_FOUND), ["http://b.test/1", "http://b.test/2"], connect_to=("a.test::127.0.0.1:1",)
    )
    assert set(outcomes(sink).values()) == {"dns_unknown"}
    assert sink.hosts["b.test"].dns_failures == 1
    assert sink.hosts["b.test"].last_request_at is None
    assert log == []


def redirects(length: int):
    """/robots.txt leads through `length` hosts to one that forbids /x."""

    def script(seen: Seen) -> bytes:
        if seen.path != "/robots.txt":
            return reply(b"page")
        hop = int(seen.host[1:].partition(".")[0])
        if hop < length:
            return reply(b"", "301 Moved", (f"Location: http://h{hop + 1}.test/robots.txt",))
        return reply(FORBID_X)

    return script


def test_five_redirects_across_hosts_are_followed_and_the_rules_stay_with_who_asked():
    sink, log = run(redirects(5), ["http://h0.test/x", "http://h0.test/y"])
    assert outcomes(sink) == {"http://h0.test/x": "robots_denied", "http://h0.test/y": "success"}
    assert [seen.host for seen in log] == [
        "h0.test",
        "h1.test",
        "h2.test",
        "h3.test",
        "h4.test",
        "h5.test",
        "h0.test",
    ]
    assert set(sink.hosts) == {"h0.test"}


def test_a_sixth_redirect_is_an_error():
    sink, log = run(redirects(6), ["http://h0.test/x"])
    assert outcomes(sink) == {"http://h0.test/x": "robots_unavailable"}
    assert len(log) == 6


def test_a_loop_of_redirects_ends():
    loop = reply(b"", "302 Found", ("Location: /robots.txt",))
    sink, log = run(with_robots(loop), ["http://a.test/1"])
    assert outcomes(sink) == {"http://a.test/1": "robots_unavailable"}
    assert len(log) == 6


def test_a_redirect_with_too_many_slashes_leads_to_no_empty_host():
    def script(seen: Seen) -> bytes:
        if seen.path != "/robots.txt":
            return reply(b"page")
        if seen.host == "a.test":
            return reply(b"", "301 Moved", ("Location: http:////b.test/robots.txt",))
        return reply(FORBID_X)

    sink, log = run(script, ["http://a.test/x"])
    assert outcomes(sink) == {"http://a.test/x": "robots_denied"}
    assert all(seen.host for seen in log)
    assert all("://b.test/" in c.redirect_to for c in sink.captures if c.redirect_to)


def test_the_size_limit_holds_behind_a_redirect_too():
    async def endless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n" + FORBID_X)
        while not writer.transport.is_closing():
            writer.write(b"# filler\n" * 5000)
            await writer.drain()

    def script(seen: Seen) -> object:
        if seen.path == "/robots.txt":
            return reply(b"", "301 Moved", ("Location: /big.txt",))
        return endless if seen.path == "/big.txt" else reply(b"page")

    sink, _ = run(script, ["http://a.test/x", "http://a.test/y"])
    assert outcomes(sink) == {"http://a.test/x": "robots_denied", "http://a.test/y": "success"}
    assert max(c.length or 0 for c in sink.of_kind("robots")) == 512_000


def test_a_packed_robots_txt_is_unpacked():
    answer = reply(gzip.compress(FORBID_X), headers=("Content-Encoding: gzip",))
    sink, _ = run(with_robots(answer), ["http://a.test/x"])
    assert outcomes(sink) == {"http://a.test/x": "robots_denied"}


def test_schemes_and_ports_have_rules_of_their_own():
    def script(seen: Seen) -> bytes:
        if seen.path == "/robots.txt":
            return reply(FORBID_X) if seen.host == "a.test:8002" else NOT_FOUND
        return reply(b"page")

    sink, log = run(script, ["http://a.test:8001/x", "http://a.test:8002/x"])
    assert outcomes(sink) == {"http://a.test:8001/x": "success", "http://a.test:8002/x": "robots_denied"}
    assert len([seen for seen in log if seen.path == "/robots.txt"]) == 2


def test_robots_is_asked_for_with_the_port_and_without_credentials():
    sink, log = run(with_robots(reply(FORBID_X)), [item("http://u:p@a.test:8099/y")])  # type: ignore[list-item]
    assert (log[0].path, log[0].host) == ("/robots.txt", "a.test:8099")
    assert log[0].header("authorization") is None
    assert outcomes(sink) == {"http://u:p@a.test:8099/y": "success"}


@pytest.mark.parametrize(
    ("url", "authority"),
    [
        ("http://u:p@a.test:8099/x?y", "http://a.test:8099"),
        ("https://a.test?x/y", "https://a.test"),
        ("https://[::1]:8443/x@y", "https://[::1]:8443"),
        ("http://a.test", "http://a.test"),
    ],
)
def test_the_authority_of_a_url(url, authority):
    assert authority_of(url) == authority


def test_agent_names_decide_whatever_the_user_agent_header_says():
    body = b"User-agent: one\nDisallow: /1\n\nUser-agent: two\nDisallow: /2\n\nUser-agent: pinyon-test\nDisallow: /\n"
    urls = [f"http://a.test/{n}" for n in (1, 2, 3)]
    sink, _ = run(with_robots(reply(body)), urls, agent_names=("one", "Two/1.0"))
    assert [outcomes(sink)[url] for url in urls] == ["robots_denied", "robots_denied", "success"]


def test_a_crawl_delay_beyond_the_most_we_keep_leaves_the_host_out():
    robots = with_robots(reply(b"User-agent: *\nCrawl-delay: 600\nSitemap: http://a.test/s.xml\n"))
    sink, log = run(robots, ["http://a.test/1", "http://a.test/2"], max_crawl_delay_s=30.0)
    assert set(outcomes(sink).values()) == {"crawl_delay_too_long"}
    assert "600" in (sink.pages["http://a.test/1"].error or "")
    assert len(log) == 1
    assert sink.hosts["a.test"].crawl_delay_ms == 600_000
    assert sink.hosts["a.test"].sitemaps == ("http://a.test/s.xml",)


def test_robots_is_left_alone_when_it_is_not_to_be_obeyed():
    _, log = run(with_robots(reply(b"User-agent: *\nDisallow: /")), ["http://a.test/1"], obey_robots=False)
    assert [seen.path for seen in log] == ["/1"]


# -- remembered -----------------------------------------------------------------------------------------------


def test_a_second_run_does_not_ask_again_within_a_day(tmp_path):
    async def main() -> None:
        clock = [NOW]
        cache = FileRobotsCache(tmp_path / "robots")
        async with ScriptedServer(with_robots(reply(FORBID_X))) as server:
            for hours, asked in ((0, 1), (23, 1), (25, 2)):
                clock[0] = NOW + timedelta(hours=hours)
                sink, _ = await fetch(server, ["http://a.test/x"], robots_cache=cache, clock=lambda: clock[0])
                assert outcomes(sink) == {"http://a.test/x": "robots_denied"}
                assert len(server.log) == asked
                assert sink.hosts["a.test"].robots_status == "rules"

    asyncio.run(main())


def test_a_host_whose_robots_was_out_of_reach_for_thirty_days_is_allowed(tmp_path):
    async def main() -> None:
        clock = [NOW]
        cache = FileRobotsCache(tmp_path / "robots")
        async with ScriptedServer(with_robots(reply(b"", "500 No"))) as server:
            for days, outcome in ((0, "robots_unavailable"), (29, "robots_unavailable"), (30, "success")):
                clock[0] = NOW + timedelta(days=days)
                sink, _ = await fetch(server, ["http://a.test/x"], robots_cache=cache, clock=lambda: clock[0])
                assert outcomes(sink) == {"http://a.test/x": outcome}

    asyncio.run(main())


def test_a_file_that_came_back_forgets_how_long_it_was_away(tmp_path):
    cache = FileRobotsCache(tmp_path)
    book = RobotsBook(cache, ("pine",))
    away = RobotsRecord("http://a.test", "unavailable", NOW, outcome="server_error", error="500")
    book.learn(away, NOW)
    book.learn(RobotsRecord("http://a.test", "rules", NOW + timedelta(days=20), FORBID_X), NOW)
    later = NOW + timedelta(days=40)
    assert book.learn(replace(away, fetched_at=later), later).rules is None
    record = cache.get("http://a.test")
    assert record is not None
    assert record.unavailable_since == later


def test_a_record_comes_back_from_disk_as_it_was_put(tmp_path):
    cache = FileRobotsCache(tmp_path)
    record = RobotsRecord(
        "https://a.test:8443",
        "unavailable",
        NOW,
        body=bytes(range(256)),
        outcome="timeout",
        error="ü",
        unavailable_since=NOW - timedelta(days=3),
    )
    cache.put(record)
    assert FileRobotsCache(tmp_path).get("https://a.test:8443") == record
    assert cache.get("http://a.test:8443") is None


def test_records_nobody_wrote_for_long_are_swept(tmp_path):
    cache = FileRobotsCache(tmp_path)
    cache.put(RobotsRecord("http://a.test", "rules", NOW, FORBID_X))
    now = datetime.now(UTC)
    assert cache.sweep(now - timedelta(hours=1)) == 0
    assert cache.sweep(now + timedelta(hours=1)) == 1
    assert cache.get("http://a.test") is None


@pytest.mark.parametrize("damage", [b"", b"{}", b"not json\n", b'{"authority": "http://a.test"}\nxx', None])
def test_a_damaged_record_is_as_if_not_there(tmp_path, damage):
    cache = FileRobotsCache(tmp_path)
    cache.put(RobotsRecord("http://a.test", "rules", NOW, FORBID_X))
    (path,) = [p for p in tmp_path.rglob("*") if p.is_file()]
    path.write_bytes(path.read_bytes()[:-4] if damage is None else damage)
    assert cache.get("http://a.test") is None


def test_the_book_keeps_within_its_memory_and_reads_again_what_it_forgot(tmp_path: Path):
    book = RobotsBook(FileRobotsCache(tmp_path), ("pine",), max_memory_bytes=20_000)
    for number in range(50):
        authority = f"http://h{number}.test"
        book.learn(RobotsRecord(authority, "rules", NOW, b"User-agent: *\nDisallow: /%d" % number), NOW)
    assert len(book._known) < 20
    for number in range(50):
        known = book.look(f"http://h{number}.test", NOW)
        assert known is not None
        assert known.rules is not None
        assert not known.rules.allowed(f"http://h{number}.test/{number}")
    assert book._memory <= 20_000
