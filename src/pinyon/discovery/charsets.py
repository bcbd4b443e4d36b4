"""Bytes to text: which charset a body is in.

A byte order mark beats the HTTP header, the header beats the document's own declaration, and that beats a
guess (HTML standard, "determining the character encoding"). Labels mean what the WHATWG Encoding Standard
says they mean: `iso-8859-1` is windows-1252, `gb2312` is GBK. One thing goes beyond the standard: bytes
declared as UTF-8 that are clearly something else are not believed.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from resiliparse.parse.encoding import detect_encoding, map_encoding_to_html5

Declared = Literal["html", "xml", "none"]

#: Browsers stop at 1,024 bytes; pages whose declaration comes later (after inline scripts) are common enough.
PRESCAN_BYTES = 4096

_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16le"), (codecs.BOM_UTF16_BE, "utf-16be"))

#: Codec → the standard's name for it. Python's codecs of the same name are often a subset of what the standard
#: decodes, so the second table names the superset to decode with.
_STANDARD_NAMES = {
    "big5": "big5",
    "big5hkscs": "big5",
    "cp1250": "windows-1250",
    "cp1251": "windows-1251",
    "cp1252": "windows-1252",
    "cp1253": "windows-1253",
    "cp1254": "windows-1254",
    "cp1255": "windows-1255",
    "cp1256": "windows-1256",
    "cp1257": "windows-1257",
    "cp1258": "windows-1258",
    "cp866": "ibm866",
    "cp874": "windows-874",
    "cp932": "shift_jis",
    "cp949": "euc-kr",
    "euc_jp": "euc-jp",
    "euc_kr": "euc-kr",
    "gb18030": "gb18030",
    "gb2312": "gbk",
    "gbk": "gbk",
    "iso2022_jp": "iso-2022-jp",
    "ascii": "windows-1252",
    "iso8859-1": "windows-1252",
    "iso8859-2": "iso-8859-2",
    "iso8859-3": "iso-8859-3",
    "iso8859-4": "iso-8859-4",
    "iso8859-5": "iso-8859-5",
    "iso8859-6": "iso-8859-6",
    "iso8859-7": "iso-8859-7",
    "iso8859-8": "iso-8859-8",
    "iso8859-9": "windows-1254",
    "iso8859-10": "iso-8859-10",
    "iso8859-11": "windows-874",
    "iso8859-13": "iso-8859-13",
    "iso8859-14": "iso-8859-14",
    "iso8859-15": "iso-8859-15",
    "iso8859-16": "iso-8859-16",
    "koi8-r": "koi8-r",
    "koi8-u": "koi8-u",
    "mac-cyrillic": "x-mac-cyrillic",
    "mac-roman": "macintosh",
    "shift_jis": "shift_jis",
    "tis-620": "windows-874",
    "utf-8": "utf-8",
    "utf-16-be": "utf-16be",
    "utf-16-le": "utf-16le",
}
_DECODERS = {
    "big5": "big5hkscs",
    "euc-kr": "cp949",
    "gbk": "gb18030",
    "macintosh": "mac-roman",
    "shift_jis": "cp932",
    "windows-874": "cp874",
    "x-mac-cyrillic": "mac-cyrillic",
}
#: Labels of the standard that resiliparse does not know.
_MORE_LABELS = {
    "x-mac-cyrillic": "x-mac-cyrillic",
    "x-mac-ukrainian": "x-mac-cyrillic",
    "tis620": "windows-874",
}

_COMMENT = re.compile(rb"<!--.*?(?:-->|\Z)", re.DOTALL)
_META = re.compile(rb"<meta[\s/][^>]*", re.IGNORECASE)
_META_CHARSET = re.compile(rb"charset\s*=\s*[\"']?\s*([^\s\"'/>;]+)", re.IGNORECASE)
_NAMED_META = re.compile(rb"[\s\"'/](?:name|property|itemprop)\s*=", re.IGNORECASE)
_XML_DECLARATION = re.compile(rb"\s*<\?xml[^>]*?\sencoding\s*=\s*[\"']\s*([^\s\"'>]+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Decoded:
    """A body as text without byte order mark; `utf8` is the same as UTF-8 bytes, `charset` a standard name."""

    text: str
    utf8: bytes
    charset: str

    @property
    def codec(self) -> str:
        """The Python codec the body was decoded with."""
        return _DECODERS.get(self.charset, self.charset)


def standard_name(label: str | None) -> str | None:
    """The Encoding Standard's name for a label, None for one it does not know or refuses to decode."""
    if not label:
        return None
    label = label.strip().strip("\"'").strip().lower()
    if label in _MORE_LABELS:
        return _MORE_LABELS[label]
    codec = map_encoding_to_html5(label, fallback_utf8=False) if label.isascii() else None
    return _STANDARD_NAMES.get(codec) if codec else None


