"""Pages in many charsets, declared here, there, twice, wrongly or not at all. The title says what should be read."""

from __future__ import annotations

from dataclasses import dataclass

from pinyon.simweb.answer import Answer, Ask
from pinyon.simweb.kind import Handler, Route
from pinyon.simweb.pages import Link
from pinyon.simweb.site import Site

_GERMAN = "Häher vergraben Kiefernsamen für den Winter"
_RUSSIAN = "Сойка прячет семена сосны на зиму"
_CHINESE = "松鸦在秋天埋藏松子以备过冬"
_JAPANESE = "カケスは冬のために松の実を隠す"
_HEADER_ONLY = "text/html; charset="


@dataclass(frozen=True, slots=True)
class Writing:
    """A page: what it says, how it is encoded, and what header and meta claim. `href` is a link inside it."""

    path: str
    text: str
    encoding: str
    header: str | None = None
    meta: str = ""
    href: str = "/"
    target: str = "/"


def _meta(charset: str) -> str:
    return f'<meta charset="{charset}">'


#: Content-Type declared in the way of HTML 4, and misspelt.
_OLD_META = '<meta http-equiv="Content-Type" content="text/html; charset=gbk">'
_LOST_META = '<meta httpequiv="Content-Type" content="text/html; charset=gbk">'

WRITINGS: tuple[Writing, ...] = (
    Writing("/utf-8-header", _GERMAN, "utf-8", "utf-8", href="/über", target="/%C3%BCber"),
    Writing(
        "/utf-8-meta",
        _RUSSIAN,
        "utf-8",
        meta=_meta("UTF-8"),
        href="/сойка",
        target="/%D1%81%D0%BE%D0%B9%D0%BA%D0%B0",
    ),
    Writing("/utf-8-bom", _CHINESE, "utf-8-sig"),
    Writing("/utf-8-bom-beats-header", _RUSSIAN, "utf-8-sig", "windows-1251"),
    Writing("/utf-8-undeclared", _JAPANESE, "utf-8"),
    Writing("/iso-8859-1-header", _GERMAN, "iso-8859-1", "ISO-8859-1", href="/grün", target="/gr%C3%BCn"),
    Writing("/windows-1252-as-latin-1", "Häher – „Samen“", "windows-1252", "iso-8859-1"),
    Writing("/windows-1251-meta", _RUSSIAN, "windows-1251", meta=_meta("windows-1251")),
    Writing("/windows-1251-undeclared", _RUSSIAN, "windows-1251"),
    Writing("/koi8-r-header", _RUSSIAN, "koi8-r", "koi8-r"),
    Writing("/gbk-meta", _CHINESE, "gbk", meta=_OLD_META),
    Writing("/gb2312-header", _CHINESE, "gbk", "gb2312"),
    Writing("/gbk-lost-meta", _CHINESE, "gbk", meta=_LOST_META),
    Writing("/shift_jis-header", _JAPANESE, "shift_jis", "Shift_JIS"),
    Writing("/euc-jp-meta", _JAPANESE, "euc-jp", meta=_meta("euc-jp")),
    Writing("/utf-16-bom", _GERMAN, "utf-16-le"),
    Writing("/utf-16-big-bom", _JAPANESE, "utf-16-be"),
    Writing("/header-beats-meta", _RUSSIAN, "windows-1251", "windows-1251", _meta("utf-8")),
    Writing("/wrong-header", _GERMAN, "windows-1252", "utf-8", _meta("windows-1252")),
    Writing("/unknown-charset", _GERMAN, "utf-8", "x-pinyon"),
)


def _show(writing: Writing) -> Handler:
    filling = f"<p>{writing.text}, {writing.text}.</p>\n" * 6
    link = Link(writing.href, writing.target)
    text = (
        f"<!DOCTYPE html>\n<html><head>{writing.meta}<title>{writing.text}</title></head>\n"
        f'<body>{filling}<p><a href="{link.href}">home</a></p></body></html>\n'
    )
    bom = "\ufeff" if writing.encoding.startswith("utf-16") else ""
    body = (bom + text).encode(writing.encoding)
    content_type = "text/html" if writing.header is None else _HEADER_ONLY + writing.header
    return lambda site, ask: Answer(body=body, type=content_type, links=(site.url(writing.target),))


def _target(site: Site, ask: Ask) -> Answer:
    return Answer(body=b"<!DOCTYPE html><title>Target</title><p>A link that was not ASCII.\n")


CHARSETS: tuple[Route, ...] = (
    *(Route(writing.path, _show(writing)) for writing in WRITINGS),
    *(Route(writing.target, _target, listed=False) for writing in WRITINGS if writing.target != "/"),
)
