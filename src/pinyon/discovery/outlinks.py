"""The outlinks of one page: collected in page order, one a target."""

from __future__ import annotations

from dataclasses import dataclass

from selectolax.lexbor import LexborNode

from pinyon.discovery.model import Limits, Link
from pinyon.discovery.resolve import Resolver, TooLong, without_fragment

#: A page whose links all wrap its whole text would have that text copied once a link. After this many times the
#: page's size, links go without a text.
_ANCHOR_BUDGET = 4


@dataclass(slots=True)
class _Target:
    """What the links to one URL say together."""

    anchor: str
    rels: list[str]


class Outlinks:
    """Links are offered one by one; the first of several to a target counts.

    Of later ones to the same target only this is taken: a text where the first had none, and the rel of one
    that may be followed where all before it were `nofollow`.
    """

    def __init__(self, resolver: Resolver, limits: Limits, page_bytes: int) -> None:
        self.dropped = 0
        self._resolver = resolver
        self._limits = limits
        self._anchor_budget = _ANCHOR_BUDGET * page_bytes
        # Pages repeat their hrefs five times over: those are recognised before anything is joined.
        self._by_href: dict[str, _Target | None] = {}
        self._by_url: dict[str, _Target] = {}

    def offer(self, node: LexborNode, href: str, rel: str | None) -> None:
        href = without_fragment(href)
        try:
            target = self._by_href[href]
        except KeyError:
            self._by_href[href] = self._first_seen(node, href, rel)
            return
        if target is not None:
            self._merge(target, node, rel)

    def listed(self) -> list[Link]:
        return [Link(url, target.anchor, " ".join(target.rels)) for url, target in self._by_url.items()]

    def _first_seen(self, node: LexborNode, href: str, rel: str | None) -> _Target | None:
        try:
            url = self._resolver.resolve(href)
        except TooLong:
            self.dropped += 1
            return None
        if url is None or url == self._resolver.page_url:
            return None
        target = self._by_url.get(url)
        if target is not None:
            self._merge(target, node, rel)
        elif not 0 <= self._limits.max_links <= len(self._by_url):
            target = self._by_url[url] = _Target(self._anchor(node), _tokens(rel))
        else:
            self.dropped += 1
        return target

    def _merge(self, target: _Target, node: LexborNode, rel: str | None) -> None:
        if not target.anchor:
            target.anchor = self._anchor(node)
        if "nofollow" in target.rels:
            rels = _tokens(rel)
            if "nofollow" not in rels:
                target.rels = rels

    def _anchor(self, node: LexborNode) -> str:
        if self._anchor_budget <= 0:
            return ""
        text = node.text()
        self._anchor_budget -= len(text)
        limit = self._limits.anchor_chars
        # Cut before it is split: most of an overlong text is never looked at.
        words = text[: limit * 20].split()
        return " ".join(words)[:limit].rstrip() if words else _described(node)[:limit].rstrip()


def _tokens(rel: str | None) -> list[str]:
    return rel.lower().split() if rel else []


def _described(node: LexborNode) -> str:
    """What stands for the text of a link that has none: its own description, or that of its first image."""
    attributes = node.attributes
    described = attributes.get("alt") or attributes.get("title") or attributes.get("aria-label")
    if not described:
        image = node.css_first("img[alt]")
        described = image.attributes.get("alt") if image else None
    return " ".join((described or "").split())
