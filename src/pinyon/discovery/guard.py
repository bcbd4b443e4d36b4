"""Pages that would keep the HTML parser busy for minutes, found and defused in linear time.

Three things make a tree builder quadratic, and each fits into a few kilobytes: elements nested thousands deep,
formatting elements that are never closed (every paragraph after them gets a copy of them all), and one tag with
thousands of attributes. Few real pages come near; so they are looked for by counts that cannot be fooled, and
only pages over them pay. Such a page is not refused. Its formatting elements are renamed, if that is all; else it
is rewritten to the elements links are taken from (`flatten`). Both give the same links, with the same text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import re2

from pinyon.discovery.charsets import Decoded
from pinyon.discovery.flatten import ATTRIBUTE, TAG, flattened

#: Pages with fewer tags than this cannot be slow by nesting or formatting: a third of a second at worst.
_FEW_TAGS = 2_000
#: Nesting is bounded by the number of tags; 20,000 nested elements take half a second, 40,000 take three.
_MANY_TAGS = 20_000
#: Links can nest (within objects, table cells, svg), and each has all text below it as its own: this many nodes
#: are visited in half a second, twice where there is no text.
_LINK_VISITS = 40_000_000
#: Copies of formatting elements a page may cause: a million take a third of a second.
_FORMATTING_COPIES = 1_000_000
#: Equal formatting elements are reopened three times, not more ("Noah's Ark clause" of the HTML standard).
_NOAHS_ARK = 3
#: A page of this size can hold 16,000 attributes in one tag, which take half a second.
_SMALL_BYTES = 64 * 1024
#: Attributes one tag of a larger page may have: the time is theirs squared.
_MANY_ATTRIBUTES = 300
_WINDOW = 1_024
#: How often a page is read, at most, to find out.
_READINGS = 4

_BYTES = re2.Options()
_BYTES.encoding = re2.Options.Encoding.LATIN1

#: b, big, code, em, font, i, nobr, s, small, strike, strong, tt, u: parted so, they are found twice as fast. It
#: takes some words that are no element along (`eig`), which does no harm.
_NAMES = rb"[bcefinstu](?:|ig|ode|m|ont|obr|mall|trike|trong|t)"
#: A formatting element with attributes: whole, where it is in a form that everybody reads alike (equal bytes are
#: equal elements then), else its beginning.
_FORMATTING = re.compile(rb"<" + _NAMES + rb"(?:(?:\s+[\w:-]+=\"[^\"<>]*+\")++\s*+>|[\s/])", re.IGNORECASE)
_ANY_FORMATTING = re.compile(rb"(</?)" + _NAMES + rb"(?=[\s/>])", re.IGNORECASE)
_TAG_START = re.compile(rb"<[a-zA-Z]")
#: A quoted attribute value with a `>` inside, or what may be one. Most pages have none, which RE2 sees in a third
#: of the time.
_QUOTED_END = re.compile(rb"=\s*+(?:\"[^\">]*+>|'[^'>]*+>)")
_ANY_QUOTED_END = re2.compile(rb"=\s*(?:\"[^\">]*>|'[^'>]*>)", _BYTES)


@dataclass(frozen=True, slots=True)
class Markup:
    """HTML that parses in bounded time, as text and as UTF-8; `flat` if nothing is left of its structure."""

    text: str
    utf8: bytes
    flat: bool


def tamed(page: Decoded) -> Markup:
    """The page as it is, or one with the same links that parses in bounded time."""
    utf8 = page.utf8
    tags = utf8.count(b"<")
    if tags > _FEW_TAGS and _may_nest_too_much(utf8, tags):
        return _rewritten(flattened(utf8), flat=True)
    if len(utf8) > _SMALL_BYTES and _may_have_an_attribute_flood(utf8):
        return _rewritten(flattened(utf8), flat=True)
    if tags > _FEW_TAGS and _may_reopen_too_much(utf8, tags):
        # An element without a meaning of its own is not reopened; links and their text stay the same.
        return _rewritten(_ANY_FORMATTING.sub(rb"\1span", utf8), flat=False)
    return Markup(page.text, utf8, flat=False)


def _may_nest_too_much(utf8: bytes, tags: int) -> bool:
    if tags * tags <= _LINK_VISITS:
        return False
    return tags > _MANY_TAGS or tags * (utf8.count(b"<a") + utf8.count(b"<A")) > _LINK_VISITS


def _may_reopen_too_much(utf8: bytes, tags: int) -> bool:
    """Whether formatting elements with attributes, if none of them were closed, would be copied too often."""
    found = _FORMATTING.findall(utf8)
    if tags * len(found) <= _FORMATTING_COPIES:
        return False
    whole = [element for element in found if element.endswith(b">")]
    different = len(set(whole)) * _NOAHS_ARK + len(found) - len(whole)
    return tags * different > _FORMATTING_COPIES


def _rewritten(utf8: bytes, *, flat: bool) -> Markup:
    return Markup(utf8.decode("utf-8", "replace"), utf8, flat)


def _may_have_an_attribute_flood(utf8: bytes) -> bool:
    """Whether one tag may have very many attributes, or it would take too long to find out.

    A tag that has them is long: so it begins in a long stretch without `>`, or the first `>` after its beginning
    stands in a quoted value. Which `<` there begins a tag depends on quotes, comments and scripts before it, so
    each is read as if it did.
    """
    read = 0
    for start, end in (*_long_stretches(utf8), *_quoted_stretches(utf8)):
        for candidate in _TAG_START.finditer(utf8, start, end):
            tag = TAG.match(utf8, candidate.start())
            length = len(tag[0]) if tag else 0
            read += length
            if read > _READINGS * len(utf8):
                return True
            if tag and length > _WINDOW and len(ATTRIBUTE.findall(tag[0])) > _MANY_ATTRIBUTES:
                return True
    return False


def _quoted_stretches(utf8: bytes) -> Iterator[tuple[int, int]]:
    """The stretches between two `>` of which the second may stand in a quoted value."""
    if _ANY_QUOTED_END.search(utf8) is None:
        return
    for match in _QUOTED_END.finditer(utf8):
        yield utf8.rfind(b">", 0, match.end() - 1) + 1, match.end()


def _long_stretches(utf8: bytes) -> Iterator[tuple[int, int]]:
    """Where there is no `>`: all stretches of two windows and more, some shorter ones.

    Such a stretch contains an aligned window without `>`: everything else is passed by unseen.
    """
    position = 0
    while position < len(utf8):
        if utf8.find(b">", position, position + _WINDOW) < 0:
            end = utf8.find(b">", position)
            end = len(utf8) if end < 0 else end
            yield utf8.rfind(b">", 0, position) + 1, end
            position = end - end % _WINDOW
        position += _WINDOW
