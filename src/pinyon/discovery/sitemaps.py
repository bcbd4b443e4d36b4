"""Sitemaps: XML (sitemaps.org, in every namespace they are found in), RSS, Atom, and lists of URLs.

The XML is hostile: entities are never expanded, nesting and every text are bounded, and what was read before
the file broke is kept.
"""

from __future__ import annotations

import re
import zlib

from pinyon.discovery.charsets import decode
from pinyon.discovery.model import Limits, Sitemap, SitemapEntry, SitemapKind
from pinyon.discovery.resolve import Resolver
from pinyon.discovery.sitemap_values import changefreq, lastmod, priority
from pinyon.discovery.sitemap_xml import RawEntry, read_xml

_DEFAULT_LIMITS = Limits()
_GZIP = b"\x1f\x8b"
#: Where a list of URLs ends and any text begins: the first line must be one.
_URL_LINE = re.compile(r"\s*https?://\S+\s*", re.IGNORECASE)


def parse_sitemap(body: bytes, url: str, limits: Limits = _DEFAULT_LIMITS) -> Sitemap:
    """The URLs that the sitemap fetched from `url` lists, in its order, each once. Never raises.

    `body` may be gzip as it is stored on servers (`sitemap.xml.gz`); it is unpacked up to `sitemap_bytes`.
    Whether a sitemap may speak for the hosts it names is the caller's to decide, and so is how deep an index is
    followed; entries of an index that are the index itself are left out.
    """
    body, cut = _unpacked(body, limits.sitemap_bytes)
    text = decode(body, None, "xml").text
    start = text.lstrip()
    if start.startswith("<"):
        raw, kind, error = read_xml(start, limits)
    else:
        raw, kind, error = _url_lines(start)
    entries, full = _entries(raw, url, limits)
    if kind == "index":
        entries = [entry for entry in entries if entry.url != url.partition("#")[0]]
    return Sitemap(kind, entries, full or error or cut)


def _unpacked(body: bytes, max_bytes: int) -> tuple[bytes, str | None]:
    """`body` without gzip, cut at `max_bytes`; and why it is not whole, if it is not."""
    if body.startswith(_GZIP):
        unzip = zlib.decompressobj(wbits=31)
        try:
            body = unzip.decompress(body, max_bytes + 1)
        except zlib.error as error:
            return b"", f"broken gzip: {error}"
        if not unzip.eof and len(body) <= max_bytes:
            return body, "gzip ends too early"
    if len(body) > max_bytes:
        return body[:max_bytes], f"cut at {max_bytes} bytes"
    return body, None


def _url_lines(text: str) -> tuple[list[RawEntry], SitemapKind, str | None]:
    lines = text.splitlines()
    if not lines or not _URL_LINE.fullmatch(lines[0]):
        return [], "unknown", "neither XML nor a list of URLs"
    return [RawEntry(line.strip()) for line in lines if _URL_LINE.fullmatch(line)], "text", None


def _entries(raw: list[RawEntry], url: str, limits: Limits) -> tuple[list[SitemapEntry], str | None]:
    resolver = Resolver(url, None, "utf-8", limits.max_url_length)
    entries: dict[str, SitemapEntry] = {}
    for found in raw:
        target = resolver.resolve_or_none(found.url) if found.url else None
        if target and target not in entries:
            if len(entries) >= limits.sitemap_entries:
                return list(entries.values()), f"cut at {limits.sitemap_entries} entries"
            entries[target] = SitemapEntry(
                target, lastmod(found.lastmod), changefreq(found.changefreq), priority(found.priority)
            )
    return list(entries.values()), None
