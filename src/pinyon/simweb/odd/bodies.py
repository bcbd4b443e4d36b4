"""Bodies: how they are framed, coded, cut short, and how large they are."""

from __future__ import annotations

import gzip
import zlib
from dataclasses import replace
from functools import cache, partial

from pinyon.simweb.answer import Answer, Ask, Manner
from pinyon.simweb.kind import Handler, Route
from pinyon.simweb.pages import html_page, own_link
from pinyon.simweb.site import Site

BIG_BYTES = 5 * 1024 * 1024
BOMB_BYTES = 32 * 1024 * 1024


def framed(manner: Manner) -> Handler:
    """A page sent in that manner."""
    return lambda site, ask: replace(_page(site, ask), manner=manner)


def coded(coding: str) -> Handler:
    """A page in that content coding, if the client accepts it."""
    return lambda site, ask: replace(_page(site, ask), coding=coding)


def labelled(coding: str, body: bytes) -> Handler:
    """A body that calls itself coded, whatever it is and whoever asks."""
    return lambda site, ask: Answer(body=body, headers=(("Content-Encoding", coding),))


def big(site: Site, ask: Ask) -> Answer:
    """A page of several megabytes; its links come last."""
    page = _page(site, ask)
    return replace(page, body=partial(_swollen, page))


def big_chunked(site: Site, ask: Ask) -> Answer:
    """The same in chunks: a limit has to hold without a Content-Length, and the trailer is far away."""
    return replace(big(site, ask), manner=Manner.CHUNKED)


def bomb(site: Site, ask: Ask) -> Answer:
    """A few kilobytes that unpack to very much more."""
    return Answer(body=_packed_zeros, headers=(("Content-Encoding", "gzip"),))


def empty(site: Site, ask: Ask) -> Answer:
    """A page without a byte."""
    return Answer(body=b"")


def _page(site: Site, ask: Ask) -> Answer:
    return html_page(site, ask.path, [own_link(site, "/")])


def _swollen(page: Answer) -> bytes:
    line = b"<p>needle after needle after needle</p>\n"
    return page.content().replace(b"</h1>", b"</h1>" + line * (BIG_BYTES // len(line)), 1)


@cache
def _packed_zeros() -> bytes:
    packer = zlib.compressobj(9, wbits=31)
    block = bytes(1024 * 1024)
    return b"".join([*(packer.compress(block) for _ in range(BOMB_BYTES // len(block))), packer.flush()])


FRAMING: tuple[Route, ...] = (
    Route("/chunked", framed(Manner.CHUNKED)),
    Route("/until-close", framed(Manner.UNTIL_CLOSE)),
    Route("/old", framed(Manner.OLD)),
    Route("/hinted", framed(Manner.HINTED)),
    Route("/split", framed(Manner.SPLIT)),
    Route("/empty", empty),
)

CODINGS: tuple[Route, ...] = tuple(
    Route(f"/{coding}", coded(coding))
    for coding in ("gzip", "x-gzip", "deflate", "raw-deflate", "br", "zstd")
)

_PAGE = b"<!DOCTYPE html><title>Coded</title><p>Coded.\n"

BODIES: tuple[Route, ...] = (
    Route("/big", big, settled=False),
    Route("/big-chunked", big_chunked, settled=False),
    Route("/cut", framed(Manner.CUT), settled=False),
    Route("/cut-chunk", framed(Manner.CUT_CHUNK), settled=False),
    Route("/dribble", framed(Manner.DRIBBLE), settled=False),
    Route("/bomb", bomb, settled=False),
    Route("/not-gzip", labelled("gzip", _PAGE), settled=False),
    Route("/cut-gzip", labelled("gzip", gzip.compress(_PAGE * 20, mtime=0)[:-12]), settled=False),
    Route("/unknown-coding", labelled("rot13", _PAGE), settled=False),
    Route(
        "/twice", labelled("gzip, gzip", gzip.compress(gzip.compress(_PAGE, mtime=0), mtime=0)), settled=False
    ),
    Route("/identity", labelled("identity", _PAGE)),
)
