"""Ordinary pages: a tree inside each host, so that every page has a way to it, and links by a power law."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from html import escape

from pinyon.simweb.answer import Answer, Ask
from pinyon.simweb.dates import EPOCH_S, http_date
from pinyon.simweb.dice import Dice, dice, number, zipf
from pinyon.simweb.hosts import HUB, Host
from pinyon.simweb.site import Site
from pinyon.simweb.words import WORDS, sentence, title

#: Children of a page in the tree of its host.
FAN = 4
#: Home pages that one page of the hub's directory lists.
DIRECTORY_PAGE = 40
#: One page in so many changes with the edition.
LIVELY = 4
DAY_S = 86_400


@dataclass(frozen=True, slots=True)
class Link:
    """A link as it stands in a page and the URL it means; None: a polite crawler does not follow it."""

    href: str
    target: str | None
    attributes: str = ""


def page_path(host: Host, i: int) -> str:
    """The path of a host's page number i: `/` for the first, two words and the number for the others."""
    if i == 0:
        return "/"
    words = len(WORDS)
    return f"/{WORDS[(i // 7 + host.key) % words]}/{WORDS[(i * 31 + host.key // words) % words]}-{i}"


def page_number(host: Host, path: str) -> int | None:
    """The number of the page at a path, or None where the host has no such page."""
    if path == "/":
        return 0
    digits = path.rpartition("-")[2]
    if not (digits.isascii() and digits.isdigit() and len(digits) < 10):
        return None
    i = int(digits)
    return i if i < host.pages and page_path(host, i) == path else None


def ordinary(site: Site, ask: Ask, extra: Iterable[str] = ()) -> Answer | None:
    """The ordinary page at a path, or None; `extra` are paths of its own that the home page links to as well."""
    i = page_number(site.host, ask.path)
    if i is None:
        return None
    links = [Link(path, site.url(path)) for path in extra] if i == 0 else []
    links.extend(_links(site, i, ask.path))
    edition = _edition(site, ask.path)
    answer = html_page(site, ask.path, links, edition=edition)
    return _with_validators(answer, site, ask.path, edition)


def hub(site: Site, ask: Ask) -> Answer | None:
    """The hub: a home page, and a directory of all other hosts' home pages behind it."""
    homes = [host for host in site.world.hosts if host.kind != HUB]
    if ask.path == "/":
        starts = range(0, len(homes), DIRECTORY_PAGE)
        return html_page(
            site, "/", [own_link(site, f"/directory/{start // DIRECTORY_PAGE}") for start in starts]
        )
    page = ask.path.removeprefix("/directory/")
    if not (page.isascii() and page.isdigit() and len(page) < 7) or ask.path != f"/directory/{int(page)}":
        return None
    listed = homes[int(page) * DIRECTORY_PAGE :][:DIRECTORY_PAGE]
    links = [Link(home.url("/"), home.url("/")) for home in listed]
    return html_page(site, ask.path, links) if links else None


def own_link(site: Site, path: str) -> Link:
    """A link to a path of the same host."""
    return Link(path, site.url(path))


def html_page(
    site: Site, path: str, links: Iterable[Link] = (), *, head: str = "", tail: str = "", edition: int = 0
) -> Answer:
    """A page with the given links, text of its own, and `head` and `tail` put in as they are."""
    links = tuple(links)
    targets = tuple(link.target for link in links if link.target is not None)
    return Answer(body=partial(_render, site, path, links, head, tail, edition), links=targets)


def _links(site: Site, i: int, path: str) -> Iterator[Link]:
    host, world = site.host, site.world
    draw = dice(world.seed, host.name, i, "links")
    for child in range(i * FAN + 1, min(i * FAN + FAN + 1, host.pages)):
        yield _spelt(host, page_path(host, child), path, draw)
    for _ in range(_count(draw)):
        yield _spelt(host, page_path(host, zipf(draw(), host.pages)), path, draw)
    for _ in range(_count(draw) if site.outward else 0):
        other = world.popular(draw)
        url = other.url(page_path(other, zipf(draw(), other.pages)))
        yield Link(url, url)


def _count(draw: Dice) -> int:
    """Mostly one to four, sometimes 30."""
    return min(int(1.0 / (1.0 - draw()) ** 0.7), 30)


def _spelt(host: Host, path: str, base: str, draw: Dice) -> Link:
    """A link inside a host in one of the ways people write them."""
    target = host.url(path)
    way = int(draw() * 6)
    if way == 0:
        return Link(target, target)
    if way == 1:
        return Link(f"{path}#part-{int(draw() * 9)}", target)
    if way == 2 and path != "/":
        return Link(("../" if base.count("/") > 1 else "") + path[1:], target)
    return Link(path, target)


def _edition(site: Site, path: str) -> int:
    lively = number(site.world.seed, site.host.name, path, "lively") % LIVELY == 0
    return site.world.edition if lively else 0


def _with_validators(answer: Answer, site: Site, path: str, edition: int) -> Answer:
    """Half of the hosts send validators, a third compresses: by bits of their own."""
    key = site.host.key
    answer = replace(answer, coding="gzip" if key % 3 == 0 else None)
    if key & 64:
        return answer
    stamp = number(site.world.seed, site.host.name, path, edition, "etag")
    changed_s = EPOCH_S + stamp % (300 * DAY_S) + edition * 400 * DAY_S
    return replace(answer, etag=f'"{stamp:x}"', last_modified=http_date(changed_s))


def _render(site: Site, path: str, links: tuple[Link, ...], head: str, tail: str, edition: int) -> bytes:
    world = site.world
    name = title(dice(world.seed, site.host.name, path, "title"))
    draw = dice(world.seed, site.host.name, path, edition, "text")
    paragraphs = "".join(_paragraph(link, draw) for link in links)
    filling = "".join(f"<p>{' '.join(_prose(draw))}</p>\n" for _ in range(world.text_bytes // 280))
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{name}</title>{head}</head>\n'
        f"<body><h1>{name}</h1>\n{filling}{paragraphs}{tail}</body></html>\n"
    ).encode()


def _prose(draw: Dice) -> list[str]:
    return [sentence(draw) for _ in range(4)]


def _paragraph(link: Link, draw: Dice) -> str:
    anchor = WORDS[int(draw() * len(WORDS))]
    return f'<p>{sentence(draw)} <a href="{escape(link.href)}"{link.attributes}>{anchor}</a></p>\n'
