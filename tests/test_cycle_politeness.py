"""Between two requests to a host lies its delay: also between lists, between parts, and between a run and the next."""

from __future__ import annotations

import itertools
import time
from collections import defaultdict
from datetime import UTC, datetime, timedelta

import pytest

from pinyon.crawl import Crawl
from pinyon.cycle.fetch import fetch
from pinyon.cycle.fetch_earlier import Earlier
from pinyon.cycle.generate import generate
from pinyon.cycle.inject import inject
from pinyon.fetcher import FetcherConfig
from support.crawls import TOLERANCE_S, start
from support.pages import Page, PageServer, redirect


def seeded(crawl: Crawl, *urls: str) -> Crawl:
    (crawl.root / "seeds.txt").write_text("\n".join(urls))
    inject(crawl, [crawl.root / "seeds.txt"])
    return crawl


def gaps(server: PageServer, host: str) -> list[float]:
    """Seconds between the requests to one host, robots.txt included."""
    times = sorted(at for at, url in server.requests if url.startswith(f"http://{host}/"))
    return [later - earlier for earlier, later in itertools.pairwise(times)]


@pytest.mark.parametrize(
    ("robots", "server_delay", "promised_s"), [("Crawl-delay: 1", 0.0, 1.0), ("", 0.7, 0.7)]
)
def test_the_next_list_waits_for_the_last_request_of_the_one_before(
    crawl: Crawl, robots: str, server_delay: float, promised_s: float
) -> None:
    """Two lists of one host, fetched right after each other; a Crawl-delay is known from the first."""
    pages = {"/robots.txt": Page(f"User-agent: *\n{robots}\n"), "/1": "one", "/2": "two"}
    with PageServer(pages) as server:
        with server.opened(
            seeded(crawl, "http://h.test/1", "http://h.test/2"), fetcher__server_delay=server_delay
        ) as opened:
            first, second = generate(opened, segments=2, max_count=1).segments
            fetch(opened, first.name)
            fetch(opened, second.name)
    assert len(server.requests) == 3
    assert min(gaps(server, "h.test")) >= promised_s - TOLERANCE_S


def test_a_pause_that_was_asked_for_holds_after_a_kill(crawl: Crawl) -> None:
    answers = [Page(status=429, headers={"Retry-After": "3"}), Page("at last")]
    with PageServer({"/1": lambda: answers.pop(0), "/2": lambda: answers.pop(0)}) as server:
        opened = server.opened(
            seeded(crawl, "http://h.test/1", "http://h.test/2"), fetcher__max_back_off=60.0
        )
        with opened:
            generate(opened)
        settings = opened.settings.effective()
        sets = [
            f"--set=fetcher.{name}={settings[f'fetcher.{name}']}"
            for name in ("server_delay", "connect_to_file", "max_back_off", "min_free_disk")
        ]
        command = ("fetch", crawl.root, "--set=fetcher.allow_addresses=127.0.0.0/8", *sets)
        process = start(*command)
        log = next(iter(opened.segments)).folder("pages") / "part-00000.jsonl"
        while not (log.exists() and log.stat().st_size):
            time.sleep(0.02)
            assert process.poll() is None
        process.kill()
        process.communicate()
        with opened:
            assert fetch(opened).outcomes == {"rate_limited": 1, "success": 1}
    assert gaps(server, "h.test")[-1] >= 3 - TOLERANCE_S


def test_failures_before_a_kill_go_on_counting() -> None:
    """Three failures in a row: the fourth request comes eight pauses after the third one ended."""
    begun = datetime(2026, 1, 1, tzinfo=UTC)
    before = Earlier()
    for position, outcome in enumerate(["success", "timeout", "server_error", "connect_failed"]):
        before.take(
            {
                "position": position,
                "host": "h.test",
                "outcome": outcome,
                "http_status": None,
                "fetch_time": (begun + timedelta(seconds=position)).isoformat(),
                "duration_ms": 500,
                "retry_at": None,
            }
        )
    config = FetcherConfig(user_agent="x", agent_names=("x",), server_delay_s=5.0)
    ended = begun + timedelta(seconds=3.5)
    assert before.positions == {0, 1, 2, 3}
    assert before.pauses["h.test"].until(config, None) == ended + timedelta(seconds=5 * 8)
    assert before.pauses["h.test"].until(config, 100) == ended + timedelta(seconds=1 * 8)


def test_a_robots_txt_that_lies_on_a_host_of_another_part_waits_for_its_turn(crawl: Crawl) -> None:
    """Twenty hosts whose robots.txt is that of b.test, whose own pages another process may be fetching."""
    pages = {f"http://a{n}.test/robots.txt": redirect("http://b.test/robots.txt") for n in range(20)}
    pages |= {f"http://a{n}.test/": "a" for n in range(20)} | {f"http://b.test/{n}": "b" for n in range(20)}
    urls = [url for url in pages if not url.endswith("robots.txt")]
    with PageServer(pages) as server:
        with server.opened(seeded(crawl, *urls), fetcher__server_delay=0.1) as opened:
            parts = generate(opened, fetchers=2, partition_mode="hash", seed=1).segments[0].parts
            assert all(part.hosts > 5 for part in parts)
            assert fetch(opened).outcomes == {"success": 40}
    by_host = defaultdict(list)
    for _, url in server.requests:
        by_host[url.split("/")[2]].append(url)
    assert len(by_host["b.test"]) == 20 + 1 + 20
    assert min(gaps(server, "b.test")) >= 0.1 - TOLERANCE_S
