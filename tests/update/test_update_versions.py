"""Versions: what is applied belongs to the version, so going back makes it due again, once."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from update_crawls import DAY, T, doc, host_facts, page, put, put_segment, url_row, urls_of

from pinyon.crawl import Crawl
from pinyon.cycle.inject import inject
from pinyon.cycle.updatedb import updatedb
from pinyon.cycle.updatehostdb import updatehostdb
from pinyon.cycle.versions import restore, vacuum
from pinyon.errors import NothingDue, StoreError, UsageError
from pinyon.reports.readdb import dump
from pinyon.tables import CRAWLDB, HOSTDB

A, B = "http://a.test/", "http://b.test/"
FIRST, SECOND = "20260301000000", "20260302000000"


@pytest.fixture
def updated(crawl: Crawl) -> Crawl:
    """A crawl whose crawldb took in two segments, one after the other: versions 2 and 3."""
    put(crawl, CRAWLDB, [url_row(A), url_row(B)])
    put_segment(crawl, FIRST, pages=[page(A, "timeout", T)])
    put_segment(crawl, SECOND, pages=[page(A, "timeout", T + DAY), page(B, at=T + DAY)], docs=[doc(B)])
    updatedb(crawl, [FIRST], now=T + DAY)
    updatedb(crawl, [SECOND], now=T + DAY)
    return crawl


def test_restore_brings_the_rows_of_an_older_version_back(updated: Crawl) -> None:
    before = urls_of(updated, 2)
    report = restore(updated, 2)
    assert (report.restored, report.version, report.rows, report.reopened) == (2, 4, 2, [SECOND])
    assert urls_of(updated) == before


def test_a_restored_crawldb_takes_the_later_segments_in_again_once(updated: Crawl) -> None:
    newest = urls_of(updated)
    restore(updated, 2)
    report = updatedb(updated, now=T + DAY)
    assert list(report.segments) == [SECOND]
    assert urls_of(updated) == newest
    with pytest.raises(NothingDue):
        updatedb(updated)


def test_restored_forwards_a_segment_counts_as_applied_again(updated: Crawl) -> None:
    restore(updated, 2)
    report = restore(updated, 3)
    assert report.reopened == []
    with pytest.raises(NothingDue):
        updatedb(updated)
    assert urls_of(updated)[A]["retries"] == 2


def test_the_hostdb_is_restored_on_its_own(crawl: Crawl) -> None:
    put(crawl, CRAWLDB, [url_row(A)])
    updatehostdb(crawl)
    put_segment(crawl, FIRST, hosts=[host_facts("a.test", dns_failures=2)])
    updatehostdb(crawl)
    assert restore(crawl, 1, table="hostdb").reopened == [FIRST]
    assert list(updatehostdb(crawl).segments) == [FIRST]


def test_a_version_that_is_not_there_is_refused(updated: Crawl) -> None:
    with pytest.raises(UsageError, match="no version 99"):
        restore(updated, 99)
    with pytest.raises(UsageError, match="no version -1"):
        restore(updated, -1)


def test_a_version_beyond_those_kept_is_refused_and_nothing_changes(updated: Crawl, tmp_path: Path) -> None:
    vacuum(updated, keep_versions=2)
    with pytest.raises(StoreError, match="version 1 is not kept any more"):
        restore(updated, 1)
    assert updated.store.current(CRAWLDB).version == 3
    with pytest.raises(StoreError, match="version 1 is not kept any more"):
        dump(updated, "crawldb", tmp_path / "old.csv", at_version=1)


def test_older_versions_stay_readable_while_they_are_kept(updated: Crawl, tmp_path: Path) -> None:
    assert dump(updated, "crawldb", tmp_path / "old.csv", at_version=1) == 2
    assert urls_of(updated, 1)[A]["retries"] == 0


def test_each_version_has_facts_of_its_own(crawl: Crawl) -> None:
    for number in range(25):
        base = crawl.store.current(CRAWLDB)
        crawl.store.publish(base, [], facts={"number": number}, operation="test")
    assert [crawl.store.current(CRAWLDB, v).facts.get("number") for v in (0, 1, 12, 25)] == [None, 0, 11, 24]


def test_versions_are_kept_by_count_and_by_age(crawl: Crawl) -> None:
    for _ in range(5):
        put(crawl, CRAWLDB, [url_row(A)])
    assert vacuum(crawl, keep_versions=1, keep_hours=1.0).kept["crawldb"] == [5, 4, 3, 2, 1, 0]
    assert vacuum(crawl, keep_versions=3, keep_hours=0.0).kept["crawldb"] == [5, 4, 3]
    assert vacuum(crawl).kept["crawldb"] == [5, 4, 3]
    with pytest.raises(UsageError, match="always kept"):
        vacuum(crawl, keep_versions=0)


def test_a_vacuumed_log_still_knows_its_facts_and_segments(updated: Crawl) -> None:
    facts = updated.store.current(CRAWLDB).facts
    for path in (updated.root / "crawldb" / "_delta_log").iterdir():
        _make_old(path)
    vacuum(updated)
    assert updated.store.current(CRAWLDB).facts == facts
    assert updated.store.applied(CRAWLDB, [FIRST, SECOND]) == {FIRST, SECOND}


def _make_old(path: Path) -> None:
    os.utime(path, (time.time() - 86_400,) * 2)


def test_100_cycles_with_nothing_changed_restart_nothing(crawl: Crawl, tmp_path: Path) -> None:
    """A lost state table is an error, never a fresh start."""
    put(crawl, CRAWLDB, [url_row(A)])
    put_segment(crawl, FIRST, pages=[page(A)], docs=[doc(A)])
    updatedb(crawl, now=T + DAY)
    before = urls_of(crawl)
    for _ in range(100):
        assert updatedb(crawl, [FIRST], now=T + DAY).segments == []
    assert urls_of(crawl) == before
    (crawl.root / "crawldb").rename(tmp_path / "lost")
    with pytest.raises(StoreError, match="there is no table here"):
        updatedb(crawl, [FIRST])
    (tmp_path / "seeds.txt").write_text(A)
    with pytest.raises(StoreError, match="there is no table here"):
        inject(crawl, [tmp_path / "seeds.txt"])
    assert not (crawl.root / "crawldb").exists()
    assert crawl.store.current(HOSTDB).rows == 0
