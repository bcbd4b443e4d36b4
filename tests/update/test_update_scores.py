"""What links give: scores of new and of known URLs, by each model; scores of hosts."""

from __future__ import annotations

import math
import random

import pytest
from update_crawls import DAY, T, hosts_of, link, put, put_segment, url_row, urls_of

from pinyon.crawl import Crawl
from pinyon.cycle.updatedb import updatedb
from pinyon.cycle.updatehostdb import updatehostdb
from pinyon.tables import CRAWLDB

PAGE, OTHER = "http://a.test/", "http://c.test/"
NEAR, FAR, KNOWN = "http://a.test/near", "http://b.test/far", "http://b.test/known"


def scores_after(crawl: Crawl, links: list[dict], **settings: object) -> dict[str, float]:
    put_segment(crawl, "20260301000000", links=links)
    updatedb(crawl.with_settings(**{f"db__{name}": value for name, value in settings.items()}), now=T + DAY)
    return {url: row["score"] for url, row in urls_of(crawl).items()}


def test_opic_deals_the_score_of_a_page_out_to_its_links(crawl: Crawl) -> None:
    put(crawl, CRAWLDB, [url_row(KNOWN, score=1.0)])
    links = [link(PAGE, target, from_score=8.0, from_outlinks=4) for target in (NEAR, FAR, KNOWN)]
    links.append(link(OTHER, FAR, from_score=3.0, from_outlinks=1))
    assert scores_after(crawl, links) == {NEAR: 2.0, FAR: 5.0, KNOWN: 3.0}


def test_links_that_leave_the_host_and_those_that_do_not_have_factors(crawl: Crawl) -> None:
    links = [link(PAGE, target, from_score=8.0, from_outlinks=4) for target in (NEAR, FAR)]
    assert scores_after(crawl, links, score_internal=0.5, score_external=3.0) == {NEAR: 1.0, FAR: 6.0}


def test_a_page_pays_a_known_url_once_and_a_new_one_whenever_it_is_found(crawl: Crawl) -> None:
    put(crawl, CRAWLDB, [url_row(KNOWN, score=1.0)])
    links = [link(PAGE, t, from_score=8.0, from_outlinks=4, from_first=False) for t in (FAR, KNOWN)]
    assert scores_after(crawl, links) == {FAR: 2.0, KNOWN: 1.0}


def test_a_redirect_hands_its_score_on(crawl: Crawl) -> None:
    put(crawl, CRAWLDB, [url_row(KNOWN, score=1.0)])
    links = [
        link(PAGE, FAR, rel="redirect", from_score=8.0),
        link(OTHER, KNOWN, rel="redirect", from_score=2.0),
    ]
    assert scores_after(crawl, links) == {FAR: 8.0, KNOWN: 3.0}


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_links_changes_no_score(crawl: Crawl, seed: int) -> None:
    dice = random.Random(7)
    links = [
        link(f"http://s{n}.test/", FAR, from_score=dice.random() * 10 ** dice.randint(-6, 6), from_outlinks=7)
        for n in range(200)
    ]
    random.Random(seed).shuffle(links)
    total = sum(row["from_score"] / 7 for row in links)
    assert scores_after(crawl, links)[FAR] == pytest.approx(total, rel=1e-6)


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf, 3e38, -3e38])
def test_a_score_beyond_all_numbers_stops_nothing(crawl: Crawl, score: float) -> None:
    put(crawl, CRAWLDB, [url_row(KNOWN, score=score)])
    found = scores_after(crawl, [link(PAGE, FAR, from_score=score), link(PAGE, KNOWN, from_score=score)])
    assert abs(found[FAR]) <= 1.1e15
    assert found[KNOWN] == pytest.approx(score, nan_ok=True)


def test_links_counts_links(crawl: Crawl) -> None:
    put(crawl, CRAWLDB, [url_row(KNOWN, score=1.0)])
    links = [link(PAGE, FAR), link(OTHER, FAR), link(PAGE, KNOWN), link(OTHER, NEAR, rel="redirect")]
    assert scores_after(crawl, links, scores="links") == {FAR: 2.0, KNOWN: 2.0, NEAR: 0.0}


def test_depth_puts_what_is_near_the_seeds_first(crawl: Crawl) -> None:
    put(crawl, CRAWLDB, [url_row(KNOWN, score=0.1, depth=9)])
    links = [link(PAGE, FAR, from_depth=0), link(OTHER, NEAR, from_depth=3), link(PAGE, KNOWN, from_depth=0)]
    assert scores_after(crawl, links, scores="depth") == {FAR: 0.5, NEAR: pytest.approx(0.2), KNOWN: 0.5}


def test_none_changes_nothing(crawl: Crawl) -> None:
    put(crawl, CRAWLDB, [url_row(KNOWN, score=7.0)])
    links = [link(PAGE, FAR, from_score=8.0), link(PAGE, KNOWN, from_score=8.0)]
    assert scores_after(crawl, links, scores="none") == {FAR: 1.0, KNOWN: 7.0}


@pytest.mark.parametrize(("mode", "score"), [("mean", 2.0), ("max", 3.5), ("sum", 6.0), ("keep", 0.0)])
def test_a_host_has_a_score_made_of_those_of_its_urls(crawl: Crawl, mode: str, score: float) -> None:
    put(crawl, CRAWLDB, [url_row(f"{PAGE}{n}", score=s) for n, s in enumerate((0.5, 2.0, 3.5))])
    updatehostdb(crawl.with_settings(hostdb__score=mode))
    assert hosts_of(crawl)["a.test"]["score"] == score