def decode(body: bytes, header: str | None, declared: Declared) -> Decoded:
    """`body` as text. `header` is the charset of the Content-Type header, `declared` where else to look.

    Never raises: bytes that make no sense in the charset become U+FFFD.
    """
    for bom, charset in _BOMS:
        if body.startswith(bom):
            return _decoded(body[len(bom) :], charset)
    for name in _said(body, header, declared):
        if name == "utf-8":
            text = _believable_utf8(body)
            if text is not None:
                return _from_text(text, body, name)
        elif name is not None:
            return _decoded(body, name)
    return _guessed(body)


def _said(body: bytes, header: str | None, declared: Declared) -> Iterator[str | None]:
    """What header and document say, the document asked only if the header is not enough."""
    yield standard_name(header)
    yield _declared(body, declared)


def _declared(body: bytes, declared: Declared) -> str | None:
    if declared == "none":
        return None
    head = body[:PRESCAN_BYTES]
    if match := _XML_DECLARATION.match(head):
        return _ascii_based(standard_name(match[1].decode("ascii", "replace")))
    return _ascii_based(_meta_charset(head)) if declared == "html" else None


def _meta_charset(head: bytes) -> str | None:
    """The first usable `charset` of a meta element, however badly the rest of it is written.

    The standard wants `http-equiv` beside `content`; pages that misspell it are in that charset all the same.
    A meta with a name is a description or the like, and only talks about charsets.
    """
    for meta in _META.findall(_COMMENT.sub(b"", head)):
        found = _META_CHARSET.search(meta)
        if found and not _NAMED_META.search(meta):
            name = standard_name(found[1].decode("ascii", "replace"))
            if name:
                return name
    return None


def _ascii_based(name: str | None) -> str | None:
    """The standard's rule: who can read the declaration as ASCII is not looking at UTF-16."""
    return "utf-8" if name and name.startswith("utf-16") else name


def _believable_utf8(body: bytes) -> str | None:
    """`body` as UTF-8, or None if too much of it is invalid for a UTF-8 page with a few bad bytes."""
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        text = body.decode("utf-8", "replace")
    # A body cut at a limit ends within a character: that is one bad one, and no reason for doubt.
    bad = text.count("\ufffd")
    good = len(text) - len(text.encode("ascii", "ignore")) - bad
    return text if (bad - text.endswith("\ufffd")) * 10 <= good else None


def _guessed(body: bytes) -> Decoded:
    try:
        return _from_text(body.decode("utf-8"), body, "utf-8")
    except UnicodeDecodeError:
        pass
    # Not `html5_compatible`: that turns names it does not know, cp949 among them, into UTF-8. The whole body:
    # in a mostly ASCII page the first telling byte may come late.
    codec = detect_encoding(body, max_len=len(body), html5_compatible=False) or ""
    name = _STANDARD_NAMES.get(codec.lower(), "windows-1252")
    if name == "utf-8":
        text = _believable_utf8(body)
        return _from_text(text, body, name) if text is not None else _decoded(body, "windows-1252")
    return _decoded(body, name)


def _decoded(body: bytes, charset: str) -> Decoded:
    text = body.decode(_DECODERS.get(charset, charset), "replace")
    return _from_text(text, body, charset)


def _from_text(text: str, body: bytes, charset: str) -> Decoded:
    clean = charset == "utf-8" and "\ufffd" not in text
    return Decoded(text, body if clean else text.encode("utf-8", "replace"), charset)
