"""What a perfect crawler would bring home, worked out from the web itself instead of by asking it.

The rule. Beginning with the start URLs at depth 0, follow

- links of pages, one deeper, unless the link, its page or a header says nofollow;
- redirects, at the same depth;

where the name resolves, somebody listens, TLS can be verified and robots.txt allows it by RFC 9309 (for which an
error or silence in its place forbids everything). Counted is a URL that answers 200 with HTML, each once.

Not every URL has one right answer: what becomes of a trap, a dying host, a page that is cut short, a 429 or a page
known from a sitemap alone depends on patience and limits. Such URLs are *not settled*: the oracle neither counts nor
follows them. They lead only to URLs of their own host that are not settled either, so they change nothing else.
Hence, for any crawler that reached its end,

    {url fetched as a page | settled(url)} == reachable(start_urls)
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from pinyon.simweb.answer import REDIRECTS, Answer, Ask
from pinyon.simweb.hosts import Host
from pinyon.simweb.kind import Door
from pinyon.simweb.kinds import kind_named
from pinyon.simweb.respond import respond
from pinyon.simweb.site import World


def reachable(world: World, start_urls: Iterable[str], max_depth: int | None = None) -> set[str]:
    """The pages a perfect crawler fetches, as normalised URLs; see the rule above.

    `max_depth` is the largest number of links from a start URL; None: any. Start URLs must be normalised.
    """
    queue = deque((url, 0) for url in start_urls)
    seen: set[str] = set()
    pages: set[str] = set()
    while queue:
        url, depth = queue.popleft()
        if url in seen:
            continue
        seen.add(url)
        answer = _fetched(world, url)
        if answer is None:
            continue
        if answer.status in REDIRECTS:
            queue.extendleft((target, depth) for target in answer.links)
        elif answer.is_page:
            pages.add(url)
            if max_depth is None or depth < max_depth:
                queue.extend((target, depth + 1) for target in answer.links if target not in seen)
    return pages


def settled(world: World, url: str) -> bool:
    """Whether it is certain what a perfect crawler makes of a URL. Foreign URLs are: nothing."""
    scheme, host, path = split(url)
    return respond(world, Ask(host, path, scheme)).settled


def split(url: str) -> tuple[str, str, str]:
    """Scheme, host and the rest of a normalised URL."""
    scheme, _, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    return scheme, host, slash + path


def _fetched(world: World, url: str) -> Answer | None:
    """The answer to a polite crawler's request; None where it gets none that counts, or never asks."""
    scheme, name, path = split(url)
    host = world.host(name)
    if host is None:
        return None
    kind = kind_named(host.kind)
    if not kind.allows(path) or not _can_connect(scheme, host, kind.door):
        return None
    answer = respond(world, Ask(name, path, scheme))
    return answer if answer.settled else None


def _can_connect(scheme: str, host: Host, door: Door) -> bool:
    if door in (Door.NOWHERE, Door.REFUSED):
        return False
    return scheme == "http" or door is Door.BOTH or (host.scheme == "https" and door is Door.OPEN)
