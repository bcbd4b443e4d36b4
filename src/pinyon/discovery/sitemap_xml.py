"""The XML of sitemaps and feeds to raw entries, with expat and no more of XML than that takes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from xml.parsers import expat

from pinyon.discovery.model import Limits, SitemapKind

_ROOTS: dict[str, SitemapKind] = {
    "urlset": "urlset",
    "sitemapindex": "index",
    "rss": "rss",
    "rdf": "rss",
    "feed": "atom",
}
#: Element that is one entry → the root kinds it may stand in.
_ENTRIES: dict[str, tuple[SitemapKind, ...]] = {
    "url": ("urlset", "index"),
    "sitemap": ("index", "urlset"),
    "item": ("rss",),
    "entry": ("atom",),
}
#: Child of an entry → the field it fills.
_FIELDS = {
    "loc": "url",
    "link": "url",
    "guid": "guid",
    "lastmod": "lastmod",
    "pubdate": "lastmod",
    "date": "lastmod",
    "updated": "lastmod",
    "changefreq": "changefreq",
    "priority": "priority",
}
_MAX_DEPTH = 64
#: Characters of one field that are kept while it is read; whitespace around it included.
_FIELD_SLACK = 1_000

_ENTITY = re.compile(
    r"<!\[CDATA\[.*?(?:\]\]>|\Z)|&(?!(?:amp|lt|gt|quot|apos|#\d{1,7}|#[xX][0-9a-fA-F]{1,6});)", re.S
)
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")


class _Refused(Exception):
    """The file asks for something a sitemap has no need of, or holds more than is wanted."""


@dataclass(slots=True)
class RawEntry:
    """One entry as written. A `guid` is a feed item's address if it has no other."""

    url: str = ""
    guid: str = ""
    lastmod: str = ""
    changefreq: str = ""
    priority: str = ""


def read_xml(text: str, limits: Limits) -> tuple[list[RawEntry], SitemapKind, str | None]:
    """The entries in order, what kind of file it is, and why it was not read to its end, if so.

    A file that is not well-formed is read again with its bare ampersands and control characters mended: the
    usual reason.
    """
    reader = _Reader(limits)
    error = reader.read(text)
    if error and reader.broken:
        mended = _NOT_XML.sub("", _ENTITY.sub(_mended, text))
        again = _Reader(limits)
        error_again = again.read(mended) if mended != text else error
        if len(again.entries) > len(reader.entries) or error_again is None:
            reader, error = again, error_again
    if reader.kind == "unknown":
        error = error or "not a sitemap"
    return reader.entries, reader.kind, error


def _mended(match: re.Match[str]) -> str:
    return "&amp;" if match[0] == "&" else match[0]


class _Reader:
    """One pass of expat over a file. Fields are direct children of an entry, in the entry's own namespace.

    Namespaces go by their prefix, whatever it is bound to: the right address, an old one, a misspelt one or
    none at all.
    """

    def __init__(self, limits: Limits) -> None:
        self.kind: SitemapKind = "unknown"
        self.entries: list[RawEntry] = []
        self.broken = False
        self._max_entries = limits.sitemap_entries
        self._max_chars = limits.max_url_length + _FIELD_SLACK
        self._path: list[tuple[str, str]] = []
        self._entry: RawEntry | None = None
        self._entry_depth = 0
        self._field: str | None = None
        self._text = ""

    def read(self, text: str) -> str | None:
        """Fills `kind` and `entries`; why not all was read, or None. `broken`: it is not well-formed."""
        parser = expat.ParserCreate("utf-8")
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        parser.EntityDeclHandler = _refuse_entities
        try:
            parser.Parse(text.encode("utf-8", "replace"), True)
        except _Refused as refused:
            return str(refused)
        except expat.ExpatError as error:
            self.broken = True
            return f"not well-formed: {error}"
        return None

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        prefix, _, local = name.rpartition(":")
        local = local.lower()
        self._path.append((prefix, local))
        depth = len(self._path)
        if depth > _MAX_DEPTH:
            raise _Refused(f"nested deeper than {_MAX_DEPTH}")
        if depth == 1:
            self.kind = _ROOTS.get(local, "unknown")
            if self.kind == "unknown":
                raise _Refused(f"not a sitemap: its root is {local[:40]!r}")
        elif self._entry is None:
            if self.kind in _ENTRIES.get(local, ()):
                self._entry, self._entry_depth = RawEntry(), depth
        elif depth == self._entry_depth + 1:
            self._start_field(prefix, local, attributes)

    def _start_field(self, prefix: str, local: str, attributes: dict[str, str]) -> None:
        # RSS 1.0 and 2.0 date their items with Dublin Core's `dc:date`.
        if prefix != self._path[self._entry_depth - 1][0] and local != "date":
            return
        self._field, self._text = _FIELDS.get(local), ""
        if local == "guid" and attributes.get("isPermaLink", "true").lower() != "true":
            self._field = None
        elif local == "link" and self.kind == "atom":
            self._field = None
            if attributes.get("rel", "alternate") == "alternate" and self._entry and not self._entry.url:
                self._entry.url = attributes.get("href", "")

    def _characters(self, data: str) -> None:
        if self._field and len(self._text) < self._max_chars:
            self._text += data

    def _end(self, name: str) -> None:
        depth = len(self._path)
        self._path.pop()
        if self._entry is None:
            return
        if self._field and depth == self._entry_depth + 1:
            if not getattr(self._entry, self._field):
                setattr(self._entry, self._field, self._text.strip())
            self._field = None
        elif depth == self._entry_depth:
            self._finish(self._entry)

    def _finish(self, entry: RawEntry) -> None:
        self._entry = None
        entry.url = entry.url or entry.guid
        self.entries.append(entry)
        if len(self.entries) > self._max_entries:
            raise _Refused(f"cut at {self._max_entries} entries")


def _refuse_entities(name: str, *_: object) -> None:
    raise _Refused(f"declares an entity: {name[:40]!r}")
