"""Each kind of awkward host does what its line in the table says."""

from __future__ import annotations

import gzip
import re
import select
import socket
import time
import zlib
from collections.abc import Iterator
from email.utils import parsedate_to_datetime
from xml.etree import ElementTree

import pytest

from pinyon.simweb import KINDS, Kind, SimWeb
from pinyon.simweb.answer import Ask
from pinyon.simweb.kind import Door
from pinyon.simweb.kinds import kind_named
from pinyon.simweb.odd.charsets import WRITINGS, Writing
from pinyon.simweb.odd.servers import LIFE
from pinyon.simweb.respond import respond
from test_simweb import Client, Reply, parsed

SLOW_S = 0.2


@pytest.fixture(scope="module")
def web() -> Iterator[SimWeb]:
    with SimWeb(seed=21, hosts=60, https=False, slow_s=SLOW_S, mean_pages=3) as web:
        yield web


@pytest.fixture
def client(web: SimWeb) -> Client:
    return Client(web, timeout_s=5.0)


def get(client: Client, kind: str, path: str, **headers: str) -> Reply:
    return client.get(f"http://{kind}1.sim.test{path}", **headers)


def raw(client: Client, kind: str, path: str) -> bytes:
    asked = f"GET {path} HTTP/1.1\r\nHost: {kind}1.sim.test\r\nConnection: close\r\n\r\n"
    return client.exchange("http", f"{kind}1.sim.test", asked.encode())


def hops(client: Client, kind: str, path: str, most: int = 30) -> list[Reply]:
    """All answers on the way of redirects inside a host, the last one included."""
    replies = []
    for _ in range(most):
        replies.append(reply := get(client, kind, path))
        if "location" not in reply.headers:
            break
        path = "/" + reply.headers["location"].removeprefix(f"http://{kind}1.sim.test").removeprefix("/")
    return replies


REACHED = [
    kind for kind in KINDS if kind.door is Door.OPEN and not (kind.https or kind.wrap or kind.name == "moved")
]


@pytest.mark.parametrize("kind", REACHED, ids=lambda kind: kind.name)
def test_a_home_page_leads_to_all_listed_paths_of_its_kind(web: SimWeb, client: Client, kind: Kind) -> None:
    hrefs = set(re.findall(r'href="([^"]*)"', get(client, kind.name, "/").body.decode()))
    assert hrefs >= set(kind.listed)
    for path in kind.listed:
        answer = respond(web.world, Ask(f"{kind.name}1.sim.test", path))
        assert answer.status != 404 or path == "/status/404"


# -- redirects -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_every_redirect_status_leads_to_a_page(client: Client, status: int) -> None:
    assert [reply.status for reply in hops(client, "redirects", f"/{status}")] == [status, 200]


def test_chains_end_and_loops_do_not(client: Client) -> None:
    assert [reply.status for reply in hops(client, "redirects", "/chain/5")] == [301] * 5 + [200]
    assert [reply.status for reply in hops(client, "redirects", "/relative")] == [302, 200]
    assert [reply.status for reply in hops(client, "maze", "/long/25")] == [302] * 24 + [200]
    assert {reply.status for reply in hops(client, "redirects", "/loop/a")} == {302}
    assert {reply.status for reply in hops(client, "maze", "/start")} == {302}
    assert get(client, "redirects", "/same").headers["location"] == "http://redirects1.sim.test/same"


def test_a_location_may_be_raw_utf_8_or_none_at_all(client: Client) -> None:
    assert b"\r\nLocation: /landed/\xc3\xa4\r\n" in raw(client, "redirects", "/utf8")
    assert "location" not in get(client, "redirects", "/no-location").headers
    assert get(client, "redirects", "/bad-location").headers["location"] == "http://[bad/"


def test_many_pages_redirect_to_one_login(client: Client) -> None:
    accounts = re.findall(r'href="(/account/\d+)"', get(client, "login", "/accounts").body.decode())
    assert len(accounts) == 60
    assert {get(client, "login", path).headers["location"] for path in accounts[::10]} == {"/login"}
    assert get(client, "login", "/login").status == 200


