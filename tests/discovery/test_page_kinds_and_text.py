"""What kind of document a body is, which text it has, and what it says of itself."""

from __future__ import annotations

import hashlib

import pytest
from discovery_cases import URL, page

from pinyon.discovery import Limits

_RSS = b'<?xml version="1.0"?><rss version="2.0"><channel/></rss>'
_SITEMAP = b"<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'/>"
_HTML = b"<!DOCTYPE html><title>t</title>"


@pytest.mark.parametrize(
    ("content_type", "body", "kind"),
    [
        ("text/html", _HTML, "html"),
        ("Text/HTML; charset=utf-8", _HTML, "html"),
        ("text/html", b"", "html"),
        ("text/html", b"just words", "html"),
        ("text/html", _RSS, "feed"),
        ("text/html", b"%PDF-1.7 <a href=x>", "other"),
        ("text/plain", b"\x89PNG\r\n", "other"),
        ("text/html", _SITEMAP, "sitemap"),
        ("application/xhtml+xml", b"<?xml version='1.0'?><html xmlns='x'/>", "html"),
        ("text/xml", b"\xef\xbb\xbf <?xml version='1.0'?><!-- c -->\n<feed xmlns='x'/>", "feed"),
        ("application/xml", b"<!DOCTYPE rdf:RDF [<!ENTITY x 'y'>]><rdf:RDF/>", "feed"),
        ("application/xml", "<?xml version='1.0'?><rss/>".encode("utf-16"), "feed"),
        ("application/xml", b"<sm:sitemapindex xmlns:sm='x'/>", "sitemap"),
        ("application/xml", b"<html/>", "html"),
        ("application/xml", b"<svg/>", "other"),
        ("image/svg+xml", b"<svg/>", "other"),
        ("application/rss+xml", b"broken", "feed"),
        ("application/atom+xml; type=feed", b"<feed/>", "feed"),
        ("text/plain", b"words", "text"),
        ("text/plain", b"<html><a href=x>", "text"),
        ("text/plain", _RSS, "feed"),
        ("text/plain", _SITEMAP, "sitemap"),
        ("application/json", _HTML, "other"),
        ("application/pdf", b"%PDF-1.7", "other"),
        ("text/css", b"a {}", "other"),
        ("application/javascript", b"x", "other"),
        (None, _HTML, "html"),
        (None, b"\n<!-- c --><HTML>", "html"),
        ("", _RSS, "feed"),
        ("application/octet-stream", b"<p>words", "html"),
        ("application/octet-stream", b"plain words", "text"),
        ("application/octet-stream", b"\x7fELF\x02\x01\x01\x00", "other"),
        ("unknown/unknown", "Wörter".encode("utf-16"), "text"),
    ],
)
def test_the_kind_is_that_of_type_and_first_bytes(content_type: str | None, body: bytes, kind: str) -> None:
    parsed = page(body, content_type=content_type)
    assert parsed.kind == kind
    assert parsed.status == ("skipped" if kind == "other" else "parsed")


def test_what_is_skipped_says_why() -> None:
    assert page(b"%PDF", content_type="application/pdf; q=1").error == "no parser for application/pdf"
    assert page(b"PK\x03\x04").error == "binary data served as text/html"
    assert page(b"\0", content_type=None).error == "no parser for unknown type"


@pytest.mark.parametrize(
    "content_type", ["text/html", "text/plain", "application/pdf", "application/rss+xml"]
)
def test_the_signature_is_of_the_bytes_alone(content_type: str) -> None:
    body = "Wörter <a href=x>x</a>".encode()
    expected = hashlib.md5(body).digest()
    assert page(body, content_type=content_type).signature == expected
    assert (
        page(body, content_type=content_type, charset="latin-1", url="http://x.test/").signature == expected
    )


class PanicException(BaseException):
    """How a Rust library's panic arrives."""


class _Breaking(str):
    """A header value that breaks whoever looks into it."""

    error: BaseException

    def partition(self, *_: object) -> tuple[str, str, str]:
        raise self.error


@pytest.mark.parametrize(
    "error", [ValueError("no\nsense"), RecursionError("too deep"), PanicException("at the disco")]
)
def test_what_breaks_a_parser_fails_and_says_why(error: BaseException) -> None:
    content_type = _Breaking("text/html")
    content_type.error = error
    parsed = page(b"body", content_type=content_type)
    assert (parsed.status, parsed.signature) == ("failed", hashlib.md5(b"body").digest())
    assert parsed.error == f"{type(error).__name__}: {' '.join(str(error).split())}"


def test_an_interrupt_is_no_failure_of_the_page() -> None:
    content_type = _Breaking("text/html")
    content_type.error = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        page(b"body", content_type=content_type)


class TestTitle:
    @pytest.mark.parametrize(
        ("body", "title"),
        [
            ("<title> a \n b </title>", "a b"),
            ("<title>a &amp; <b>b</b></title>", "a & <b>b</b>"),
            ("<title>first</title><title>second</title>", "first"),
            ("<body><p>x</p><title>late</title>", "late"),
            ("<svg><title>icon</title></svg>", ""),
            ("<title></title><body><title>body</title>", ""),
            ("no title", ""),
        ],
    )
    def test_it_is_the_documents(self, body: str, title: str) -> None:
        assert page(body).title == title

    def test_it_is_cut(self) -> None:
        assert page(f"<title>{'x' * 10_000}</title>", limits=Limits(title_chars=10)).title == "x" * 10


