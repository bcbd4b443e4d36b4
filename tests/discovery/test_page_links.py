"""Links: which there are, in which order, with which text and rel, and which are dropped."""

from __future__ import annotations

import time

import pytest
from discovery_cases import URL, page, urls

from pinyon.discovery import Limits, Link


@pytest.mark.parametrize(
    ("href", "url"),
    [
        ("a", "http://site.test/dir/a"),
        ("../a", "http://site.test/a"),
        ("/a?b=c", "http://site.test/a?b=c"),
        ("?q=1", "http://site.test/dir/page.html?q=1"),
        ("//other.test", "http://other.test/"),
        ("https:////other.test/x", "https://other.test/x"),
        (r"\\other.test\x", "http://other.test/x"),
        ("  /spaces \n", "http://site.test/spaces"),
        ("/ta\tb\ns", "http://site.test/tabs"),
        ("/ü?ü", "http://site.test/%C3%BC?%C3%BC"),
        ("http://b\u00fccher.test/", "http://xn--bcher-kva.test/"),
        ("HTTP://SITE.TEST:80/", "http://site.test/"),
        ("http://u:p@site.test/", "http://u:p@site.test/"),
        ("http://[::1]:8080/x", "http://[::1]:8080/x"),
        ("http://foo_bar.test/", "http://foo_bar.test/"),
        ("/a&amp;b&#x3D;c", "http://site.test/a&b=c"),
        ("/90%+of", "http://site.test/90%+of"),
        ("a#fragment", "http://site.test/dir/a"),
        ("a?x#y?z", "http://site.test/dir/a?x"),
    ],
)
def test_an_href_is_joined_as_browsers_join_it(href: str, url: str) -> None:
    assert urls(f'<a href="{href}">x</a>') == [url]


@pytest.mark.parametrize(
    "href",
    [
        "javascript:void(0)", "mailto:a@b.test", "tel:+49123", "data:text/html,x", "ftp://site.test/f",
        "feed:x", "about:blank", "android-app://x", "http://", "http://a b/", "http://[::1", "http://x:99999/",
        "http:///", "", "#", "#top", "page.html", "/dir/page.html#top", "?#x",
    ],
)  # fmt: skip
def test_what_leads_to_no_other_page_of_the_web_is_no_link(href: str) -> None:
    parsed = page(f'<a href="{href}">x</a>', url=URL if href != "?#x" else URL + "?")
    assert (parsed.links, parsed.links_dropped) == ([], 0)


def test_an_attribute_without_a_value_is_no_link() -> None:
    assert urls("<a href>x</a><a name=y>z</a><area href><iframe src></iframe>") == []


def test_links_come_from_a_area_and_frames() -> None:
    body = "<iframe src=1></iframe><a href=2></a><map><area href=3></map><img src=x>"
    body += "<link rel=next href=y><a href=4></a>"
    assert [link.url[-1] for link in page(body).links] == ["1", "2", "3", "4"]
    assert urls("<frameset><frame src=f></frameset>") == ["http://site.test/dir/f"]


def test_other_elements_give_links_if_asked_for() -> None:
    body = (
        "<a href=1></a><img src=2><script src=3></script><link rel=stylesheet href=4><form action=5></form>"
    )
    limits = Limits(link_tags=frozenset({"img", "script", "link", "form"}))
    assert [link.url[-1] for link in page(body, limits=limits).links] == ["2", "3", "4", "5"]


def test_nothing_is_guessed_from_scripts_comments_and_templates() -> None:
    body = """
        <script>var u = "http://guess.test/a"; document.write('<a href="/b">b</a>'); ga('/c/d.js')</script>
        <script type="application/ld+json">{"url": "http://guess.test/e"}</script>
        <!-- <a href="/f">f</a> --> <style>a { background: url(/g) }</style>
        <template><a href="/h">h</a></template> <textarea><a href="/i">i</a></textarea>
        <div onclick="location='/j'" data-href="/k">http://text.test/l</div> <a href="/real">real</a>"""
    assert urls(body) == ["http://site.test/real"]


def test_noscript_is_read_as_a_browser_without_scripts_does() -> None:
    assert urls("<body><noscript><a href=/n>n</a></noscript>") == ["http://site.test/n"]


class TestBase:
    def test_the_base_moves_every_relative_link(self) -> None:
        body = "<base href=/x/><a href=a></a><a href=/b></a><iframe src=c></iframe>"
        assert urls(body) == ["http://site.test/x/a", "http://site.test/b", "http://site.test/x/c"]

    def test_the_second_base_is_ignored(self) -> None:
        assert urls("<base target=_top><base href=/x/><base href=/y/><a href=a></a>") == [
            "http://site.test/x/a"
        ]

    def test_a_base_may_lie_on_another_site(self) -> None:
        assert urls("<base href=https://cdn.test/d/f><a href=a></a>") == ["https://cdn.test/d/a"]

    def test_a_base_counts_for_links_before_it(self) -> None:
        assert urls("<a href=a></a><base href=/x/>") == ["http://site.test/x/a"]

    @pytest.mark.parametrize(
        "base", ["", "data:,x", "javascript:1", "http://[", "mailto:x", "/" + "x" * 3000]
    )
    def test_a_base_nothing_can_be_joined_to_is_ignored(self, base: str) -> None:
        assert urls(f"<base href='{base}'><a href=a></a>") == ["http://site.test/dir/a"]

    def test_with_a_base_a_bare_fragment_leads_there(self) -> None:
        assert urls("<base href=/x/><a href='#top'></a>") == ["http://site.test/x/"]


