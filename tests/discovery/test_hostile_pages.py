"""Hostile and broken pages: no exception, no minute-long parse, and the links a browser would see."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from discovery_cases import URL, Case, cases, page
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pinyon.discovery import Limits, parse_page
from pinyon.discovery.charsets import decode
from pinyon.discovery.flatten import flattened
from pinyon.discovery.guard import tamed

_MEGABYTE = 1_000_000


def _numbered(template: str, count: int) -> bytes:
    return "".join(template % n for n in range(count)).encode()


#: Name → a page; each of these kept a parser, or an obvious way to read its tree, busy for seconds to hours.
_SLOW: dict[str, Callable[[], bytes]] = {
    "attributes without values": lambda: b"<a " + b"a " * (_MEGABYTE // 2),
    "different attributes": lambda: b"<a " + _numbered("a%d ", 150_000) + b">",
    "different attributes with < in them": lambda: b"<a " + _numbered("a%d< ", 150_000) + b">",
    "different attributes parted by slashes": lambda: b"<a " + _numbered("a%d/", 150_000) + b">",
    "different attributes not parted": lambda: b"<a " + _numbered('a%d="x"', 100_000) + b">",
    "different attributes holding >": lambda: b"<a " + _numbered('a%d=">"', 100_000) + b">",
    "different attributes after a few >": lambda: b'<p title=">">' * 9 + b'<a x=">" ' + _numbered("%x ", 90_000) + b">",
    "many tags with many attributes": lambda: (b"<a " + _numbered("%x ", 990) + b">") * 220,
    "a small page with many attributes": lambda: b"<a " + _numbered("%x ", 13_000) + b">",
    "marked sections": lambda: b"<![/" * (_MEGABYTE // 4),
    "an unclosed quote": lambda: b'<a href="' + b"x" * _MEGABYTE,
    "many unclosed quotes": lambda: b'<a href="x' * (_MEGABYTE // 10),
    "equal signs and quotes": lambda: b'="' * (_MEGABYTE // 4) + b"='" * (_MEGABYTE // 4),
    "comments": lambda: b"<!--" * (_MEGABYTE // 4),
    "scripts": lambda: b"<script>" * (_MEGABYTE // 8),
    "angle brackets": lambda: b"<" * _MEGABYTE,
    "deep divs": lambda: b"<div>" * (_MEGABYTE // 5),
    "just few enough divs": lambda: b"<div>x" * 19_900,
    "deep lists": lambda: b"<ul><li>" * (_MEGABYTE // 8),
    "deep tables": lambda: b"<table><tr><td>" * (_MEGABYTE // 15),
    "deep links": lambda: b"<a href=x><div>" * (_MEGABYTE // 15),
    "links within links": lambda: b"<svg>" + _numbered("<a href=%d>t", 6_000),
    "links around all text": lambda: b"<svg>" + _numbered("<a href=%d>", 6_000) + b"text " * 180_000,
    "links within objects": lambda: _numbered("<object><a href=%d>t", 40_000),
    "formatting never closed": lambda: b"<p>" + _numbered("<font size=%d>", 5_000) + b"<p>x" * 5_000,
    "formatting in another spelling": lambda: b"<p>" + _numbered("<FONT/size='>'id=%d>", 5_000) + b"<p>x" * 5_000,
    "formatting of quoted form": lambda: b"<p>" + _numbered('<b id="%d">', 5_000) + b"<p>x" * 5_000,
    "a little formatting": lambda: b"<p>" + _numbered("<b id=%d>", 990) + b"<p>x" * 990,
    "misnested formatting": lambda: (b"<b><i><u>" * 3 + b"<p></b></i>") * 30_000,
    "many links": lambda: _numbered("<a href=%d>t</a>", 60_000),
    "many bases": lambda: b"<base href=x>" * 70_000,
    "a long refresh": lambda: b"<meta http-equiv=refresh content='0" + b" " * _MEGABYTE + b"'>",
    "a long class": lambda: b'<div class="' + b"nav " * (_MEGABYTE // 4) + b'">x</div>',
    "a long alt": lambda: b'<a href=x><img alt="' + b"z " * (_MEGABYTE // 2) + b'"></a>',
    "no UTF-8": lambda: b"\xff\xfd\xfe" * (_MEGABYTE // 3),
    "every byte": lambda: bytes(range(256)) * 4_000,
    "every character, not quite UTF-8": lambda: "".join(map(chr, range(0x80, 0xD800))).encode() * 3 + b"\xff" * 99_999,
    "zeros": lambda: b"\0" * _MEGABYTE,
}  # fmt: skip


@pytest.mark.parametrize("name", _SLOW)
def test_no_page_keeps_the_parser_busy(name: str) -> None:
    body = _SLOW[name]()
    begun = time.process_time()
    parsed = page(body, limits=Limits(text="main"))
    assert time.process_time() - begun < 2
    assert parsed.status == "parsed"


def test_a_guarded_page_keeps_its_links() -> None:
    body = b"".join(b"<div><b id=%d><a href=%d>t%d</a>" % (n, n, n) for n in range(12_000))
    links = page(body, limits=Limits(max_links=-1)).links
    assert [(link.url.rpartition("/")[2], link.anchor) for link in links] == [
        (str(n), f"t{n}") for n in range(12_000)
    ]


def test_a_real_page_is_not_touched() -> None:
    for case in cases("pages"):
        decoded = decode(case.body, None, "html")
        assert tamed(decoded).utf8 is decoded.utf8


def test_renamed_formatting_changes_neither_links_nor_text() -> None:
    row = (
        "<tr><td><font color='#%06x'><b class=x%d>cell</b></font> <a href=%d><i id=y%d>li</i>nk</a></td></tr>"
    )
    body = ("<table>" + "".join(row % (n, n, n, n) for n in range(900)) + "</table>").encode()
    decoded = decode(body, None, "html")
    assert b"<span class=x5>" in tamed(decoded).utf8
    parsed = page(body, limits=Limits(text="all"))
    assert [link.anchor for link in parsed.links] == ["link"] * 900
    assert parsed.text == " ".join(["cell", "li", "nk"] * 900)


_PIECES = """
    <a href=x> | <a href='/y?z=1&amp;q' rel=nofollow> | </a> | <div> | </div> | <p> | <b> | </b> | text | <br> | <
    <table> | <tr> | <td> | </table> | <img src=i alt=image> | <title>T</title> | <base href=/b/> | > | " | ' | = | <a
    <link rel=canonical href=c> | <iframe src=f></iframe> | <meta name=robots content=noindex> | &amp; | &lt;
    <!--c--> | <!-- <a href=hidden> --> | <script>'<a href=s>'</script> | <svg><title>t</title></svg>
    <style>a{}</style>
