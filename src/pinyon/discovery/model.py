"""What discovery hands out: pages, links, feeds, sitemaps, and the limits they were read under."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

PageStatus = Literal["parsed", "skipped", "failed"]
PageKind = Literal["html", "text", "feed", "sitemap", "other"]
TextMode = Literal["main", "all", "none"]
SitemapKind = Literal["urlset", "index", "rss", "atom", "text", "unknown"]


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is taken from one page or sitemap. Everything past a limit is dropped, never an error."""

    #: Links listed a page, duplicates not counted; negative: all (Nutch `db.max.outlinks.per.page`).
    max_links: int = 10_000
    #: Bytes of a URL, as written and as joined (Nutch `db.max.outlink.length`).
    max_url_length: int = 2_000
    #: Characters of a link's text (Nutch `db.max.anchor.length`).
    anchor_chars: int = 100
    title_chars: int = 500
    max_feeds: int = 100
    #: Which text of an HTML page is kept: without navigation and boilerplate, everything, nothing.
    text: TextMode = "main"
    text_chars: int = 1_000_000
    #: Elements links are taken from. `img`, `script`, `link` and `form` can be added: those are what Nutch's
    #: `parser.html.outlinks.ignore_tags` is there to remove.
    link_tags: frozenset[str] = frozenset({"a", "area", "frame", "iframe"})
    #: Both from the sitemap protocol, section "Sitemap file requirements"; bytes after decompression.
    sitemap_bytes: int = 50 * 1024 * 1024
    sitemap_entries: int = 50_000


@dataclass(frozen=True, slots=True)
class Link:
    """A link to another page: absolute http(s) URL without fragment, its text, its rel tokens.

    `rel` is lower case, tokens parted by one space. It holds `nofollow` only if every link of the page to
    this URL says so.
    """

    url: str
    anchor: str
    rel: str


@dataclass(frozen=True, slots=True)
class FeedLink:
    """A feed the page announces. `type` is the MIME type as announced, lower case, "" where none is given."""

    url: str
    title: str
    type: str


@dataclass(frozen=True, slots=True)
class Page:
    """One parsed body. Times, headers and the URL itself stay with the caller.

    - `signature`: MD5 (16 bytes) of the body as it was handed in: content codings removed, charset not yet
      decoded. Equal bodies have equal signatures whatever their headers (Nutch's `MD5Signature`).
    - `links`: in the order of the page, one a target. Empty under `nofollow`.
    - `links_dropped`: links not listed: over a limit, or all of them under `nofollow`. Links that no crawler
      can follow (other schemes, no valid URL, the page itself) are not counted.
    - `canonical`, `refresh_to`: absolute http(s) URL without fragment. A refresh to the page itself is none.
    - `text` is empty under `noindex`.
    - `error`: why it was skipped or failed, in one line.
    """

    status: PageStatus
    kind: PageKind = "other"
    error: str | None = None
    title: str = ""
    text: str = ""
    language: str | None = None
    charset: str | None = None
    canonical: str | None = None
    noindex: bool = False
    nofollow: bool = False
    refresh_to: str | None = None
    links: list[Link] = field(default_factory=list)
    feeds: list[FeedLink] = field(default_factory=list)
    signature: bytes = b""
    links_dropped: int = 0


@dataclass(frozen=True, slots=True)
class SitemapEntry:
    """One URL of a sitemap, with what it says of it; None where it says nothing that can be understood.

    `lastmod` is UTC, and may lie in the future: only the caller knows what time it is. `changefreq` is one of
    the protocol's words, `priority` lies within 0.0 and 1.0.
    """

    url: str
    lastmod: datetime | None = None
    changefreq: str | None = None
    priority: float | None = None


@dataclass(frozen=True, slots=True)
class Sitemap:
    """One sitemap file. Entries are kept as far as it could be read; `error` says why not further.

    The entries of an `index` are sitemaps, all others are pages.
    """

    kind: SitemapKind
    entries: list[SitemapEntry] = field(default_factory=list)
    error: str | None = None
