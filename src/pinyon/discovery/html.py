"""One HTML page to its facts: one parse, one walk over the elements that matter.

The tree is lexbor's, which is what a browser without scripts would build; so links inside scripts, comments
and `<template>` are none, and nothing is guessed from script text.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser, LexborNode

from pinyon.discovery.directives import Audience
from pinyon.discovery.feeds import Announcement
from pinyon.discovery.kinds import mime_type
from pinyon.discovery.model import Limits
from pinyon.discovery.outlinks import Outlinks
from pinyon.discovery.resolve import Resolver

#: Link element → the attribute its target stands in.
TARGETS = {
    "a": "href",
    "area": "href",
    "frame": "src",
    "iframe": "src",
    "img": "src",
    "script": "src",
    "link": "href",
    "form": "action",
}
#: Events serve trees that are edited later.
_WITHOUT_EVENTS = LexborDocumentOptions.WO_EVENTS.value
_ALWAYS = ("html", "base", "meta", "link", "title", "a", "area")
_REFRESH = re.compile(
    r"\s*+(?:\d++[\d.]*+|\.[\d.]*+)(?:\s*+[;,]\s*+|\s++)(?:url\s*+=\s*+)?+(?:\"([^\"]*)|'([^']*)|(.*))",
    re.I | re.S,
)
_LANGUAGE = re.compile(r"[a-z]{1,8}(?:-[a-z0-9]{1,8}){0,4}")


class Element(NamedTuple):
    """An element and its attributes, read once: asking the node for each again takes twice the time."""

    tag: str
    node: LexborNode
    attributes: dict[str, str | None]

    def get(self, name: str) -> str:
        """The attribute's value; "" if it is absent or has none."""
        return self.attributes.get(name) or ""


class HtmlPage:
    """The tree of one page and what is asked of it. `utf8` must be tame (see `guard`)."""

    def __init__(self, utf8: bytes, url: str, codec: str, limits: Limits) -> None:
        self.tree = LexborHTMLParser(utf8, options=_WITHOUT_EVENTS)
        self._limits = limits
        self._bytes = len(utf8)
        self._elements = self._of_interest()
        self._by_tag: dict[str, list[Element]] = defaultdict(list)
        for element in self._elements:
            self._by_tag[element.tag].append(element)
        self.resolver = Resolver(url, self._base_href(), codec, limits.max_url_length)

    def _of_interest(self) -> list[Element]:
        """The elements of interest in document order: one walk of the tree for all of them."""
        wanted = dict.fromkeys((*_ALWAYS, *sorted(self._limits.link_tags & TARGETS.keys())))
        return [Element(node.tag or "", node, node.attributes) for node in self.tree.css(",".join(wanted))]

    def _base_href(self) -> str | None:
        """Of the first base element that has one; later ones do not count, as in the HTML standard."""
        return next((base.get("href") for base in self._by_tag["base"] if "href" in base.attributes), None)

    def title(self) -> str:
        """The document's title; an svg has titles of its own, which are not meant."""
        titles = [title.node for title in self._by_tag["title"] if _parent_tag(title.node) != "svg"]
        in_head = [node for node in titles if _parent_tag(node) == "head"]
        for node in (in_head or titles)[:1]:
            return " ".join(node.text()[: self._limits.title_chars * 20].split())[: self._limits.title_chars]
        return ""

    def language(self) -> str | None:
        """As the html element declares it, else a meta element; lower case, `en` or `pt-br`."""
        for html in self._by_tag["html"]:
            if found := language_tag(html.get("lang") or html.get("xml:lang")):
                return found
        return next(
            (tag for value in self._http_equiv("content-language") if (tag := language_tag(value))), None
        )

    def robots_contents(self, audience: Audience) -> list[str]:
        """The contents of the meta elements that tell us robots something."""
        named = ((meta.get("name").strip().lower(), meta) for meta in self._by_tag["meta"])
        return [meta.get("content") for name, meta in named if audience.meta_is_for_us(name)]

    def canonical(self) -> str | None:
        """Target of the first `rel="canonical"` that has one."""
        for link in self._by_tag["link"]:
            if "canonical" in link.get("rel").lower().split() and (href := link.get("href")):
                return self.resolver.resolve_or_none(href)
        return None

    def refresh_to(self) -> str | None:
        """Target of the first meta refresh that leads away from this page.

        One inside noscript does not count: it leads browsers without scripts to a page that says so.
        """
        for content in self._http_equiv("refresh"):
            match = _REFRESH.match(content)
            url = self.resolver.resolve_or_none(match[match.lastindex]) if match and match.lastindex else None
            if url and url != self.resolver.page_url:
                return url
        return None

    def announcements(self) -> Iterator[Announcement]:
        """What may announce a feed: `link`, `a` and `area` elements with a type, or with a rel that says so."""
        for element in self._elements:
            if element.tag in ("a", "link", "area"):
                rel = element.get("rel").lower()
                if "type" in element.attributes or "feed" in rel:
                    yield _announcement(element, rel)

    def outlinks(self) -> Outlinks:
        found = Outlinks(self.resolver, self._limits, self._bytes)
        targets = {tag: TARGETS[tag] for tag in self._limits.link_tags & TARGETS.keys()}
        for tag, node, attributes in self._elements:
            if tag in targets and (href := attributes.get(targets[tag])):
                found.offer(node, href, attributes.get("rel"))
        return found

    def _http_equiv(self, name: str) -> Iterator[str]:
        for meta in self._by_tag["meta"]:
            if meta.get("http-equiv").strip().lower() == name and _parent_tag(meta.node) != "noscript":
                yield meta.get("content")


def _announcement(element: Element, rel: str) -> Announcement:
    title = element.get("title") or ("" if element.tag == "link" else element.node.text()[:1_000])
    return Announcement(element.get("href"), rel.split(), mime_type(element.get("type")), title)


def language_tag(value: str | None) -> str | None:
    """The first language of a declaration, lower case; None if it is not one."""
    first = (value or "")[:100].partition(",")[0].strip().replace("_", "-").lower()
    return first if _LANGUAGE.fullmatch(first) else None


def _parent_tag(node: LexborNode) -> str | None:
    parent = node.parent
    return parent.tag if parent else None
