"""Servers that are slow, die, say nothing, or say what is not HTTP."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pinyon.simweb.answer import Answer, Ask, Manner
from pinyon.simweb.kind import Route
from pinyon.simweb.pages import Link, html_page
from pinyon.simweb.site import Site

#: Requests that a dying host still answers, robots.txt among them.
LIFE = 4
#: Pages that a host has under http and https alike.
TWINS = 5

Wrap = Callable[[Site, Ask, Answer], Answer]


def slowly(site: Site, ask: Ask, answer: Answer) -> Answer:
    """Every answer late; robots.txt too."""
    return replace(answer, delay_s=site.world.slow_s)


def dying(manner: Manner) -> Wrap:
    """Well for `LIFE` requests, then only that."""

    def wrap(site: Site, ask: Ask, answer: Answer) -> Answer:
        return answer if ask.host_visit < LIFE else Answer(manner=manner)

    return wrap


def mute(manner: Manner) -> Wrap:
    """Never anything but that."""
    return lambda site, ask, answer: Answer(manner=manner)


def twins(site: Site, ask: Ask) -> Answer:
    """The list of pages that http and https both have, with the same content."""
    urls = [f"{scheme}://{site.host.name}/twin/{n}" for scheme in ("http", "https") for n in range(TWINS)]
    return html_page(site, ask.path, [Link(url, url) for url in urls])


def twin(site: Site, ask: Ask) -> Answer:
    """One of them."""
    return html_page(site, ask.path)


def raw(name: str, text: bytes | Callable[[], bytes]) -> Route:
    """A path that sends exactly that."""
    return Route(f"/raw/{name}", lambda site, ask: Answer(body=text, manner=Manner.RAW), settled=False)


_BODY = b"<!DOCTYPE html><title>Raw</title><p>Raw.\n"
_SIZED = (len(_BODY), _BODY)
_OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"

GARBAGE: tuple[Route, ...] = (
    raw("empty", b""),
    raw("no-status-line", _BODY),
    raw("no-reason", b"HTTP/1.1 200\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%b" % _SIZED),
    raw("bad-status", b"HTTP/1.1 2OO OK\r\nContent-Type: text/html\r\n\r\n" + _BODY),
    raw("bad-version", b"HTTQ/9.7 200 OK\r\nContent-Type: text/html\r\n\r\n" + _BODY),
    raw("no-colon", _OK + b"this is no header\r\n\r\n" + _BODY),
    raw("bare-newlines", b"HTTP/1.1 200 OK\nContent-Type: text/html\nContent-Length: %d\n\n%b" % _SIZED),
    raw("long-header", lambda: _OK + b"X-Long: " + b"x" * 200_000 + b"\r\n\r\n" + _BODY),
    raw("many-headers", lambda: _OK + b"".join(b"X-%d: x\r\n" % n for n in range(20_000)) + b"\r\n" + _BODY),
    raw("cut-head", _OK + b"X-Part: x\r\n" * 1000),
    raw("length-nonsense", _OK + b"Content-Length: many\r\n\r\n" + _BODY),
    raw("length-negative", _OK + b"Content-Length: -1\r\n\r\n" + _BODY),
    raw("two-lengths", _OK + b"Content-Length: %d\r\nContent-Length: 5\r\n\r\n%b" % _SIZED),
    raw("bad-chunk", _OK + b"Transfer-Encoding: chunked\r\n\r\nxyz\r\n" + _BODY + b"\r\n0\r\n\r\n"),
    raw("binary", bytes(range(256)) * 8),
    raw("other-protocol", b"220 mail.sim.test ESMTP ready\r\n"),
)

BOTH: tuple[Route, ...] = (Route("/twins", twins), Route("/twin/*", twin, listed=False))
