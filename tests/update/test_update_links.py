"""Which links count, what enters through them, and what it inherits."""

from __future__ import annotations

import pytest
from update_crawls import DAY, MONTH_S, T, doc, link, page, put, put_segment, url_row, urls_of

from pinyon.crawl import Crawl
from pinyon.cycle.updatedb import updatedb
from pinyon.tables import CRAWLDB

PAGE, NEAR = "http://www.a.com/", "http://www.a.com/near"
SISTER, FAR = "http://shop.a.com/", "http://b.com/"


def update(crawl: Crawl, links: list[dict], **settings: object) -> dict[str, dict]:
    put_segment(crawl, "20260301000000", links=links)
    updatedb(crawl.with_settings(**{f"db__{name}": value for name, value in settings.items()}), now=T + DAY)
    return urls_of(crawl)


def test_a_url_that_only_links_know_enters(crawl: Crawl) -> None:
    row = update(crawl, [link(PAGE, FAR, from_depth=2, from_metadata={"seed": "7"})])[FAR]
    expected = {
        "status": "db_unfetched",
        "fetch_time": T + DAY,
        "first_seen": T + DAY,
        "fetch_interval": MONTH_S,
        "retries": 0,
        "inlinks": 1,
        "depth": 3,
        "metadata": {"seed": "7"},
        "last_fetch_time": None,
        "host": "b.com",
        "domain": "b.com",
    }
    assert {name: row[name] for name in expected} == expected


def test_nothing_enters_where_additions_are_off_but_known_urls_hear_of_links(crawl: Crawl) -> None:
    put(crawl, CRAWLDB, [url_row(NEAR)])
    found = update(crawl, [link(PAGE, FAR), link(PAGE, NEAR)], additions=False)
    assert {url: row["inlinks"] for url, row in found.items()} == {NEAR: 1}


def test_what_is_no_url_does_not_enter(crawl: Crawl) -> None:
    links = [link(PAGE, target) for target in ("mailto:a@b.test", "javascript:void(0)", "http://", "")]
    assert update(crawl, links) == {}


@pytest.mark.parametrize(
    ("settings", "entering"),
    [
        ({}, {NEAR, SISTER, FAR}),
        ({"ignore_internal": True}, {SISTER, FAR}),
        ({"ignore_external": True}, {NEAR}),
        ({"ignore_internal": True, "ignore_external_mode": "domain"}, {FAR}),
        ({"ignore_external": True, "ignore_external_mode": "domain"}, {NEAR, SISTER}),
    ],
)
def test_links_within_and_out_of_a_host_or_domain_can_be_ignored(
    crawl: Crawl, settings: dict[str, object], entering: set[str]
) -> None:
    assert set(update(crawl, [link(PAGE, t) for t in (NEAR, SISTER, FAR)], **settings)) == entering


def test_a_redirect_out_of_scope_is_not_followed_one_within_is_never_lost(crawl: Crawl) -> None:
    links = [link(PAGE, FAR, rel="redirect"), link(PAGE, NEAR, rel="redirect")]
    assert set(update(crawl, links, ignore_external=True, ignore_internal=True)) == {NEAR}


def test_redirects_cost_no_depth_and_are_no_links(crawl: Crawl) -> None:
    row = update(crawl, [link(PAGE, FAR, rel="redirect", from_depth=2)])[FAR]
    assert (row["depth"], row["inlinks"]) == (2, 0)


def test_the_shortest_way_from_a_seed_is_the_depth(crawl: Crawl) -> None:
    put(crawl, CRAWLDB, [url_row(NEAR, depth=4), url_row(FAR, depth=1)])
    links = [link(PAGE, t, from_depth=d) for t in (NEAR, FAR) for d in (5, 2, 9)]
    assert {url: row["depth"] for url, row in update(crawl, links).items()} == {NEAR: 3, FAR: 1}


def test_what_is_too_far_from_the_seeds_does_not_enter(crawl: Crawl) -> None:
    links = [link(PAGE, NEAR, from_depth=2), link(PAGE, FAR, from_depth=3)]
    assert set(update(crawl, links, max_depth=3)) == {NEAR}


def test_a_depth_beyond_all_numbers_stops_nothing(crawl: Crawl) -> None:
    assert update(crawl, [link(PAGE, FAR, from_depth=32_767)])[FAR]["depth"] == 32_767


def test_a_page_that_is_fetched_again_adds_no_inlinks(crawl: Crawl) -> None:
    put(crawl, CRAWLDB, [url_row(NEAR, inlinks=3)])
    links = [link(PAGE, NEAR, from_first=False), link(FAR, NEAR), link(PAGE, SISTER, from_first=False)]
    assert {url: row["inlinks"] for url, row in update(crawl, links).items()} == {NEAR: 4, SISTER: 1}


def test_a_page_fetched_for_two_segments_at_once_links_once(crawl: Crawl) -> None:
    for day in (1, 2):
        put_segment(
            crawl,
            f"2026030{day}000000",
            pages=[page(PAGE, at=T + day * DAY)],
            docs=[doc(PAGE)],
            links=[link(PAGE, FAR, from_score=3.0)],
        )
    updatedb(crawl, now=T + 3 * DAY)
    row = urls_of(crawl)[FAR]
    assert (row["inlinks"], row["score"]) == (1, 3.0)


def test_the_target_of_a_redirect_inherits_what_it_does_not_have(crawl: Crawl) -> None:
    put(crawl, CRAWLDB, [url_row(NEAR, depth=5, metadata={"tag": "own"}), url_row(SISTER)])
    metadata = {"tag": "x", "seed": "1"}
    links = [link(PAGE, t, rel="redirect", from_metadata=metadata, from_depth=1) for t in (NEAR, FAR)]
    links.append(link(PAGE, SISTER, from_metadata=metadata))
    found = update(crawl, links)
    assert found[NEAR]["metadata"] == {"tag": "own", "seed": "1"}
    assert found[FAR]["metadata"] == metadata
    assert found[SISTER]["metadata"] == {}
    assert (found[NEAR]["depth"], found[FAR]["depth"]) == (1, 1)


def test_of_several_pages_the_nearest_to_a_seed_is_inherited_from(crawl: Crawl) -> None:
    sources = [("http://z.com/", 1, "z"), ("http://c.com/", 1, "c"), ("http://a.com/", 2, "a")]
    links = [link(s, FAR, from_depth=d, from_metadata={"seed": seed}) for s, d, seed in sources]
    assert update(crawl, links)[FAR]["metadata"] == {"seed": "c"}


def test_kept_facts_of_a_page_are_not_inherited(crawl: Crawl) -> None:
    links = [link(PAGE, FAR, from_metadata={"seed": "1", "language": "en"})]
    assert update(crawl, links, keep_facts=["language"])[FAR]["metadata"] == {"seed": "1"}
