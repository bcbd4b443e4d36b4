"""How far from its seed a URL may lie: depth, and the scope of the seed, through links and redirects."""

from __future__ import annotations

import itertools
from datetime import timedelta

import pytest
from update_crawls import T, link, put, put_segment, url_row, urls_of

from pinyon.crawl import Crawl
from pinyon.cycle.updatedb import updatedb
from pinyon.errors import SettingError
from pinyon.tables import CRAWLDB

SEED = "http://www.a.com/docs/index.html?x=/y/"
UNDER, BESIDE = "http://www.a.com/docs/more/", "http://www.a.com/blog"
SISTER, FAR, FARTHER = "http://shop.a.com/", "http://b.com/", "http://c.com/"
ALL = (UNDER, BESIDE, SISTER, FAR)


class Walk:
    """Follows links step by step: each page is fetched with what its row says."""

    def __init__(self, crawl: Crawl, seed: str, **metadata: str) -> None:
        self.crawl, self.step = crawl, 0
        put(crawl, CRAWLDB, [url_row(seed, metadata=metadata)])
        facts = {"metadata": dict.fromkeys(metadata, "text")}
        crawl.store.publish(crawl.store.current(CRAWLDB), [], replaces=[], facts=facts, operation="test")

    def follow(self, source: str, *targets: str, rel: str = "") -> set[str]:
        """Those of `targets` that are known after the page `source` was fetched."""
        row = urls_of(self.crawl)[source]
        links = [
            link(source, t, rel=rel, from_depth=row["depth"], from_metadata=row["metadata"]) for t in targets
        ]
        self.step += 1
        put_segment(self.crawl, f"202603010000{self.step:02}", links=links)
        updatedb(self.crawl, now=T + timedelta(hours=self.step))
        return set(urls_of(self.crawl)) & set(targets)


@pytest.mark.parametrize(
    ("scope", "entering"),
    [
        ("prefix", {UNDER}),
        ("host", {UNDER, BESIDE}),
        ("domain", {UNDER, BESIDE, SISTER}),
        ("domain+1", {UNDER, BESIDE, SISTER, FAR}),
        ("nonsense", {UNDER, BESIDE, SISTER, FAR}),
    ],
)
def test_links_of_a_seed_stay_in_its_scope(crawl: Crawl, scope: str, entering: set[str]) -> None:
    assert Walk(crawl, SEED, scope=scope).follow(SEED, *ALL) == entering


def test_a_scope_is_inherited_and_stays_that_of_the_seed(crawl: Crawl) -> None:
    walk = Walk(crawl, SEED, scope="prefix", tag="x")
    walk.follow(SEED, UNDER)
    assert urls_of(crawl)[UNDER]["metadata"]["scope"] == "prefix:http://www.a.com/docs/"
    assert urls_of(crawl)[UNDER]["metadata"]["tag"] == "x"
    deeper = UNDER + "deep/er"
    assert walk.follow(UNDER, deeper, BESIDE, FAR) == {deeper}
    # up again, but within the scope of the seed
    assert walk.follow(deeper, "http://www.a.com/docs/up") == {"http://www.a.com/docs/up"}


def test_links_out_of_a_scope_are_counted_and_start_anew_when_they_come_back(crawl: Crawl) -> None:
    walk = Walk(crawl, SEED, scope="host+1")
    assert walk.follow(SEED, FAR) == {FAR}
    assert urls_of(crawl)[FAR]["metadata"] == {"scope": "host:www.a.com+1", "scope_hops": "1"}
    assert walk.follow(FAR, FARTHER, BESIDE) == {BESIDE}
    assert urls_of(crawl)[BESIDE]["metadata"]["scope_hops"] == "0"
    assert walk.follow(BESIDE, FARTHER) == {FARTHER}


