"""Where a connection leads: TLS, proxies, and the networks nobody may be led into."""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import ipaddress
import ssl
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from name_server import SERVFAIL, NameServer
from scripted_server import ListSink, ScriptedServer, Seen, fetch, item, reply

from pinyon.errors import SettingError

# -- TLS ------------------------------------------------------------------------------------------------------


class Authority:
    """A certificate authority and what it signs, as files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "pinyon test authority")])
        certificate = self._sign(self._key, self._name, ca=True)
        self.file = folder / "ca.pem"
        self.file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))

    def _sign(
        self,
        key: ec.EllipticCurvePrivateKey,
        name: x509.Name,
        *,
        ca: bool,
        hosts: tuple[str, ...] = (),
        days: int = 1,
    ) -> x509.Certificate:
        now = datetime.datetime.now(datetime.UTC)
        builder = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=3))
            .not_valid_after(now + datetime.timedelta(days=days))
            .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), critical=False
            )
        )
        if hosts:
            names = x509.SubjectAlternativeName([x509.DNSName(host) for host in hosts])
            builder = builder.add_extension(names, critical=False)
        return builder.sign(self._key, hashes.SHA256())

    def server_context(self, *hosts: str, days: int = 1) -> ssl.SSLContext:
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, hosts[0])])
        certificate = self._sign(key, name, ca=False, hosts=hosts, days=days)
        path = self.folder / f"{hosts[0]}-{days}.pem"
        path.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
            + certificate.public_bytes(serialization.Encoding.PEM)
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(path)
        return context


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Authority]:
    yield Authority(tmp_path_factory.mktemp("authority"))


def over_tls(context: ssl.SSLContext, **settings: object) -> tuple[str, str | None]:
    async def main() -> ListSink:
        async with ScriptedServer(lambda seen: reply(b"secret"), tls=context) as server:
            sink, _ = await fetch(server, ["https://a.test/1"], obey_robots=False, **settings)
            return sink

    page = asyncio.run(main()).pages["https://a.test/1"]
    return page.outcome, page.error


def test_a_certificate_of_an_authority_we_trust_is_accepted(authority):
    assert over_tls(authority.server_context("a.test"), ca_file=str(authority.file)) == ("success", None)


@pytest.mark.parametrize("case", ["authority unknown", "another name", "expired"])
def test_a_certificate_that_does_not_hold_is_refused(authority, case):
    if case == "authority unknown":
        outcome, error = over_tls(authority.server_context("a.test"))
    elif case == "another name":
        outcome, error = over_tls(authority.server_context("b.test"), ca_file=str(authority.file))
    else:
        outcome, error = over_tls(authority.server_context("a.test", days=-1), ca_file=str(authority.file))
    assert outcome == "tls_failed"
    assert "certificate verify failed" in (error or "")


def test_certificates_are_not_looked_at_if_so_set(authority):
    assert over_tls(authority.server_context("b.test"), verify_tls=False)[0] == "success"


def test_a_server_that_speaks_no_tls_fails_as_tls():
    async def main() -> ListSink:
        async def plain_text(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            await writer.drain()
            writer.close()

        listener = await asyncio.start_server(plain_text, "127.0.0.1", 0)
        port = listener.sockets[0].getsockname()[1]
        async with listener, ScriptedServer(lambda seen: reply(b"")) as server:
            sink, _ = await fetch(
                server, ["https://a.test/"], obey_robots=False, connect_to=(f"::127.0.0.1:{port}",)
            )
            return sink

    assert asyncio.run(main()).pages["https://a.test/"].outcome == "tls_failed"


def test_authorities_that_cannot_be_read_are_an_error_of_the_settings(tmp_path):
    with pytest.raises(SettingError, match=r"nothing\.pem"):
        over_tls(ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ca_file=str(tmp_path / "nothing.pem"))


# -- networks -------------------------------------------------------------------------------------------------


def without_map(
    script, urls: list[str], names: dict[str, object], **settings: object
) -> tuple[ListSink, list[Seen], int]:
    """Fetches by way of DNS, with no connect-to map; `{port}` in a URL is the server's."""

    async def main() -> tuple[ListSink, list[Seen], int]:
        async with NameServer(names) as dns, ScriptedServer(script) as server:  # type: ignore[arg-type]
            wanted = [item(url.format(port=server.port), n) for n, url in enumerate(urls)]
            options = {
                "connect_to": (),
                "only_connect_to": False,
                "nameservers": (dns.address,),
                "obey_robots": False,
            }
            sink, _ = await fetch(server, wanted, **{**options, **settings})
            return sink, server.log, server.port

    return asyncio.run(main())


