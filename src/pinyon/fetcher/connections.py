"""How a connection is made: which address a name is, whether it may be connected to, what TLS asks for."""

from __future__ import annotations

import functools
import socket
import ssl
from pathlib import Path

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult

from pinyon.errors import SettingError
from pinyon.fetcher.addresses import AddressPolicy
from pinyon.fetcher.config import FetcherConfig
from pinyon.fetcher.connect_to import ConnectTo
from pinyon.fetcher.dns import CachingResolver, ResolveError
from pinyon.fetcher.network_errors import AddressDenied
from pinyon.fetcher.wire import Census, WireHandler

_KEEP_ALIVE_S = 30.0


def make_connector(config: FetcherConfig, resolver: Resolver, census: Census) -> aiohttp.TCPConnector:
    """Direct, or through the proxy of `config`: then names are resolved, and addresses judged, by the proxy."""
    tls = tls_context(config)
    if config.proxy is None:
        return Connector(
            census, resolver=resolver, socket_factory=resolver.make_socket, limit=config.connections, ssl=tls
        )
    if config.proxy.startswith("http"):
        return Connector(census, resolver=aiohttp.ThreadedResolver(), limit=config.connections, ssl=tls)
    from aiohttp_socks import ProxyConnector

    try:
        return ProxyConnector.from_url(config.proxy, limit=config.connections, ssl=tls)
    except ValueError as error:
        raise SettingError(f"proxy '{config.proxy}' cannot be used: {error}") from error


class Connector(aiohttp.TCPConnector):
    """Notes the wire, and asks our resolver for addresses too, which aiohttp connects to without asking."""

    def __init__(self, census: Census, *, resolver: AbstractResolver, **options: object) -> None:
        super().__init__(
            resolver=resolver,
            use_dns_cache=False,
            keepalive_timeout=_KEEP_ALIVE_S,
            **options,  # type: ignore[arg-type]
        )
        self._factory = functools.partial(WireHandler, loop=self._loop, census=census)  # type: ignore[assignment]

    async def _resolve_host(self, host: str, port: int, traces: object = None) -> list[ResolveResult]:
        return await self._resolver.resolve(host, port)


class Resolver(AbstractResolver):
    """A host and port to where they are connected to: the operator's map first, then DNS, less what is not allowed."""

    def __init__(
        self, names: CachingResolver, connect_to: ConnectTo, only: bool, policy: AddressPolicy
    ) -> None:
        self._names = names
        self._connect_to = connect_to
        self._only = only
        self._policy = policy
        #: Places the operator named: allowed though they be private, if they are reached by that name.
        self.exempt: set[tuple[str, int]] = set()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Places to try, in order. Raises `ResolveError` or `AddressDenied`, both of them OSErrors."""
        name = host.lower().strip("[]")
        target = self._connect_to.find(name, port)
        if target is not None:
            if is_address(target.address):
                self.exempt.add(target)
                return [_place(host, target.address, target.port)]
            name, port = target.address, target.port
        elif self._only:
            raise ResolveError(f"{host}: no connect-to line for it", unknown=True)
        addresses = (name,) if is_address(name) else await self._names.resolve(name)
        return [_place(host, address, port) for address in self._allowed(addresses)]

    def _allowed(self, addresses: tuple[str, ...]) -> list[str]:
        reasons = [self._policy.reason(address) for address in addresses]
        allowed = [address for address, reason in zip(addresses, reasons, strict=True) if reason is None]
        if not allowed:
            raise AddressDenied(reasons[0] or "no address")
        return allowed

    def make_socket(self, info: tuple[object, ...]) -> socket.socket:
        """The last gate: this is the very address that is connected to, wherever it came from."""
        family, kind, protocol, _, target = info
        assert isinstance(target, tuple)
        if (target[0], target[1]) not in self.exempt:
            reason = self._policy.reason(str(target[0]))
            if reason is not None:
                raise AddressDenied(reason)
        return socket.socket(family, kind, protocol)  # type: ignore[arg-type]

    async def close(self) -> None:
        return None


def _place(host: str, address: str, port: int) -> ResolveResult:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    return ResolveResult(hostname=host, host=address, port=port, family=family, proto=0, flags=0)


def tls_context(config: FetcherConfig) -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    if config.ca_file is not None:
        try:
            context.load_verify_locations(cafile=Path(config.ca_file))
        except (OSError, ssl.SSLError) as error:
            raise SettingError(
                f"{config.ca_file}: no certificate authorities can be read from it: {error}"
            ) from error
    if not config.verify_tls:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def is_address(host: str) -> bool:
    """Whether a host, without brackets, is an address in its usual spelling."""
    try:
        socket.inet_pton(socket.AF_INET6 if ":" in host else socket.AF_INET, host.partition("%")[0])
    except (OSError, ValueError):
        return False
    return True
