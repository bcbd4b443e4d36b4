"""parse: every page of a segment becomes rows, also those that cannot be read; run again, the same rows."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from pinyon.crawl import Crawl
from pinyon.cycle.fetch import fetch
from pinyon.cycle.generate import generate
from pinyon.cycle.inject import inject
from pinyon.cycle.parse import parse
from pinyon.errors import EngineError, UsageError
from pinyon.store import Segment
from pinyon.urls import locate
from support.crawls import litter, run, start
from support.pages import Page, Pages, PageServer, links, redirect


@pytest.fixture
def crawl_of(crawl: Crawl) -> Iterator[Any]:
    """Makes a crawl of some pages of http://site.test, fetched and not parsed."""
    opened: list[Crawl] = []

    def make(pages: Pages, **settings: object) -> Crawl:
        with PageServer(pages) as server:
            (crawl.root / "seeds.txt").write_text(
                "\n".join(f"http://site.test{path}\tkind=seed" for path in pages)
            )
            inject(crawl, [crawl.root / "seeds.txt"])
            made = server.opened(crawl, **settings)
            opened.append(made)
            generate(made)
            fetch(made)
        return made

    yield make
    for made in opened:
        made.close()


def segment_of(crawl: Crawl) -> Segment:
    [segment] = crawl.segments
    return segment


def table(crawl: Crawl, what: str) -> list[dict[str, Any]]:
    paths = segment_of(crawl).files(what)
    return [row for path in paths for row in pq.read_table(path).to_pylist(maps_as_pydicts="strict")]


def docs(crawl: Crawl) -> dict[str, dict[str, Any]]:
    return {row["url"].removeprefix("http://site.test"): row for row in table(crawl, "docs")}


def targets(crawl: Crawl, path: str) -> list[str]:
    return [row["to_url"] for row in table(crawl, "links") if row["from_url"] == f"http://site.test{path}"]


# -- rows -----------------------------------------------------------------------------------------------------


def test_a_link_carries_what_scores_need_of_its_page(crawl_of: Any) -> None:
    crawl = crawl_of({"/": links("/a", "http://www.other.co.uk/x?b=1#c", "/a#again", "/"), "/a": links()})
    report = parse(crawl)
    assert (report.pages, report.links, report.links_dropped) == ({"parsed": 2}, 2, 0)
    rows = {row["to_url"]: row for row in table(crawl, "links")}
    away = rows["http://www.other.co.uk/x?b=1"]
    place = locate("http://www.other.co.uk/x?b=1")
    assert away == {
        "from_url": "http://site.test/",
        "to_url": "http://www.other.co.uk/x?b=1",
        "url_key": place.url_key,
        "host": "www.other.co.uk",
        "host_key": place.host_key,
        "domain": "other.co.uk",
        "bucket": place.bucket(4),
        "anchor": "to http://www.other.co.uk/x?b=1#c",
        "rel": "",
        "from_host": "site.test",
        "from_domain": "site.test",
        "from_score": 1.0,
        "from_depth": 0,
        "from_outlinks": 2,
        "from_first": True,
        "from_metadata": {"kind": "seed"},
    }


def test_links_lie_in_the_order_of_their_buckets(crawl_of: Any) -> None:
    crawl = crawl_of({"/": links(*(f"http://h{n}.test/" for n in range(50)))})
    parse(crawl)
    buckets = [row["bucket"] for row in table(crawl, "links")]
    assert buckets == sorted(buckets) and len(set(buckets)) == 4


def test_a_redirect_is_a_link_and_no_document(crawl_of: Any) -> None:
    crawl = crawl_of({"/old": redirect("/new", 301), "/new": "new"})
    assert parse(crawl).pages == {"parsed": 1}
    [link] = table(crawl, "links")
    assert (link["to_url"], link["rel"], link["from_outlinks"]) == ("http://site.test/new", "redirect", 1)
    assert list(docs(crawl)) == ["/new"]


