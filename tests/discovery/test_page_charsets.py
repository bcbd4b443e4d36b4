"""Charsets: who is believed, in which order, and what a label means."""

from __future__ import annotations

import codecs

import pytest
from discovery_cases import page

_RUSSIAN = "Привет мир, это обычная страница на русском языке, и слов на ней достаточно."
_GERMAN = "Größe, Übung, Straße, Äpfel, Öl: schöne Grüße aus München."


def _html(title: str, head: str = "") -> str:
    return f"<html><head>{head}<title>{title}</title></head><body><p>{title}</p></body></html>"


class TestOrder:
    def test_a_byte_order_mark_beats_the_header(self) -> None:
        parsed = page(codecs.BOM_UTF8 + _html(_RUSSIAN).encode(), charset="windows-1251")
        assert (parsed.charset, parsed.title) == ("utf-8", _RUSSIAN)

    @pytest.mark.parametrize(
        ("bom", "codec"), [(codecs.BOM_UTF16_LE, "utf-16le"), (codecs.BOM_UTF16_BE, "utf-16be")]
    )
    def test_so_does_that_of_utf16(self, bom: bytes, codec: str) -> None:
        parsed = page(bom + _html(_RUSSIAN).encode(codec), charset="utf-8")
        assert (parsed.charset, parsed.title, parsed.kind) == (codec, _RUSSIAN, "html")

    def test_the_header_beats_the_page(self) -> None:
        body = _html(_RUSSIAN, "<meta charset=koi8-r>").encode("cp1251")
        assert (page(body, charset="windows-1251").title) == _RUSSIAN

    def test_the_page_beats_a_guess(self) -> None:
        parsed = page(_html("\xe4\xf6\xfc", "<meta charset=iso-8859-5>").encode("latin-1"))
        assert (parsed.charset, parsed.title) == ("iso-8859-5", "фіќ")

    @pytest.mark.parametrize(
        "header", ["nonsense", "", "utf-7", "hz-gb-2312", "base64", "\ud800", "x" * 10_000]
    )
    def test_a_label_nobody_knows_is_passed_over(self, header: str) -> None:
        body = _html(_RUSSIAN, "<meta charset=windows-1251>").encode("cp1251")
        assert page(body, charset=header).charset == "windows-1251"


class TestDeclarations:
    @pytest.mark.parametrize(
        "meta",
        [
            '<meta charset="windows-1251">',
            "<META CHARSET = 'Windows-1251' />",
            "<meta charset=cp1251>",
            '<meta http-equiv="Content-Type" content="text/html; charset=windows-1251">',
            '<meta content="text/html;charset=windows-1251" http-equiv=content-type>',
            '<meta httpequiv="Content-Type" content="text/html; charset=windows-1251">',
            '<meta content="text/html; charset=windows-1251">',
            '<meta http-equiv="Content-Type" content="text/html; charset = windows-1251 ; x">',
            '<?xml version="1.0" encoding="windows-1251"?>',
            '<meta charset="nonsense"><meta charset="windows-1251">',
            "<!-- <meta charset=koi8-r> --><meta charset=windows-1251>",
            '<meta name="description" content="how to write charset=koi8-r"><meta charset=windows-1251>',
            f"<script>{'x' * 3000}</script><meta charset=windows-1251>",
        ],
    )
    def test_every_spelling_is_understood(self, meta: str) -> None:
        if meta.startswith("<?xml"):
            parsed = page((meta + _html(_RUSSIAN)).encode("cp1251"))
        else:
            parsed = page(_html(_RUSSIAN, meta).encode("cp1251"))
        assert (parsed.charset, parsed.title) == ("windows-1251", _RUSSIAN)

    def test_utf16_declared_in_ascii_is_utf8(self) -> None:
        assert page(_html(_RUSSIAN, "<meta charset=utf-16>").encode()).charset == "utf-8"

    @pytest.mark.parametrize("content_type", ["text/plain", "application/feed+json"])
    def test_only_html_declares_with_meta_elements(self, content_type: str) -> None:
        assert page(b'{"x": "<meta charset=gbk>"}', content_type=content_type).charset == "utf-8"


