"""The URL Standard (WHATWG), and cuts through its serialised form."""

from __future__ import annotations

import ada_url


def resolve(url: str, base: str | None = None) -> str | None:
    """`url` as the URL Standard parses it, against `base` if given, fragment included; None if it is none."""
    try:
        text: str = ada_url.normalize_url(url) if base is None else ada_url.join_url(base, url)
    except (ValueError, UnicodeEncodeError):  # the latter: lone surrogates, as a hostile page may hold
        return None
    return text


def host_and_port(href: str) -> tuple[str | None, str]:
    """Host and port of a serialised http(s) URL: text cuts, since the parser has done the thinking."""
    start = href.find("//") + 2
    end = len(href)
    for mark in "/?":
        at = href.find(mark, start)
        if 0 <= at < end:
            end = at
    authority = href[start:end]
    authority = authority[authority.rfind("@") + 1 :]
    if authority.startswith("["):
        close = authority.find("]") + 1
        return authority[:close] or None, authority[close + 1 :]
    host, _, port = authority.partition(":")
    return host or None, port