"""
_MARKUP = st.lists(
    st.sampled_from([piece.strip() for piece in _PIECES.replace("\n", "|").split("|")]), max_size=30
)


@given(_MARKUP)
@settings(max_examples=300, deadline=None)
def test_flattening_keeps_what_discovery_reads(pieces: list[str]) -> None:
    html = " ".join(pieces)
    limits = Limits(text="none")
    whole, flat = page(html, limits=limits), page(flattened(html.encode()), limits=limits)
    assert {link.url for link in flat.links} == {link.url for link in whole.links}
    assert (flat.noindex, flat.canonical) == (whole.noindex, whole.canonical)


_HTML_PAGES = [case for case in cases("pages") if case.expect.get("kind", "html") == "html"]


@pytest.mark.parametrize("case", _HTML_PAGES, ids=lambda case: case.name)
def test_flattening_keeps_the_links_of_whole_pages(case: Case) -> None:
    given, body = case.given | {"charset": "utf-8"}, decode(case.body, None, "html").utf8
    whole, flat = page(body, **given), page(flattened(body), **given)
    assert [(link.url, link.rel) for link in flat.links] == [(link.url, link.rel) for link in whole.links]
    assert (flat.title, flat.feeds, flat.language) == (whole.title, whole.feeds, whole.language)


_TOKENS = [
    token.encode("latin-1")
    for token in """< > </ <!-- --> <![CDATA[ ]]> = " ' & ; # a href / http://x.test/ script title meta charset svg
    table select template base iframe <?xml <rss <urlset content refresh feed \xff""".split()
] + [b" ", b"\n", b"\0"]


@given(
    body=st.one_of(st.binary(max_size=300), st.lists(st.sampled_from(_TOKENS), max_size=80).map(b"".join)),
    content_type=st.sampled_from(["text/html", "text/plain", "text/xml", "application/rss+xml", None, "x"]),
    header=st.one_of(st.none(), st.text(max_size=60)),
)
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_no_input_raises(body: bytes, content_type: str | None, header: str | None) -> None:
    parsed = parse_page(
        body,
        url=URL,
        content_type=content_type,
        charset=header,
        robots_tag=header,
        link_header=header,
        content_language=header,
    )
    assert parsed.status != "failed"
    assert all(link.url.startswith(("http://", "https://")) and "#" not in link.url for link in parsed.links)


@pytest.mark.parametrize(
    "element",
    [
        '<img src="data:image/png;base64,%s">' % ("iVBORw0KGgo/AAA+" * 12_000),
        "<img src=data:image/png;base64,%s>" % ("iVBORw0KGgo/AAA+" * 12_000),
        '<button class="[&>svg]:size-4 [&>p]:mt-1 flex" onclick="() => go(1)">x</button>' * 1_500,
        "<script>%s</script>" % ("var t = '<a class=\"x\">' + \"<p title='y'>\";\n" * 3_000),
        '<script type="application/json">%s</script>' % ('{"text": "three or four words"}, ' * 4_000),
        "<p>%s</p>" % ("a long paragraph " * 10_000),
        "<div data-state='%s'></div>" % ('{"html":"<p class=x>y</p>"},' * 4_000),
    ],
    ids=lambda element: element[:24],
)
def test_large_pages_of_usual_kinds_are_not_touched(element: str) -> None:
    decoded = decode(f"<!DOCTYPE html><p>{element}<a href=x>x</a>".encode(), None, "html")
    assert tamed(decoded).utf8 is decoded.utf8
