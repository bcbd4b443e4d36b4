"""A run as a whole: every item once, bounded memory, and every way to end."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import time
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scripted_server import NOT_FOUND, ListSink, ScriptedServer, Seen, config, fetch, item, reply

from pinyon.fetcher import Capture, FetchItem, Progress, Summary, fetch_items
from pinyon.fetcher.frontier import Frontier
from pinyon.fetcher.jobs import PageJob
from pinyon.fetcher.pace import Bandwidth, Throughput
from pinyon.fetcher.politeness import Policy, Politeness, Verdict
from pinyon.fetcher.spill import Spill


def plain(seen: Seen) -> bytes:
    return NOT_FOUND if seen.path == "/robots.txt" else reply(b"page")


def run(script, wanted, **options: object) -> tuple[ListSink, ScriptedServer, Summary]:
    async def main() -> tuple[ListSink, ScriptedServer, Summary]:
        async with ScriptedServer(script) as server:
            sink, summary = await fetch(server, wanted, **options)
            return sink, server, summary

    return asyncio.run(main())


def test_every_item_gets_exactly_one_capture_with_its_position():
    urls = [f"http://h{n % 17}.test/{n}" for n in range(500)]
    sink, server, summary = run(plain, urls)
    assert [sink.pages[url].position for url in urls] == list(range(500))
    assert sorted(p for p in server.paths() if p != "/robots.txt") == sorted(f"/{n}" for n in range(500))
    assert summary == Summary(
        items=500,
        captured=500,
        outcomes={"success": 500},
        requests=517,
        robots_requests=17,
        received_bytes=summary.received_bytes,
        hosts=17,
        elapsed_s=summary.elapsed_s,
    )
    assert set(sink.hosts) == {f"h{n}.test" for n in range(17)}


def test_an_empty_list_is_done_at_once():
    sink, _, summary = run(plain, [])
    assert (summary.items, summary.stopped_by, sink.captures) == (0, None, [])


def test_a_url_listed_twice_is_fetched_twice():
    sink, _, _ = run(plain, ["http://a.test/1", "http://a.test/1"])
    assert [c.position for c in sink.of_kind("page")] == [0, 1]


def test_what_was_sent_back_last_time_is_sent_byte_for_byte():
    def script(seen: Seen) -> bytes:
        if seen.path == "/robots.txt":
            return NOT_FOUND
        sent = (seen.header("if-none-match"), seen.header("if-modified-since"))
        return (
            reply(b"", "304 Not Modified") if sent == ('W/"Ã¼ x"', "yesterday, I think") else reply(b"page")
        )

    wanted = [
        item("http://a.test/1", etag='W/"ü x"', last_modified="yesterday, I think"),
        item("http://a.test/2"),
    ]
    sink, server, _ = run(script, wanted)
    assert sink.pages["http://a.test/1"].outcome == "not_modified"
    assert sink.pages["http://a.test/2"].outcome == "success"
    assert b'If-None-Match: W/"\xc3\xbc x"\r\n' in server.log[1].head
    assert b"If-" not in server.log[0].head + server.log[2].head


def test_a_validator_that_would_forge_a_header_is_not_sent():
    sink, server, _ = run(plain, [item("http://a.test/1", etag='"x"\r\nX-Forged: 1')])
    assert sink.pages["http://a.test/1"].outcome == "success"
    assert b"Forged" not in server.log[1].head


def test_the_columns_of_a_page_are_filled():
    headers = (
        "Content-Type: Text/HTML; charset=UTF-8",
        'ETag: "abc"',
        "Last-Modified: Mon, 30 Nov 2026 10:00:00 GMT",
        "X-Robots-Tag: noindex",
        "X-Robots-Tag: otherbot: nofollow",
        "Content-Encoding: br",
    )
    sink, _, _ = run(lambda seen: reply(b"page", headers=headers), ["http://a.test/1"], obey_robots=False)
    page = sink.pages["http://a.test/1"]
    assert (page.http_status, page.content_type, page.charset) == (200, "text/html", "UTF-8")
    assert (page.length, page.truncated, page.ip) == (4, None, "127.0.0.1")
    assert (page.etag, page.last_modified) == ('"abc"', "Mon, 30 Nov 2026 10:00:00 GMT")
    assert (page.robots_tag, page.content_encoding) == ("noindex, otherbot: nofollow", "br")
    assert page.digest == base64.b32encode(hashlib.sha1(b"page").digest()).decode()
    assert page.duration_ms is not None
    assert 0 <= page.duration_ms < 2000
    assert page.error is None


# -- redirects ------------------------------------------------------------------------------------------------


def to(target: str, status: str = "302 Found") -> bytes:
    return reply(b"", status, (f"Location: {target}",))


def test_redirects_are_recorded_not_followed():
    sink, server, _ = run(lambda seen: to("/there?x#y", "301 Moved"), ["http://a.test/1"], obey_robots=False)
    page = sink.pages["http://a.test/1"]
    assert (page.outcome, page.redirect_to) == ("redir_perm", "http://a.test/there?x")
    assert server.paths() == ["/1"]


@pytest.mark.parametrize(
    "location", [None, "", "mailto:x@a.test", "http://", "javascript:alert(1)", "/" + "x" * 9000]
)
def test_a_redirect_without_a_target_that_can_be_used_is_a_bad_one(location):
    headers = () if location is None else (f"Location: {location}",)
    sink, _, _ = run(lambda seen: reply(b"", "302 Found", headers), ["http://a.test/1"], obey_robots=False)
    page = sink.pages["http://a.test/1"]
    assert (page.outcome, page.redirect_to) == ("bad_redirect", None)
    assert page.error


def test_the_target_is_what_the_callers_normaliser_makes_of_it():
    def normalise(base: str, text: str) -> str | None:
        return f"http://normal.test/?{base}|{text}"

    sink, _, _ = run(lambda seen: to("/x"), ["http://a.test/1"], obey_robots=False, normalise=normalise)
    assert sink.pages["http://a.test/1"].redirect_to == "http://normal.test/?http://a.test/1|/x"


def test_redirects_within_a_host_are_followed_at_once_if_so_set_each_target_once():
    def script(seen: Seen) -> bytes:
        return reply(b"login") if seen.path == "/login" else to("/login")

    urls = [f"http://a.test/{n}" for n in range(20)]
    sink, server, summary = run(script, urls, obey_robots=False, redirect_max=3, server_delay_s=0.02)
    assert server.paths().count("/login") == 1
    assert {c.outcome for c in sink.pages.values()} == {"redir_temp"}
    (followed,) = sink.of_kind("redirect")
    assert (followed.url, followed.outcome, followed.body) == ("http://a.test/login", "success", b"login")
    assert summary.captured == 20
    assert min(server.gaps()) >= 0.02


def test_a_chain_is_followed_as_far_as_allowed_and_a_loop_not_for_ever():
    def script(seen: Seen) -> bytes:
        return to(f"/{(int(seen.path[1:]) + 1) % 5}")

    _, server, _ = run(script, ["http://a.test/0"], obey_robots=False, redirect_max=3)
    assert server.paths() == ["/0", "/1", "/2", "/3"]
    _, server, _ = run(script, ["http://a.test/0"], obey_robots=False, redirect_max=30)
    assert len(server.log) == 6


def test_a_redirect_that_leaves_its_host_is_not_followed():
    sink, server, _ = run(
        lambda seen: to("http://b.test/x"), ["http://a.test/1"], obey_robots=False, redirect_max=3
    )
    assert [seen.host for seen in server.log] == ["a.test"]
    assert sink.pages["http://a.test/1"].redirect_to == "http://b.test/x"


def test_the_target_of_a_redirect_obeys_robots_too():
    def script(seen: Seen) -> bytes:
        return reply(b"User-agent: *\nDisallow: /private") if seen.path == "/robots.txt" else to("/private")

    sink, server, _ = run(script, ["http://a.test/1"], redirect_max=3)
    assert [c.outcome for c in sink.of_kind("redirect")] == ["robots_denied"]
    assert "/private" not in server.paths()


# -- ends -----------------------------------------------------------------------------------------------------


async def never(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(60)


async def soon(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(0.3)
    writer.write(reply(b"late"))
    await writer.drain()


def test_a_stopped_run_ends_what_is_under_way_within_its_grace_and_leaves_the_rest():
    def script(seen: Seen) -> object:
        return {"soon.test": soon, "never.test": never}.get(seen.host) or reply(b"page")

    async def main() -> None:
        async with ScriptedServer(script) as server:  # type: ignore[arg-type]
            stop = asyncio.Event()
            asyncio.get_running_loop().call_later(0.1, stop.set)
            urls = ["http://soon.test/1", "http://never.test/1"] + [
                f"http://slow.test/{n}" for n in range(100)
            ]
            began = time.monotonic()
            patient = {"total_timeout_s": 50.0, "read_timeout_s": 50.0, "server_delay_s": 10.0}
            sink, summary = await fetch(
                server, urls, obey_robots=False, stop=stop, stop_grace_s=0.9, **patient
            )
            assert 0.9 < time.monotonic() - began < 5
            assert summary.stopped_by == "stop"
            bodies = {url: c.body for url, c in sink.pages.items()}
            assert bodies == {"http://soon.test/1": b"late", "http://slow.test/0": b"page"}
            assert set(sink.hosts) == {"soon.test", "never.test", "slow.test"}
            assert len(server.log) == 3

    asyncio.run(main())


def test_a_run_stopped_before_it_began_asks_nobody():
    async def main() -> None:
        async with ScriptedServer(plain) as server:
            stop = asyncio.Event()
            stop.set()
            _, summary = await fetch(server, [f"http://h{n}.test/" for n in range(50)], stop=stop)
            assert summary.stopped_by == "stop"
            assert len(server.log) <= 10

    asyncio.run(main())


def test_the_time_limit_ends_a_run():
    urls = [f"http://a.test/{n}" for n in range(100)]
    began = time.monotonic()
    sink, _, summary = run(plain, urls, server_delay_s=0.1, time_limit_s=0.35)
    assert 0.3 < time.monotonic() - began < 3
    assert summary.stopped_by == "time_limit"
    assert 1 <= summary.captured < 10
    assert len(sink.pages) == summary.captured


def test_a_run_too_slow_to_be_worth_it_ends():
    urls = [f"http://a.test/{n}" for n in range(100)]
    _, _, summary = run(plain, urls, server_delay_s=0.5, throughput_min_pages_s=50.0, throughput_window_s=0.5)
    assert summary.stopped_by == "throughput"


def test_a_run_ends_when_every_host_left_wants_to_be_let_alone_for_long():
    def script(seen: Seen) -> bytes:
        return plain(seen) if seen.host == "good.test" else reply(b"", "503 No", ("Retry-After: 3000",))

    urls = [f"http://{host}.test/{n}" for n in range(4) for host in ("good", "bad1", "bad2")]
    _, _, summary = run(script, urls, obey_robots=False, server_delay_s=0.05, max_back_off_s=3600.0)
    assert summary.stopped_by == "idle"
    assert summary.outcomes == {"success": 4, "rate_limited": 2}
    assert summary.items == 12


def test_an_error_of_the_sink_ends_the_run_and_is_raised():
    class FullDisk(ListSink):
        def capture(self, capture: Capture) -> None:
            super().capture(capture)
            if len(self.captures) == 5:
                raise OSError(28, "No space left on device")

    sink = FullDisk()
    with pytest.raises(OSError, match="No space left"):
        run(plain, [f"http://h{n}.test/" for n in range(100)], sink=sink, obey_robots=False)
    assert len(sink.captures) < 20


def test_an_error_of_the_list_ends_the_run_and_is_raised():
    def torn() -> Iterator[FetchItem]:
        yield item("http://a.test/1")
        raise OSError("the list is torn")

    async def main() -> None:
        async with ScriptedServer(plain) as server:
            await fetch_items(torn(), config(server), ListSink())

    with pytest.raises(OSError, match="torn"):
        asyncio.run(main())


def test_a_cancelled_run_leaves_nothing_behind():
    async def main() -> None:
        asked = asyncio.Event()

        def script(seen: Seen) -> object:
            asked.set()
            return never

        async with ScriptedServer(script) as server:  # type: ignore[arg-type]
            before = asyncio.all_tasks()
            task = asyncio.create_task(fetch(server, ["http://a.test/1"], obey_robots=False))
            await asked.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            left = {t for t in asyncio.all_tasks() - before if t not in server._tasks}
            assert left == set()

    asyncio.run(main())


def test_progress_is_told_with_what_hosts_wait_for():
    told: list[Progress] = []
    urls = [f"http://h{host}.test/{n}" for n in range(3) for host in range(4)]
    run(plain, urls, obey_robots=False, server_delay_s=0.7, progress=told.append)
    assert told[0].captured == 0
    last = told[-1]
    assert last.captured + last.queued + last.active == 12
    assert last.waiting == {"delay": 4}
    assert last.next_start_in_s is not None
    assert 0 <= last.next_start_in_s <= 0.7


def test_bandwidth_is_kept_on_average():
    def script(seen: Seen) -> bytes:
        return reply(b"x" * 20_000)

    urls = [f"http://h{n}.test/" for n in range(20)]
    _, _, summary = run(script, urls, obey_robots=False, bandwidth_bytes_s=200_000.0, connections=4)
    # 400,000 bytes at 200,000 a second, one second's worth of which may come at once.
    assert summary.captured == 20
    assert 0.7 < summary.elapsed_s < 5


# -- look-ahead -----------------------------------------------------------------------------------------------


def test_a_look_ahead_full_of_waiting_hosts_does_not_stall_the_run():
    """Ten hosts fill it and then wait for ever; the others stand behind them in the list."""
    waiting = [f"http://slow{n % 10}.test/{n}" for n in range(400)]
    ready = [f"http://h{n}.test/" for n in range(100)]

    def script(seen: Seen) -> bytes:
        return (
            reply(b"", "503 No", ("Retry-After: 3000",)) if seen.host.startswith("slow") else reply(b"page")
        )

    sink, _, summary = run(script, waiting + ready, obey_robots=False, max_queued=50, max_back_off_s=3600.0)
    assert all(sink.pages[url].outcome == "success" for url in ready)
    assert summary.stopped_by == "idle"
    assert summary.elapsed_s < 5


def test_the_list_is_read_no_further_than_needed():
    read = 0

    def endless() -> Iterator[FetchItem]:
        nonlocal read
        for number in range(10_000_000):
            read += 1
            yield item(f"http://h{number}.test/", number)

    async def main() -> None:
        async with ScriptedServer(lambda seen: never) as server:
            settings_ = config(server, obey_robots=False, max_queued=1000, time_limit_s=0.5, stop_grace_s=0.0)
            await fetch_items(endless(), settings_, ListSink())

    asyncio.run(main())
    assert read < 2000


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from("abcdef"), max_size=120),
    st.integers(1, 20),
    st.lists(st.booleans(), min_size=300, max_size=300),
)
def test_through_memory_and_disk_nothing_is_lost_and_the_order_of_a_host_is_kept(
    hosts, max_queued, offer_next
):
    frontier = Frontier(Politeness(Policy(server_delay_s=1.0)), max_queued)
    wanted = [item(f"http://{host}.test/{n}", n) for n, host in enumerate(hosts)]
    todo, got, now = list(reversed(wanted)), [], 0.0
    moves = iter(offer_next)
    while todo or not frontier.empty:
        if todo and next(moves, True):
            offered = todo.pop()
            frontier.offer(offered.host, offered, None, None)
            assert frontier.politeness.queued <= max_queued + 6, (
                "more in memory than the bound and one a host"
            )
        else:
            now += 0.3
            turn = frontier.acquire(now)
            if turn is not None:
                assert isinstance(turn.job, PageJob)
                got.append(turn.job.item)
                frontier.politeness.release(turn, now, Verdict.ANSWERED)
    assert sorted(got, key=lambda it: it.position) == wanted
    for host in set(hosts):
        positions = [it.position for it in got if it.host == f"{host}.test"]
        assert positions == sorted(positions)
    frontier.close()


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.none() | st.integers(1, 5)), max_size=80))
def test_a_spill_is_as_many_queues_as_it_has_keys(moves):
    spill: Spill[int] = Spill()
    model: dict[str, list[int]] = {key: [] for key in "abc"}
    for number, (key, take) in enumerate(moves):
        if take is None:
            spill.append(key, number)
            model[key].append(number)
        else:
            assert spill.take(key, take) == model[key][:take]
            model[key] = model[key][take:]
        assert spill.count == sum(map(len, model.values()))
        assert {key for key in "abc" if key in spill} == {key for key, items in model.items() if items}
    spill.close()


# -- pace -----------------------------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.integers(1, 100_000), st.floats(0, 2)), min_size=1, max_size=50))
def test_no_more_bytes_are_let_in_than_the_bandwidth_and_a_second_at_once(arrivals):
    bandwidth, now, total = Bandwidth(10_000.0), 0.0, 0
    for size, idle_s in arrivals:
        now += idle_s
        now += bandwidth.take(size, now)
        total += size
        assert total <= 10_000.0 * (now + 1.0) * 1.000001 + 1


def test_without_a_limit_nobody_waits():
    assert Bandwidth(None).take(10**12, 0.0) == 0.0


def test_throughput_is_judged_over_whole_windows():
    throughput = Throughput(2.0, 10.0, started=0.0)
    assert not throughput.too_slow(0, 9.9)
    assert not throughput.too_slow(25, 10.0)
    assert not throughput.too_slow(26, 15.0)
    assert throughput.too_slow(44, 20.0)
    assert not Throughput(None, 10.0, 0.0).too_slow(0, 1000.0)
