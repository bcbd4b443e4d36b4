"""Every exception a request can end in, mapped to one of `tables.OUTCOMES` and a reason in words."""

from __future__ import annotations

import ssl

import aiohttp
from aiohttp.client_exceptions import ClientConnectorDNSError
from aiohttp.http_exceptions import ContentLengthError, HttpProcessingError
from aiohttp_socks import ProxyError

from pinyon.fetcher.dns import ResolveError

_MAX_REASON = 300


class AddressDenied(OSError):
    """The address lies in a network that may not be connected to; the text says which."""


def classify(error: BaseException) -> tuple[str, str]:
    """Outcome and reason. The most telling error of the chain of causes decides."""
    for cause in _chain(error):
        outcome = _outcome(cause)
        if outcome is not None:
            return outcome, _words(cause)
    return "protocol_error", _words(error)


def _chain(error: BaseException) -> list[BaseException]:
    """The error, what it wraps, what caused it: innermost first."""
    chain: list[BaseException] = []
    current: BaseException | None = error
    while current is not None and len(chain) < 10:
        chain.append(current)
        inner = getattr(current, "os_error", None)
        current = inner if isinstance(inner, BaseException) and inner is not current else current.__cause__
    return chain[::-1]


def _outcome(error: BaseException) -> str | None:
    if isinstance(error, AddressDenied):
        return "address_denied"
    if isinstance(error, ResolveError):
        return "dns_unknown" if error.unknown else "dns_failed"
    if isinstance(error, ssl.SSLError | ssl.CertificateError):
        return "tls_failed"
    if isinstance(error, ClientConnectorDNSError):
        return "dns_failed"
    if isinstance(error, TimeoutError):
        return "timeout"
    if isinstance(error, aiohttp.InvalidURL):
        return "filtered"
    if isinstance(error, aiohttp.ClientHttpProxyError | ProxyError | ContentLengthError):
        return "connect_failed"
    if isinstance(error, aiohttp.ClientResponseError | HttpProcessingError):
        return "protocol_error"
    if isinstance(error, OSError | aiohttp.ClientConnectionError | aiohttp.ClientPayloadError):
        return "connect_failed"
    return None


def _words(error: BaseException) -> str:
    text = " ".join(str(error).split())
    name = type(error).__name__
    return (f"{name}: {text}" if text else name)[:_MAX_REASON]
