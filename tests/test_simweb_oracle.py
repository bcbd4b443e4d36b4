"""The oracle against a crawler that knows nothing of how the web is made: it only asks and reads."""

from __future__ import annotations

import gzip
import re
import sys
import zlib
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

import ada_url
import brotli
import pytest
from protego import Protego
from selectolax.lexbor import LexborHTMLParser

from pinyon.simweb import SimWeb
from test_simweb import AGENT, Client, Reply

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

REDIRECTS = (301, 302, 303, 307, 308)
MAX_HOPS = 20
CODINGS = "gzip, deflate, br, zstd"


def decoded(reply: Reply) -> bytes:
    """The body without its content coding."""
    coding = reply.headers.get("content-encoding", "")
    if coding in ("gzip", "x-gzip"):
        return gzip.decompress(reply.body)
    if coding == "deflate":
        return zlib.decompress(reply.body, wbits=15 if reply.body[:1] == b"\x78" else -15)
    if coding == "br":
        return bytes(brotli.decompress(reply.body))
    return zstd.decompress(reply.body) if coding == "zstd" else reply.body


def text_of(reply: Reply) -> str:
    """The page as text: byte order mark, then header, then meta; good enough for links."""
    body = reply.body
    for bom, name in ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")):
        if body.startswith(bom):
            return body.decode(name, "replace")
    declared = reply.headers["content-type"].encode() + b" " + body[:1024]
    found = re.search(rb"charset=[\"']?([\w-]+)", declared, re.IGNORECASE)
    try:
        return body.decode(found[1].decode() if found else "utf-8", "replace")
    except LookupError:
        return body.decode("utf-8", "replace")


def resolved(base: str, href: str) -> str | None:
    """The URL a link means, without its fragment; None for what is not to be fetched."""
    try:
        url = ada_url.join_url(base, href).partition("#")[0]
    except ValueError:
        return None
    return url if url.startswith(("http://", "https://")) else None


def links_of(url: str, reply: Reply) -> Iterator[str]:
    """The links of a page that may be followed."""
    tree = LexborHTMLParser(text_of(reply))
    robots = reply.headers.get("x-robots-tag", "")
    for meta in tree.css("meta[name][content]"):
        if (meta.attributes["name"] or "").lower() == "robots":
            robots += f",{meta.attributes['content']}"
    if re.search(r"\b(nofollow|none)\b", robots, re.IGNORECASE):
        return
    base = tree.css_first("base[href]")
    against = (resolved(url, base.attributes["href"] or "") if base else None) or url
    for link in tree.css("a[href], area[href]"):
        if "nofollow" not in (link.attributes.get("rel") or ""):
            target = resolved(against, link.attributes["href"] or "")
            if target is not None:
                yield target


@dataclass
class Crawler:
    """A small polite crawler, breadth first, one request after another."""

    web: SimWeb
    max_depth: int | None = None
    pages: list[str] = field(default_factory=list)
    rules: dict[str, Protego | None] = field(default_factory=dict)

    @cached_property
    def client(self) -> Client:
        return Client(self.web, timeout_s=1.0)

    def crawl(self, seeds: list[str], at_most: int = 10_000) -> set[str]:
        """The pages fetched; open ends (traps) are cut after so many requests of one host."""
        queue = deque((url, 0, 0) for url in seeds)
        seen, asked = set(seeds), dict[str, int]()
        while queue:
            url, depth, hops = queue.popleft()
            host = url.split("/")[2]
            asked[host] = asked.get(host, 0) + 1
            reply = self.fetch(url) if asked[host] < at_most and self.may_fetch(url) else None
            if reply is None:
                continue
            if reply.status in REDIRECTS:
                target = (
                    resolved(url, reply.headers.get("location", "").encode("latin-1").decode("utf-8")) or url
                )
                if target not in seen and hops < MAX_HOPS:
                    seen.add(target)
                    queue.appendleft((target, depth, hops + 1))
            elif reply.status == 200 and self.is_html(reply):
                self.pages.append(url)
                if self.max_depth is None or depth < self.max_depth:
                    found = [link for link in dict.fromkeys(links_of(url, reply)) if link not in seen]
                    seen.update(found)
                    queue.extend((link, depth + 1, 0) for link in found)
        return set(self.pages)

    @staticmethod
    def is_html(reply: Reply) -> bool:
        return reply.headers.get("content-type", "").lower().startswith(("text/html", "application/xhtml"))

    def fetch(self, url: str) -> Reply | None:
        try:
            reply = self.client.get(url, Accept_Encoding=CODINGS)
            return replace(reply, body=decoded(reply))
        except (OSError, EOFError, ValueError, IndexError, zlib.error):  # garbage is no answer
            return None

    def may_fetch(self, url: str) -> bool:
        authority = "/".join(url.split("/")[:3])
        if authority not in self.rules:
            self.rules[authority] = self.read_rules(f"{authority}/robots.txt")
        rules = self.rules[authority]
        return rules is not None and rules.can_fetch(url, AGENT)

    def read_rules(self, url: str) -> Protego | None:
        """The rules by RFC 9309; None where nothing may be fetched."""
        for _ in range(6):
            reply = self.fetch(url)
            if reply is None or reply.status >= 500:
                return None
            if reply.status not in REDIRECTS:
                text = reply.body.decode("utf-8-sig", "replace") if reply.status == 200 else ""
                return Protego.parse(text)
            url = resolved(url, reply.headers["location"]) or url
        return None


