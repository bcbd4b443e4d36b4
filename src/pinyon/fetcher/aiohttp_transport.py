"""The transport on aiohttp: HTTP/1.1, no redirects, no cookies, nothing decoded, nothing retried behind our back."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

import aiohttp
import yarl

from pinyon.fetcher.addresses import AddressPolicy
from pinyon.fetcher.config import FetcherConfig
from pinyon.fetcher.connect_to import ConnectTo
from pinyon.fetcher.connections import Resolver, is_address, make_connector
from pinyon.fetcher.dns import CachingResolver, make_lookup
from pinyon.fetcher.exchange import Exchange
from pinyon.fetcher.network_errors import AddressDenied
from pinyon.fetcher.transport import Answer, Request, can_be_sent
from pinyon.fetcher.wire import Call, Census, WireResponse, current_call

_MAX_LINE_BYTES = 65_536
_MAX_HEADERS = 512
#: Connections kept for a next request beyond those in use, at most: each is a file handle here and at a server.
_MAX_KEPT = 400


class AiohttpTransport:
    """Made inside a running event loop, closed by `close`. Raises `SettingError` for settings that cannot be used."""

    def __init__(self, config: FetcherConfig, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self._proxied = config.proxy is not None
        self._policy = AddressPolicy(config.allow_addresses)
        connect_to = ConnectTo(config.connect_to)
        lookup = make_lookup(config.nameservers)
        self._close_lookup = lookup.close
        self._names = CachingResolver(
            lookup,
            time=time.monotonic,
            concurrency=config.connections,
            # Shorter than a connection may take, so that a name server that is silent is told from a host that is.
            timeout_s=0.8 * config.connect_timeout_s,
        )
        self._resolver = Resolver(self._names, connect_to, config.only_connect_to, self._policy)
        self._census = Census()
        self._max_open = config.connections + _MAX_KEPT
        self._session = _session(config, make_connector(config, self._resolver, self._census))

    async def locate(self, host: str, port: int) -> str | None:
        if self._proxied:
            return None
        try:
            found = await self._resolver.resolve(host, port)
        except OSError:
            return None
        return found[0]["host"]

    async def close(self) -> None:
        await self._session.close()
        await self._names.close()
        await self._close_lookup()

    # -- one exchange -----------------------------------------------------------------------------------------

    async def fetch(self, request: Request) -> Answer:
        exchange = Exchange(request, self._clock())
        call = Call(keep_alive=request.keep_alive and self._census.open < self._max_open)
        current_call.set(call)
        try:
            url = self._checked(request.url)
            await self._exchange(exchange, url, call)
        except Exception as error:
            exchange.failed(error, call)
        answer = exchange.answer(call)
        return replace(answer, ip=None) if self._proxied else answer  # it would be the proxy's

    def _checked(self, url: str) -> yarl.URL:
        if not can_be_sent(url):
            raise aiohttp.InvalidURL(url[:200], "characters that cannot be sent")
        parsed = yarl.URL(url, encoded=True)
        if self._proxied and parsed.raw_host is not None and is_address(parsed.raw_host):
            reason = self._policy.reason(parsed.raw_host)
            if reason is not None:
                raise AddressDenied(reason)
        return parsed

    async def _exchange(self, exchange: Exchange, url: yarl.URL, call: Call) -> None:
        headers = list(exchange.request.headers)
        if not call.keep_alive:
            headers.append(("Connection", "close"))
        async with self._session.get(url, headers=headers, allow_redirects=False) as response:
            exchange.begin(response, call)
            if exchange.error is not None or not await exchange.read_body(response):
                response.close()


def _session(config: FetcherConfig, connector: aiohttp.TCPConnector) -> aiohttp.ClientSession:
    session = aiohttp.ClientSession(
        connector=connector,
        response_class=WireResponse,
        proxy=config.proxy if (config.proxy or "").startswith("http") else None,
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,
        max_line_size=_MAX_LINE_BYTES,
        max_field_size=_MAX_LINE_BYTES,
        max_headers=_MAX_HEADERS,
        timeout=aiohttp.ClientTimeout(
            total=config.total_timeout_s, connect=config.connect_timeout_s, sock_read=config.read_timeout_s
        ),
    )
    # aiohttp asks again at once when a kept connection breaks; the host's delay must lie between.
    session._retry_connection = False
    return session
