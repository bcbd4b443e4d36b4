"""An href to an absolute URL, as the WHATWG URL Standard joins them."""

from __future__ import annotations

import codecs
from urllib.parse import quote_from_bytes

from pinyon.urls import resolve as join

_FOLLOWABLE = ("http://", "https://")
#: What the standard strips from both ends of a URL: C0 controls and space.
_STRIPPED = "".join(map(chr, range(0x21)))
#: Bytes of a query that need no escape; everything that is ASCII is left to the join.
_ASCII = "".join(map(chr, range(0x21, 0x7F)))


def _as_references(error: UnicodeError) -> tuple[str, int]:
    """Characters the page's charset lacks, as the URL Standard writes them: escaped numeric references."""
    assert isinstance(error, UnicodeEncodeError)
    lacking = error.object[error.start : error.end]
    return "".join(f"%26%23{ord(character)}%3B" for character in lacking), error.end


_REFERENCES = "pinyon.discovery.references"
codecs.register_error(_REFERENCES, _as_references)


class TooLong(ValueError):
    """The URL is over the limit, before or after joining."""


class Resolver:
    """Joins the hrefs of one page. `base_href` is what the page's first base element says, if it has one."""

    def __init__(self, page_url: str, base_href: str | None, codec: str, max_bytes: int) -> None:
        self.page_url = without_fragment(page_url)
        self._codec = codec
        self._max_bytes = max_bytes
        self._base = page_url
        if base_href:
            self._base = self.resolve_or_none(base_href) or page_url

    def resolve(self, href: str) -> str | None:
        """The absolute http(s) URL without fragment; None if there is none. Raises TooLong.

        Overlong hrefs are refused before anything looks at them.
        """
        href = without_fragment(href).strip(_STRIPPED)
        self._check(href)
        if not href.isascii() and "?" in href and self._codec != "utf-8":
            href = self._with_query_in_page_charset(href)
        url = join(href, self._base)
        if url is None or not url.startswith(_FOLLOWABLE):
            return None
        self._check(url)
        return url

    def resolve_or_none(self, href: str) -> str | None:
        """The same for who does not count what is too long."""
        try:
            return self.resolve(href)
        except TooLong:
            return None

    def _check(self, url: str) -> None:
        length = len(url)
        if length * 4 > self._max_bytes and not url.isascii():
            length = len(url.encode("utf-8", "replace"))
        if length > self._max_bytes:
            raise TooLong

    def _with_query_in_page_charset(self, href: str) -> str:
        """Browsers send the query, and only the query, in the page's charset: `?q=ü` is `?q=%FC` in Latin-1."""
        path, _, query = href.partition("?")
        raw = query.encode(self._codec, _REFERENCES)
        return f"{path}?{quote_from_bytes(raw, safe=_ASCII)}"


def without_fragment(url: str) -> str:
    return url.partition("#")[0]
