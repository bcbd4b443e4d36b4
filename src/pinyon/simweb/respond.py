"""What a web answers to a request: a function of the web and the request, without a socket or a clock."""

from __future__ import annotations

from dataclasses import replace

from pinyon.simweb.answer import Answer, Ask, is_current, not_modified
from pinyon.simweb.hosts import HUB, Host
from pinyon.simweb.kind import Door, Kind
from pinyon.simweb.kinds import kind_named
from pinyon.simweb.odd.redirects import redirect
from pinyon.simweb.pages import hub, ordinary
from pinyon.simweb.site import Site, World

_MISSING = b"<!DOCTYPE html><title>Not found</title><p>There is no such page.\n"
_HARMLESS_RULES = b"# come in\nUser-agent: *\nDisallow: /private/\nDisallow: /cgi-bin/\n"
_TEXT = "text/plain"


def respond(world: World, ask: Ask) -> Answer:
    """The answer to a request. A host that is not of this web is 421, a method other than GET and HEAD 405."""
    host = world.host(ask.host)
    if host is None:
        return Answer(421, b"not a host of this web\n", _TEXT)
    if ask.method not in ("GET", "HEAD"):
        return Answer(405, b"only GET and HEAD\n", _TEXT, (("Allow", "GET, HEAD"),))
    kind = kind_named(host.kind)
    if ask.scheme != host.scheme and kind.door is not Door.BOTH:
        url = host.url(ask.path)
        return redirect(301, url, url)
    answer = _answer(Site(world, host, outward=kind.settled), kind, ask)
    return not_modified(answer) if ask.headers and is_current(answer, ask) else answer


def _answer(site: Site, kind: Kind, ask: Ask) -> Answer:
    route = kind.route(ask.path.partition("?")[0]) if kind.routes else None
    answer = route.handler(site, ask) if route else _unrouted(site, kind, ask)
    if kind.wrap:
        answer = kind.wrap(site, ask, answer)
    settled = kind.settled and (route is None or route.settled)
    return answer if settled else replace(answer, settled=False)


def _unrouted(site: Site, kind: Kind, ask: Ask) -> Answer:
    if ask.path == "/robots.txt":
        return _robots(site.host)
    answer = hub(site, ask) if kind.name == HUB else ordinary(site, ask, kind.listed)
    return answer or Answer(404, _MISSING)


def _robots(host: Host) -> Answer:
    """None, an empty one, or one with rules that forbid nothing there is: by bits of the host's own."""
    case = (host.key >> 8) % 4
    if case == 2:
        return Answer(body=b"", type=_TEXT)
    return Answer(body=_HARMLESS_RULES, type=_TEXT) if case == 3 else Answer(404, _MISSING)