class TestUtf8ThatIsNone:
    """The header says UTF-8, and servers say so of everything."""

    def test_falls_back_to_what_the_page_declares(self) -> None:
        body = _html(_GERMAN, "<meta charset=windows-1252>").encode("cp1252")
        parsed = page(body, charset="utf-8")
        assert (parsed.charset, parsed.title) == ("windows-1252", _GERMAN)

    def test_falls_back_to_a_guess(self) -> None:
        body = _html(_RUSSIAN, "<meta charset=utf-8>").encode("cp1251")
        parsed = page(body, charset="utf-8")
        assert (parsed.charset, parsed.title) == ("windows-1251", _RUSSIAN)

    def test_a_few_bad_bytes_are_no_reason(self) -> None:
        parsed = page(_html(_RUSSIAN).encode() + b"<p>\xff\xfe</p>", charset="utf-8")
        assert (parsed.charset, parsed.title) == ("utf-8", _RUSSIAN)

    @pytest.mark.parametrize("cut", [1, 2, 3])
    def test_a_body_cut_within_a_character_is_utf8(self, cut: int) -> None:
        assert page((b"<p>x" + "\U0001f426".encode())[:-cut], charset="utf-8").charset == "utf-8"


class TestGuesses:
    @pytest.mark.parametrize(
        ("codec", "charset", "text"),
        [
            ("utf-8", "utf-8", _RUSSIAN),
            ("cp1251", "windows-1251", _RUSSIAN),
            ("koi8-r", "koi8-r", _RUSSIAN),
            ("gb18030", "gb18030", "这是一个普通的中文网页，上面有足够多的文字可以猜出它的编码。"),
            ("big5", "big5", "這是一個普通的中文網頁，上面有足夠多的文字可以猜出它的編碼。"),
            ("shift_jis", "shift_jis", "これは日本語の普通のページです。文字コードを推測できます。"),
            ("euc-jp", "euc-jp", "これは日本語の普通のページです。文字コードを推測できます。"),
            ("cp949", "euc-kr", "이것은 평범한 한국어 웹 페이지이며 글자가 충분히 많이 있습니다."),
            ("iso8859-7", "iso-8859-7", "Αυτή είναι μια συνηθισμένη ελληνική σελίδα με αρκετές λέξεις."),
        ],
    )
    def test_without_a_declaration_the_bytes_tell(self, codec: str, charset: str, text: str) -> None:
        parsed = page(_html(text + " " + text).encode(codec))
        assert parsed.title == text + " " + text
        assert parsed.charset == charset

    def test_a_late_first_character_is_seen(self) -> None:
        assert page(b"<p>" + b"plain words " * 20_000 + "ü".encode()).charset == "utf-8"

    def test_bytes_of_no_charset_at_all_are_read_somehow(self) -> None:
        parsed = page(bytes(range(256)) * 10 + b"<a href=/x>x</a>")
        assert [link.url for link in parsed.links] == ["http://site.test/x"]


@pytest.mark.parametrize(
    ("label", "charset", "raw", "text"),
    [
        ("iso-8859-1", "windows-1252", b"\x80\x93", "€“"),
        ("latin1", "windows-1252", b"\xe4", "ä"),
        ("us-ascii", "windows-1252", b"\x80", "€"),
        (" UTF8 ", "utf-8", b"\xc3\xa4", "ä"),
        ('"utf-8"', "utf-8", b"\xc3\xa4", "ä"),
        ("gb2312", "gbk", b"\x81\x40", "丂"),
        ("x-gbk", "gbk", b"\x95\x32\x82\x36", "𠀀"),
        ("ks_c_5601-1987", "euc-kr", b"\x81\x41", "갂"),
        ("x-sjis", "shift_jis", b"\x87\x40", "①"),
        ("windows-31j", "shift_jis", b"\x87\x40", "①"),
        ("iso-8859-9", "windows-1254", b"\xf0\x80", "ğ€"),
        ("iso-8859-11", "windows-874", b"\xa1\x80", "ก€"),
        ("tis-620", "windows-874", b"\xa1", "ก"),
        ("iso-8859-8-i", "iso-8859-8", b"\xe0", "א"),
        ("x-mac-cyrillic", "x-mac-cyrillic", b"\x80", "А"),
        ("macintosh", "macintosh", b"\x8a", "ä"),
        ("big5-hkscs", "big5", b"\x88\x62", "\u00ca\u0304"),
        ("cp866", "ibm866", b"\x80", "А"),
        ("koi8-u", "koi8-u", b"\xa4", "є"),
        ("iso-2022-jp", "iso-2022-jp", b'\x1b$B$"\x1b(B', "あ"),
        ("utf-16", "utf-16le", "ä".encode("utf-16le"), "ä"),
    ],
)
def test_a_label_means_what_the_encoding_standard_says(
    label: str, charset: str, raw: bytes, text: str
) -> None:
    parsed = page(raw, charset=label, content_type="text/plain")
    assert (parsed.charset, parsed.text) == (charset, text)