def test_a_meta_refresh_is_one_link_and_one_document(crawl_of: Any) -> None:
    crawl = crawl_of({"/r": '<meta http-equiv="refresh" content="0; url=/target#x"><a href="/target">t</a>'})
    parse(crawl)
    assert [(row["to_url"], row["rel"]) for row in table(crawl, "links")] == [
        ("http://site.test/target", "refresh")
    ]
    assert docs(crawl)["/r"]["refresh_to"] == "http://site.test/target"


def test_pages_whose_canonical_points_elsewhere_are_kept_and_marked(crawl_of: Any) -> None:
    def canonical(target: str) -> str:
        return f'<link rel="canonical" href="{target}"><title>page</title>'

    pages = {"/a": canonical("/b"), "/b": canonical("/a"), "/off": canonical("http://other.test/x%7e#f")}
    crawl = crawl_of(pages)
    assert parse(crawl).pages == {"parsed": 3}
    assert {path: row["canonical"] for path, row in docs(crawl).items()} == {
        "/a": "http://site.test/b",
        "/b": "http://site.test/a",
        "/off": "http://other.test/x~",
    }


def test_the_limit_counts_links_that_are_kept(crawl_of: Any) -> None:
    """Links of a page to itself, twice the same, or that a filter drops leave room for new ones."""
    page = links(
        *["/", "/#top"] * 10, *["/1"] * 5, *(f"/{n}.jpg" for n in range(20)), *(f"/{n}" for n in range(2, 15))
    )
    crawl = crawl_of({"/": page}, parse__max_outlinks=10)
    report = parse(crawl)
    assert set(targets(crawl, "/")) == {f"http://site.test/{n}" for n in range(1, 11)}
    assert (report.links, report.links_dropped) == (10, 20 + 4)
    assert docs(crawl)["/"]["outlinks_dropped"] == 24


def test_filters_and_nofollow_keep_links_out_and_count_them(crawl_of: Any) -> None:
    page = links("/keep", "/drop/1", "/drop/2", "/x.gif") + '<a rel="nofollow sponsored" href="/paid">ad</a>'
    crawl = crawl_of({"/": page}, urls__rules=("-/drop/", "+."), urls__deny_hosts=("evil.test",))
    report = parse(crawl)
    assert targets(crawl, "/") == ["http://site.test/keep"]
    assert report.links_dropped == 4


# -- what cannot be read --------------------------------------------------------------------------------------


def test_a_page_that_cannot_be_unpacked_is_a_row_with_the_reason(crawl_of: Any) -> None:
    broken = Page(b"\x1f\x8b\x08\0 and then no gzip", headers={"Content-Encoding": "gzip"})
    crawl = crawl_of(
        {
            "/broken": broken,
            "/good": "<title>good</title>",
            "/pdf": Page(b"%PDF-1.7", headers={"Content-Type": "application/pdf"}),
        }
    )
    assert parse(crawl).pages == {"parsed": 1, "skipped": 1, "failed": 1}
    rows = docs(crawl)
    assert rows["/broken"]["parse_status"] == "failed" and "gzip" in rows["/broken"]["parse_error"]
    assert rows["/good"]["title"] == "good"
    assert rows["/pdf"]["parse_error"] == "no parser for application/pdf"


@pytest.mark.parametrize("harm", ["torn", "missing", "another"])
def test_records_that_are_not_there_are_rows_with_the_reason(crawl_of: Any, harm: str) -> None:
    crawl = crawl_of({f"/{n}": f"<title>{n}</title>" for n in range(6)})
    segment = segment_of(crawl)
    pages = sorted(table(crawl, "pages"), key=lambda row: row["warc_offset"])
    warc = segment.folder("warc") / pages[0]["warc_file"]
    if harm == "torn":
        lost = {row["url"] for row in pages[3:]}
        os.truncate(warc, pages[3]["warc_offset"] + 40)
    elif harm == "missing":
        lost = {row["url"] for row in pages}
        warc.unlink()
    else:
        lost = {pages[0]["url"]}
        pages[0] |= {name: pages[1][name] for name in ("warc_offset", "warc_length")}
        [path] = segment.files("pages")
        import pyarrow as pa

        pq.write_table(pa.Table.from_pylist(pages, pq.read_schema(path)), path)
    assert parse(crawl).pages.get("failed", 0) == len(lost)
    failed = [row for row in table(crawl, "docs") if row["parse_status"] == "failed"]
    assert {row["url"] for row in failed} == lost
    assert all(warc.name in row["parse_error"] for row in failed)


