"""The feeds a page announces, in every spelling that is in use.

`<link rel="alternate" type="application/rss+xml">` and its kin, `rel="feed"`, typed `<a>` links, and the same in
the HTTP Link header. Nothing is guessed from addresses like `/feed`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from pinyon.discovery.kinds import mime_type
from pinyon.discovery.linkheader import HeaderLink
from pinyon.discovery.model import FeedLink, Limits
from pinyon.discovery.resolve import Resolver

_FEED_TYPE = re.compile(r"(?:application|text)/(?:x[.-])?(?:(?:rss|atom|rdf)(?:\+xml)?|feed\+json)")
#: Types a feed may have, but most documents of which are none: believed if title or address hint at one. Plain
#: JSON is not among them: that is how a well-known blog engine announces its programming interface.
_XML_TYPES = frozenset({"text/xml", "application/xml"})
_HINT = re.compile(r"rss|atom|feed|\.rdf|\.xml", re.IGNORECASE)
_FEED_SCHEME = re.compile(r"\s*feed:(?://)?(?=https?:)|\s*feed:(?=//)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Announcement:
    """A link as the page has it, before anybody has decided whether it is one to a feed."""

    href: str
    rels: list[str]
    type: str
    title: str


def is_feed(announcement: Announcement) -> bool:
    rels, mime = announcement.rels, announcement.type
    if "stylesheet" in rels or not announcement.href.strip():
        return False
    if "feed" in rels or "service.feed" in rels:
        return not mime.startswith("text/html")
    if _FEED_TYPE.fullmatch(mime):
        return "alternate" in rels or not rels
    return (
        mime in _XML_TYPES
        and "alternate" in rels
        and bool(_HINT.search(announcement.href + announcement.title))
    )


def from_header(link: HeaderLink) -> Announcement:
    parameters = link.parameters
    return Announcement(
        link.target, link.rels, mime_type(parameters.get("type")), parameters.get("title", "")
    )


class Feeds:
    """Collects the feeds of one page: each URL once, in order of first sight."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._by_url: dict[str, FeedLink] = {}

    def take(self, announcements: Iterable[Announcement], resolver: Resolver) -> None:
        for announcement in announcements:
            if len(self._by_url) >= self._limits.max_feeds:
                return
            if is_feed(announcement):
                self._add(announcement, resolver)

    def _add(self, announcement: Announcement, resolver: Resolver) -> None:
        url = resolver.resolve_or_none(_FEED_SCHEME.sub(_without_feed_scheme, announcement.href, count=1))
        if url:
            title = " ".join(announcement.title.split())[: self._limits.title_chars]
            self._by_url.setdefault(url, FeedLink(url, title, announcement.type))

    def listed(self) -> list[FeedLink]:
        return list(self._by_url.values())


def _without_feed_scheme(match: re.Match[str]) -> str:
    """`feed://host/x` is http, `feed:https://host/x` what it says."""
    return "http:" if match.string[match.end() :].startswith("//") else ""
