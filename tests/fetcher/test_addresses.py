"""No page leads us into a private network."""

from __future__ import annotations

import pytest

from pinyon.errors import SettingError
from pinyon.fetcher import AddressPolicy

DENIED = """
127.0.0.1 127.255.255.254 0.0.0.0 10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 169.254.169.254 100.64.0.1
100.100.100.200 192.0.0.192 198.18.0.1 224.0.0.1 240.0.0.1 255.255.255.255 168.63.129.16 192.0.2.1 198.51.100.7
203.0.113.9 ::1 :: fe80::1 fe80::1%eth0 fc00::1 fd00:ec2::254 ff02::1 2001:db8::1 ::ffff:127.0.0.1 ::ffff:10.1.2.3
2002:7f00:1:: 2002:c0a8:101:: 64:ff9b::7f00:1 64:ff9b::a9fe:a9fe 100::1 ::127.0.0.1
2001:0:4136:e378:8000:63bf:3fff:fdd2
""".split()

ALLOWED = """
8.8.8.8 1.1.1.1 93.184.216.34 172.15.255.255 172.32.0.1 100.63.255.255 100.128.0.1 192.167.255.255 223.255.255.255
2606:4700::1111 2a00:1450:4001:80e::200e ::ffff:8.8.8.8 64:ff9b::808:808 2002:808:808::
""".split()


@pytest.mark.parametrize("address", DENIED)
def test_addresses_that_are_not_public_are_denied_however_they_are_written(address):
    reason = AddressPolicy().reason(address)
    assert reason is not None
    assert address in reason


@pytest.mark.parametrize("address", ALLOWED)
def test_public_addresses_are_allowed(address):
    assert AddressPolicy().reason(address) is None


def test_a_network_that_is_allowed_is_open_and_its_neighbour_is_not():
    policy = AddressPolicy(("127.1.0.0/16", "::1"))
    assert policy.reason("127.1.255.3") is None
    assert policy.reason("::ffff:127.1.0.9") is None
    assert policy.reason("::1") is None
    assert policy.reason("127.2.0.1") is not None


@pytest.mark.parametrize("text", ["", "localhost", "127.1", "0x7f000001", "2130706433", "1.2.3.4.5"])
def test_what_is_not_an_address_is_denied(text):
    assert AddressPolicy().reason(text) is not None


def test_a_network_that_is_none_is_an_error_that_names_it():
    with pytest.raises(SettingError, match=r"'10\.0\.0\.0/99'"):
        AddressPolicy(("10.0.0.0/99",))