def test_a_home_page_may_have_moved_to_another_host(web: SimWeb, client: Client) -> None:
    target = get(client, "moved", "/").headers["location"]
    assert target in {host.url("/") for host in web.hosts if host.kind == "ordinary"}


# -- errors ----------------------------------------------------------------------------------------------------


def test_errors_have_the_status_their_path_says(client: Client) -> None:
    for path in kind_named("statuses").listed:
        assert get(client, "statuses", path).status == int(path.rpartition("/")[2])


def test_busy_hosts_say_when_to_come_back_and_keep_their_word(client: Client) -> None:
    paths = ("/429/seconds", "/503/date")
    first = [get(client, "busy", path) for path in paths]
    again = [get(client, "busy", path) for path in paths]
    assert [reply.status for reply in first] == [reply.status for reply in again] == [429, 503]
    assert first[0].headers["retry-after"] == "1"
    until = parsedate_to_datetime(first[1].headers["retry-after"]).timestamp()
    assert 0.5 < until - time.time() < 3
    time.sleep(1.05)
    assert [get(client, "busy", path).status for path in paths] == [200, 200]


def test_flaky_pages_fail_once(client: Client) -> None:
    assert [get(client, "flaky", "/flaky/1").status for _ in range(3)] == [500, 200, 200]
    assert get(client, "flaky", "/flaky/2").status == 500


# -- robots.txt ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "status", "pattern"),
    [
        ("robots-none", 404, b"."),
        ("robots-forbidden", 403, b"."),
        ("robots-empty", 200, b"^$"),
        ("robots-some", 200, b"Disallow: /private/\n"),
        ("robots-all", 200, b"Disallow: /\n"),
        ("robots-groups", 200, b"User-agent: somebody-else\nUser-agent: p\nDisallow: /\n"),
        ("robots-delay", 200, b"Crawl-delay: 0.2\n"),
        ("robots-eternal", 200, b"Crawl-delay: 17280\n"),
        ("robots-error", 500, b"."),
        ("robots-busy", 503, b"."),
        ("robots-bom", 200, b"^\xef\xbb\xbfUser-agent"),
        ("robots-latin", 200, b"B\xe4ume.*\nUser-agent"),
        ("robots-cr", 200, b"^User-agent: [*]\rDisallow: /private/\r$"),
        ("robots-huge", 200, b"^User-agent: [*]\nDisallow: /private/\n#"),
        ("robots-html", 200, b"^<!DOCTYPE html>"),
        ("sitemaps", 200, b"Sitemap: http://sitemaps1.sim.test/sitemap_index.xml\n"),
    ],
)
def test_robots_txt_comes_in_every_state(client: Client, kind: str, status: int, pattern: bytes) -> None:
    reply = get(client, kind, "/robots.txt")
    assert reply.status == status
    assert re.search(pattern, reply.body)


def test_robots_txt_may_be_huge_late_redirected_or_never_come(client: Client) -> None:
    assert len(get(client, "robots-huge", "/robots.txt").body) > 512_000
    start_s = time.monotonic()
    assert get(client, "robots-slow", "/robots.txt").status == 200
    assert time.monotonic() - start_s >= SLOW_S
    assert [reply.status for reply in hops(client, "robots-moved", "/robots.txt")] == [301] * 5 + [200]
    assert {reply.status for reply in hops(client, "robots-loop", "/robots.txt")} == {301}
    client.timeout_s = 0.2
    with pytest.raises(TimeoutError):
        get(client, "robots-never", "/robots.txt")


def test_what_robots_txt_forbids_is_there_all_the_same(web: SimWeb, client: Client) -> None:
    for kind in (kind for kind in KINDS if kind.name.startswith("robots-")):
        assert get(client, kind.name, "/private/nest").status == 200
        assert kind.allows("/open/nest") is (kind.denied != ("/",))
    assert kind_named("robots-groups").allows("/private/public/nest")
    assert not kind_named("robots-groups").allows("/private/nest")


