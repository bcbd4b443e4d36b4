"""Bytes to links, feeds and sitemaps: what a fetched body says, by pure functions.

**Nouns.** A *body* is bytes without content codings, of a size the caller has limited. A *page* is what
`parse_page` makes of one: its links, the feeds it announces, title, text, what it asks of robots, a signature of
its bytes. A *link* is an absolute http(s) URL with its text and rel. A *sitemap* is what `parse_sitemap` makes of
a file that lists URLs; whether a body is one is the caller's to know (from robots.txt), a page only says so in
its `kind`.

**The way of a body** through `parse_page`:

    kinds       which parser: HTML, text, feed, sitemap, or none, which ends it as "skipped"
    charsets    bytes to text: byte order mark, header, declaration, guess
    guard       HTML that would take a parser minutes is rewritten (`flatten`), all other passes untouched
    html        one tree, one walk: base, title, language, robots, canonical, refresh, links, feeds
    resolve     href to URL, relative to the base, by the URL Standard
    outlinks    one link a target;  feeds, linkheader: the announced feeds;  text: what the index gets

**What happens to a link.** It is seen in document order, cut at its fragment, refused if overlong before anything
looks at it, joined, dropped unless it is http(s) and leads elsewhere, and merged with earlier ones to the same
URL. Nothing is normalised or filtered here: the caller does that, by `pinyon.urls`, where all URLs enter.

**The invariant.** Whatever the bytes: no exception, no clock, no disk, no network; time about linear in their
number; nothing handed out longer than `Limits` says. All input is hostile, and most of it is merely broken; so
as much as can be read is handed out, with the reason why it is not more.
"""

from pinyon.discovery.model import FeedLink, Limits, Link, Page, Sitemap, SitemapEntry
from pinyon.discovery.page import parse_page
from pinyon.discovery.sitemaps import parse_sitemap

__all__ = [
    "FeedLink",
    "Limits",
    "Link",
    "Page",
    "Sitemap",
    "SitemapEntry",
    "parse_page",
    "parse_sitemap",
]
