"""What pages say about themselves and their links: robots, canonical, base, refresh; and links hard to read."""

from __future__ import annotations

from dataclasses import replace

from pinyon.simweb.answer import Answer, Ask
from pinyon.simweb.kind import Handler, Route
from pinyon.simweb.pages import Link, html_page, own_link
from pinyon.simweb.site import Site

_NOFOLLOW = ' rel="external nofollow"'


def found(site: Site, ask: Ask) -> Answer:
    """A page that a right reading leads to, or a wrong one (`/decoy/…`)."""
    return html_page(site, ask.path)


def with_head(head: str, *links: str, follow: bool = True) -> Handler:
    """A page with that in its head and links to those paths, which count unless `follow` is False."""

    def answer(site: Site, ask: Ask) -> Answer:
        return html_page(
            site, ask.path, [Link(path, site.url(path) if follow else None) for path in links], head=head
        )

    return answer


def nofollow_header(site: Site, ask: Ask) -> Answer:
    """The same as the meta element says, in a header."""
    page = html_page(site, ask.path, [Link("/decoy/header", None)])
    return replace(page, headers=(("X-Robots-Tag", "noindex, nofollow"),))


def nofollow_links(site: Site, ask: Ask) -> Answer:
    """One link to follow between two that ask not to be."""
    decoys = [Link(f"/decoy/rel-{n}", None, _NOFOLLOW) for n in range(2)]
    return html_page(site, ask.path, [decoys[0], own_link(site, "/found/rel"), decoys[1]])


def based(site: Site, ask: Ask) -> Answer:
    """Relative links against a base; a second base means nothing."""
    head = '<base href="/found/base/"><base href="/decoy/">'
    return html_page(
        site,
        ask.path,
        [Link("one", site.url("/found/base/one")), Link("../up", site.url("/found/up"))],
        head=head,
    )


def canonical(site: Site, ask: Ask) -> Answer:
    """Two pages that each call the other the canonical one."""
    other = "/canonical/b" if ask.path.endswith("a") else "/canonical/a"
    return html_page(site, ask.path, [own_link(site, other)], head=f'<link rel="canonical" href="{other}">')


def canonical_away(site: Site, ask: Ask) -> Answer:
    """A page whose canonical URL is on a host that does not exist."""
    return html_page(site, ask.path, [], head='<link rel="canonical" href="http://nobody.sim.test/copy">')


def hard_links(site: Site, ask: Ask) -> Answer:
    """Links as people write them; each right reading is `/found/…`, each wrong one `/decoy/…`."""
    paths = ("upper", "bare", "single", "spaced", "query?a=1&b=2", "area")
    return replace(
        html_page(site, ask.path, [], tail=_HARD),
        links=tuple(site.url(f"/found/{path}") for path in paths),
    )


def deep(site: Site, ask: Ask) -> Answer:
    """Twenty thousand elements inside each other, none closed."""
    return html_page(site, ask.path, [own_link(site, "/found/deep")], tail="<div><b>" * 10_000)


_HARD = """\
<P><A HREF=/found/upper>upper case</A> <a href=/found/bare>bare</a> <a href='/found/single'>single</a>
<a title="x > y" href="
   /found/spaced  ">spaced</a> <a href="/found/query?a=1&amp;b=2">query</a>
<map name="m"><area shape="rect" coords="0,0,9,9" href="/found/area" alt="area"></map>
<!-- <a href="/decoy/comment">comment</a> -->
<script>var page = '<a href="/decoy/script">script</a>'; load("/decoy/string");</script>
<style>/* <a href="/decoy/style">style</a> */</style>
<a href="javascript:go('/decoy/go')">go</a> <a href="mailto:jay@sim.test">mail</a> <a href="tel:+123">call</a>
<a href="data:text/html,<a href=/decoy/data>x</a>">data</a> <a href="#top">top</a> <a name="anchor">anchor</a>
<a href="http://[bad/decoy">bad host</a> <a href="http://:80/">no host</a> <a href="ftp://sim.test/decoy">ftp</a>
<textarea><a href="/decoy/textarea">text</a></textarea>
"""

MARKUP: tuple[Route, ...] = (
    Route("/noindex", with_head('<META NAME="ROBOTS" CONTENT="NOINDEX, follow">', "/found/noindex")),
    Route("/nofollow", with_head('<meta name="robots" content="nofollow">', "/decoy/meta", follow=False)),
    Route("/none", with_head('<meta content=" None " name="Robots">', "/decoy/none", follow=False)),
    Route("/nofollow-header", nofollow_header),
    Route("/nofollow-links", nofollow_links),
    Route("/base", based),
    Route("/canonical/a", canonical),
    Route("/canonical/b", canonical, listed=False),
    Route("/canonical-away", canonical_away),
    Route("/links", hard_links),
    Route("/deep", deep),
    Route("/found/*", found, listed=False),
    Route("/decoy/*", found, listed=False),
)

# A page with a refresh is a redirect to some crawlers and a page with a link to others.
REFRESH: tuple[Route, ...] = (
    Route(
        "/refresh",
        with_head('<meta http-equiv="refresh" content="0; url=/refreshed/now">', follow=False),
        settled=False,
    ),
    Route(
        "/refresh-later",
        with_head("<meta http-equiv='Refresh' content='600;URL=\"/refreshed/later\"'>", follow=False),
        settled=False,
    ),
    Route("/refresh-self", with_head('<meta http-equiv="refresh" content="5">', follow=False), settled=False),
    Route("/refreshed/*", found, listed=False, settled=False),
)