def test_a_clean_web_is_crawled_exactly_as_the_oracle_says() -> None:
    with SimWeb(seed=11, hosts=40, awkward=False, mean_pages=8) as web:
        crawler = Crawler(web)
        fetched = crawler.crawl(web.seeds())
        assert fetched == web.reachable(web.seeds())
        assert len(fetched) > 150
        assert len(crawler.pages) == len(fetched)
        assert all(web.settled(url) for url in fetched)
        assert {request.status for request in web.requests() if request.path != "/robots.txt"} == {200}


@pytest.mark.parametrize("https", [False, True])
def test_an_awkward_web_is_crawled_exactly_as_the_oracle_says_where_it_is_settled(https: bool) -> None:
    if https:
        pytest.importorskip("cryptography")
    with SimWeb(seed=12, hosts=60, https=https, slow_s=0.05, mean_pages=4) as web:
        expected = web.reachable(web.seeds())
        fetched = Crawler(web).crawl(web.seeds(), at_most=200)
        settled = {url for url in fetched if web.settled(url)}
        assert settled == expected
        assert len(expected) > 250
        assert len(fetched) > len(settled)
        assert len({url.split("/")[2] for url in expected}) > 40


@pytest.mark.parametrize("depth", [0, 1, 2, 3])
def test_depth_counts_links_and_not_redirects(depth: int) -> None:
    kinds = {"redirects", "moved", "login", "markup", "feeds", "traps"}
    with SimWeb(seed=13, hosts=30, awkward=kinds, https=False, mean_pages=6) as web:
        seeds = [web.hosts[0].url("/"), "http://redirects1.sim.test/chain/5", "http://moved1.sim.test/"]
        fetched = Crawler(web, max_depth=depth).crawl(seeds, at_most=300)
        assert {url for url in fetched if web.settled(url)} == web.reachable(seeds, max_depth=depth)


def test_deeper_crawls_reach_more_until_all_is_reached() -> None:
    web = SimWeb(seed=1, hosts=100, awkward=False)
    sizes = [len(web.reachable(web.seeds(), max_depth=depth)) for depth in range(12)]
    assert sizes[0] == len(web.seeds())
    assert sizes == sorted(sizes)
    assert sizes[2] < sizes[5]
    assert sizes[-1] == len(web.reachable(web.seeds()))


def test_foreign_and_unsettled_start_urls_lead_nowhere() -> None:
    web = SimWeb(hosts=60, https=False)
    assert web.reachable(["http://elsewhere.test/", "http://traps1.sim.test/calendar?month=7"]) == set()
    assert (
        web.reachable(["https://hub.sim.test/", "http://nowhere1.sim.test/", "http://refused1.sim.test/"])
        == set()
    )
    assert not web.settled("http://traps1.sim.test/calendar?month=7")
    assert not web.settled("http://dying1.sim.test/")
    assert web.settled("http://traps1.sim.test/")


def test_what_is_not_settled_leads_to_nothing_that_is_elsewhere() -> None:
    """Else a crawler that follows it would rightly fetch more than the oracle says."""
    from pinyon.simweb.answer import Ask
    from pinyon.simweb.oracle import split
    from pinyon.simweb.respond import respond

    web = SimWeb(hosts=70)
    checked = 0
    for host in web.hosts:
        for path in ("/", *_paths(web, host.kind)):
            answer = respond(web.world, Ask(host.name, path, host.scheme))
            if not answer.settled:
                checked += 1
                assert all(split(link)[1] == host.name for link in answer.links), (host.name, path)
    assert checked > 40


def _paths(web: SimWeb, kind: str) -> list[str]:
    from pinyon.simweb.kinds import kind_named

    return [route.path.replace("*", "1") for route in kind_named(kind).routes]
