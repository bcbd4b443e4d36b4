"""Content: types that are not HTML, validators of every sort, and the same content at several URLs."""

from __future__ import annotations

import struct
import zlib
from dataclasses import replace

from pinyon.simweb.answer import HTML, Answer, Ask
from pinyon.simweb.dates import EPOCH_S, http_date
from pinyon.simweb.kind import Handler, Route
from pinyon.simweb.pages import html_page, own_link
from pinyon.simweb.site import Site

_PAGE = b"<!DOCTYPE html><title>Typed</title><p>Typed.\n"
_XHTML = (
    b'<?xml version="1.0"?>\n<html xmlns="http://www.w3.org/1999/xhtml"><head><title>X</title></head>'
    b"<body><p>Strict.<br/></p></body></html>\n"
)
#: JSON that a careless scan takes for a page in GBK with a link.
_JSON = '{"html": "<meta charset=gbk><a href=/decoy/json>ä</a>"}\n'.encode()
_SCRIPT = b'location = "/decoy/script"; document.write("<a href=/decoy/written>x</a>");\n'


def typed(content_type: str | None, body: bytes) -> Handler:
    """That body under that Content-Type."""
    return lambda site, ask: Answer(body=body, type=content_type)


def valid(
    etag: str | None = None, *, dated: bool = False, obeyed: bool = True, clock: bool = False
) -> Handler:
    """A page with those validators; not `obeyed`: sent again in spite of them. `clock`: the tag changes always."""

    def answer(site: Site, ask: Ask) -> Answer:
        tag = f'"{ask.now_s}"' if clock else etag
        changed = http_date(EPOCH_S + site.host.key % 1_000_000) if dated else None
        page = html_page(site, ask.path, [own_link(site, "/")])
        if obeyed:
            return replace(page, etag=tag, last_modified=changed)
        names = (("ETag", tag), ("Last-Modified", changed))
        return replace(page, headers=tuple((name, value) for name, value in names if value is not None))

    return answer


def same(site: Site, ask: Ask) -> Answer:
    """The same bytes at every path."""
    return html_page(site, "/same")


def nearly_same(site: Site, ask: Ask) -> Answer:
    """The same text; only a comment tells the pages apart."""
    return html_page(site, "/same", tail=f"<!-- {len(ask.path)} {ask.path[-1:]} -->")


def pdf() -> bytes:
    """The smallest PDF that viewers open: one empty page."""
    objects = (
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 72 72] >>",
    )
    out, offsets = b"%PDF-1.4\n", []
    for i, content in enumerate(objects, start=1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%b\nendobj\n" % (i, content)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    trailer = b"trailer\n<< /Size 4 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % len(out)
    return out + b"xref\n0 4\n0000000000 65535 f \n" + table + trailer


def png() -> bytes:
    """A picture of one grey pixel."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", zlib.compress(b"\x00\x80")) + chunk(b"IEND", b"")


TYPES: tuple[Route, ...] = (
    Route("/paper.pdf", typed("application/pdf", pdf())),
    Route("/jay.png", typed("image/png", png())),
    Route("/data.json", typed("application/json", _JSON)),
    Route("/notes.txt", typed("text/plain; charset=utf-8", b"See <a href=/decoy/text>this</a>.\n")),
    Route("/app.js", typed("text/javascript", _SCRIPT)),
    Route("/style.css", typed("text/css", b"body { background: url(/decoy/css.png) }\n")),
    Route("/strict.xhtml", typed("application/xhtml+xml", _XHTML)),
    Route("/shouting", typed("TEXT/HTML;CHARSET=UTF-8", _PAGE)),
    Route("/untyped", typed(None, _PAGE), settled=False),
    Route("/empty-type", typed("", _PAGE), settled=False),
    Route("/nonsense-type", typed("html", _PAGE), settled=False),
    Route("/page-as-text", typed("text/plain", _PAGE)),
    Route("/picture-as-page", typed(HTML, png()), settled=False),
    Route("/page-as-pdf", typed("application/pdf", _PAGE)),
    Route("/decoy/*", typed(HTML, _PAGE), listed=False),
)

VALIDATORS: tuple[Route, ...] = (
    Route("/strong", valid('"strong-1"')),
    Route("/weak", valid('W/"weak-1"')),
    Route("/odd-tag", valid('"with, comma and \\"quote"')),
    Route("/bare-tag", valid("bare")),
    Route("/dated", valid(dated=True)),
    Route("/tagged-and-dated", valid('"both-1"', dated=True)),
    Route("/neither", valid()),
    Route("/ignored", valid('"ignored-1"', dated=True, obeyed=False)),
    Route("/always-new", valid(clock=True)),
)

DUPLICATES: tuple[Route, ...] = (
    *(Route(f"/copy/{n}", same) for n in range(4)),
    *(Route(f"/near/{n}", nearly_same) for n in range(4)),
    Route("/copy", same),
)