# -- servers ---------------------------------------------------------------------------------------------------


def test_slow_hosts_take_their_time_and_hold_nobody_else_up() -> None:
    with SimWeb(hosts=4, awkward={"slow"}, https=False, slow_s=0.6) as web:
        client = Client(web)
        with client.connect("http", "slow1.sim.test") as slow:
            start_s = time.monotonic()
            slow.sendall(b"GET / HTTP/1.1\r\nHost: slow1.sim.test\r\nConnection: close\r\n\r\n")
            assert client.get(web.seeds()[0]).status == 200
            assert select.select([slow], [], [], 0)[0] == []
            assert parsed(b"".join(iter(lambda: slow.recv(65536), b""))).status == 200
            assert time.monotonic() - start_s >= 0.6


def test_dying_hosts_answer_a_few_requests_and_then_refuse_or_reset() -> None:
    with SimWeb(hosts=4, awkward={"dying", "resetting"}, https=False) as web:
        client = Client(web)
        for kind in ("dying", "resetting"):
            assert [get(client, kind, "/").status for _ in range(LIFE)] == [200] * LIFE
            with pytest.raises(ConnectionResetError):
                get(client, kind, "/")
        with pytest.raises(ConnectionRefusedError):
            get(client, "dying", "/")
        with pytest.raises(ConnectionResetError):
            get(client, "resetting", "/")
        assert [r.status for r in web.requests() if r.host.startswith("dying")] == [200] * LIFE + [0]


def test_some_hosts_cannot_be_talked_to(client: Client) -> None:
    with pytest.raises(socket.gaierror):
        get(client, "nowhere", "/")
    with pytest.raises(ConnectionRefusedError):
        get(client, "refused", "/")
    with pytest.raises(ConnectionError):
        get(client, "hanging-up", "/")
    client.timeout_s = 0.2
    with pytest.raises(TimeoutError):
        get(client, "silent", "/")


def test_garbage_is_sent_as_it_is_and_ends(client: Client) -> None:
    sent = {path: raw(client, "garbage", path) for path in kind_named("garbage").listed}
    assert sent["/raw/empty"] == b""
    assert sent["/raw/no-status-line"].startswith(b"<!DOCTYPE html>")
    assert len(sent["/raw/long-header"]) > 200_000
    assert b"Content-Length: 41\r\nContent-Length: 5\r\n" in sent["/raw/two-lengths"]
    assert len(set(sent.values())) == len(sent)


# -- bodies ----------------------------------------------------------------------------------------------------


def test_a_body_is_the_same_however_it_is_framed(web: SimWeb, client: Client) -> None:
    for path in kind_named("framing").listed:
        reply = get(client, "framing", path)
        assert (reply.status, reply.cut) == (200, False)
        assert reply.body == respond(web.world, Ask("framing1.sim.test", path)).content()
    assert b"Transfer-Encoding: chunked" in raw(client, "framing", "/chunked")
    assert raw(client, "framing", "/chunked").endswith(b"0\r\nX-Check: done\r\n\r\n")
    assert raw(client, "framing", "/hinted").startswith(b"HTTP/1.1 103 ")
    assert raw(client, "framing", "/old").startswith(b"HTTP/1.0 200 ")
    assert b"Content-Length" not in raw(client, "framing", "/until-close")


def test_a_coding_is_used_only_if_the_client_accepts_it(client: Client) -> None:
    for path in kind_named("codings").listed:
        plain = get(client, "codings", path)
        coded = get(client, "codings", path, Accept_Encoding="gzip, deflate, br, zstd;q=0.5")
        assert "content-encoding" not in plain.headers
        assert coded.headers["content-encoding"] == path.removeprefix("/raw-").removeprefix("/")
        assert coded.body != plain.body
        refused = get(client, "codings", path, Accept_Encoding="gzip;q=0, deflate; q=0.0, br;q=0,zstd;q=0")
        assert refused.body == plain.body
    assert zlib.decompress(get(client, "codings", "/raw-deflate", Accept_Encoding="deflate").body, wbits=-15)


