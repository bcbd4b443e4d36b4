"""The URL Standard (WHATWG), and cuts through its serialised form."""

from __future__ import annotations

import re

import ada_url

#: What the URL Standard leaves exactly as it is: nearly all seeds. A pattern is cheaper than a call of the parser.
_AS_IT_IS = re.compile(
    r"https?://(?:(?!xn--)[a-z0-9-]+\.)+[a-z]{2,63}"
    r"(?:/(?!\.)[A-Za-z0-9_~.!$&'()*+,=:@-]*)+(?:\?[A-Za-z0-9_~.!$&()*+,=:@/?-]*)?"
)


def resolve(url: str, base: str | None = None) -> str | None:
    """`url` as the URL Standard parses it, against `base` if given, fragment included; None if it is none."""
    if base is None and _AS_IT_IS.fullmatch(url):
        return url
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
