"""robots.txt in every state it is found in. What each means by RFC 9309 stands beside it in `kinds.py`."""

from __future__ import annotations

from pinyon.simweb.answer import Answer, Ask, Manner
from pinyon.simweb.kind import Handler, Route
from pinyon.simweb.odd.redirects import to
from pinyon.simweb.pages import html_page, own_link
from pinyon.simweb.site import Site

RULES = "User-agent: *\nDisallow: /private/\n"
#: RFC 9309 has at least 500 KiB parsed; everything that counts stands at the beginning.
HUGE_BYTES = 700 * 1024

_TEXT = "text/plain; charset=utf-8"


def said(text: str | bytes, content_type: str = _TEXT) -> Route:
    """A robots.txt with that text."""
    body = text if isinstance(text, bytes) else text.encode()
    return _robots(lambda site, ask: Answer(body=body, type=content_type))


def status(code: int, text: str = "User-agent: *\nDisallow: /\n") -> Route:
    """An error in its place. The body looks like rules, and is none."""
    return _robots(lambda site, ask: Answer(code, text.encode(), _TEXT))


def moved(hops: int) -> tuple[Route, ...]:
    """Redirected that often, then the rules."""
    steps = tuple(
        Route(f"/robots/{n}", to(301, f"/robots/{n - 1}"), listed=False) for n in range(hops - 1, 0, -1)
    )
    rules = Route("/robots/0", lambda site, ask: Answer(body=RULES.encode(), type=_TEXT), listed=False)
    return (_robots(to(301, f"/robots/{hops - 1}")), *steps, rules)


def loop() -> Route:
    """Redirected to itself."""
    return _robots(to(301, "/robots.txt"))


def silent() -> Route:
    """Never answered."""
    return _robots(lambda site, ask: Answer(manner=Manner.NEVER))


def slow() -> Route:
    """The rules, after the time slow hosts take."""
    return _robots(lambda site, ask: Answer(body=RULES.encode(), type=_TEXT, delay_s=site.world.slow_s))


def delay(factor: float) -> Route:
    """A Crawl-delay of that many times what slow hosts take."""

    def answer(site: Site, ask: Ask) -> Answer:
        seconds = f"{site.world.slow_s * factor:.3f}".rstrip("0").rstrip(".")
        return Answer(
            body=f"User-agent: *\nCrawl-delay: {seconds}\nDisallow: /private/\n".encode(), type=_TEXT
        )

    return _robots(answer)


def huge() -> bytes:
    """Rules, and comments up to more than a crawler has to read."""
    line = b"# seeds are cached here, do not touch\n"
    return RULES.encode() + line * (HUGE_BYTES // len(line))


def page(site: Site, ask: Ask) -> Answer:
    """A page that exists, whether or not robots.txt lets anybody read it."""
    return html_page(site, ask.path, [own_link(site, "/")])


def _robots(handler: Handler) -> Route:
    return Route("/robots.txt", handler, listed=False)


#: What every host of this family has beside its robots.txt.
PLACES: tuple[Route, ...] = (
    Route("/private/nest", page),
    Route("/private/public/nest", page),
    Route("/open/nest", page),
)

GROUPS = """\
User-agent: somebody-else
User-agent: p
Disallow: /

User-agent: *
Unknown-line: is skipped
Disallow: /private/
Disallow:
Allow: /private/public/
Disallow: http://elsewhere.sim.test/

Sitemap: /sitemap.xml
"""

HTML_PAGE = (
    "<!DOCTYPE html>\n<html><head><title>Welcome</title></head>\n<body><p>Nothing: here.</p></body></html>\n"
)
BOM = b"\xef\xbb\xbf" + RULES.encode()
LATIN1 = "# Bäume für Häher\n".encode("latin-1") + RULES.encode()
CR_ONLY = RULES.replace("\n", "\r").encode()
