"""The other side of `crawl.py`: Scrapy, tuned by hand, fetching pages and extracting links; it stores nothing.

    python benchmarks/scrapy_links.py SEEDS "jpg png …"          prints how many pages it parsed

What makes it fast, each measured: links from lxml's own tree instead of a LinkExtractor or selectors; duplicates
dropped before any Request object is made, within a page and within the crawl, so that Scrapy's own filter has nothing
to do; few CONCURRENT_ITEMS (each answer starts that many tasks); no middlewares that are not needed; uvloop.
It follows what pinyon's defaults follow: links within the host, not nofollow, not to the endings given.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.http import HtmlResponse, Response

SETTINGS = {
    "ROBOTSTXT_OBEY": True,
    "CONCURRENT_REQUESTS": 100,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 100,
    "CONCURRENT_ITEMS": 2,
    "DOWNLOAD_DELAY": 0,
    "DUPEFILTER_CLASS": "scrapy.dupefilters.BaseDupeFilter",
    "TWISTED_REACTOR": "twisted.internet.asyncioreactor.AsyncioSelectorReactor",
    "ASYNCIO_EVENT_LOOP": "uvloop.Loop",
    "COOKIES_ENABLED": False,
    "RETRY_ENABLED": False,
    "REFERER_ENABLED": False,
    "METAREFRESH_ENABLED": False,
    "TELNETCONSOLE_ENABLED": False,
    "MEMUSAGE_ENABLED": False,
    "LOG_LEVEL": "ERROR",
    "USER_AGENT": "benchmark",
}


class Links(scrapy.Spider):
    name = "links"

    def __init__(self, seeds: list[str], endings: frozenset[str]) -> None:
        super().__init__()
        self.endings = endings
        self.seeds = seeds
        self.seen = set(seeds)
        self.pages = 0

    async def start(self) -> AsyncIterator[scrapy.Request]:
        for url in self.seeds:
            yield scrapy.Request(url)

    def parse(self, response: Response, **_: Any) -> Iterator[scrapy.Request]:
        if not isinstance(response, HtmlResponse):
            return
        self.pages += 1
        host = response.url.split("/", 3)[2]
        for href in self._hrefs(response):
            url = urljoin(response.url, href)
            if url not in self.seen:
                self.seen.add(url)
                if self._is_followed(url, host):
                    yield scrapy.Request(url)

    def _hrefs(self, response: HtmlResponse) -> set[str]:
        found = set()
        for element in response.selector.root.iter("a", "area", "frame", "iframe"):
            href = element.get("href") or element.get("src")
            if href and "nofollow" not in (element.get("rel") or ""):
                found.add(href.split("#", 1)[0])
        found.discard("")
        return found

    def _is_followed(self, url: str, host: str) -> bool:
        parts = url.split("/", 3)
        if parts[0] != "http:" or parts[2] != host:
            return False
        name = parts[3].partition("?")[0].rpartition("/")[2] if len(parts) > 3 else ""
        return "." not in name or name.rpartition(".")[2].lower() not in self.endings

    def closed(self, reason: str) -> None:
        print(self.pages)


if __name__ == "__main__":
    process = CrawlerProcess(SETTINGS)
    process.crawl(Links, Path(sys.argv[1]).read_text().split(), frozenset(sys.argv[2].split()))
    process.start()