def test_bodies_are_big_cut_short_or_not_what_they_say(client: Client) -> None:
    big = get(client, "bodies", "/big")
    assert len(big.body) > 5_000_000
    assert big.body.endswith(b"</html>\n")
    chunked = get(client, "bodies", "/big-chunked")
    assert (len(chunked.body) > 5_000_000, chunked.cut) == (True, False)
    assert [get(client, "bodies", path).cut for path in ("/cut", "/cut-chunk")] == [True, True]
    bomb = get(client, "bodies", "/bomb")
    assert len(bomb.body) < 100_000
    assert len(gzip.decompress(bomb.body)) == 32 * 1024 * 1024
    assert get(client, "bodies", "/not-gzip").body.startswith(b"<!DOCTYPE")
    with pytest.raises(EOFError):
        gzip.decompress(get(client, "bodies", "/cut-gzip").body)


def test_a_dribbled_body_keeps_a_client_waiting(client: Client) -> None:
    with client.connect("http", "bodies1.sim.test") as connection:
        connection.sendall(b"GET /dribble HTTP/1.1\r\nHost: bodies1.sim.test\r\n\r\n")
        start_s = time.monotonic()
        pieces = [connection.recv(65536) for _ in range(8)]
    assert time.monotonic() - start_s > 4 * SLOW_S / 10
    assert len(b"".join(pieces[2:])) < 60


@pytest.mark.parametrize("writing", WRITINGS, ids=lambda writing: writing.path)
def test_a_page_is_in_its_charset_whatever_it_declares(client: Client, writing: Writing) -> None:
    reply = get(client, "charsets", writing.path)
    assert f"<title>{writing.text}</title>" in reply.body.decode(writing.encoding)
    declared = f"text/html; charset={writing.header}" if writing.header else "text/html"
    assert reply.headers["content-type"] == declared


# -- traps -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("start", ["/calendar", "/shop/0", "/cart/0", "/deeper/", "/friends/"])
def test_a_trap_leads_to_new_urls_for_ever(client: Client, start: str) -> None:
    seen, path = set[str](), start
    for _ in range(25):
        assert path not in seen
        seen.add(path)
        reply = get(client, "traps", path)
        assert reply.status == 200
        href = re.findall(r'href="([^"]*)"', reply.body.decode())[0]
        path = href if href.startswith("/") else path + href


# -- feeds, sitemaps, types ------------------------------------------------------------------------------------


def test_feeds_are_announced_and_name_the_posts(client: Client) -> None:
    blog = get(client, "feeds", "/blog/")
    assert 'type="application/rss+xml"' in blog.body.decode()
    assert blog.headers["link"] == '</feed-tagged.atom>; rel="alternate"; type="application/atom+xml"'
    rss = ElementTree.fromstring(get(client, "feeds", "/feed.rss").body)
    atom = ElementTree.fromstring(get(client, "feeds", "/blog/feed.atom").body)
    urls = [link.text for link in rss.iterfind("channel/item/link")]
    assert urls == [link.get("href") for link in atom.iterfind("{*}entry/{*}link")]
    assert len(urls) == 12
    assert all(client.get(url or "").status == 200 for url in urls)
    with pytest.raises(ElementTree.ParseError):
        ElementTree.fromstring(get(client, "feeds", "/feed-careless.rss").body)


def test_feeds_have_validators_or_not(client: Client) -> None:
    both = get(client, "feeds", "/feed.rss").headers
    assert get(client, "feeds", "/feed.rss", If_None_Match=both["etag"]).status == 304
    assert get(client, "feeds", "/feed.rss", If_Modified_Since=both["last-modified"]).status == 304
    dated = get(client, "feeds", "/feed-dated.atom").headers
    assert "etag" not in dated
    assert get(client, "feeds", "/feed-dated.atom", If_Modified_Since=dated["last-modified"]).status == 304
    assert not {"etag", "last-modified"} & get(client, "feeds", "/blog/feed.atom").headers.keys()


