"""The linkdb: who links where, as each page was last read; inlinks and orphans counted from it."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from update_crawls import DAY, T, doc, link, new_crawl, page, put, put_segment, rows_of, url_row, urls_of

from pinyon.crawl import Crawl
from pinyon.cycle.invertlinks import LINKDB, inlinks_of, invertlinks
from pinyon.cycle.updatedb import updatedb
from pinyon.errors import InputError, UsageError
from pinyon.tables import CRAWLDB

SEED, OTHER = "http://a.test/", "http://c.test/"
ONE, TWO = "http://b.test/1", "http://b.test/2"


def read(
    crawl: Crawl, day: int, source: str, *targets: str, outcome: str = "success", **columns: object
) -> str:
    """A segment in which one page was read, and had these links."""
    name = f"202603{day:02}000000"
    put_segment(
        crawl,
        name,
        pages=[page(source, outcome, T + day * DAY)],
        docs=[doc(source)],
        links=[link(source, target, **columns) for target in targets],
    )
    return name


def linked(crawl: Crawl) -> set[tuple[str, str]]:
    paths = crawl.store.current(LINKDB).paths()
    rows = [row for path in paths for row in pq.ParquetFile(path).read().to_pylist()]
    return {(row["from_url"], row["to_url"]) for row in rows}


def test_every_url_knows_who_links_to_it_with_which_words(crawl: Crawl) -> None:
    read(crawl, 1, SEED, ONE, anchor="the one", rel="nofollow")
    read(crawl, 2, OTHER, ONE, TWO, anchor="other words")
    report = invertlinks(crawl)
    assert (list(report.segments), report.links) == (["20260301000000", "20260302000000"], 3)
    assert inlinks_of(crawl, "HTTP://b.test:80/1") == [
        {"from_url": SEED, "anchor": "the one", "rel": "nofollow", "segment": "20260301000000"},
        {"from_url": OTHER, "anchor": "other words", "rel": "", "segment": "20260302000000"},
    ]
    assert inlinks_of(crawl, SEED) == []


def test_a_link_that_went_is_forgotten(crawl: Crawl) -> None:
    read(crawl, 1, SEED, ONE, TWO)
    read(crawl, 2, SEED, TWO)
    invertlinks(crawl)
    assert linked(crawl) == {(SEED, TWO)}


@pytest.mark.parametrize(
    ("outcome", "kept"), [("timeout", True), ("robots_denied", True), ("not_found", False), ("gone", False)]
)
def test_a_page_that_is_gone_links_to_nothing_one_out_of_reach_still_does(
    crawl: Crawl, outcome: str, kept: bool
) -> None:
    read(crawl, 1, SEED, ONE)
    read(crawl, 2, SEED, outcome=outcome)
    invertlinks(crawl)
    assert linked(crawl) == ({(SEED, ONE)} if kept else set())


def test_each_segment_is_taken_once(crawl: Crawl) -> None:
    name = read(crawl, 1, SEED, ONE)
    invertlinks(crawl)
    before = crawl.store.current(LINKDB).version
    assert invertlinks(crawl, [name]).segments == []
    assert crawl.store.current(LINKDB).version == before
    put_segment(crawl, "20260309000000", state="fetched")
    with pytest.raises(UsageError, match="wanted one that is parsed"):
        invertlinks(crawl, ["20260309000000"])


def test_inlinks_are_exact_where_a_linkdb_is_kept(crawl: Crawl) -> None:
    put(crawl, CRAWLDB, [url_row(ONE, inlinks=99), url_row(TWO, inlinks=7), url_row(SEED, inlinks=0)])
    read(crawl, 1, SEED, ONE, TWO)
    read(crawl, 2, OTHER, ONE)
    put_segment(crawl, "20260303000000", links=[link(ONE, SEED, rel="redirect")])
    report = invertlinks(crawl)
    assert {url: row["inlinks"] for url, row in urls_of(crawl).items()} == {ONE: 2, TWO: 1, SEED: 0}
    assert report.changed == 2
    assert invertlinks(crawl).changed == 0


def test_what_nothing_links_to_any_more_is_an_orphan_and_found_again_it_is_not(crawl: Crawl) -> None:
    rows = [
        url_row(SEED, "db_fetched"),
        url_row(ONE, "db_fetched", depth=1, signature=b"x"),
        url_row(TWO, depth=1),
        url_row("http://b.test/young", depth=1, first_seen=T),
        url_row("http://b.test/moved", depth=1),
    ]
    put(crawl, CRAWLDB, rows)
    read(crawl, 1, SEED, ONE, TWO)
    put_segment(crawl, "20260302000000", links=[link(OTHER, "http://b.test/moved", rel="redirect")])
    read(crawl, 3, SEED)
    report = invertlinks(crawl, orphans_after_s=40 * 86_400, now=T + DAY)
    orphans = {url for url, row in urls_of(crawl).items() if row["status"] == "db_orphan"}
    assert orphans == {ONE, TWO}
    assert (report.orphaned, report.found_again) == (2, 0)
    read(crawl, 4, SEED, ONE, TWO)
    report = invertlinks(crawl, orphans_after_s=40 * 86_400, now=T + DAY)
    assert (report.orphaned, report.found_again) == (0, 2)
    statuses = {url: row["status"] for url, row in urls_of(crawl).items()}
    assert (statuses[ONE], statuses[TWO]) == ("db_fetched", "db_unfetched")


def test_without_being_asked_nothing_becomes_an_orphan(crawl: Crawl) -> None:
    put(crawl, CRAWLDB, [url_row(ONE, depth=3)])
    assert invertlinks(crawl).orphaned == 0


def test_buckets_change_nothing(tmp_path: Path) -> None:
    found = []
    for buckets in (1, 8):
        with new_crawl(tmp_path / str(buckets), buckets=buckets) as crawl:
            urls = [f"http://h{n}.test/" for n in range(12)]
            for day, source in enumerate(urls[:6], 1):
                read(crawl, day, source, *urls[day:], from_metadata={})
                updatedb(crawl, now=T + day * DAY)
            read(crawl, 9, urls[0])
            invertlinks(crawl)
            found.append((linked(crawl), {url: row["inlinks"] for url, row in urls_of(crawl).items()}))
    assert found[0] == found[1]
    assert len(found[0][0]) > 30


def test_without_a_linkdb_it_says_how_to_make_one(crawl: Crawl) -> None:
    with pytest.raises(InputError, match="pinyon invertlinks"):
        inlinks_of(crawl, SEED)
    assert invertlinks(crawl).links == 0
    assert rows_of(crawl, LINKDB) == {}
