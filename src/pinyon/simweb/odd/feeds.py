"""Blogs with feeds: announced in several ways, served with and without validators, and broken in usual ways."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from html import escape

from pinyon.simweb.answer import Answer, Ask
from pinyon.simweb.dates import EPOCH_S, http_date, iso_date, rss_date
from pinyon.simweb.dice import dice, number
from pinyon.simweb.kind import Handler, Route
from pinyon.simweb.pages import DAY_S, html_page, own_link
from pinyon.simweb.site import Site
from pinyon.simweb.words import sentence, title

POSTS = 12
RSS = "application/rss+xml"
ATOM = "application/atom+xml; charset=utf-8"

Writer = Callable[[Site], str]


def blog(site: Site, ask: Ask) -> Answer:
    """The list of posts, the newest first; feeds are announced in the head and in a Link header."""
    head = (
        f'<link rel="alternate" type="{RSS}" title="Posts" href="/feed.rss">'
        '<LINK REL="Alternate Feed" TYPE="application/atom+xml" HREF="feed.atom">'
        '<link rel="alternate" type="text/css" href="/print.css">'
    )
    link = f'</feed-tagged.atom>; rel="alternate"; type="{ATOM.partition(";")[0]}"'
    page = html_page(
        site, ask.path, [own_link(site, f"/post/{n}") for n in range(_newest(site), -1, -1)], head=head
    )
    return replace(page, headers=(("Link", link),))


def post(site: Site, ask: Ask) -> Answer:
    """One post; those the edition has not brought yet are missing."""
    digits = ask.path.removeprefix("/post/")
    if not (digits.isascii() and digits.isdigit() and len(digits) < 6 and int(digits) <= _newest(site)):
        return Answer(404, b"no such post\n", "text/plain")
    return html_page(site, ask.path, [own_link(site, "/blog/")])


def feed(write: Writer, content_type: str, *, etag: bool = False, dated: bool = False) -> Handler:
    """A feed in that format, with the validators asked for."""

    def answer(site: Site, ask: Ask) -> Answer:
        tag = f'"{number(site.world.seed, site.host.name, ask.path, site.world.edition):x}"' if etag else None
        changed = http_date(_posted_s(_newest(site))) if dated else None
        return Answer(body=partial(_encoded, write, site), type=content_type, etag=tag, last_modified=changed)

    return answer


def rss(site: Site) -> str:
    """RSS 2.0."""
    items = "".join(
        f"<item><title>{escape(name)}</title><link>{url}</link><guid>{url}</guid>"
        f"<pubDate>{rss_date(at_s)}</pubDate><description>{escape(text)}</description></item>\n"
        for url, name, text, at_s in _posts(site)
    )
    head = f"<title>{site.host.name}</title><link>{site.url('/blog/')}</link><description>Posts</description>"
    return f'<?xml version="1.0"?>\n<rss version="2.0"><channel>{head}\n{items}</channel></rss>\n'


def atom(site: Site) -> str:
    """Atom (RFC 4287)."""
    entries = "".join(
        f'<entry><title>{escape(name)}</title><link href="{url}"/><id>{url}</id>'
        f"<updated>{iso_date(at_s)}</updated><summary>{escape(text)}</summary></entry>\n"
        for url, name, text, at_s in _posts(site)
    )
    updated = iso_date(_posted_s(_newest(site)))
    head = f"<title>{site.host.name}</title><id>{site.url('/')}</id><updated>{updated}</updated>"
    return f'<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">{head}\n{entries}</feed>\n'


def careless_rss(site: Site) -> str:
    """RSS with a bare ampersand, an HTML entity, an impossible date, and nothing closed at the end."""
    broken = rss(site).replace("</title><link>", " &nbsp; this & that</title><link>", 1)
    return broken.replace("<pubDate>", "<pubDate>31 Smarch ", 1).removesuffix("</channel></rss>\n")


def _newest(site: Site) -> int:
    """The number of the newest post: each edition adds one."""
    return POSTS - 1 + site.world.edition


def _posted_s(n: int) -> int:
    return EPOCH_S + n * 3 * DAY_S


def _posts(site: Site) -> Iterator[tuple[str, str, str, int]]:
    newest = _newest(site)
    for n in range(newest, max(-1, newest - POSTS), -1):
        draw = dice(site.world.seed, site.host.name, n, "post")
        yield site.url(f"/post/{n}"), title(draw), sentence(draw), _posted_s(n)


def _encoded(write: Writer, site: Site) -> bytes:
    return write(site).encode()


def _error_page(site: Site, ask: Ask) -> Answer:
    return Answer(body=b"<!DOCTYPE html><title>Oops</title><p>This is no feed.\n", type=RSS)


def _to_feed(site: Site, ask: Ask) -> Answer:
    url = site.url("/feed.rss")
    return Answer(301, b"", None, (("Location", url),), links=(url,))


FEEDS: tuple[Route, ...] = (
    Route("/blog/", blog),
    Route("/post/*", post, listed=False),
    Route("/feed.rss", feed(rss, RSS, etag=True, dated=True), listed=False),
    Route("/feed-tagged.atom", feed(atom, ATOM, etag=True), listed=False),
    Route("/feed-dated.atom", feed(atom, ATOM, dated=True)),
    Route("/blog/feed.atom", feed(atom, ATOM), listed=False),
    Route("/feed-as-text.xml", feed(rss, "text/xml")),
    Route("/feed-careless.rss", feed(careless_rss, RSS)),
    Route("/feed-error.rss", _error_page),
    Route("/feed-moved.rss", _to_feed),
)