def test_a_seed_that_redirects_has_the_scope_of_where_it_ends(crawl: Crawl) -> None:
    walk = Walk(crawl, SEED, scope="host")
    assert walk.follow(SEED, FAR, rel="redirect") == {FAR}
    assert urls_of(crawl)[FAR]["metadata"]["scope"] == "host"
    inside = FAR + "x"
    assert walk.follow(FAR, inside, BESIDE) == {inside}


def test_a_redirect_further_on_does_not_leave_the_scope(crawl: Crawl) -> None:
    walk = Walk(crawl, SEED, scope="host")
    walk.follow(SEED, BESIDE)
    assert walk.follow(BESIDE, FAR, rel="redirect") == set()
    assert walk.follow(BESIDE, UNDER, rel="redirect") == {UNDER}


def test_a_known_url_out_of_scope_hears_of_the_link_but_inherits_nothing(crawl: Crawl) -> None:
    walk = Walk(crawl, SEED, scope="host")
    put(crawl, CRAWLDB, [*urls_of(crawl).values(), url_row(FAR, depth=7, score=1.0)])
    walk.follow(SEED, FAR)
    row = urls_of(crawl)[FAR]
    assert (row["inlinks"], row["depth"], row["metadata"]) == (1, 7, {})
    assert row["score"] > 1.0


@pytest.mark.parametrize("key", ["max_depth", "_maxdepth_"])
def test_a_seed_may_have_a_depth_of_its_own(crawl: Crawl, key: str) -> None:
    walk = Walk(crawl, SEED, **{key: "1"})
    assert walk.follow(SEED, UNDER) == {UNDER}
    assert walk.follow(UNDER, BESIDE) == set()
    assert walk.follow(UNDER, BESIDE, rel="redirect") == {BESIDE}


def test_within_the_domain_three_links_deep_out_of_it_one(crawl: Crawl) -> None:
    walk = Walk(crawl, SEED, scope="domain+1", max_depth="3")
    chain = [SEED, *(f"http://www.a.com/{n}" for n in range(1, 5))]
    for source, target in itertools.pairwise(chain[:4]):
        assert walk.follow(source, target) == {target}
    assert walk.follow(chain[3], chain[4], FAR) == {FAR}
    assert walk.follow(FAR, FARTHER) == set()


def test_a_scope_for_all_seeds_is_a_setting(crawl: Crawl) -> None:
    put(crawl, CRAWLDB, [url_row(SEED), url_row("http://d.com/")])
    links = [link(SEED, t) for t in ALL] + [
        link("http://d.com/", "http://d.com/x"),
        link("http://d.com/", FARTHER),
    ]
    put_segment(crawl, "20260301000000", links=links)
    updatedb(crawl.with_settings(db__scope="host"), now=T)
    assert set(urls_of(crawl)) == {SEED, "http://d.com/", UNDER, BESIDE, "http://d.com/x"}
    assert crawl.store.current(CRAWLDB).facts["metadata"] == {"scope": "text", "scope_hops": "integer"}


@pytest.mark.parametrize("scope", ["world", "host+", "host-1", "host:a.com", "'; DROP TABLE crawldb"])
def test_a_scope_that_is_none_is_refused(crawl: Crawl, scope: str) -> None:
    put_segment(crawl, "20260301000000", links=[link(SEED, FAR)])
    with pytest.raises(SettingError, match="wanted prefix, host or domain"):
        updatedb(crawl.with_settings(db__scope=scope))


def test_of_a_crowd_of_links_those_of_the_best_pages_count(crawl: Crawl) -> None:
    links = [link(f"http://s{n}.com/", FAR, from_score=float(n)) for n in range(10)]
    put_segment(crawl, "20260301000000", links=[*links, link(SEED, UNDER)])
    updatedb(crawl.with_settings(db__max_inlinks=3), now=T)
    found = urls_of(crawl)
    assert (found[FAR]["inlinks"], found[FAR]["score"]) == (3, 9.0 + 8.0 + 7.0)
    assert found[UNDER]["inlinks"] == 1
