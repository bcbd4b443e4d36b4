"""Sitemaps: named in robots.txt; plain, packed, an index, and an index that contains itself.

The pages they name are linked from nowhere else: whether they are fetched depends on the crawler.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable

from pinyon.simweb.answer import Answer, Ask
from pinyon.simweb.dates import EPOCH_S, iso_date
from pinyon.simweb.kind import Route
from pinyon.simweb.pages import DAY_S, html_page
from pinyon.simweb.site import Site

ORPHANS = 8
_XML = "application/xml"
_NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


def robots(site: Site, ask: Ask) -> Answer:
    """Rules and two Sitemap lines."""
    maps = "".join(f"Sitemap: {site.url(path)}\n" for path in ("/sitemap_index.xml", "/sitemap.txt"))
    return Answer(body=f"User-agent: *\nDisallow: /private/\n{maps}".encode(), type="text/plain")


def index(site: Site, ask: Ask) -> Answer:
    """An index of all of them, itself included."""
    paths = ("/sitemap-plain.xml", "/sitemap-packed.xml.gz", "/sitemap_index.xml", "/sitemap-missing.xml")
    parts = "".join(f"<sitemap><loc>{site.url(path)}</loc></sitemap>\n" for path in paths)
    return _xml(f"<sitemapindex {_NAMESPACE}>\n{parts}</sitemapindex>\n")


def plain(site: Site, ask: Ask) -> Answer:
    """A sitemap with dates, priorities and ampersands; one date lies in a far future."""
    return _xml(_urlset(site, range(ORPHANS)))


def packed(site: Site, ask: Ask) -> Answer:
    """A sitemap as a gzip file: a type of file, not a content coding."""
    body = f'<?xml version="1.0" encoding="UTF-8"?>\n{_urlset(site, range(ORPHANS, 2 * ORPHANS))}'.encode()
    return Answer(body=gzip.compress(body, mtime=0), type="application/gzip")


def text(site: Site, ask: Ask) -> Answer:
    """A sitemap of lines."""
    urls = [site.url(f"/orphan/{n}") for n in range(2 * ORPHANS, 3 * ORPHANS)]
    return Answer(body="\r\n".join(urls).encode(), type="text/plain")


def orphan(site: Site, ask: Ask) -> Answer:
    """A page without links to it or from it."""
    return html_page(site, ask.path)


def _urlset(site: Site, numbers: Iterable[int]) -> str:
    return f"<urlset {_NAMESPACE}>\n{''.join(_entry(site, n) for n in numbers)}</urlset>\n"


def _entry(site: Site, n: int) -> str:
    url = site.url(f"/orphan/{n}?a=1&amp;b=2&amp;c=3" if n % 4 == 1 else f"/orphan/{n}")
    changed = "2099-01-01" if n == 2 else iso_date(EPOCH_S + n * DAY_S)
    extra = "<changefreq>always</changefreq><priority>0.0</priority>" if n % 4 == 3 else ""
    return f"<url><loc>{url}</loc><lastmod>{changed}</lastmod>{extra}</url>\n"


def _xml(body: str) -> Answer:
    return Answer(body=f'<?xml version="1.0" encoding="UTF-8"?>\n{body}'.encode(), type=_XML)


SITEMAPS: tuple[Route, ...] = (
    Route("/robots.txt", robots, listed=False),
    Route("/sitemap_index.xml", index, listed=False),
    Route("/sitemap-plain.xml", plain, listed=False),
    Route("/sitemap-packed.xml.gz", packed, listed=False),
    Route("/sitemap.txt", text, listed=False),
    Route("/orphan/*", orphan, listed=False, settled=False),
)
