"""Another number of buckets, the same rows, and the same results of everything after."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from update_crawls import (
    DAY,
    T,
    doc,
    host_facts,
    hosts_of,
    link,
    new_crawl,
    page,
    put,
    put_segment,
    rows_of,
    url_row,
    urls_of,
)

from pinyon.crawl import Crawl
from pinyon.cycle.invertlinks import LINKDB, inlinks_of, invertlinks
from pinyon.cycle.rebucket import rebucket
from pinyon.cycle.updatedb import updatedb
from pinyon.cycle.updatehostdb import updatehostdb
from pinyon.cycle.versions import restore
from pinyon.errors import StoreError, UsageError
from pinyon.tables import CRAWLDB, HOSTDB, TableSpec
from pinyon.urls import locate

URLS = [f"http://h{n % 30}.test/{n}" for n in range(90)] + ["mailto:a@b.test"]


def filled(root: Path, buckets: int) -> Crawl:
    crawl = new_crawl(root, buckets=buckets)
    put(crawl, CRAWLDB, [url_row(url) for url in URLS])
    updatehostdb(crawl)
    return crawl


def without_buckets(rows: dict[str, dict]) -> dict[str, dict]:
    return {key: {name: v for name, v in row.items() if name != "bucket"} for key, row in rows.items()}


@pytest.mark.parametrize(("before", "after"), [(4, 16), (16, 2), (1, 8), (8, 1), (4, 4)])
def test_rows_are_the_same_and_lie_where_their_host_belongs(tmp_path: Path, before: int, after: int) -> None:
    with filled(tmp_path / "crawl", before) as crawl:
        old = {spec.name: without_buckets(rows_of(crawl, spec)) for spec in (CRAWLDB, HOSTDB)}
        report = rebucket(crawl, after)
        assert (report.urls, report.hosts, report.buckets) == (len(URLS), 30, after)
        assert list(report.changed) == ([] if before == after else ["crawldb", "hostdb"])
        for spec in (CRAWLDB, HOSTDB):
            check_places(crawl, spec, after)
            assert without_buckets(rows_of(crawl, spec)) == old[spec.name]


def check_places(crawl: Crawl, spec: TableSpec, buckets: int) -> None:
    assert crawl.store.current(spec).buckets == buckets
    for key, row in rows_of(crawl, spec).items():
        assert row["bucket"] == locate(key if "url" in row else f"http://{key}/").bucket(buckets)


def test_an_update_after_it_gives_the_same_rows(tmp_path: Path) -> None:
    tables = []
    for buckets in (2, 8):
        with filled(tmp_path / str(buckets), 2) as crawl:
            rebucket(crawl, buckets)
            put_segment(
                crawl,
                "20260301000000",
                pages=[page(url) for url in URLS[:40]],
                docs=[doc(url) for url in URLS[:40]],
                hosts=[host_facts("h1.test", ip="192.0.2.1")],
            )
            updatedb(crawl, now=T + DAY, hostdb=True)
            tables.append((without_buckets(urls_of(crawl)), without_buckets(hosts_of(crawl))))
    assert tables[0] == tables[1]


def test_an_open_segment_is_in_the_way(tmp_path: Path) -> None:
    with filled(tmp_path / "crawl", 2) as crawl:
        put_segment(crawl, "20260301000000", state="generated")
        with pytest.raises(UsageError, match="is open"):
            rebucket(crawl, 4)
        crawl.segments["20260301000000"].advance("parsed")
        updatedb(crawl)
        with pytest.raises(UsageError, match="not in the HostDb"):
            rebucket(crawl, 4)
        updatehostdb(crawl)
        rebucket(crawl, 4)
        # nor is it applied a second time to a version that was cut otherwise
        with pytest.raises(StoreError, match="made for 4"):
            restore(crawl, 1)


@pytest.mark.parametrize("buckets", [0, -4, 3, 24])
def test_buckets_are_a_power_of_two(tmp_path: Path, buckets: int) -> None:
    with new_crawl(tmp_path / "crawl") as crawl, pytest.raises(UsageError, match="power of two"):
        rebucket(crawl, buckets)


def test_tables_of_different_buckets_are_mended_by_the_command_the_error_names(tmp_path: Path) -> None:
    with filled(tmp_path / "crawl", 2) as crawl:
        crawl.store.publish(crawl.store.current(HOSTDB), [], facts={"buckets": 4}, operation="test")
        with pytest.raises(StoreError, match=r"pinyon rebucket .* 2"):
            updatehostdb(crawl)
        assert list(rebucket(crawl, 2).changed) == ["hostdb"]
        assert updatehostdb(crawl).hosts == 30


def test_the_linkdb_goes_along(tmp_path: Path) -> None:
    with new_crawl(tmp_path / "crawl", buckets=2) as crawl:
        put_segment(crawl, "20260301000000", links=[link("http://a.test/", url) for url in URLS[:20]])
        invertlinks(crawl)
        updatedb(crawl, hostdb=True)
        assert list(rebucket(crawl, 8).changed) == ["crawldb", "hostdb", "linkdb"]
        assert crawl.store.current(LINKDB).rows == 20
        assert [row["from_url"] for row in inlinks_of(crawl, URLS[3])] == ["http://a.test/"]
        for bucket, files in crawl.store.current(LINKDB).files.items():
            for file in files:
                rows = pq.ParquetFile(crawl.root / "linkdb" / file.path).read().to_pylist()
                assert {locate(row["to_url"]).bucket(8) for row in rows} == {bucket}