PRIVATE_NAMES = {
    "inside.test": ["127.0.0.1"],
    "mapped.test": ["::ffff:127.0.0.1"],
    "metadata.test": ["169.254.169.254"],
    "several.test": ["10.0.0.1", "192.168.0.1"],
}


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:{port}/",
        "http://[::1]:{port}/",
        "http://[::ffff:127.0.0.1]:{port}/",
        "http://169.254.169.254/latest/meta-data/",
        "http://localhost:{port}/",
        *(f"http://{name}:{{port}}/" for name in PRIVATE_NAMES),
    ],
)
def test_no_request_goes_to_a_private_address_however_it_is_named(url):
    sink, log, _ = without_map(lambda seen: reply(b"inside"), [url], PRIVATE_NAMES)
    assert [c.outcome for c in sink.of_kind("page")] == ["address_denied"]
    assert log == []


@pytest.mark.parametrize(
    "url", ["http://2130706433:{port}/", "http://127.1:{port}/", "http://0x7f.1:{port}/"]
)
def test_an_address_in_an_odd_spelling_leads_nowhere(url):
    sink, log, _ = without_map(lambda seen: reply(b"inside"), [url], {})
    assert sink.of_kind("page")[0].outcome in ("address_denied", "dns_unknown", "filtered")
    assert log == []


def test_a_private_network_is_reached_if_it_is_allowed():
    urls = ["http://inside.test:{port}/", "http://127.0.0.1:{port}/"]
    sink, log, _ = without_map(
        lambda seen: reply(b"x"), urls, PRIVATE_NAMES, allow_addresses=("127.0.0.0/8",)
    )
    assert [c.outcome for c in sink.of_kind("page")] == ["success"] * 2
    assert len(log) == 2


def test_of_several_addresses_only_those_allowed_are_tried():
    names = {"mixed.test": ["10.9.8.7", "127.0.0.1"]}
    urls = ["http://mixed.test:{port}/"]
    sink, _, _ = without_map(lambda seen: reply(b"x"), urls, names, allow_addresses=("127.0.0.1",))
    (page,) = sink.of_kind("page")
    assert (page.outcome, page.ip) == ("success", "127.0.0.1")


def test_the_map_opens_a_place_for_the_name_it_gives_and_for_no_other():
    async def main() -> None:
        async with ScriptedServer(lambda seen: reply(b"x")) as server:
            urls = ["http://a.test/", f"http://127.0.0.1:{server.port}/"]
            lines = (f"a.test:80:127.0.0.1:{server.port}",)
            sink, _ = await fetch(server, urls, obey_robots=False, connect_to=lines, only_connect_to=False)
            assert [sink.pages[url].outcome for url in urls] == ["success", "address_denied"]

    asyncio.run(main())


def test_robots_is_not_asked_for_in_a_private_network_either():
    sink, log, _ = without_map(lambda seen: reply(b""), ["http://127.0.0.1:{port}/"], {}, obey_robots=True)
    assert [c.outcome for c in sink.of_kind("page")] == ["address_denied"]
    assert log == []


def test_a_redirect_of_robots_into_a_private_network_ends_there():
    def script(seen: Seen) -> bytes:
        if seen.path == "/robots.txt" and seen.host == "a.test":
            return reply(b"", "302 Found", (f"Location: http://127.0.0.1:{port[0]}/robots.txt",))
        return reply(b"x")

    port = [0]

    async def main() -> None:
        async with ScriptedServer(script) as server:
            port[0] = server.port
            lines = (f"a.test:80:127.0.0.1:{server.port}",)
            sink, _ = await fetch(server, ["http://a.test/1"], connect_to=lines, only_connect_to=False)
            assert [seen.host for seen in server.log] == ["a.test"]
            assert sink.pages["http://a.test/1"].outcome == "address_denied"

    asyncio.run(main())


def test_dns_failures_are_told_apart_and_counted():
    urls = ["http://nothing.test/1", "http://nothing.test/2", "http://broken.test/1"]
    sink, _, _ = without_map(lambda seen: reply(b""), urls, {"broken.test": SERVFAIL}, obey_robots=True)
    assert [sink.pages[url].outcome for url in urls] == ["dns_unknown", "dns_unknown", "dns_failed"]
    assert {host: facts.dns_failures for host, facts in sink.hosts.items()} == {
        "nothing.test": 1,
        "broken.test": 1,
    }


# -- proxies --------------------------------------------------------------------------------------------------


