"""What kind of document a body is: by its MIME type, and by its first bytes where that says too little."""

from __future__ import annotations

import codecs
import re

from pinyon.discovery.model import PageKind

_HTML_TYPES = frozenset({"text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml"})
_TEXT_TYPES = frozenset({"text/plain", "text/markdown"})
TEXTUAL_TYPES = _HTML_TYPES | _TEXT_TYPES
_FEED_TYPES = frozenset({"application/rss+xml", "application/atom+xml", "application/feed+json"})
_UNKNOWN_TYPES = frozenset({"", "application/octet-stream", "application/unknown", "unknown/unknown", "*/*"})

_SNIFF_BYTES = 2048
_PROLOG = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:\s++|<\?.*?\?>|<!--.*?-->|<!doctype[^>\[]*+(?:\[[^\]]*+\]\s*+)?>)*+", re.I | re.S
)
_ROOT = re.compile(rb"<(?:[a-z_][\w.-]*:)?([a-z][a-z0-9]*)", re.I)
_ROOT_KINDS: dict[bytes, PageKind] = {
    b"rss": "feed",
    b"feed": "feed",
    b"rdf": "feed",
    b"urlset": "sitemap",
    b"sitemapindex": "sitemap",
    b"html": "html",
}
_HTML_START = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*+(?:<!--.*?-->\s*+)*+<(?:!doctype\s+html|html|head|body|title|meta|script|link|h1|div|p|a|table|br)[\s>/]",
    re.I | re.S,
)
#: PDF, PNG, JPEG, GIF, ZIP, gzip: what is served as HTML most often without being text at all.
_BINARY_STARTS = (b"%PDF-", b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"PK\x03\x04", b"\x1f\x8b")
_BINARY = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


def mime_type(content_type: str | None) -> str:
    """The bare MIME type, lower case, of a Content-Type value; "" for none."""
    return (content_type or "").partition(";")[0].strip().lower()


def kind_of(content_type: str | None, body: bytes) -> PageKind:
    """How `body` is to be read; "other" is what discovery has no parser for.

    A declared type is believed, with two exceptions browsers and feed readers make as well: XML is told apart
    by its root element, and so are feeds and sitemaps that come as HTML or plain text.
    """
    mime = mime_type(content_type)
    if mime in _UNKNOWN_TYPES:
        return _sniffed(body)
    if mime in _FEED_TYPES:
        return "feed"
    is_xml = mime in ("text/xml", "application/xml") or mime.endswith("+xml")
    if body.startswith(_BINARY_STARTS) or not (is_xml or mime in TEXTUAL_TYPES):
        return "other"
    root = _root_kind(_head(body))
    if mime in _HTML_TYPES:
        return root if root in ("feed", "sitemap") else "html"
    if mime in _TEXT_TYPES:
        return root if root in ("feed", "sitemap") else "text"
    return root or "other"


def _head(body: bytes) -> bytes:
    """The first bytes, as an ASCII-based charset would have them."""
    head = body[:_SNIFF_BYTES]
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return head.decode("utf-16", "ignore").encode("utf-8", "replace")
    return head


def _root_kind(head: bytes) -> PageKind | None:
    prolog = _PROLOG.match(head)
    root = _ROOT.match(head, prolog.end() if prolog else 0)
    return _ROOT_KINDS.get(root[1].lower()) if root else None


def _sniffed(body: bytes) -> PageKind:
    head = _head(body)
    root = _root_kind(head)
    if root:
        return root
    if _HTML_START.match(head):
        return "html"
    return "other" if _BINARY.search(head) else "text"
