"""The promise of politeness, read off the log of a real server."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from scripted_server import NOT_FOUND, ListSink, ScriptedServer, Seen, config, fetch, item, reply

from pinyon.fetcher import Summary, fetch_items

DELAY = 0.12


def run(script, wanted, **settings: object) -> tuple[ListSink, ScriptedServer, Summary, float]:
    async def main() -> tuple[ListSink, ScriptedServer, Summary, float]:
        async with ScriptedServer(script) as server:
            began = time.monotonic()
            sink, summary = await fetch(server, wanted, **settings)
            return sink, server, summary, time.monotonic() - began

    return asyncio.run(main())


def plain(seen: Seen) -> bytes:
    return NOT_FOUND if seen.path == "/robots.txt" else reply(b"page")


def robots(text: bytes):
    return lambda seen: reply(text) if seen.path == "/robots.txt" else reply(b"page")


def all_at_least(gaps: list[float], seconds: float) -> bool:
    return bool(gaps) and min(gaps) >= seconds


def test_between_two_requests_to_a_host_lies_the_delay_robots_included():
    urls = [f"http://{host}.test/{n}" for n in range(4) for host in "ab"]
    _, server, _, _ = run(plain, urls, server_delay_s=DELAY)
    for host in ("a.test", "b.test"):
        assert len(server.gaps(host)) == 4
        assert all_at_least(server.gaps(host), DELAY)
    assert min(server.gaps()) < DELAY, "hosts do not wait for each other"


def test_ports_and_schemes_of_a_host_share_its_delay():
    urls = ["http://a.test/1", "http://a.test:8001/1", "http://a.test:8002/1", "http://a.test/2"]
    _, server, _, _ = run(plain, urls, server_delay_s=DELAY)
    assert len(server.log) == 7  # three robots.txt
    assert all_at_least(server.gaps(), DELAY)


def test_the_delay_begins_when_a_slow_answer_has_ended():
    ends: list[float] = []

    async def slow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.1)
        writer.write(reply(b"page"))
        await writer.drain()
        ends.append(time.monotonic())

    urls = [f"http://a.test/{n}" for n in range(3)]
    _, server, _, _ = run(lambda seen: slow, urls, server_delay_s=DELAY, obey_robots=False)
    starts = [seen.at for seen in server.log]
    assert all(start - end >= DELAY for end, start in zip(ends, starts[1:], strict=False))


@pytest.mark.parametrize(("crawl_delay", "kept"), [("0.01", DELAY), ("0.25", 0.25)])
def test_a_crawl_delay_can_only_make_us_slower(crawl_delay, kept):
    text = f"User-agent: *\nCrawl-delay: {crawl_delay}".encode()
    _, server, _, _ = run(robots(text), ["http://a.test/1", "http://a.test/2"], server_delay_s=DELAY)
    assert all_at_least(server.gaps(), kept)
    assert max(server.gaps()) < kept + 2.0


def test_a_crawl_delay_holds_from_the_robots_txt_itself_on():
    _, server, _, _ = run(robots(b"User-agent: *\nCrawl-delay: 0.3"), ["http://a.test/1"], server_delay_s=0)
    assert all_at_least(server.gaps(), 0.3)


@pytest.mark.parametrize(
    ("own_ms", "minimum_s", "kept"), [(300, 0.0, 0.3), (10, 0.0, 0.01), (10, DELAY, DELAY)]
)
def test_a_delay_of_the_items_own_stands_in_place_of_the_servers_but_never_below_the_minimum(
    own_ms, minimum_s, kept
):
    wanted = [item(f"http://a.test/{n}", n, fetch_delay_ms=own_ms) for n in range(2)]
    _, server, _, _ = run(plain, wanted, server_delay_s=3.0, min_delay_s=minimum_s)
    assert all_at_least(server.gaps(), kept)
    assert max(server.gaps()) < 3.0


@pytest.mark.parametrize("form", ["seconds", "date"])
@pytest.mark.parametrize("status", ["429 Too Many Requests", "503 Service Unavailable"])
def test_retry_after_pauses_the_whole_host_and_is_told(status, form):
    def script(seen: Seen) -> bytes:
        if seen.path != "/1":
            return plain(seen)
        until = datetime.now(UTC) + timedelta(seconds=1.9)
        value = "1" if form == "seconds" else format_datetime(until, usegmt=True)
        return reply(b"", status, (f"Retry-After: {value}",))

    urls = ["http://a.test/1", "http://a.test/2", "http://b.test/1"]
    sink, server, _, _ = run(script, urls[:2], obey_robots=False, max_back_off_s=5.0)
    assert all_at_least(server.gaps("a.test"), 0.9)
    page = sink.pages["http://a.test/1"]
    assert page.outcome == "rate_limited"
    assert page.retry_at is not None
    assert sink.hosts["a.test"].retry_at == page.retry_at


def test_a_retry_after_of_days_does_not_hold_the_run_but_is_remembered():
    def script(seen: Seen) -> bytes:
        return reply(b"", "429 No", ("Retry-After: 864000",)) if seen.path == "/1" else plain(seen)

    sink, _, summary, elapsed = run(script, ["http://a.test/1", "http://a.test/2"], max_back_off_s=3600.0)
    assert summary.stopped_by == "idle"
    assert elapsed < 5
    assert set(sink.pages) == {"http://a.test/1"}
    days = (sink.hosts["a.test"].retry_at - datetime.now(UTC)) / timedelta(days=1)
    assert 9.9 < days <= 10


def test_failures_double_the_pause():
    def script(seen: Seen) -> bytes:
        return reply(b"", "500 No")

    urls = [f"http://a.test/{n}" for n in range(4)]
    back_off = {"first_back_off_s": 0.05, "max_back_off_s": 9.0}
    _, server, _, _ = run(script, urls, obey_robots=False, server_delay_s=0.05, **back_off)
    gaps = server.gaps()
    assert [gap >= pause for gap, pause in zip(gaps, (0.1, 0.2, 0.4), strict=True)] == [True] * 3


def test_a_host_that_fails_too_often_is_given_up_with_the_reason():
    def script(seen: Seen) -> bytes:
        return reply(b"", "500 No") if seen.host == "bad.test" else plain(seen)

    urls = [f"http://bad.test/{n}" for n in range(20)] + ["http://good.test/1"]
    sink, server, summary, _ = run(script, urls, obey_robots=False, max_failures=3)
    assert Counter(seen.host for seen in server.log) == {"bad.test": 3, "good.test": 1}
    assert summary.outcomes == {"server_error": 3, "host_failing": 17, "success": 1}
    assert sink.pages["http://bad.test/19"].error == "3 failures in a row"
    assert sink.hosts["bad.test"].ended == "3 failures in a row"


def test_items_that_come_after_a_host_was_given_up_are_not_tried():
    async def slowly():
        for number in range(300):
            yield item(f"http://a.test/{number}", number)
            if number % 50 == 0:
                await asyncio.sleep(0.02)

    async def main() -> None:
        async with ScriptedServer(lambda seen: reply(b"", "500 No")) as server:
            sink = ListSink()
            summary = await fetch_items(slowly(), config(server, obey_robots=False, max_failures=5), sink)
            assert len(server.log) == 5
            assert summary.outcomes == {"server_error": 5, "host_failing": 295}

    asyncio.run(main())


def test_a_success_between_failures_keeps_a_host_alive():
    def script(seen: Seen) -> bytes:
        return reply(b"", "500 No") if int(seen.path[1:]) % 3 else reply(b"page")

    urls = [f"http://a.test/{n}" for n in range(12)]
    _, server, _, _ = run(script, urls, obey_robots=False, max_failures=3)
    assert len(server.log) == 12


def test_hosts_of_a_domain_share_its_delay_if_so_set():
    urls = [f"http://{host}.example.test/1" for host in "abc"]
    _, server, _, _ = run(plain, urls, server_delay_s=DELAY, queue_mode="domain", obey_robots=False)
    assert all_at_least(server.gaps(), DELAY)


def test_hosts_at_an_address_share_its_delay_if_so_set():
    urls = ["http://a.test/1", "http://b.test/1", "http://c.test/1", "http://a.test/2"]
    _, server, _, _ = run(plain, urls, server_delay_s=DELAY, queue_mode="ip", obey_robots=False)
    assert len(server.log) == 4
    assert all_at_least(server.gaps(), DELAY)


def test_one_request_at_a_time_goes_to_a_host():
    now = most = 0

    async def script(seen: Seen) -> bytes:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.01)
        now -= 1
        return reply(b"page")

    run(script, [f"http://a.test/{n}" for n in range(20)])
    assert most == 1


def test_an_owner_may_allow_several_at_a_time():
    now = most = 0

    async def script(seen: Seen) -> bytes:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.02)
        now -= 1
        return reply(b"page")

    urls = [f"http://a.test/{n}" for n in range(20)]
    _, server, _, _ = run(script, urls, connections_per_host=3, server_delay_s=60.0)
    assert most == 3
    assert server.paths().count("/robots.txt") == 1


def test_robots_redirected_to_another_host_waits_for_that_hosts_turn():
    def script(seen: Seen) -> bytes:
        if seen.path == "/robots.txt" and seen.host != "b.test":
            return reply(b"", "301 Moved", ("Location: http://b.test/robots.txt",))
        return plain(seen)

    urls = ["http://b.test/1", "http://a.test/1", "http://c.test/1"]
    sink, server, _, _ = run(script, urls, server_delay_s=DELAY)
    assert {c.outcome for c in sink.pages.values()} == {"success"}
    for host in ("a.test", "b.test", "c.test"):
        assert all_at_least(server.gaps(host), DELAY)
    assert server.paths("b.test").count("/robots.txt") == 3


def test_a_kept_connection_that_broke_is_tried_again_after_the_delay_and_only_once():
    def script(seen: Seen) -> object:
        async def drop(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.transport.abort()

        if seen.path == "/robots.txt":
            return NOT_FOUND
        first_on_its_connection = next(s for s in server_log if s.connection == seen.connection) is seen
        return reply(b"page") if first_on_its_connection else drop

    server_log: list[Seen] = []

    async def main() -> None:
        async with ScriptedServer(script) as server:  # type: ignore[arg-type]
            nonlocal server_log
            server_log = server.log
            sink, _ = await fetch(server, [f"http://a.test/{n}" for n in range(3)], server_delay_s=DELAY)
            assert [c.outcome for c in sink.pages.values()] == ["success"] * 3
            assert Counter(server.paths())["/0"] == 2, "seen once on the broken connection, once again"
            assert all_at_least(server.gaps(), DELAY)

    asyncio.run(main())


def test_a_fresh_connection_that_breaks_is_not_tried_again():
    async def drop(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.transport.abort()

    sink, server, _, _ = run(lambda seen: drop, ["http://a.test/1"], obey_robots=False)
    assert sink.pages["http://a.test/1"].outcome == "connect_failed"
    assert len(server.log) == 1


def test_a_run_that_begins_soon_after_another_waits_first():
    urls = ["http://a.test/1", "http://a.test/2", "http://b.test/1"]

    async def main() -> None:
        async with ScriptedServer(plain) as server:
            await fetch(server, urls, server_delay_s=DELAY)
            await fetch(server, urls, server_delay_s=DELAY, pause_first=True)
            assert len(server.log) == 10
            for host in ("a.test", "b.test"):
                assert all_at_least(server.gaps(host), DELAY)

    asyncio.run(main())


def test_not_before_holds_the_whole_host_back():
    soon = datetime.now(UTC) + timedelta(seconds=0.4)
    wanted = [
        item("http://a.test/1", 0, not_before=soon),
        item("http://a.test/2", 1),
        item("http://b.test/1", 2),
    ]
    sink, _, _, _ = run(plain, wanted)
    assert {c.url: c.fetch_time >= soon for c in sink.pages.values()} == {
        "http://a.test/1": True,
        "http://a.test/2": True,
        "http://b.test/1": False,
    }


def test_a_list_with_its_longest_host_in_front_is_as_fast_as_one_shuffled():
    hosts = [f"h{n}.test" for n in range(20)]
    in_a_row = [f"http://{host}/{n}" for host in hosts for n in range(5)]
    _, _, _, elapsed = run(
        plain, in_a_row, server_delay_s=0.1, connections=8, obey_robots=False, max_queued=10
    )
    assert elapsed < 5 * 0.1 + 1.5


def test_a_request_blocked_meanwhile_is_not_made():
    blocked_hosts: set[str] = set()

    def script(seen: Seen) -> bytes:
        blocked_hosts.add("a.test")
        return plain(seen)

    urls = ["http://a.test/1", "http://a.test/2", "http://a.test/3"]
    sink, server, _, _ = run(script, urls, obey_robots=False, blocked=lambda it: it.host in blocked_hosts)
    assert [sink.pages[url].outcome for url in urls] == ["success", "blocked", "blocked"]
    assert len(server.log) == 1
