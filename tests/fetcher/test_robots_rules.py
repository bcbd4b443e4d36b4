"""What a robots.txt says to us: bytes in, decisions out."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinyon.fetcher import robots
from pinyon.fetcher.robots import MAX_BYTES, Decision, parse, product_token

HOST = "http://a.test"


def allowed(text: str | bytes, path: str, *agents: str) -> bool:
    body = text.encode() if isinstance(text, str) else text
    return parse(body, agents or ("pine",)).allowed(HOST + path)


@pytest.mark.parametrize(
    ("text", "path", "expected"),
    [
        # RFC 9309, 2.2.2: the longest match decides, Allow where equal, no match allows
        ("User-agent: *\nDisallow: /a\nAllow: /a/b", "/a/b/c", True),
        ("User-agent: *\nAllow: /a/b\nDisallow: /a", "/a/x", False),
        ("User-agent: *\nDisallow: /p\nAllow: /p", "/p", True),
        ("User-agent: *\nDisallow: /a", "/b", True),
        ("User-agent: *\nDisallow: /", "/robots.txt", True),
        ("User-agent: *\nDisallow: /x", "/X", True),
        # 2.2.3: special characters
        ("User-agent: *\nDisallow: /*.php$", "/a/b.php", False),
        ("User-agent: *\nDisallow: /*.php$", "/a/b.php?x=1", True),
        ("User-agent: *\nDisallow: /*.php", "/a/b.php?x=1", False),
        ("User-agent: *\nDisallow: *private*", "/x/private/y", False),
        ("User-agent: *\nDisallow: /caf%c3%a9", "/caf%C3%A9/x", False),
        ("User-agent: *\nDisallow: /café", "/caf%C3%A9/x", False),
        ("User-agent: *\nDisallow: /a%2Fb", "/a/b", True),
        # fields in any case, spaces, comments, line ends, a missing colon, misspellings
        ("USER-AGENT : *\nDISALLOW : /x", "/x", False),
        ("user-agent:*#all\ndisallow:/x # no\n", "/x", False),
        ("User-agent: *\rDisallow: /x\r", "/x", False),
        ("User-agent: *\r\n\r\nDisallow: /x\r\n", "/x", False),
        ("User-agent *\nDisallow /x", "/x", False),
        ("useragent: *\nDissallow: /x", "/x", False),
        ("User-agent: *\n\tDisallow:\t/x\t", "/x", False),
        # rules before any User-agent belong to nobody
        ("Disallow: /\nUser-agent: *\nDisallow: /x", "/y", True),
        # an empty Disallow takes nothing back
        ("User-agent: *\nDisallow: /a\nDisallow:", "/a", False),
        ("User-agent: *\nDisallow:\nDisallow: /a", "/a", False),
        # a rule for another site is no rule of this one
        ("User-agent: *\nDisallow: http://other.test/", "/x", True),
        ("User-agent: *\nDisallow: https://a.test/x", "/x", True),
        # not a robots.txt at all
        ("<html><body>Disallow: everything</body></html>", "/x", True),
        ("", "/x", True),
        ("User-agent: *\nDisallow: x", "/x", True),
    ],
)
def test_rules_apply_as_the_rfc_says(text, path, expected):
    assert allowed(text, path) is expected


@pytest.mark.parametrize(
    ("named", "agent", "bound"),
    [
        ("pine", "pine", True),
        ("PINE", "pine", True),
        ("pine", "Pine/1.0 (+http://x.test/)", True),
        ("Pine/2.0", "pine", True),
        ("pine tree", "pine", True),
        ("pi", "pine", False),
        ("pines", "pine", False),
        ("alpine", "pine", False),
        ("pine-bot", "pine", False),
        ("pine_bot", "Pine_Bot/3", True),
        ("mybot", "MyBot/1.0 (x)", True),
        ("mybots", "MyBot/1.0 (x)", False),
        ("", "pine", False),
    ],
)
def test_a_group_binds_the_product_it_names_and_no_other(named, agent, bound):
    assert allowed(f"User-agent: {named}\nDisallow: /", "/x", agent) is not bound


def test_the_groups_that_name_us_count_and_those_of_everybody_do_not():
    text = "User-agent: *\nDisallow: /all\n\nUser-agent: pine\nDisallow: /pine"
    assert allowed(text, "/all")
    assert not allowed(text, "/pine")
    assert not allowed(text, "/all", "other")


def test_a_group_that_names_us_without_rules_allows_everything():
    assert allowed("User-agent: pine\nUser-agent: other\n\nUser-agent: *\nDisallow: /\n", "/x") is False
    assert allowed("User-agent: pine\nDisallow:\n\nUser-agent: *\nDisallow: /\n", "/x")


def test_groups_of_one_name_are_merged_wherever_they_stand():
    text = "User-agent: pine\nDisallow: /a\n\nUser-agent: *\nDisallow: /c\n\nUser-agent: pine\nDisallow: /b"
    assert [allowed(text, path) for path in ("/a", "/b", "/c")] == [False, False, True]


def test_all_names_of_ours_are_bound_together():
    text = "User-agent: one\nDisallow: /1\nUser-agent: two\nDisallow: /2\nCrawl-delay: 3\nUser-agent: *\nDisallow: /"
    rules = parse(text.encode(), ("one", "two"))
    assert [rules.allowed(HOST + path) for path in ("/1", "/2", "/3")] == [False, False, True]
    assert rules.crawl_delay_s == 3


@pytest.mark.parametrize(
    "between", ["Sitemap: http://a.test/s.xml", "Unknown: line", "garbage", "", "# comment"]
)
def test_a_line_that_is_no_rule_does_not_close_a_group(between):
    text = f"User-agent: pine\n{between}\nUser-agent: other\nDisallow: /x"
    assert not allowed(text, "/x")


def test_a_crawl_delay_closes_a_group_as_a_rule_does():
    text = "User-agent: pine\nCrawl-delay: 7\nUser-agent: *\nDisallow: /"
    rules = parse(text.encode(), ("pine",))
    assert rules.allowed(HOST + "/x")
    assert rules.crawl_delay_s == 7


@pytest.mark.parametrize(
    ("text", "delay"),
    [
        ("User-agent: pine\nCrawl-delay: 0\nUser-agent: *\nCrawl-delay: 60", 0.0),
        ("User-agent: *\nCrawl-delay: 60\nUser-agent: pine\nCrawl-delay: 0", 0.0),
        ("User-agent: *\nCrawl-delay: 600", 600.0),
        ("User-agent: *\nCrawl-delay: 2.5", 2.5),
        ("User-agent: *\nCrawl-delay: 5 # seconds", 5.0),
        ("User-agent: *\nCrawl-delay: 1\nCrawl-delay: 4\nCrawl-delay: 2", 4.0),
        ("User-agent: *\nCrawl-delay: -1", None),
        ("User-agent: *\nCrawl-delay: nan\nCrawl-delay: inf\nCrawl-delay: 1e999", None),
        ("User-agent: *\nCrawl-delay: ten", None),
        ("Crawl-delay: 9\nUser-agent: *\nDisallow: /x", None),
    ],
)
def test_our_own_delay_counts_whatever_the_order_and_no_cap_is_hidden(text, delay):
    assert parse(text.encode(), ("pine",)).crawl_delay_s == delay


@pytest.mark.parametrize(
    "body",
    [
        b"\xef\xbb\xbfUser-agent: *\nDisallow: /x",
        b"\xef\xbb\xbf\nUser-agent: *\nDisallow: /x",
        "User-agent: *\nDisallow: /x".encode("utf-16"),
        b"\xfe\xff" + "User-agent: *\r\nDisallow: /x".encode("utf-16-be"),
        "# déjà vu\nUser-agent: *\nDisallow: /x".encode("latin-1"),
        b"\x00\x80\xff\nUser-agent: *\nDisallow: /x\n\xff\xfe",
    ],
)
def test_no_encoding_hides_a_rule(body):
    assert not allowed(body, "/x")


def test_a_file_is_read_to_its_limit_and_a_rule_the_limit_cuts_is_no_rule():
    head = b"User-agent: *\nDisallow: /early\n"
    line = b"Disallow: /late-and-long\n"
    filler = b"#" * (MAX_BYTES - len(head) - 15) + b"\n"
    body = head + filler + line * 1000
    assert not allowed(body, "/early")
    assert allowed(body, "/late"), "a pattern cut short would forbid more than was written"


def test_five_hundred_kibibytes_are_read():
    rules = b"".join(b"Disallow: /page-%06d\n" % number for number in range(22_000))
    body = b"User-agent: *\n" + rules
    assert 490_000 < len(body) < MAX_BYTES
    assert not allowed(body, "/page-021999")


def test_sitemaps_are_listed_once_wherever_they_stand_and_not_without_end():
    text = "Sitemap: http://a.test/1.xml\nUser-agent: x\nDisallow: /\nsitemap:http://b.test/2.xml\nSITEMAP: http://a.test/1.xml\n"
    assert parse(text.encode(), ("pine",)).sitemaps == ("http://a.test/1.xml", "http://b.test/2.xml")
    many = "".join(f"Sitemap: http://a.test/{n}.xml\n" for n in range(10_000))
    assert len(parse(many.encode(), ("pine",)).sitemaps) == 100


@pytest.mark.parametrize(
    ("path", "decision"),
    [
        ("/a/b/c", Decision(True, "Allow: /a/b")),
        ("/a/x", Decision(False, "Disallow: /a")),
        ("/q.php?z", Decision(False, "Disallow: /*.php?")),
        ("/free", Decision(True, None)),
        ("/caf%C3%A9/x", Decision(False, "Disallow: /café")),
        ("/%7Euser", Decision(False, "Disallow: /~user")),
        ("/anything/deep.pdf", Decision(False, "Disallow: *.pdf$")),
    ],
)
def test_the_line_that_decided_is_named(path, decision):
    patterns = ["/a", "/*.php?", "/zzzzzzzzz", "/café", "/~user", "*.pdf$"]
    text = "User-agent: *\nAllow: /a/b\n" + "".join(f"Disallow: {pattern}\n" for pattern in patterns)
    assert parse(text.encode(), ("pine",)).decide(HOST + path) == decision


@pytest.mark.parametrize(
    "url", ["http://[x/y", "http://a.test?/x", "http://a.test", "http://a.test//x", "http://a:b:c/x"]
)
def test_any_url_that_can_be_sent_is_decided(url):
    assert parse(b"User-agent: *\nDisallow: /nothing", ("pine",)).allowed(url)
    assert parse(b"User-agent: *\nDisallow: //x", ("pine",)).allowed(url) is not url.endswith("//x")
    assert not parse(b"User-agent: *\nDisallow: /", ("pine",)).allowed(url)


def test_the_query_counts_and_the_authority_does_not():
    rules = parse(b"User-agent: *\nDisallow: /*?session=", ("pine",))
    assert not rules.allowed("https://b.test:8443/x?session=1")
    assert rules.allowed("https://b.test:8443/x?page=1")


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=400), st.text(max_size=30))
def test_no_file_and_no_path_raises(body, path):
    rules = parse(b"User-agent: *\nDisallow: /x\n" + body, ("pine",))
    for url in (HOST + "/" + path, "http://" + path, path):
        assert rules.decide(url).allowed is rules.allowed(url)


def test_the_digest_is_that_of_the_bytes():
    assert robots.digest(b"a") == robots.digest(b"a") != robots.digest(b"a\n")


def test_a_product_token_ends_where_the_version_begins():
    assert product_token("MyBot/1.0 (x)") == "mybot"
    assert product_token(" (none)") == ""
