"""Real pages: Debian's documentation behind nginx, crawled to the end, with nginx's own log as the witness."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from pinyon.crawl import Crawl
from pinyon.cycle.inject import inject
from support import docweb
from support.crawls import configure, litter, run
from support.docweb import DocWeb

pytestmark = pytest.mark.skipif(docweb.missing() is not None, reason=str(docweb.missing()))


@pytest.fixture
def web(tmp_path: Path) -> Iterator[DocWeb]:
    with DocWeb(tmp_path / "web") as web:
        yield web


@pytest.mark.slow
def test_every_page_that_links_reach_is_fetched_exactly_once(web: DocWeb, tmp_path: Path) -> None:
    root = tmp_path / "crawl"
    Crawl.create(root)
    configure(
        root,
        {
            "fetcher": {
                "agent_contact": "https://example.org/crawler",
                "server_delay": 0.0,
                "connections_per_host": 20,
                "allow_addresses": ["127.0.0.0/8"],
                "min_free_disk": 0,
            },
            "db": {"ignore_external": True},
        },
    )
    (root / "seeds.txt").write_text("\n".join(web.seeds()))
    with Crawl.open(root) as crawl:
        inject(crawl, [root / "seeds.txt"])
    report = run("crawl", root, "--until-empty", "--fetchers", 2, "--json", timeout_s=110).json()

    reachable = web.reachable()
    assert web.html_files() >= 2_000 and len(reachable) > 2_000
    hits = web.hits()
    robots = [hit for hit in hits if hit.url.endswith("/robots.txt")]
    pages = [hit for hit in hits if not hit.url.endswith("/robots.txt")]
    assert len(robots) == len(web.hosts)
    assert {hit.url: hit.status for hit in pages} == reachable
    assert Counter(hit.url for hit in pages).most_common(1)[0][1] == 1
    assert report["pages"] == len(reachable)
    assert report["ended_by"] == "empty"
    assert litter(root) == []


def test_the_witness_reads_pages_as_a_real_parser_does() -> None:
    """Its quick way to cut tags out of the text against the standard library's parser, on a sample of the pages."""
    files = sorted(path for _, folder, _ in docweb.SETS for path in folder.rglob("*.html"))
    for path in random.Random(1).sample(files, 60):
        parser = _Links()
        parser.feed(path.read_text(encoding="utf-8", errors="replace"))
        assert docweb._hrefs(path.resolve()) == (parser.base, tuple(parser.hrefs))


class _Links(HTMLParser):
    """The base and the hrefs that may be followed, in order, each once."""

    def __init__(self) -> None:
        super().__init__()
        self.base = ""
        self.hrefs: dict[str, None] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if tag == "base":
            self.base = self.base or found.get("href") or ""
        elif (
            tag in ("a", "area", "frame", "iframe")
            and "nofollow" not in (found.get("rel") or "").lower().split()
        ):
            href = (found.get("href") or found.get("src") or "").partition("#")[0]
            if href:
                self.hrefs[href] = None
