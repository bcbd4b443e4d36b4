"""Rounds: each begins when the last one ended, and there is always an end."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from pinyon.crawl import Crawl
from pinyon.cycle.demo import DELAY_S, demo
from pinyon.cycle.fetch import fetch
from pinyon.cycle.generate import generate
from pinyon.cycle.inject import inject
from pinyon.cycle.round import crawl_rounds
from support.crawls import run
from support.pages import Page, PageServer, links

CHAIN = {f"/{n}": links(f"/{n + 1}") for n in range(4)} | {"/4": "the end"}


def seeded(crawl: Crawl, *urls: str) -> Crawl:
    (crawl.root / "seeds.txt").write_text("\n".join(urls))
    inject(crawl, [crawl.root / "seeds.txt"])
    return crawl


def test_a_round_follows_links_one_step_until_nothing_is_due(crawl: Crawl) -> None:
    told: list[str] = []
    with PageServer(CHAIN) as server, server.opened(seeded(crawl, "http://site.test/0")) as opened:
        report = crawl_rounds(opened, rounds=None, told=lambda step, report: told.append(step))
    assert (report.rounds, report.pages, report.ended_by) == (5, 5, "empty")
    assert told == ["generate", "fetch", "parse", "updatedb", "updatehostdb"] * 5
    assert server.asked() == [f"http://site.test/{n}" for n in range(5)]


def test_an_unfinished_round_is_finished_first_and_counts(crawl: Crawl) -> None:
    with PageServer(CHAIN) as server, server.opened(seeded(crawl, "http://site.test/0")) as opened:
        generate(opened)
        fetch(opened)
        told: list[str] = []
        assert crawl_rounds(opened, rounds=1, told=lambda step, report: told.append(step)).rounds == 1
        assert told == ["parse", "updatedb", "updatehostdb"]
        assert crawl_rounds(opened, rounds=1).pages == 1
    assert server.asked() == ["http://site.test/0", "http://site.test/1"]


def test_no_round_begins_after_the_duration(crawl: Crawl) -> None:
    times = iter([0.0, 0.0, 59.0, 61.0])
    with PageServer(CHAIN) as server, server.opened(seeded(crawl, "http://site.test/0")) as opened:
        report = crawl_rounds(opened, rounds=None, duration_s=60, clock=lambda: next(times))
    assert (report.rounds, report.pages, report.ended_by) == (2, 2, "duration")


def test_hosts_that_want_to_be_let_alone_do_not_keep_a_crawl_going_for_ever(crawl: Crawl) -> None:
    """The first round meets a Retry-After of a day; its other URLs stay due, and no round can fetch them."""
    later = Page(status=429, headers={"Retry-After": "86400"})
    urls = [f"http://busy.test/{n}" for n in range(6)]
    with PageServer({f"/{n}": later for n in range(6)}) as server:
        with server.opened(seeded(crawl, *urls), fetcher__max_back_off=86_400.0) as opened:
            report = crawl_rounds(opened, rounds=None)
            assert report.ended_by in ("stalled", "empty")
            assert report.rounds <= 3
    assert len(server.asked()) == 1


def test_a_round_in_which_all_is_postponed_ends_the_crawl(crawl: Crawl) -> None:
    with PageServer({"/robots.txt": Page(status=500), "/": "page"}) as server:
        with server.opened(seeded(crawl, "http://closed.test/", "http://closed.test/a")) as opened:
            report = crawl_rounds(opened, rounds=None)
    assert (report.rounds, report.ended_by) == (1, "empty")
    assert server.asked() == []


def test_a_crawl_with_nothing_due_says_so_by_its_status(crawl: Crawl) -> None:
    end = run("crawl", crawl.root, "--set", "fetcher.agent_contact=x@example.org")
    assert end.status == 3
    assert "nothing is due" in end.stderr


def test_the_demo_keeps_its_promise_and_its_report_adds_up() -> None:
    report = demo(hosts=12, rounds=2, seed=3)
    assert report.rounds == 2
    assert report.pages == sum(report.outcomes.values())
    assert report.urls == sum(report.statuses.values())
    assert report.outcomes["success"] == report.statuses["db_fetched"]
    assert report.shortest_pause_s >= report.promised_pause_s - 0.005 == DELAY_S - 0.005


def test_a_demo_that_is_kept_can_be_gone_on_with(tmp_path: Path) -> None:
    demo(hosts=12, rounds=1, directory=tmp_path / "kept")
    with Crawl.open(tmp_path / "kept") as crawl:
        assert generate(crawl, now=datetime.now(UTC) + timedelta(hours=1), dry_run=True).selected > 0
