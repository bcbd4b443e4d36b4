"""Where a URL lies: its host, its registered domain, and the hashes that tables are ordered and bucketed by."""

from __future__ import annotations

import functools
import ipaddress
import re
from typing import Any, NamedTuple

import xxhash

from pinyon.urls.standard import host_and_port, resolve

#: A host that needs no parsing: lower-case labels, and a last one that cannot make it an IPv4 address.
_PLAIN_HOST = re.compile(r"https?://((?:[a-z0-9-]+\.)+[a-z]{2,63})(?:[/?]|$)")

#: Hosts whose hash and domain are kept at hand: a crawl meets each of them again and again.
_HOSTS_AT_HAND = 131_072


class Location(NamedTuple):
    """Where a URL lies: its keys and its host, as the tables hold them. Without a host those of it are None."""

    url_key: int
    host: str | None
    host_key: int | None
    domain: str | None

    def bucket(self, buckets: int) -> int:
        """Bucket among `buckets` (a power of two): masking is the same for negative hashes everywhere."""
        return 0 if self.host_key is None else self.host_key & (buckets - 1)


def locate(url: str, private_suffixes: bool = False) -> Location:
    """Keys, host and domain of a URL, normalised or as an import found it. Never raises."""
    host = host_of(url)
    if host is None:
        return Location(key_of(url), None, None, None)
    host_key, domain = _host_key_and_domain(host, private_suffixes)
    return Location(key_of(url), host, host_key, domain)


def key_of(text: str) -> int:
    """xxh3_64 of the UTF-8 text, as a signed 64-bit integer."""
    value: int = xxhash.xxh3_64_intdigest(text.encode("utf-8", "surrogatepass"))
    return value - (1 << 64) if value >> 63 else value


def host_of(url: str) -> str | None:
    """Host of a URL in any spelling: lower-case ASCII without port, `[…]` for IPv6; None if it has none.

    A URL that is not normalised (an imported one) is parsed first; only http and https URLs have a host here.
    A final dot is part of the host here, as in the URL Standard; the normaliser takes it away.
    """
    plain = _PLAIN_HOST.match(url)
    if plain is not None and "xn--" not in plain[1]:
        return plain[1]
    text = resolve(url)
    if text is None or not text.startswith(("http://", "https://")):
        return None
    return host_and_port(text)[0]


@functools.lru_cache(maxsize=_HOSTS_AT_HAND)
def _host_key_and_domain(host: str, private: bool) -> tuple[int, str]:
    return key_of(host), domain_of(host, private)


def domain_of(host: str, private: bool = False) -> str:
    """Registered domain; an IP address, and a host under an unknown suffix, is its own domain.

    `private` takes the private section of the Public Suffix List for suffixes too: `a.github.io` is a domain then.
    """
    # what the URL Standard lets end in a number is an IPv4 address
    if host.startswith("[") or host.rpartition(".")[2].isdecimal():
        return host
    return _suffix_list(private).privatesuffix(host.rstrip(".")) or host


@functools.cache
def _suffix_list(private: bool) -> Any:
    from publicsuffixlist import PublicSuffixList

    return PublicSuffixList(only_icann=not private, accept_unknown=False)


def suffix_list_version() -> str:
    """Version of the Public Suffix List in use, e.g. '1.1.2.20261023': domains are derived from it."""
    from importlib.metadata import version

    return version("publicsuffixlist")


def is_address(host: str) -> bool:
    """Whether a host is an IP address rather than a name."""
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True
