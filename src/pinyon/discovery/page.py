"""`parse_page`: the one door from a fetched body to what discovery knows of it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pinyon.discovery.charsets import Declared, Decoded, decode
from pinyon.discovery.directives import Audience, directives
from pinyon.discovery.feeds import Feeds, from_header
from pinyon.discovery.guard import tamed
from pinyon.discovery.html import HtmlPage, language_tag
from pinyon.discovery.kinds import TEXTUAL_TYPES, kind_of, mime_type
from pinyon.discovery.linkheader import HeaderLink, header_links
from pinyon.discovery.model import Limits, Page, PageKind
from pinyon.discovery.resolve import Resolver
from pinyon.discovery.text import html_text

_DEFAULT_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class _Response:
    """A body and what the HTTP headers said of it."""

    body: bytes
    url: str
    content_type: str | None
    charset: str | None
    robots_tag: str | None
    links: list[HeaderLink]
    content_language: str | None
    audience: Audience
    limits: Limits


def parse_page(
    body: bytes,
    *,
    url: str,
    content_type: str | None,
    charset: str | None,
    robots_tag: str | None,
    link_header: str | None = None,
    content_language: str | None = None,
    agent_names: Sequence[str] = (),
    limits: Limits = _DEFAULT_LIMITS,
) -> Page:
    """What stands in `body`, fetched from `url`. Never raises, in time about linear in the body's size.

    `body` has its content codings removed and is limited in size by the caller. `charset` is that of the
    Content-Type header; `robots_tag`, `link_header` and `content_language` are header values, several of one
    name joined by a comma or a line break. `agent_names` are the names robots rules may address us by, beside
    rules for all robots.

    A body that breaks a parser gives status "failed", a type there is no parser for "skipped".
    """
    signature = hashlib.md5(body, usedforsecurity=False).digest()
    try:
        response = _Response(
            body,
            url,
            content_type,
            charset,
            robots_tag,
            list(header_links(link_header)),
            content_language,
            Audience(agent_names),
            limits,
        )
        return _parsed(response, signature)
    except Exception as error:
        return _failed(error, signature)
    except BaseException as error:
        # A panic in a Rust library arrives as an exception that is, on purpose, no Exception.
        if type(error).__name__ != "PanicException":
            raise
        return _failed(error, signature)


def _failed(error: BaseException, signature: bytes) -> Page:
    reason = " ".join(str(error).split())[:200]
    return Page("failed", error=f"{type(error).__name__}: {reason}", signature=signature)


def _parsed(response: _Response, signature: bytes) -> Page:
    kind = kind_of(response.content_type, response.body)
    if kind == "other":
        return _skipped(response, signature)
    decoded = decode(response.body, response.charset, _DECLARED[kind])
    if kind == "html":
        return _html_page(response, decoded, signature)
    return _plain_page(response, kind, decoded, signature)


#: Where a document of this kind may declare its charset. JSON, scripts and plain text that merely contain a meta
#: element declare nothing.
_DECLARED: dict[PageKind, Declared] = {
    "html": "html",
    "feed": "xml",
    "sitemap": "xml",
    "text": "none",
    "other": "none",
}


def _skipped(response: _Response, signature: bytes) -> Page:
    mime = mime_type(response.content_type) or "unknown type"
    rules = directives((), response.robots_tag, response.audience)
    return Page(
        "skipped",
        error=f"no parser for {mime}" if mime not in TEXTUAL_TYPES else f"binary data served as {mime}",
        language=language_tag(response.content_language),
        noindex=rules.noindex,
        nofollow=rules.nofollow,
        canonical=_header_canonical(response),
        signature=signature,
    )


def _plain_page(response: _Response, kind: PageKind, decoded: Decoded, signature: bytes) -> Page:
    """A page without links of its own: plain text as it is; feeds and sitemaps are only recognised here."""
    rules = directives((), response.robots_tag, response.audience)
    keep_text = kind == "text" and response.limits.text != "none" and not rules.noindex
    return Page(
        "parsed",
        kind,
        text=decoded.text[: response.limits.text_chars].replace("\0", "") if keep_text else "",
        language=language_tag(response.content_language),
        charset=decoded.charset,
        canonical=_header_canonical(response),
        noindex=rules.noindex,
        nofollow=rules.nofollow,
        signature=signature,
    )


def _html_page(response: _Response, decoded: Decoded, signature: bytes) -> Page:
    markup = tamed(decoded)
    html = HtmlPage(markup.utf8, response.url, decoded.codec, response.limits)
    rules = directives(html.robots_contents(response.audience), response.robots_tag, response.audience)
    outlinks = html.outlinks()
    links = outlinks.listed()
    page = Page(
        "parsed",
        "html",
        title=html.title(),
        language=html.language() or language_tag(response.content_language),
        charset=decoded.charset,
        canonical=html.canonical() or _header_canonical(response),
        noindex=rules.noindex,
        nofollow=rules.nofollow,
        refresh_to=html.refresh_to(),
        links=[] if rules.nofollow else links,
        feeds=_feeds(response, html).listed(),
        signature=signature,
        links_dropped=outlinks.dropped + (len(links) if rules.nofollow else 0),
    )
    return page if rules.noindex else replace(page, text=html_text(markup, html.tree, response.limits))


def _feeds(response: _Response, html: HtmlPage) -> Feeds:
    """The page's own announcements first, then those only the header makes, which know of no base element."""
    feeds = Feeds(response.limits)
    feeds.take(html.announcements(), html.resolver)
    feeds.take(map(from_header, response.links), _header_resolver(response))
    return feeds


def _header_canonical(response: _Response) -> str | None:
    for link in response.links:
        if "canonical" in link.rels:
            return _header_resolver(response).resolve_or_none(link.target)
    return None


def _header_resolver(response: _Response) -> Resolver:
    return Resolver(response.url, None, "utf-8", response.limits.max_url_length)