@contextlib.asynccontextmanager
async def socks5(asked: list[str], target_port: int | None) -> AsyncIterator[int]:
    """A SOCKS5 proxy (RFC 1928) that leads everybody to one local port, or refuses everybody."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            await lead(reader, writer)
        writer.close()

    async def lead(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        (methods,) = (await reader.readexactly(2))[1:]
        await reader.readexactly(methods)
        writer.write(b"\x05\x00")
        kind = (await reader.readexactly(4))[3]
        if kind == 3:
            (size,) = await reader.readexactly(1)
            host = (await reader.readexactly(size)).decode()
        else:
            host = str(ipaddress.ip_address(await reader.readexactly(4)))
        port = int.from_bytes(await reader.readexactly(2), "big")
        asked.append(f"{host}:{port}")
        if target_port is None:
            writer.write(b"\x05\x02\x00\x01\x00\x00\x00\x00\x00\x00")
            return
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", target_port)
        writer.write(b"\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00")
        await asyncio.gather(_pump(reader, far_writer), _pump(far_reader, writer))

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65_536):
        writer.write(data)
        await writer.drain()
    writer.close()


def test_a_socks_proxy_resolves_and_connects():
    async def main() -> None:
        asked: list[str] = []
        async with ScriptedServer(lambda seen: reply(b"far", headers=("X-Odd:  1",))) as server:
            async with socks5(asked, server.port) as port:
                sink, _ = await fetch(
                    server,
                    ["http://far.test/1"],
                    obey_robots=False,
                    connect_to=(),
                    proxy=f"socks5://127.0.0.1:{port}",
                )
        page = sink.pages["http://far.test/1"]
        assert (page.outcome, page.body, page.ip) == ("success", b"far", None)
        assert page.response_head.startswith(b"HTTP/1.1 200 OK\r\nX-Odd: 1\r\n")
        assert asked == ["far.test:80"]

    asyncio.run(main())


def test_an_http_proxy_is_asked_for_the_whole_url():
    async def main() -> None:
        async with ScriptedServer(lambda seen: reply(b"far")) as proxy:
            sink, _ = await fetch(
                proxy,
                ["http://far.test/1"],
                obey_robots=False,
                connect_to=(),
                proxy=f"http://127.0.0.1:{proxy.port}",
            )
            page = sink.pages["http://far.test/1"]
            assert (page.outcome, page.ip) == ("success", None)
            assert [(seen.path, seen.host) for seen in proxy.log] == [("http://far.test/1", "far.test")]

    asyncio.run(main())


@pytest.mark.parametrize("scheme", ["http", "socks5"])
def test_an_address_denied_to_us_is_not_asked_of_a_proxy_either(scheme):
    async def main() -> None:
        async with ScriptedServer(lambda seen: reply(b"far")) as proxy:
            settings = {"obey_robots": False, "connect_to": (), "proxy": f"{scheme}://127.0.0.1:{proxy.port}"}
            sink, _ = await fetch(proxy, ["http://169.254.169.254/", "http://[::1]/"], **settings)
            assert {c.outcome for c in sink.captures} == {"address_denied"}
            assert proxy.connections == 0

    asyncio.run(main())


@pytest.mark.parametrize("scheme", ["http", "socks5"])
def test_a_proxy_that_is_not_there_is_a_failed_connection(scheme):
    async def main() -> None:
        async with ScriptedServer(lambda seen: reply(b"")) as server:
            settings = {"obey_robots": False, "connect_to": (), "proxy": f"{scheme}://127.0.0.1:9"}
            sink, _ = await fetch(server, ["http://far.test/"], **settings)
            assert sink.pages["http://far.test/"].outcome == "connect_failed"

    asyncio.run(main())


def test_a_proxy_that_refuses_is_a_failed_connection():
    async def main() -> None:
        async with ScriptedServer(lambda seen: reply(b"")) as server, socks5([], None) as port:
            settings = {"obey_robots": False, "connect_to": (), "proxy": f"socks5://127.0.0.1:{port}"}
            sink, _ = await fetch(server, ["http://far.test/"], **settings)
            assert sink.pages["http://far.test/"].outcome == "connect_failed"
        async with ScriptedServer(lambda seen: reply(b"", "403 Forbidden")) as proxy:
            settings = {"obey_robots": False, "connect_to": (), "proxy": f"http://127.0.0.1:{proxy.port}"}
            sink, _ = await fetch(proxy, ["https://far.test/"], **settings)
            assert sink.pages["https://far.test/"].outcome == "connect_failed"

    asyncio.run(main())


def test_a_proxy_of_an_unknown_kind_is_an_error_of_the_settings():
    async def main() -> None:
        async with ScriptedServer(lambda seen: reply(b"")) as server:
            await fetch(server, ["http://far.test/"], proxy="gopher://127.0.0.1:9")

    with pytest.raises(SettingError, match="gopher"):
        asyncio.run(main())
