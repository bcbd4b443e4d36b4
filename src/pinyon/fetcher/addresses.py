"""Which addresses a crawler may connect to: a page can name any, and ours must not become a way into our network."""

from __future__ import annotations

import functools
import ipaddress
from collections.abc import Iterable

from pinyon.errors import SettingError

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

#: Public by the registries, yet answered inside a cloud's own network only (the last three: metadata services).
_DENIED = tuple(
    ipaddress.ip_network(text)
    for text in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
        "168.63.129.16/32",
        "fd00:ec2::254/128",
        "fd20:ce::254/128",
    )
)

_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
#: The only part of IPv6 that is given out; what is special inside it is listed after it.
_GLOBAL_V6 = ipaddress.IPv6Network("2000::/3")
_DENIED_V6 = tuple(
    ipaddress.IPv6Network(text) for text in ("2001:db8::/32", "2001:2::/48", "2001:10::/28", "3fff::/20")
)


def parse_networks(texts: Iterable[str]) -> tuple[Network, ...]:
    """Networks ("10.1.0.0/16", "::1", "192.168.1.7"); `SettingError` naming the first that is none."""
    networks = []
    for text in texts:
        try:
            networks.append(ipaddress.ip_network(text.strip(), strict=False))
        except ValueError as error:
            raise SettingError(
                f"'{text}' is not a network: wanted an address such as '127.0.0.0/8'"
            ) from error
    return tuple(networks)


class AddressPolicy:
    """Says why an address may not be connected to. `allow` opens networks that are private otherwise."""

    def __init__(self, allow: Iterable[str] = ()) -> None:
        self._allow = parse_networks(allow)
        self.reason = functools.lru_cache(maxsize=16_384)(self._reason)

    def _reason(self, text: str) -> str | None:
        """None if `text` (an address without brackets or zone) may be connected to, else why not."""
        try:
            address: Address = ipaddress.ip_address(text.partition("%")[0])
        except ValueError:
            return f"'{text}' is not an address"
        inner = _embedded(address)
        if any(_within(candidate, network) for candidate in (address, inner) for network in self._allow):
            return None
        denied = _denied(inner)
        return f"{text} lies in {denied}, which is not allowed" if denied else None


def _within(address: Address, network: Network) -> bool:
    return address.version == network.version and address in network


def _denied(address: Address) -> str | None:
    if isinstance(address, ipaddress.IPv4Address):
        return next((str(n) for n in _DENIED if n.version == 4 and address in n), None)
    if address not in _GLOBAL_V6:
        return "a part of IPv6 that is not public"
    return next((str(n) for n in _DENIED_V6 if address in n), None)


def _embedded(address: Address) -> Address:
    """The IPv4 address an IPv6 one leads to (mapped, 6to4, Teredo, NAT64): that is where the packets go."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address.teredo is not None:
        return address.teredo[1]
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address
