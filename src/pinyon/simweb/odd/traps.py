"""Traps: few pages behind endlessly many URLs. A crawler is to notice; nothing here is ever counted."""

from __future__ import annotations

from pinyon.simweb.answer import Answer, Ask
from pinyon.simweb.dice import number
from pinyon.simweb.kind import Route
from pinyon.simweb.pages import Link, html_page
from pinyon.simweb.site import Site

FIRST_MONTH = 2024 * 12
#: Below it the target of a request stays within what servers commonly take.
LONGEST_PATH = 4000


def calendar(site: Site, ask: Ask) -> Answer:
    """A month, and the next: `?month=24288`, for ever."""
    digits = ask.path.rpartition("=")[2]
    month = int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 12 else FIRST_MONTH
    return _page(site, ask, f"/calendar?month={month + 1}")


def session_in_query(site: Site, ask: Ask) -> Answer:
    """A session number that is another one in every page."""
    return _page(site, ask, *(f"/shop/{n}?sid={_session(site, ask, n)}" for n in range(3)))


def session_in_path(site: Site, ask: Ask) -> Answer:
    """The same in the path, as Java servers write it."""
    return _page(site, ask, *(f"/cart/{n};jsessionid={_session(site, ask, n).upper()}" for n in range(3)))


def deeper(site: Site, ask: Ask) -> Answer:
    """A relative link that adds itself to the path."""
    return _page(site, ask, "deeper/") if len(ask.path) < LONGEST_PATH else _page(site, ask)


def no_scheme(site: Site, ask: Ask) -> Answer:
    """A link whose author forgot `http://`: a relative one to any browser."""
    return (
        _page(site, ask, f"{site.host.name}/welcome/") if len(ask.path) < LONGEST_PATH else _page(site, ask)
    )


def facets(site: Site, ask: Ask) -> Answer:
    """Filters of a shop in every order: 8 of them make more than 100,000 URLs."""
    chosen = [part for part in ask.path.partition("?")[2].split("&") if part][:8]
    free = [f"f{n}=1" for n in range(8) if f"f{n}=1" not in chosen]
    return _page(site, ask, *("/facets?" + "&".join([*chosen, facet]) for facet in free))


def _session(site: Site, ask: Ask, n: int) -> str:
    return f"{number(site.world.seed, site.host.name, ask.path, n):016x}"


def _page(site: Site, ask: Ask, *hrefs: str) -> Answer:
    # No targets: nobody needs to know where a trap leads, and the oracle stays outside.
    return html_page(site, ask.path.partition("?")[0][:40], [Link(href, None) for href in hrefs])


TRAPS: tuple[Route, ...] = (
    Route("/calendar", calendar, settled=False),
    Route("/shop/0", session_in_query, settled=False),
    Route("/shop/*", session_in_query, listed=False, settled=False),
    Route("/cart/0", session_in_path, settled=False),
    Route("/cart/*", session_in_path, listed=False, settled=False),
    Route("/deeper/", deeper, settled=False),
    Route("/deeper/*", deeper, listed=False, settled=False),
    Route("/friends/", no_scheme, settled=False),
    Route("/friends/*", no_scheme, listed=False, settled=False),
    Route("/facets", facets, settled=False),
)
