"""Whatever a server does, an item gets one capture with one outcome, and the run goes on."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable

import pytest
from scripted_server import ListSink, ScriptedServer, Seen, fetch, reply

from pinyon.fetcher import Capture, FetchItem
from pinyon.tables import OUTCOMES


def capture_of(answer: bytes | Callable[..., Awaitable[None]], **settings: object) -> Capture:
    """The capture of a page that is answered so."""

    async def main() -> ListSink:
        async with ScriptedServer(lambda seen: answer) as server:
            sink, _ = await fetch(server, ["http://a.test/page"], obey_robots=False, **settings)
            return sink

    return asyncio.run(main()).pages["http://a.test/page"]


def then_close(data: bytes) -> Callable[..., Awaitable[None]]:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        await writer.drain()

    return answer


def then_hang(data: bytes) -> Callable[..., Awaitable[None]]:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        await writer.drain()
        await asyncio.sleep(60)

    return answer


async def reset(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    sock = writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
    writer.transport.abort()


async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    while True:
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(0.02)


async def endless_head(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\n")
    while True:
        writer.write(b"X: y\r\n" * 1000)
        await writer.drain()


async def endless_header(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nX: ")
    while True:
        writer.write(b"y" * 65_536)
        await writer.drain()


async def endless_interim(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while True:
        writer.write(b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n")
        await writer.drain()
        await asyncio.sleep(0.001)


OK = b"HTTP/1.1 200 OK\r\n"

BEHAVIOURS: dict[str, tuple[object, set[str], bytes]] = {
    # what is answered, outcomes that say so, and the body that is kept
    "no headers": (then_close(OK + b"\r\nbody"), {"success"}, b"body"),
    "no length": (then_close(OK + b"Content-Type: text/html\r\n\r\nbody"), {"success"}, b"body"),
    "http/1.0": (then_close(b"HTTP/1.0 200 OK\r\n\r\nbody"), {"success"}, b"body"),
    "bare line feeds": (then_close(b"HTTP/1.1 200 OK\nX: y\n\nbody"), {"success", "protocol_error"}, b"body"),
    "no reason": (reply(b"body", "200"), {"success"}, b"body"),
    "odd reason": (reply(b"body", "200 \xe4\xb8 OK?!"), {"success"}, b"body"),
    "spaces around the colon": (reply(b"body", headers=("Date : now",)), {"success", "protocol_error"}, b"body"),
    "a folded header": (reply(b"body", headers=("X: one", " two")), {"success", "protocol_error"}, b"body"),
    "no status line": (then_close(b"This is text\xff\xfe\n"), {"protocol_error"}, b""),
    "html at once": (then_close(b"<html><body>HTTP/0.9</body></html>"), {"protocol_error"}, b""),
    "a colon behind the status": (then_close(b"HTTP/1.1 200: OK\r\n\r\nbody"), {"protocol_error"}, b""),
    "a status of words": (then_close(b"HTTP/1.1 OK\r\n\r\n"), {"protocol_error"}, b""),
    "a header without a colon": (reply(b"body", headers=("Nonsense",)), {"protocol_error"}, b""),
    "an overlong header": (reply(b"body", headers=("X: " + "y" * 70_000,)), {"protocol_error"}, b""),
    "a length of words": (then_close(OK + b"Content-Length: thousand\r\n\r\nbody"), {"protocol_error"}, b""),
    "a negative length": (then_close(OK + b"Content-Length: -4\r\n\r\nbody"), {"protocol_error"}, b""),
    "two lengths": (then_close(OK + b"Content-Length: 4\r\nContent-Length: 5\r\n\r\nbody!"), {"protocol_error"}, b""),
    "a head that ends early": (then_close(OK + b"Content-Le"), {"protocol_error", "connect_failed"}, b""),
    "nothing": (then_close(b""), {"connect_failed"}, b""),
    "a reset": (reset, {"connect_failed"}, b""),
    "a tls alert": (then_close(b"\x15\x03\x01\x00\x02\x02\x28"), {"protocol_error"}, b""),
    "an endless head": (endless_head, {"protocol_error"}, b""),
    "an endless header": (endless_header, {"protocol_error"}, b""),
    "endless early hints": (endless_interim, {"protocol_error", "timeout"}, b""),
    "chunks that are none": (then_close(OK + b"Transfer-Encoding: chunked\r\n\r\nbody"), {"protocol_error"}, b""),
    "a 204 with a body": (then_close(b"HTTP/1.1 204 No Content\r\n\r\nbody"), {"success", "protocol_error"}, b""),
    "an upgrade": (then_close(b"HTTP/1.1 101 X\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"), {"protocol_error"}, b""),
}  # fmt: skip


@pytest.mark.parametrize("name", BEHAVIOURS)
def test_every_odd_server_gives_one_classified_capture(name):
    answer, outcomes, body = BEHAVIOURS[name]
    capture = capture_of(answer, total_timeout_s=1.0)  # type: ignore[arg-type]
    assert capture.outcome in outcomes & set(OUTCOMES)
    if capture.outcome == "success":
        assert capture.body == body
    else:
        assert capture.error


def test_a_body_shorter_than_announced_is_kept_and_marked():
    capture = capture_of(then_close(OK + b"Content-Length: 100\r\n\r\nhalf"))
    assert (capture.outcome, capture.body, capture.truncated) == ("success", b"half", "disconnect")


def test_a_body_that_never_comes_is_no_success():
    assert capture_of(then_close(OK + b"Content-Length: 100\r\n\r\n")).outcome == "connect_failed"
    capture = capture_of(then_hang(OK + b"Content-Length: 100\r\n\r\n"), read_timeout_s=0.2)
    assert (capture.outcome, capture.truncated) == ("timeout", "time")


def test_a_server_that_drips_is_cut_off_by_the_total_time():
    capture = capture_of(drip, total_timeout_s=0.5)
    assert (capture.outcome, capture.truncated) == ("success", "time")
    assert 0 < len(capture.body) < 100


def test_a_server_that_never_answers_times_out():
    capture = capture_of(then_hang(b""), read_timeout_s=0.2)
    assert capture.outcome == "timeout"
    assert capture.ip == "127.0.0.1"


def test_an_endless_body_is_cut_at_the_limit_and_the_connection_dropped():
    sent = 0

    async def endless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        writer.write(OK + b"Content-Type: text/html\r\n\r\n")
        while not writer.transport.is_closing():
            writer.write(b"x" * 65_536)
            await writer.drain()
            sent += 65_536

    capture = capture_of(endless, max_bytes=100_000)
    assert (capture.outcome, capture.length, capture.truncated) == ("success", 100_000, "length")
    assert sent < 16_000_000, "more was let in than buffers hold"


def test_a_body_of_exactly_the_limit_is_whole():
    capture = capture_of(reply(b"x" * 1000), max_bytes=1000)
    assert (capture.length, capture.truncated) == (1000, None)


def test_chunks_with_trailers_are_joined_and_cut_at_the_limit():
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in [b"y" * 50_000] * 40)
    whole = OK + b"Transfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n" + chunks + b"0\r\nX-Sum: 1\r\n\r\n"
    assert capture_of(whole).length == 2_000_000
    cut = capture_of(whole, max_bytes=1_000_000)
    assert (cut.length, cut.truncated, cut.outcome) == (1_000_000, "length", "success")


@pytest.mark.parametrize("status", ["302 Found", "404 Not Found", "503 Service Unavailable"])
def test_only_a_success_needs_its_body(status):
    head = f"HTTP/1.1 {status}\r\nLocation: /there\r\nTransfer-Encoding: chunked\r\n\r\n"
    capture = capture_of(then_close(head.encode() + b"not a chunk"))
    assert capture.http_status == int(status[:3])
    assert capture.outcome in ("redir_temp", "not_found", "server_error")
    assert capture.truncated == "disconnect"


def test_early_hints_are_passed_over():
    capture = capture_of(
        b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + reply(b"body", headers=("ETag: 1",))
    )
    assert (capture.http_status, capture.body, capture.etag) == (200, b"body", "1")
    assert capture.response_head.startswith(b"HTTP/1.1 200 OK\r\nETag: 1\r\n")


def test_heads_are_kept_byte_for_byte():
    fields = b'x-ODD:   spaced  \r\nSet-Cookie: a\r\nset-cookie: b\r\nETAG: "\xe9"\r\nContent-Length: 2\r\n'
    head = b"HTTP/1.1 200  Fine  by me\r\n" + fields + b"\r\n"
    capture = capture_of(head + b"ok")
    assert capture.response_head == head
    assert capture.request_head.startswith(b"GET /page HTTP/1.1\r\nHost: a.test\r\nUser-Agent: pinyon-test/1")


def test_the_request_kept_is_the_request_sent():
    async def main() -> None:
        async with ScriptedServer(lambda seen: reply(b"x")) as server:
            sink, _ = await fetch(server, ["http://a.test/x?y=%E9&z", "http://a.test/2"], obey_robots=False)
            assert [c.request_head for c in sink.captures] == [seen.head for seen in server.log]

    asyncio.run(main())


@pytest.mark.parametrize(
    ("url", "target", "host"),
    [
        ("http://foo_bar.test/", "/", "foo_bar.test"),
        ("http://a.test?171", "/?171", "a.test"),
        ("http://a.test/a%2fb//c/../d;x=1?q=%zz&r='\"<>", "/a%2fb//c/../d;x=1?q=%zz&r='\"<>", "a.test"),
        ("http://a.test/x#fragment", "/x", "a.test"),
        ("http://a.test:8080/x", "/x", "a.test:8080"),
        ("http://a.test./x", "/x", "a.test"),
    ],
)
def test_a_url_is_sent_as_it_is(url, target, host):
    async def main() -> None:
        async with ScriptedServer(lambda seen: reply(b"x")) as server:
            sink, _ = await fetch(server, [url], obey_robots=False)
            assert sink.pages[url].outcome == "success"
            assert [(seen.path, seen.host) for seen in server.log] == [(target, host)]

    asyncio.run(main())


@pytest.mark.parametrize(
    "url",
    [
        "http://a.test/x y",
        "http://a.test/\r\nX: y",
        "http://ü.test/",
        "ftp://a.test/",
        "http://",
        "http:///x",
        "javascript:x",
    ],
)
def test_a_url_that_cannot_be_sent_is_not_sent(url):
    async def main() -> None:
        async with ScriptedServer(lambda seen: reply(b"x")) as server:
            for robots in (True, False):
                sink = ListSink()
                await fetch(server, [FetchItem(url, "a.test", "a.test", 0)], sink, obey_robots=robots)
                assert [c.outcome for c in sink.of_kind("page")] == ["filtered"]
            assert server.log == []

    asyncio.run(main())


def test_a_refused_connection_is_no_answer():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]

    async def main() -> ListSink:
        async with ScriptedServer(lambda seen: reply(b"x")) as server:
            sink, _ = await fetch(
                server, ["http://a.test/"], obey_robots=False, connect_to=(f"::127.0.0.1:{port}",)
            )
            return sink

    assert asyncio.run(main()).pages["http://a.test/"].outcome == "connect_failed"


def test_cookies_are_not_sent_back():
    async def main() -> None:
        async with ScriptedServer(lambda seen: reply(b"x", headers=("Set-Cookie: id=1; Path=/",))) as server:
            await fetch(server, [f"http://a.test/{n}" for n in range(3)], obey_robots=False)
            assert [seen.header("cookie") for seen in server.log] == [None] * 3

    asyncio.run(main())


def test_a_type_that_is_not_wanted_is_left_before_its_body():
    async def endless_image(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(OK + b"Content-Type: image/PNG\r\n\r\n")
        while not writer.transport.is_closing():
            writer.write(b"x" * 65_536)
            await writer.drain()

    types = ("text/*", "application/xhtml+xml")
    capture = capture_of(endless_image, accept_types=types)
    assert (capture.outcome, capture.http_status, capture.body, capture.response_head) == (
        "filtered",
        200,
        b"",
        b"",
    )
    assert "image/png" in (capture.error or "")
    assert (
        capture_of(reply(b"x", headers=("Content-Type: text/plain",)), accept_types=types).outcome
        == "success"
    )
    assert capture_of(reply(b"x"), accept_types=types).outcome == "success"
    assert (
        capture_of(reply(b"x", "404 No", ("Content-Type: image/png",)), accept_types=types).outcome
        == "not_found"
    )


@pytest.mark.parametrize("announced", [True, False])
def test_a_body_too_long_to_be_wanted_is_refused_announced_or_not(announced):
    body = b"x" * 50_000
    whole = reply(body) if announced else then_close(OK + b"\r\n" + body)
    capture = capture_of(whole, refuse_above_bytes=10_000)
    assert (capture.outcome, capture.body) == ("filtered", b"")


def test_one_bad_server_does_not_keep_the_others_from_being_fetched():
    def script(seen: Seen) -> object:
        number = int(seen.host[1:].partition(".")[0])
        return list(BEHAVIOURS.values())[number][0] if number < len(BEHAVIOURS) else reply(b"fine")

    async def main() -> None:
        urls = [f"http://h{n}.test/" for n in range(len(BEHAVIOURS) + 20)]
        async with ScriptedServer(script) as server:  # type: ignore[arg-type]
            sink, summary = await fetch(server, urls, obey_robots=False, total_timeout_s=1.0)
            assert set(sink.pages) == set(urls)
            assert summary.captured == len(urls)
            assert all(sink.pages[url].outcome == "success" for url in urls[-20:])

    asyncio.run(main())