@pytest.mark.parametrize("folder", ["fetchlist", "pages", "links"])
def test_a_segment_from_which_a_file_is_missing_is_one_clear_line(crawl_of: Any, folder: str) -> None:
    crawl = crawl_of({"/": links("/a")})
    segment = segment_of(crawl)
    if folder == "links":
        parse(crawl)
    Path(segment.files(folder)[0]).unlink()
    crawl.close()
    end = run("crawl", crawl.root, "--set", "fetcher.agent_contact=x@example.org")
    assert end.status == 1
    [line] = end.stderr.splitlines()
    assert segment.name in line and "missing" in line and f"pinyon segments {crawl.root} abort" in line


# -- again ----------------------------------------------------------------------------------------------------


def test_parse_again_gives_the_same_rows(crawl_of: Any) -> None:
    crawl = crawl_of({f"/{n}": links(f"/{n + 1}", f"http://h{n}.test/") for n in range(20)})
    first = parse(crawl)
    before = {what: sorted(map(repr, table(crawl, what))) for what in ("links", "docs")}
    again = parse(crawl, segment_of(crawl).name, again=True)
    assert again == first
    assert {what: sorted(map(repr, table(crawl, what))) for what in ("links", "docs")} == before
    assert segment_of(crawl).state == "parsed"


def test_parse_again_needs_a_name_and_pages(crawl_of: Any) -> None:
    crawl = crawl_of({"/": "page"})
    with pytest.raises(UsageError, match="Name it"):
        parse(crawl, again=True)
    parse(crawl)
    with pytest.raises(UsageError, match="is parsed, wanted one that is fetched"):
        parse(crawl, segment_of(crawl).name)


def test_a_parse_again_that_was_killed_leaves_a_segment_to_parse(crawl_of: Any) -> None:
    """Never one that is called parsed and lacks rows: they would be lost for good with the next updatedb."""
    crawl = crawl_of({f"/{n}": links(*(f"/{n}/{k}" for k in range(200))) for n in range(60)})
    parse(crawl)
    segment, rows = segment_of(crawl), len(table(crawl, "links"))
    crawl.close()
    for later_s in (0.9, 1.1, 1.3):
        process = start("parse", crawl.root, segment.name, "--again")
        time.sleep(later_s)
        process.kill()
        process.communicate()
        if segment.state == "parsed":
            assert len(table(crawl, "links")) == rows
    if segment.state == "fetched":
        parse(crawl)
    assert len(table(crawl, "links")) == rows
    with crawl.writing("anything"):
        pass
    assert [path for path in litter(crawl.root) if not path.startswith(".tmp")] == []


def test_a_worker_that_is_killed_is_one_line_and_the_same_command_goes_on(crawl_of: Any) -> None:
    """As the kernel does when memory runs out."""
    big = "<p>text and more text</p>" * 40_000
    crawl = crawl_of({f"/{n}": f"<title>{n}</title>{big}" for n in range(25)})
    killer = threading.Thread(target=_kill_a_busy_worker, args=(crawl,))
    killer.start()
    try:
        with pytest.raises(EngineError, match="a worker process was killed"):
            parse(crawl)
    finally:
        killer.join()
    assert segment_of(crawl).state == "fetched"
    assert parse(crawl).pages == {"parsed": 25}


def _kill_a_busy_worker(crawl: Crawl) -> None:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        for worker in crawl.engine._workers._busy:
            time.sleep(0.2)
            worker.process.send_signal(signal.SIGKILL)
            return
        time.sleep(0.01)