def test_an_edition_brings_a_post() -> None:
    with SimWeb(hosts=3, awkward={"feeds"}, https=False) as web:
        client = Client(web)
        before = get(client, "feeds", "/feed.rss")
        assert get(client, "feeds", "/post/12").status == 404
        web.edition += 1
        after = get(client, "feeds", "/feed.rss", If_None_Match=before.headers["etag"])
        assert after.status == 200
        assert b"/post/12<" in after.body
        assert get(client, "feeds", "/post/12").status == 200


def test_sitemaps_list_pages_that_nothing_links_to(client: Client) -> None:
    index = ElementTree.fromstring(get(client, "sitemaps", "/sitemap_index.xml").body)
    maps = [loc.text or "" for loc in index.iterfind("{*}sitemap/{*}loc")]
    assert "http://sitemaps1.sim.test/sitemap_index.xml" in maps
    plain = ElementTree.fromstring(get(client, "sitemaps", "/sitemap-plain.xml").body)
    packed = ElementTree.fromstring(gzip.decompress(get(client, "sitemaps", "/sitemap-packed.xml.gz").body))
    urls = [loc.text or "" for tree in (plain, packed) for loc in tree.iterfind("{*}url/{*}loc")]
    urls += get(client, "sitemaps", "/sitemap.txt").body.decode().split("\r\n")
    assert len(set(urls)) == 24
    assert "http://sitemaps1.sim.test/orphan/1?a=1&b=2&c=3" in urls
    assert all(client.get(url).status == 200 for url in urls)
    assert get(client, "sitemaps", "/sitemap-missing.xml").status == 404


@pytest.mark.parametrize(
    ("path", "content_type", "begin"),
    [
        ("/paper.pdf", "application/pdf", b"%PDF-1.4"),
        ("/jay.png", "image/png", b"\x89PNG\r\n\x1a\n"),
        ("/data.json", "application/json", b"{"),
        ("/notes.txt", "text/plain; charset=utf-8", b"See"),
        ("/untyped", None, b"<!DOCTYPE"),
        ("/picture-as-page", "text/html; charset=utf-8", b"\x89PNG"),
    ],
)
def test_types_are_many_and_not_always_right(
    client: Client, path: str, content_type: str | None, begin: bytes
) -> None:
    reply = get(client, "types", path)
    assert reply.headers.get("content-type") == content_type
    assert reply.body.startswith(begin)


@pytest.mark.parametrize("path", kind_named("validators").listed)
def test_validators_are_obeyed_unless_the_path_says_otherwise(client: Client, path: str) -> None:
    first = get(client, "validators", path).headers
    sent = {}
    if "etag" in first:
        sent["If_None_Match"] = first["etag"]
    if "last-modified" in first:
        sent["If_Modified_Since"] = first["last-modified"]
    expected = 200 if path in ("/neither", "/ignored", "/always-new") else 304
    assert get(client, "validators", path, **sent).status == expected


def test_duplicates_have_the_same_bytes_and_near_ones_do_not(client: Client) -> None:
    copies = [
        get(client, "duplicates", path).body for path in kind_named("duplicates").listed if "copy" in path
    ]
    near = [
        get(client, "duplicates", path).body for path in kind_named("duplicates").listed if "near" in path
    ]
    assert len(copies) == 5
    assert len(set(copies)) == 1
    assert len(set(near)) == len(near) == 4


def test_a_host_may_have_the_same_pages_by_http_and_https() -> None:
    pytest.importorskip("cryptography")
    with SimWeb(hosts=3, awkward={"both"}, https=True) as web:
        client = Client(web)
        listed = re.findall(
            r'href="(https?://both1[^"]*)"', client.get("http://both1.sim.test/twins").body.decode()
        )
        bodies = {url: client.get(url).body for url in listed}
        assert len(bodies) == 10
        assert len(set(bodies.values())) == 5
        assert bodies["http://both1.sim.test/twin/1"] == bodies["https://both1.sim.test/twin/1"]
