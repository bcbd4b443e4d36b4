"""Every kind of awkward host, in one table.

A host `NAME1.sim.test` of each kind exists in an awkward web, a second and third one in a large web. Its home page
is linked from the hub and leads to all its paths.
"""

from __future__ import annotations

from pinyon.errors import UsageError, nearest
from pinyon.simweb.answer import Manner
from pinyon.simweb.hosts import HUB, ORDINARY
from pinyon.simweb.kind import Door, Kind, Route
from pinyon.simweb.odd import (
    bodies,
    charsets,
    content,
    feeds,
    markup,
    redirects,
    robots,
    servers,
    sitemaps,
    statuses,
    traps,
)

Prefixes = tuple[str, ...]

_PRIVATE = ("/private/",)
_ALL = ("/",)


def _robots(
    name: str, help: str, *routes: Route, denied: Prefixes = (), spared: Prefixes = (), settled: bool = True
) -> Kind:
    places = (*routes, *robots.PLACES)
    return Kind(f"robots-{name}", help, places, denied=denied, spared=spared, settled=settled)


KINDS: tuple[Kind, ...] = (
    Kind(
        "redirects",
        "301 302 303 307 308, a chain of five, loops, to itself, off the host, to nowhere",
        redirects.REDIRECTS,
    ),
    Kind("login", f"{redirects.ACCOUNTS} pages that all redirect to one /login", redirects.LOGIN),
    Kind("moved", "the home page redirects to another host", redirects.MOVED),
    Kind("maze", "redirects without end, and a chain of 25", redirects.MAZE),
    Kind("statuses", "204, 4xx and 5xx that stay", statuses.STATUSES),
    Kind(
        "busy",
        "429 and 503 with Retry-After, as seconds, date and nonsense; later a page",
        statuses.BUSY,
        settled=False,
        remembers=True,
    ),
    Kind("flaky", "500 the first time, a page the second", statuses.FLAKY, settled=False, remembers=True),
    _robots("none", "robots.txt is 404", robots.status(404)),
    _robots("forbidden", "robots.txt is 403: as if there were none", robots.status(403)),
    _robots("empty", "robots.txt without a byte", robots.said("")),
    _robots("some", "robots.txt forbids /private/", robots.said(robots.RULES), denied=_PRIVATE),
    _robots("all", "robots.txt forbids everything", robots.said("User-agent: *\nDisallow: /\n"), denied=_ALL),
    _robots(
        "groups",
        "groups for other agents, an exception, lines to skip",
        robots.said(robots.GROUPS),
        denied=_PRIVATE,
        spared=("/private/public/",),
    ),
    _robots("delay", "a Crawl-delay as long as slow hosts take", robots.delay(1.0), denied=_PRIVATE),
    _robots("eternal", "a Crawl-delay of 86,400 times that", robots.delay(86_400.0), settled=False),
    _robots("error", "robots.txt is 500: nothing may be fetched", robots.status(500), denied=_ALL),
    _robots("busy", "robots.txt is 503: nothing may be fetched", robots.status(503), denied=_ALL),
    _robots("moved", "robots.txt after five redirects", *robots.moved(5), denied=_PRIVATE),
    _robots("loop", "robots.txt redirects to itself", robots.loop(), settled=False),
    _robots("bom", "robots.txt begins with a byte order mark", robots.said(robots.BOM), denied=_PRIVATE),
    _robots("latin", "robots.txt with bytes that are not UTF-8", robots.said(robots.LATIN1), denied=_PRIVATE),
    _robots("cr", "robots.txt whose lines end in CR alone", robots.said(robots.CR_ONLY), denied=_PRIVATE),
    _robots("huge", "robots.txt of 700 KiB, the rules first", robots.said(robots.huge()), denied=_PRIVATE),
    _robots("slow", "robots.txt comes late", robots.slow(), denied=_PRIVATE),
    _robots("never", "robots.txt never comes: nothing may be fetched", robots.silent(), denied=_ALL),
    _robots("html", "robots.txt is an HTML page: no rules", robots.said(robots.HTML_PAGE, "text/html")),
    Kind(
        "sitemaps",
        "sitemaps in robots.txt: plain, gzip, text, an index that holds itself",
        (*sitemaps.SITEMAPS, *robots.PLACES),
        denied=_PRIVATE,
    ),
    Kind("slow", "every answer comes late", wrap=servers.slowly),
    Kind(
        "dying",
        f"refuses connections after {servers.LIFE} requests",
        wrap=servers.dying(Manner.SHUT),
        settled=False,
        remembers=True,
    ),
    Kind(
        "resetting",
        f"resets connections after {servers.LIFE} requests",
        wrap=servers.dying(Manner.RESET),
        settled=False,
        remembers=True,
    ),
    Kind("nowhere", "the name does not resolve", door=Door.NOWHERE),
    Kind("refused", "nobody listens", door=Door.REFUSED),
    Kind("silent", "takes requests, never answers", wrap=servers.mute(Manner.NEVER)),
    Kind("hanging-up", "closes every connection without a word", wrap=servers.mute(Manner.HANG_UP)),
    Kind("garbage", "answers that are no HTTP, or hardly", servers.GARBAGE),
    Kind(
        "framing",
        "chunked with trailer, no length, HTTP/1.0, 103 first, in tiny pieces, empty",
        bodies.FRAMING,
    ),
    Kind("codings", "gzip, x-gzip, deflate (both meanings), br, zstd", bodies.CODINGS),
    Kind("bodies", "5 MiB, cut short, byte by byte, a gzip bomb, wrong and double codings", bodies.BODIES),
    Kind("charsets", "utf-8 to shift_jis, declared rightly, wrongly, twice or not at all", charsets.CHARSETS),
    Kind("traps", "a calendar, session ids, links that deepen, facets: URLs without end", traps.TRAPS),
    Kind(
        "feeds",
        "RSS and Atom, announced in three ways, with and without validators, careless ones",
        feeds.FEEDS,
    ),
    Kind("markup", "meta robots, nofollow, canonical, base; links hard to read, and decoys", markup.MARKUP),
    Kind("refresh", "pages with a meta refresh", markup.REFRESH),
    Kind("types", "pdf, png, json, text, script, xhtml, no type, wrong type", content.TYPES),
    Kind("validators", "ETag and Last-Modified, strong, weak, odd, ignored, always new", content.VALIDATORS),
    Kind("duplicates", "the same content at several URLs", content.DUPLICATES),
    Kind("secure", "http redirects to https", https=True),
    Kind("both", "the same pages by http and by https", servers.BOTH, door=Door.BOTH),
    Kind(
        "untrusted", "https with a certificate nobody signed", door=Door.UNTRUSTED, https=True, settled=False
    ),
    Kind("plain", "speaks plain http where https is expected", door=Door.PLAIN, https=True),
)

_BY_NAME = {
    kind.name: kind for kind in (*KINDS, Kind(HUB, "links to every host"), Kind(ORDINARY, "nothing odd"))
}


def kind_named(name: str) -> Kind:
    """The kind of a name, those of hub and ordinary hosts included; raises UsageError."""
    kind = _BY_NAME.get(name)
    if kind is None:
        raise UsageError(f"no kind of host is called '{name}'{nearest(name, _BY_NAME)}")
    return kind