class TestLanguage:
    @pytest.mark.parametrize(
        ("body", "header", "language"),
        [
            ("<html lang=en>", None, "en"),
            ("<html lang='pt_BR'>", None, "pt-br"),
            ("<html xml:lang=de>", None, "de"),
            ("<meta http-equiv=content-language content='fr, en'>", None, "fr"),
            ("<html lang=en>", "de", "en"),
            ("<html lang=''>", "de-AT, en", "de-at"),
            ("<html lang='{{lang}}'>", None, None),
            ("<html lang='not a language'>", "zh-Hant-TW", "zh-hant-tw"),
            ("words", None, None),
        ],
    )
    def test_it_is_the_pages_word_or_the_headers(
        self, body: str, header: str | None, language: str | None
    ) -> None:
        assert page(body, content_language=header).language == language


class TestCanonical:
    @pytest.mark.parametrize(
        ("body", "canonical"),
        [
            ("<link rel=canonical href=/c>", "http://site.test/c"),
            ("<link rel='shortlink CANONICAL' href='https://Other.test#x'>", "https://other.test/"),
            ("<base href=/b/><link rel=canonical href=c>", "http://site.test/b/c"),
            ("<link rel=canonical href=''><link rel=canonical href=/2>", "http://site.test/2"),
            ("<link rel=canonical href=/1><link rel=canonical href=/2>", "http://site.test/1"),
            (f"<link rel=canonical href={URL}>", URL),
            ("<link rel=canonical href='javascript:x'>", None),
            ("<link rel=canonical href='http://'>", None),
            ("<link rel=canonical>", None),
            ("<a rel=canonical href=/c>c</a>", None),
        ],
    )
    def test_it_is_absolute_or_none(self, body: str, canonical: str | None) -> None:
        assert page(body).canonical == canonical


class TestRefresh:
    @pytest.mark.parametrize(
        ("content", "target"),
        [
            ("0; url=/x", "/x"),
            ("0;URL='/x'", "/x"),
            ('0;url="/x" ignored', "/x"),
            ("5,/x", "/x"),
            ("5 /x", "/x"),
            ("0.5; url = /x", "/x"),
            (".5;/x", "/x"),
            ("0; url='/x", "/x"),
            ("0; url=/x#y", "/x"),
            ("0; url=/x?a=b;c=d", "/x?a=b;c=d"),
            ("0; urlx", "/dir/urlx"),
        ],
    )
    def test_the_target_is_read_as_browsers_read_it(self, content: str, target: str) -> None:
        body = f"<meta http-equiv=refresh content='{content.replace(chr(39), '&#39;')}'>"
        assert page(body).refresh_to == f"http://site.test{target}"

    @pytest.mark.parametrize(
        "content", ["", "5", "5;", "url=/x", "x; url=/x", "0;url=javascript:x", "0;url=#a", "0;url="]
    )
    def test_what_leads_nowhere_is_none(self, content: str) -> None:
        assert page(f"<meta http-equiv=refresh content='{content}'>").refresh_to is None

    def test_one_for_browsers_without_scripts_is_none(self) -> None:
        assert page("<noscript><meta http-equiv=refresh content='0;url=/nojs'></noscript>").refresh_to is None

    def test_it_is_no_link(self) -> None:
        assert page("<meta http-equiv=refresh content='0;url=/x'>").links == []


class TestText:
    _ARTICLE = (
        "<p>" + "A paragraph of the article, long enough to be taken for one by anybody who reads it. " * 3
    )
    _BODY = f"""<title>T</title><nav><ul><li><a href=1>Menu one</a></li><li><a href=2>Menu two</a></li></ul></nav>
        <main><article><h1>Heading</h1>{_ARTICLE}<script>var scripted</script>{_ARTICLE}</article></main>
        <footer><a href=3>Imprint</a></footer>"""

    def test_main_text_is_without_navigation(self) -> None:
        text = page(self._BODY).text
        assert "A paragraph of the article" in text and "\n\n" in text
        assert not any(word in text for word in ("Menu", "Imprint", "scripted"))

    def test_all_text_is_what_a_reader_may_see(self) -> None:
        text = page(self._BODY, limits=Limits(text="all")).text
        assert all(word in text for word in ("Menu one Menu two Heading A paragraph", "Imprint"))
        assert "scripted" not in text and "\n" not in text

    def test_none_is_none(self) -> None:
        assert page(self._BODY, limits=Limits(text="none")).text == ""
        assert page("words", content_type="text/plain", limits=Limits(text="none")).text == ""

    @pytest.mark.parametrize("content_type", ["text/html", "text/plain"])
    def test_it_is_cut(self, content_type: str) -> None:
        assert len(page("word " * 1000, content_type=content_type, limits=Limits(text_chars=100)).text) == 100

    def test_a_page_without_main_text_gives_all_of_it(self) -> None:
        assert page("<nav><a href=x>Only a menu</a></nav>").text == "Only a menu"
