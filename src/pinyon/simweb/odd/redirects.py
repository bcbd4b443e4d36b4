"""Redirects: every status, chains, loops, off the host, to nowhere, and many to one."""

from __future__ import annotations

from pinyon.simweb.answer import Answer, Ask
from pinyon.simweb.dice import dice
from pinyon.simweb.kind import Handler, Route
from pinyon.simweb.pages import html_page, own_link
from pinyon.simweb.site import Site

#: Accounts whose pages all redirect to the same log-in page.
ACCOUNTS = 60


def redirect(status: int, location: str | None, target: str | None) -> Answer:
    """A redirect that says `location`; `target` is the URL that means, None where it means none."""
    headers = () if location is None else (("Location", location),)
    return Answer(status, b"moved\n", "text/plain", headers, links=() if target is None else (target,))


def to(status: int, path: str, location: str | None = None) -> Handler:
    """A redirect to a path of the same host, said in full unless `location` says it otherwise."""
    return lambda site, ask: redirect(status, location or site.url(path), site.url(path))


def broken(status: int, location: str | None) -> Handler:
    """A redirect nobody can follow."""
    return lambda site, ask: redirect(status, location, None)


def landing(site: Site, ask: Ask) -> Answer:
    """A page to land on."""
    return html_page(site, ask.path, [own_link(site, "/")])


def away(site: Site, ask: Ask) -> Answer:
    """To the home page of another host."""
    url = site.world.harmless(dice(site.world.seed, site.host.name, ask.path)).url("/")
    return redirect(302, url, url)


def authority_only(site: Site, ask: Ask) -> Answer:
    """A target without a scheme."""
    return redirect(302, f"//{site.host.name}/landed/authority", site.url("/landed/authority"))


def same_page(site: Site, ask: Ask) -> Answer:
    """To itself, with a cookie: it would answer with a page to a client that sends the cookie back."""
    url = site.url(ask.path)
    return Answer(302, b"", None, (("Location", url), ("Set-Cookie", "seen=1")), links=(url,))


def next_hop(site: Site, ask: Ask) -> Answer:
    """From hop n to hop n + 1, for ever."""
    digits = ask.path.rpartition("/")[2]
    hop = int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 9 else 0
    return redirect(302, f"/hop/{hop + 1}", site.url(f"/hop/{hop + 1}"))


def accounts(site: Site, ask: Ask) -> Answer:
    """The list of accounts."""
    return html_page(site, ask.path, [own_link(site, f"/account/{n}") for n in range(ACCOUNTS)])


_CHAIN = tuple(Route(f"/chain/{n}", to(301, f"/chain/{n - 1}"), listed=n == 5) for n in range(5, 1, -1))
_LONG = tuple(
    Route(f"/long/{n}", to(302, f"/long/{n - 1}"), listed=n == 25, settled=False) for n in range(25, 1, -1)
)

# HTTP headers are bytes; what is meant as UTF-8 is written here as the Latin-1 text of those bytes.
_UTF8_LOCATION = "/landed/ä".encode().decode("latin-1")

REDIRECTS: tuple[Route, ...] = (
    *(Route(f"/{status}", to(status, f"/landed/{status}")) for status in (301, 302, 303, 307, 308)),
    *_CHAIN,
    Route("/chain/1", to(301, "/landed/chain"), listed=False),
    Route("/loop/a", to(302, "/loop/b")),
    Route("/loop/b", to(302, "/loop/a"), listed=False),
    Route("/same", same_page),
    Route("/away", away),
    Route("/relative", to(302, "/landed/relative", "landed/relative")),
    Route("/authority", authority_only),
    Route("/fragment", to(302, "/landed/fragment", "/landed/fragment#part")),
    Route("/utf8", to(302, "/landed/%C3%A4", _UTF8_LOCATION)),
    Route("/to-missing", to(302, "/missing")),
    Route("/no-location", broken(302, None)),
    Route("/empty-location", broken(301, "")),
    Route("/mail-location", broken(302, "mailto:jay@sim.test")),
    Route("/bad-location", broken(302, "http://[bad/")),
    Route("/landed/*", landing, listed=False),
)

LOGIN: tuple[Route, ...] = (
    Route("/accounts", accounts),
    Route("/account/*", to(302, "/login", "/login"), listed=False),
    Route("/login", landing, listed=False),
)

MOVED: tuple[Route, ...] = (Route("/", away, listed=False),)

MAZE: tuple[Route, ...] = (
    Route("/hop/*", next_hop, listed=False, settled=False),
    Route("/start", to(302, "/hop/1"), settled=False),
    *_LONG,
    Route("/long/1", landing, listed=False, settled=False),
)
