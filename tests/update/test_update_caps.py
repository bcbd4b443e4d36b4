"""Caps against spam: best first, the surplus counted, whatever the number of buckets."""

from __future__ import annotations

from pathlib import Path

import pytest
from update_crawls import DAY, T, link, new_crawl, put, put_segment, url_row, urls_of

from pinyon.cycle.updatedb import UpdateReport, updatedb
from pinyon.tables import CRAWLDB

SOURCE = "http://source.com/"
OTHER = ["http://www.other.com/0", "http://www.other.com/1"]


def found_after(
    root: Path, buckets: int, known: list[str], scored: dict[str, float], **caps: int
) -> tuple[set[str], UpdateReport]:
    """The URLs of spam.com and other.com after an update that links to those of `scored`."""
    with new_crawl(root, buckets=buckets, **{f"db__{name}": value for name, value in caps.items()}) as crawl:
        put(crawl, CRAWLDB, [url_row(url) for url in known])
        links = [link(SOURCE, url, from_score=score) for url, score in scored.items()]
        put_segment(crawl, "20260301000000", links=links)
        report = updatedb(crawl, now=T + DAY)
        found = set(urls_of(crawl))
        assert report.rows == len(found)
        assert report.changes.get("new", 0) == len(found - set(known))
        assert sum(report.surplus.values()) == len(set(scored) - found)
        return found, report


def spam(host: str, *numbers: int) -> list[str]:
    return [f"http://{host}.spam.com/{n}" for n in numbers]


@pytest.mark.parametrize("buckets", [1, 8])
@pytest.mark.parametrize(
    ("caps", "entering", "surplus"),
    [
        # a is known with 0; of each host's new ones the highest numbers have the best scores
        ({"max_new_per_host": 2}, spam("a", 8, 9) + spam("b", 8, 9) + spam("c", 3), {"host_new": 14}),
        ({"max_rows_per_host": 3}, spam("a", 8, 9) + spam("b", 7, 8, 9) + spam("c", 3), {"host_rows": 13}),
        ({"max_rows_per_host": 2}, spam("a", 9) + spam("b", 8, 9) + spam("c", 3), {"host_rows": 15}),
        (
            {"max_hosts_per_domain": 2},
            spam("a", *range(1, 10)) + spam("b", *range(1, 10)),
            {"domain_hosts": 1},
        ),
        ({"max_hosts_per_domain": 1}, spam("a", *range(1, 10)), {"domain_hosts": 10}),
        ({"max_new_per_domain": 3}, spam("a", 8, 9) + spam("b", 9), {"domain_new": 16}),
        ({"max_rows_per_domain": 3}, spam("a", 9) + spam("b", 9), {"domain_rows": 17}),
        (
            {"max_new_per_host": 1, "max_hosts_per_domain": 2, "max_rows_per_domain": 2},
            spam("a", 9),
            {"host_new": 16, "domain_hosts": 1, "domain_rows": 1},
        ),
    ],
)
def test_the_best_enter_and_the_surplus_is_counted(
    tmp_path: Path, buckets: int, caps: dict[str, int], entering: list[str], surplus: dict[str, int]
) -> None:
    known = [*spam("a", 0), OTHER[0]]
    scored = {url: n + 0.5 for n in range(1, 10) for url in spam("a", n)}
    scored |= {url: float(n) for n in range(1, 10) for url in spam("b", n)}
    scored |= dict.fromkeys(spam("c", 3), 3.0) | {OTHER[1]: 0.0}
    found, report = found_after(tmp_path / "crawl", buckets, known, scored, **caps)
    assert found == {*known, *entering, OTHER[1]}
    assert report.surplus == surplus


def test_rows_that_are_there_are_never_cut(tmp_path: Path) -> None:
    known = spam("a", *range(20))
    caps = {
        "max_rows_per_host": 5,
        "max_rows_per_domain": 5,
        "max_hosts_per_domain": 0,
        "max_new_per_host": 0,
    }
    found, report = found_after(tmp_path / "crawl", 1, known, dict.fromkeys(spam("a", 50), 9.0), **caps)
    assert found == set(known)
    assert report.surplus == {"host_new": 1}


def test_without_caps_everything_enters(tmp_path: Path) -> None:
    found, report = found_after(tmp_path / "crawl", 1, [], dict.fromkeys(spam("a", *range(50)), 1.0))
    assert len(found) == 50
    assert report.surplus == {}
