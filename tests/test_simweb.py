"""The simulated web as a whole: what it promises to those who crawl it."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from pinyon.errors import InputError, UsageError
from pinyon.simweb import KINDS, SimWeb, read_log
from pinyon.simweb.pages import page_path

AGENT = "jaybot/1.0 (+http://jaybot.sim.test/)"


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer as it came; `cut`: less than it announced."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    cut: bool


class Client:
    """Asks like a crawler: one connection a request, through the lines of `connect_to`."""

    def __init__(self, web: SimWeb, timeout_s: float = 5.0) -> None:
        lines = [line.split(":") for line in web.connect_to()]
        self.places = {(host, int(port)): (address, int(to)) for host, port, address, to in lines}
        self.timeout_s = timeout_s
        self.context = ssl.create_default_context(cafile=str(web.ca_file)) if web.ca_file else None

    def get(self, url: str, method: str = "GET", **headers: str) -> Reply:
        """The answer to a request; raises OSError where there is none (ConnectionError for a closed door)."""
        scheme, _, rest = url.partition("://")
        host, _, path = rest.partition("/")
        fields = {"Host": host, "User-Agent": AGENT, "Connection": "close"}
        fields |= {name.replace("_", "-"): value for name, value in headers.items()}
        lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        return parsed(self.exchange(scheme, host, f"{method} /{path} HTTP/1.1\r\n{lines}\r\n".encode()))

    def exchange(self, scheme: str, host: str, data: bytes) -> bytes:
        """All that comes back for those bytes, until the other side closes."""
        with self.connect(scheme, host) as connection:
            connection.sendall(data)
            return b"".join(iter(lambda: connection.recv(65536), b""))

    def connect(self, scheme: str, host: str) -> socket.socket:
        """An open connection to a host; a name without a line is one that does not resolve."""
        place = self.places.get((host, 443 if scheme == "https" else 80))
        if place is None:
            raise socket.gaierror(f"{host} does not resolve")
        connection = socket.create_connection(place, self.timeout_s)
        if scheme == "http" or self.context is None:
            return connection
        try:
            return self.context.wrap_socket(connection, server_hostname=host)
        except OSError:
            connection.close()
            raise


def parsed(data: bytes) -> Reply:
    """The final answer in the bytes of a connection; raises ConnectionError if there is none."""
    while True:
        head, end, data = data.partition(b"\r\n\r\n")
        if not end:
            raise ConnectionError("no answer")
        line, *fields = head.decode("latin-1").split("\r\n")
        status = int(line.split(" ")[1])
        if status >= 200:
            break
    headers = {name.lower(): value for name, value in (field.split(": ", 1) for field in fields)}
    if headers.get("transfer-encoding") == "chunked":
        body, whole = unchunked(data)
        return Reply(status, headers, body, not whole)
    return Reply(status, headers, data, len(data) < int(headers.get("content-length", "0")))


def unchunked(data: bytes) -> tuple[bytes, bool]:
    """The body in a chunked message, and whether its end is there."""
    parts: list[bytes] = []
    at = 0
    while (end := data.find(b"\r\n", at)) >= 0:
        size = int(data[at:end].partition(b";")[0], 16)
        if size == 0:
            return b"".join(parts), True
        parts.append(data[end + 2 : end + 2 + size])
        at = end + 2 + size + 2
    return b"".join(parts), False


@pytest.fixture(scope="module")
def clean() -> Iterator[SimWeb]:
    with SimWeb(seed=3, hosts=30, awkward=False) as web:
        yield web


def first_ordinary(web: SimWeb) -> str:
    return next(host.url("/") for host in web.hosts if host.kind == "ordinary")


# -- the same seed, the same web -------------------------------------------------------------------------------


def contents(seed: int, order: int) -> dict[str, tuple[int, bytes]]:
    """Status and body of the pages of a small web, asked for in either order."""
    with SimWeb(
        seed, hosts=8, awkward={"feeds", "markup", "charsets", "traps"}, mean_pages=4, https=False
    ) as web:
        client = Client(web)
        urls = [host.url(page_path(host, i)) for host in web.hosts for i in range(host.pages)]
        urls += [
            web.hosts[1].url(path)
            for path in ("/feed.rss", "/blog/", "/links", "/gbk-meta", "/shop/0", "/none")
        ]
        return {
            url: (reply.status, reply.body) for url in sorted(urls)[::order] if (reply := client.get(url))
        }


def test_the_same_seed_gives_the_same_bytes_in_whatever_order_they_are_asked_for() -> None:
    assert contents(5, order=1) == contents(5, order=-1)


def test_another_seed_gives_another_web() -> None:
    names = [{host.name for host in SimWeb(seed, hosts=100, awkward=False).hosts} for seed in (1, 2)]
    assert len(names[0] & names[1]) < 10


def test_a_process_of_its_own_gives_the_same_pages(tmp_path: Path) -> None:
    code = (
        "from pinyon.simweb import SimWeb; from pinyon.simweb.answer import Ask;"
        "from pinyon.simweb.respond import respond; import sys;"
        "w = SimWeb(9, 20, awkward=False).world; h = w.hosts[5];"
        "sys.stdout.buffer.write(respond(w, Ask(h.name, '/')).content())"
    )
    bodies = [
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    ]
    with SimWeb(9, 20, awkward=False) as web:
        assert bodies == [Client(web).get(web.hosts[5].url("/")).body] * 2


def test_an_edition_changes_a_part_of_the_pages_and_their_validators() -> None:
    with SimWeb(seed=4, hosts=12, awkward=False, mean_pages=8) as web:
        client = Client(web)
        urls = sorted(web.reachable(web.seeds()))
        before = {url: client.get(url) for url in urls}
        web.edition += 1
        after = {url: client.get(url) for url in urls}
    changed = {url for url in urls if before[url].body != after[url].body}
    assert 0.1 < len(changed) / len(urls) < 0.4
    for url in urls:
        assert (before[url].headers.get("etag") == after[url].headers.get("etag")) or url in changed


# -- the shape of the web --------------------------------------------------------------------------------------


def test_links_follow_a_power_law() -> None:
    from pinyon.simweb.answer import Ask
    from pinyon.simweb.oracle import split
    from pinyon.simweb.respond import respond

    web = SimWeb(seed=1, hosts=150, awkward=False)
    inlinks: Counter[str] = Counter()
    for url in web.reachable(web.seeds()):
        scheme, host, path = split(url)
        inlinks.update(set(respond(web.world, Ask(host, path, scheme)).links))
    by_host: Counter[str] = Counter()
    for url, count in inlinks.items():
        by_host[split(url)[1]] += count
    ranked = [count for _, count in by_host.most_common()]
    assert ranked[0] > 10 * ranked[len(ranked) // 2]
    assert sum(ranked[:15]) > 0.3 * sum(ranked)  # a tenth of the hosts


def test_every_page_of_every_ordinary_host_is_reachable() -> None:
    web = SimWeb(seed=2, hosts=60, awkward=False)
    expected = {
        host.url(page_path(host, i))
        for host in web.hosts
        if host.kind == "ordinary"
        for i in range(host.pages)
    }
    assert expected <= web.reachable(web.seeds())


def test_hosts_have_addresses_of_their_own_and_a_few_share_one() -> None:
    web = SimWeb(seed=1, hosts=300)
    shared = Counter(host.address for host in web.hosts)
    assert len(web.hosts) == 300
    assert 200 < len(shared) < 300
    assert all(host.address.startswith("127.") for host in web.hosts)
    assert all(shared[host.address] == 1 for host in web.hosts if host.kind not in ("hub", "ordinary"))


def test_a_domain_may_have_several_hosts() -> None:
    domains = Counter(host.name.split(".", 1)[1] for host in SimWeb(seed=1, hosts=200, awkward=False).hosts)
    assert all(domains[f"example.{suffix}"] > 3 for suffix in ("com", "net", "org"))


def test_every_kind_has_a_host_that_the_hub_leads_to() -> None:
    web = SimWeb(seed=1, hosts=10)
    assert {host.kind for host in web.hosts} >= {
        kind.name for kind in KINDS if web.https or not kind.needs_tls
    }
    home = web.hosts[0].url("/")
    assert web.seeds()[0] == home
    with web:
        client = Client(web)
        directory = [client.get(f"{home}directory/{n}").body.decode() for n in range(2)]
    for host in web.hosts[1:]:
        assert host.url("/") in "".join(directory)


def test_a_web_may_have_chosen_kinds_only() -> None:
    web = SimWeb(hosts=20, awkward=["slow", "slow", "login"], https=False)
    kinds = Counter(host.kind for host in web.hosts)
    assert kinds == {"hub": 1, "slow": 2, "login": 1, "ordinary": 16}


def test_an_unknown_kind_is_an_error_that_names_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean 'redirects'"):
        SimWeb(awkward={"redirect"})
    with pytest.raises(UsageError, match="need https"):
        SimWeb(awkward={"secure"}, https=False)


# -- finding and asking hosts ----------------------------------------------------------------------------------


def test_connect_to_has_one_line_for_each_host_and_port(clean: SimWeb, tmp_path: Path) -> None:
    lines = clean.connect_to()
    assert [line.split(":")[:2] for line in lines] == [[host.name, "80"] for host in clean.hosts]
    clean.write_connect_to(tmp_path / "map")
    assert (tmp_path / "map").read_text().splitlines() == lines
    clean.write_seeds(tmp_path / "seeds")
    assert (tmp_path / "seeds").read_text().split() == clean.seeds()


def test_curl_finds_its_way_with_these_lines(clean: SimWeb) -> None:
    curl = next(
        (path for path in ("/usr/bin/curl", "/bin/curl", "/usr/local/bin/curl") if os.access(path, os.X_OK)),
        None,
    )
    if curl is None:
        pytest.skip("curl is not installed")
    arguments = [part for line in clean.connect_to() for part in ("--connect-to", line)]
    shown = subprocess.run(
        [curl, "-s", *arguments, clean.seeds()[0]], capture_output=True, check=True, timeout=20
    )
    assert shown.stdout == Client(clean).get(clean.seeds()[0]).body


def test_a_host_asked_at_another_address_is_misdirected(clean: SimWeb) -> None:
    client = Client(clean)
    one, other = (
        clean.hosts[1],
        next(host for host in clean.hosts[2:] if host.address != clean.hosts[1].address),
    )
    asked = f"GET / HTTP/1.1\r\nHost: {other.name}\r\nConnection: close\r\n\r\n".encode()
    assert parsed(client.exchange("http", one.name, asked)).status == 421
    unknown = b"GET / HTTP/1.1\r\nHost: nobody.sim.test\r\nConnection: close\r\n\r\n"
    assert parsed(client.exchange("http", one.name, unknown)).status == 421


def test_a_connection_is_kept_and_pipelined_requests_are_answered_in_order(clean: SimWeb) -> None:
    client, host = Client(clean), clean.hosts[1]
    ask = f"GET %s HTTP/1.1\r\nHost: {host.name}\r\n%s\r\n"
    data = client.exchange(
        "http",
        host.name,
        (ask % ("/", "") + ask % ("/none", "") + ask % ("/", "Connection: close\r\n")).encode(),
    )
    assert re.findall(rb"HTTP/1\.1 (\d+)", data) == [b"200", b"404", b"200"]


def test_head_has_no_body_and_other_methods_are_refused(clean: SimWeb) -> None:
    client, url = Client(clean), first_ordinary(clean)
    assert client.get(url, "HEAD").body == b""
    assert client.get(url, "POST").status == 405


def test_a_page_that_the_client_has_is_304(clean: SimWeb) -> None:
    client = Client(clean)
    replies = {url: client.get(url) for url in sorted(clean.reachable(clean.seeds()))[:60]}
    tagged = {url: reply for url, reply in replies.items() if "etag" in reply.headers}
    assert 10 < len(tagged) < 60
    for url, reply in list(tagged.items())[:10]:
        assert client.get(url, If_None_Match=reply.headers["etag"]).status == 304
        assert client.get(url, If_Modified_Since=reply.headers["last-modified"]).status == 304
        assert (
            client.get(url, If_None_Match='"other"', If_Modified_Since=reply.headers["last-modified"]).status
            == 200
        )


def test_a_web_is_started_once_and_before_it_is_asked() -> None:
    web = SimWeb(hosts=3, awkward=False)
    with pytest.raises(UsageError, match="not started"):
        web.connect_to()
    with web:
        assert len(web.connect_to()) == 3
    with pytest.raises(UsageError, match="make another"):
        web.start()


# -- hostile clients -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"nonsense\r\n\r\n", 400),
        (b"\x16\x03\x01\x02\x00\x01\r\n\r\n", 400),
        (b"GET /a\x00b HTTP/1.1\r\nHost: hub.sim.test\r\n\r\n", 400),
        (b"GET /a\nX: y HTTP/1.1\r\nHost: hub.sim.test\r\n\r\n", 400),
        (b"GET mailto:x HTTP/1.1\r\nHost: hub.sim.test\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nno colon\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nX: " + b"x" * 70_000 + b"\r\n\r\n", 431),
        (b"GET / HTTP/1.1\r\nHost: hub.sim.test\r\nContent-Length: 5\r\n\r\nhello", 413),
        (b"GET / HTTP/1.1\r\nHost: hub.sim.test\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 413),
        (b"GET / HTTP/1.1\r\n\r\n", 421),
        (b"GET http://hub.sim.test/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 200),
        (b"GET / HTTP/1.0\r\nHost: HUB.sim.test:80\r\n\r\n", 200),
    ],
)
def test_a_bad_request_is_refused_and_the_server_goes_on(clean: SimWeb, data: bytes, status: int) -> None:
    client = Client(clean, timeout_s=5)
    with client.connect("http", "hub.sim.test") as connection:
        connection.sendall(data)
        if status == 421:
            connection.shutdown(socket.SHUT_WR)
        assert connection.recv(100).split()[1] == str(status).encode()
    assert client.get(clean.seeds()[0]).status == 200


def test_a_request_may_come_byte_by_byte(clean: SimWeb) -> None:
    client = Client(clean)
    with client.connect("http", "hub.sim.test") as connection:
        for byte in b"GET / HTTP/1.1\r\nHost: hub.sim.test\r\nConnection: close\r\n\r\n":
            connection.sendall(bytes([byte]))
        assert parsed(b"".join(iter(lambda: connection.recv(65536), b""))).status == 200


def test_a_client_that_does_not_read_and_one_that_goes_away_disturb_nobody() -> None:
    with SimWeb(hosts=4, awkward={"bodies"}, https=False) as web:
        client = Client(web)
        host = web.hosts[1].name
        ask = f"GET /big HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()
        lazy = [client.connect("http", host) for _ in range(5)]
        for connection in lazy:
            connection.sendall(ask * 3)
        for connection in lazy[:3]:
            connection.close()
        assert client.get(web.seeds()[0]).status == 200
        received = lazy[3].recv(1 << 20)
        assert received.startswith(b"HTTP/1.1 200")
        for connection in lazy[3:]:
            connection.close()


# -- the log ---------------------------------------------------------------------------------------------------


def test_every_request_is_logged_with_what_it_asked_and_got(tmp_path: Path) -> None:
    with SimWeb(hosts=4, awkward={"silent"}, https=False, log=tmp_path / "log") as web:
        client = Client(web, timeout_s=0.2)
        start_s = time.monotonic()
        client.get(web.seeds()[0])
        client.get("http://hub.sim.test/none?x=1", User_Agent="tab\there")
        with pytest.raises(TimeoutError):
            client.get(web.hosts[1].url("/"))
        requests = web.requests()
        assert requests == read_log(tmp_path / "log")
        assert [(r.host, r.method, r.path, r.status) for r in requests] == [
            ("hub.sim.test", "GET", "/", 200),
            ("hub.sim.test", "GET", "/none?x=1", 404),
            ("silent1.sim.test", "GET", "/", 0),
        ]
        assert [r.agent for r in requests] == [AGENT, "tab here", AGENT]
        assert {r.scheme for r in requests} == {"http"}
        assert requests[0].address == client.places["hub.sim.test", 80][0]
        assert requests[0].url == "http://hub.sim.test/"
        assert start_s < requests[0].at_s <= requests[1].at_s <= requests[2].at_s < time.monotonic()
    assert web.requests() == requests


def test_requests_are_kept_in_memory_without_a_log_file() -> None:
    with SimWeb(hosts=3, awkward=False) as web:
        client = Client(web)
        for _ in range(5):
            client.get(web.seeds()[0])
        assert [r.path for r in web.requests()] == ["/"] * 5
    assert len(web.requests()) == 5


def test_what_is_no_log_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("this is no log\n")
    with pytest.raises(InputError, match="no request log"):
        read_log(tmp_path / "x")
    with pytest.raises(InputError):
        read_log(tmp_path / "missing")
    with pytest.raises(InputError, match="cannot be written"):
        SimWeb(hosts=3, awkward=False, log=tmp_path / "no" / "such" / "folder").start()


# -- https -----------------------------------------------------------------------------------------------------


def test_https_is_verified_by_the_authority_of_the_web_alone() -> None:
    pytest.importorskip("cryptography")
    with SimWeb(hosts=20, awkward={"secure", "untrusted", "plain"}, https=True) as web:
        client = Client(web)
        assert client.context is not None
        client.context.verify_flags |= ssl.VERIFY_X509_STRICT
        assert client.get("https://secure1.sim.test/").status == 200
        moved = client.get("http://secure1.sim.test/a?b=c")
        assert (moved.status, moved.headers["location"]) == (301, "https://secure1.sim.test/a?b=c")
        for name in ("untrusted1", "plain1"):
            with pytest.raises(ssl.SSLError):
                client.get(f"https://{name}.sim.test/")
        client.context = ssl.create_default_context()
        with pytest.raises(ssl.SSLCertVerificationError):
            client.get("https://secure1.sim.test/")
        assert {r.scheme for r in web.requests()} == {"http", "https"}
        assert any(host.scheme == "https" for host in web.hosts if host.kind == "ordinary")


def test_a_web_without_https_says_so() -> None:
    with SimWeb(hosts=3, awkward=False) as web:
        assert not web.https
        assert web.ca_file is None


# -- running ---------------------------------------------------------------------------------------------------


def test_webs_run_side_by_side_and_leave_nothing_behind() -> None:
    with SimWeb(1, 5, awkward=False) as one, SimWeb(1, 5, awkward=False) as other:
        assert Client(one).get(one.seeds()[0]).body == Client(other).get(other.seeds()[0]).body
        places = list(Client(one).places.values())
        client = Client(one)
        idle = [client.connect("http", "hub.sim.test") for _ in range(20)]
    for connection in idle:
        with connection, contextlib.suppress(ConnectionResetError):
            assert connection.recv(10) == b""
    for place in places:
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(place, 1)


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT])
def test_the_process_writes_its_files_is_ready_and_ends_at_a_signal(
    tmp_path: Path, ending: signal.Signals
) -> None:
    names = ("log", "connect-to", "seeds", "ready")
    files = [part for name in names for part in (f"--{name}", str(tmp_path / name))]
    command = [sys.executable, "-m", "pinyon.simweb", "--seed", "7", "--hosts", "12", "--no-awkward", *files]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"READY\n"
            assert (tmp_path / "ready").read_text() == "READY\n"
            twin = SimWeb(7, 12, awkward=False)
            assert (tmp_path / "seeds").read_text().split() == twin.seeds()
            place = (tmp_path / "connect-to").read_text().splitlines()[0].split(":")
            with socket.create_connection((place[2], int(place[3])), 3) as connection:
                connection.sendall(f"GET / HTTP/1.1\r\nHost: {place[0]}\r\n\r\n".encode())
                assert connection.recv(12) == b"HTTP/1.1 200"
                [request] = read_log(tmp_path / "log")
                assert abs(request.at_s - time.monotonic()) < 30
                process.send_signal(ending)
                assert process.wait(10) == 0
        finally:
            process.kill()


def test_a_process_that_gets_no_sockets_says_so_in_one_line() -> None:
    command = f"ulimit -n 40; exec {sys.executable} -m pinyon.simweb --hosts 100 --no-awkward"
    shown = subprocess.run(
        ["/bin/sh", "-c", command], capture_output=True, text=True, check=False, timeout=20
    )
    assert shown.returncode == 1
    assert "ulimit -n" in shown.stderr
    assert shown.stderr.count("\n") == 1


def test_the_process_names_its_kinds_and_refuses_unknown_ones() -> None:
    command = [sys.executable, "-m", "pinyon.simweb"]
    shown = subprocess.run([*command, "--kinds"], capture_output=True, text=True, check=True)
    assert [line.split()[0] for line in shown.stdout.splitlines()] == [kind.name for kind in KINDS]
    refused = subprocess.run([*command, "--awkward", "slowly"], capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    assert "did you mean 'slow'" in refused.stderr
    assert "Traceback" not in refused.stderr