class TestSeveralLinksToOneTarget:
    def test_are_one_in_the_place_of_the_first(self) -> None:
        body = "<a href=a>one</a><a href=b>b</a><a href='a#x'>two</a><a href=/dir/a>three</a><a href=./a></a>"
        assert [(link.url[-1], link.anchor) for link in page(body).links] == [("a", "one"), ("b", "b")]

    def test_a_later_text_stands_in_for_a_missing_one(self) -> None:
        assert page("<a href=a><img src=x></a><a href=a>words</a>").links[0].anchor == "words"

    @pytest.mark.parametrize(
        ("rels", "together"),
        [
            (["nofollow", "nofollow"], "nofollow"),
            (["nofollow", ""], ""),
            (["", "nofollow"], ""),
            (["NoFollow noopener", "tag"], "tag"),
            (["tag", "nofollow"], "tag"),
            (["nofollow", "nofollow ugc", "license"], "license"),
        ],
    )
    def test_are_nofollow_only_if_all_of_them_are(self, rels: list[str], together: str) -> None:
        body = "".join(f"<a href=a rel='{rel}'>x</a>" for rel in rels)
        assert page(body).links == [Link("http://site.test/dir/a", "x", together)]


@pytest.mark.parametrize(
    ("element", "anchor"),
    [
        ("<a href=x>  two \n\t words\xa0here </a>", "two words here"),
        ("<a href=x>a<b>b</b> <i>c</i></a>", "ab c"),
        ("<a href=x>&lt;b&gt; &amp; &copy;</a>", "<b> & ©"),
        ("<a href=x><img src=i alt=' an  image '></a>", "an image"),
        ("<a href=x title=titled></a>", "titled"),
        ("<a href=x aria-label=labelled><svg></svg></a>", "labelled"),
        ("<a href=x></a>", ""),
        ("<area href=x alt=map>", "map"),
        ("<iframe src=x title=frame></iframe>", "frame"),
        (f"<a href=x>{'word ' * 100}</a>", ("word " * 20).strip()),
    ],
)
def test_the_text_of_a_link_is_what_a_reader_sees(element: str, anchor: str) -> None:
    assert page(element).links[0].anchor == anchor


def test_misnested_links_are_all_found() -> None:
    body = "<a href=1>one<a href=2>two<div><a href=3>three</div><table><a href=4>four<tr><td><a href=5>five"
    assert sorted(link.url[-1] for link in page(body).links) == ["1", "2", "3", "4", "5"]


class TestLimits:
    def test_an_overlong_href_is_dropped_before_it_is_looked_at(self) -> None:
        body = f"<a href='/{'x' * 1_000_000}'>long</a><a href=ok>ok</a>"
        limits = Limits(text="none")
        page(body, limits=limits)
        begun = time.process_time()
        parsed = page(body, limits=limits)
        assert time.process_time() - begun < 0.2
        assert [link.url[-2:] for link in parsed.links] == ["ok"]
        assert parsed.links_dropped == 1

    @pytest.mark.parametrize(("href", "kept"), [("x" * 83, 1), ("x" * 84, 0), ("ü" * 20, 0), ("ü" * 13, 1)])
    def test_length_counts_in_bytes_as_written_and_as_joined(self, href: str, kept: int) -> None:
        parsed = page(f"<a href='/{href}'>x</a>", limits=Limits(max_url_length=len("http://site.test/") + 83))
        assert (len(parsed.links), parsed.links_dropped) == (kept, 1 - kept)

    def test_the_limit_counts_targets_not_links(self) -> None:
        body = "<a href='#'>self</a><a href=a>a</a><a href='a#1'>a</a><a href=javascript:x>j</a>" * 10
        parsed = page(body + "<a href=new>new</a><a href=more>more</a>", limits=Limits(max_links=2))
        assert [link.anchor for link in parsed.links] == ["a", "new"]
        assert parsed.links_dropped == 1

    def test_a_negative_limit_is_none(self) -> None:
        assert (
            len(page("".join(f"<a href={n}>x</a>" for n in range(300)), limits=Limits(max_links=-1)).links)
            == 300
        )
        assert page("<a href=x>x</a>", limits=Limits(max_links=0)).links_dropped == 1


class TestQueryCharset:
    """Browsers send the query, and only the query, in the charset of the page."""

    def test_a_query_is_escaped_in_the_charset_of_the_page(self) -> None:
        body = "<a href='/ü?q=ü&amp;r=%20x'>x</a>".encode("latin-1")
        assert urls(body, charset="iso-8859-1") == ["http://site.test/%C3%BC?q=%FC&r=%20x"]

    def test_characters_the_charset_lacks_are_written_as_references(self) -> None:
        body = "<a href='?q=&#x4e2d;'>x</a>"
        assert urls(body, charset="windows-1252") == [f"{URL}?q=%26%2320013%3B"]

    def test_utf8_pages_escape_as_utf8(self) -> None:
        assert urls("<a href='?q=ü'>x</a>") == [f"{URL}?q=%C3%BC"]
