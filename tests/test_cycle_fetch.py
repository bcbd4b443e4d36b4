"""fetch: every URL of the list once, whatever became of the run before; and all the ways to end early."""

from __future__ import annotations

import json
import resource
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from filelock import FileLock

from pinyon.archive import read_record
from pinyon.crawl import Crawl
from pinyon.cycle.fetch import FetchReport, fetch
from pinyon.cycle.generate import generate
from pinyon.cycle.inject import inject
from pinyon.cycle.parse import parse
from pinyon.cycle.round import crawl_rounds
from pinyon.cycle.updatedb import updatedb
from pinyon.errors import FetchError, LockedError, NothingDue, SettingError, StoreError, UsageError
from pinyon.store import Segment
from pinyon.tables import CRAWLDB, PAGES
from support.crawls import ended, litter, rows, run, start
from support.pages import Page, PageServer, links, redirect

PAGES_OF_TEN_HOSTS = [f"http://h{n % 10}.test/{n}" for n in range(60)]


def seeded(crawl: Crawl, urls: list[str]) -> Crawl:
    seeds = crawl.root / "seeds.txt"
    seeds.write_text("\n".join(urls))
    inject(crawl, [seeds])
    return crawl


@pytest.fixture
def server() -> Iterator[PageServer]:
    with PageServer({f"/{n}": f"<title>{n}</title>" for n in range(60)}) as server:
        yield server


@pytest.fixture
def listed(crawl: Crawl, server: PageServer) -> Iterator[Crawl]:
    """A crawl with sixty URLs of ten hosts in a segment of two parts."""
    with server.opened(seeded(crawl, PAGES_OF_TEN_HOSTS)) as opened:
        generate(opened, fetchers=2)
        yield opened


def fetch_with(crawl: Crawl, **settings: object) -> FetchReport:
    with crawl.with_settings(**settings) as other:
        return fetch(other)


def segment_of(crawl: Crawl) -> Segment:
    [segment] = crawl.segments
    return segment


def pages_of(segment: Segment) -> list[dict]:
    return [row for path in segment.files("pages") for row in pq.read_table(path).to_pylist()]


def assert_every_page_is_archived(segment: Segment) -> None:
    for row in pages_of(segment):
        record = read_record(
            segment.folder("warc") / row["warc_file"], row["warc_offset"], row["warc_length"]
        )
        assert (record.url, record.http_status, len(record.payload)) == (row["url"], 200, row["length"])


# -- parts ----------------------------------------------------------------------------------------------------


def test_parts_fetched_by_hand_make_a_segment_that_fetch_finishes(listed: Crawl, server: PageServer) -> None:
    first = fetch(listed, part=0)
    assert not first.finished and 0 < first.pages < 60
    second = fetch(listed, part=1)
    assert second.finished and segment_of(listed).state == "generated"
    whole = fetch(listed)
    assert (whole.finished, whole.pages, whole.outcomes) == (True, 60, {"success": 60})
    assert segment_of(listed).state == "fetched"
    assert sorted(server.asked()) == sorted(PAGES_OF_TEN_HOSTS)
    assert_every_page_is_archived(segment_of(listed))


def test_a_part_that_does_not_exist_is_refused_by_name(listed: Crawl) -> None:
    with pytest.raises(UsageError, match="has no part 7: its parts are 0, 1"):
        fetch(listed, part=7)


def test_a_part_that_another_process_fetches_is_left_to_it(listed: Crawl) -> None:
    segment_of(listed).folder("pages").mkdir()
    with FileLock(segment_of(listed).folder("pages") / "part-00000.lock"):
        with pytest.raises(LockedError, match="part 0 is being fetched by another process"):
            fetch(listed.with_settings(fetcher__time_limit=1.0), part=0)


def test_parts_that_would_share_an_address_are_refused(listed: Crawl) -> None:
    with pytest.raises(SettingError, match="generate with --partition-by ip"):
        fetch_with(listed, fetcher__queue_mode="ip")


# -- going on -------------------------------------------------------------------------------------------------


def test_a_log_and_an_archive_that_are_torn_cost_the_torn_pages_only(
    listed: Crawl, server: PageServer
) -> None:
    """As a kill leaves them, without their ends; and as a power cut may, with a line ahead of its record."""
    segment = segment_of(listed)
    half_done(listed, segment)
    log = segment.folder("pages") / "part-00000.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    last, before_last = json.loads(lines[-1]), json.loads(lines[-2])
    log.write_bytes(b"".join(lines[:-1]) + lines[-1][:-20])
    warc = segment.folder("warc") / before_last["warc_file"]
    with warc.open("rb+") as file:
        file.truncate(before_last["warc_offset"] + before_last["warc_length"] - 7)
    before = len(server.asked())

    assert fetch(listed).pages == 60
    again = server.asked()[before:]
    assert {last["url"], before_last["url"]} <= set(again)
    assert len(server.asked()) == 60 + 2
    assert len({row["url"] for row in pages_of(segment)}) == len(pages_of(segment)) == 60
    assert_every_page_is_archived(segment)
    assert [path for path in litter(listed.root) if not path.startswith(".tmp")] == []


def half_done(crawl: Crawl, segment: Segment) -> None:
    """Part 0 as it is when it was stopped at half of its list: the log is written back from what was fetched."""
    listed = segment.folder("fetchlist") / "part-00000.parquet"
    whole = pq.read_table(listed)
    pq.write_table(whole.slice(0, whole.num_rows // 2), listed)
    fetch(crawl, part=0)
    pages = pq.read_table(segment.folder("pages") / "part-00000.parquet").to_pylist()
    positions = dict(zip(whole["url"].to_pylist(), whole["position"].to_pylist(), strict=True))
    for row in pages:
        row |= {"position": positions[row["url"]], "fetch_time": row["fetch_time"].isoformat()}
    (segment.folder("pages") / "part-00000.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in pages)
    )
    (segment.folder("pages") / "part-00000.parquet").unlink()
    pq.write_table(whole, listed)


def test_a_damaged_log_is_one_clear_line(listed: Crawl) -> None:
    segment = segment_of(listed)
    half_done(listed, segment)
    log = segment.folder("pages") / "part-00000.jsonl"
    log.write_bytes(b"{broken}\n" + log.read_bytes())
    with pytest.raises(StoreError, match=r"part-00000.jsonl:1: not a line of a page log"):
        fetch(listed)


# -- ending early ---------------------------------------------------------------------------------------------


def test_a_disk_that_is_nearly_full_stops_before_anything_is_asked(listed: Crawl, server: PageServer) -> None:
    with pytest.raises(FetchError, match=r"bytes are free on the disk: make room .*min_free_disk"):
        fetch_with(listed, fetcher__min_free_disk=10**18)
    assert server.requests == []
    assert fetch(listed).pages == 60


def test_a_disk_that_fills_up_ends_in_one_line_and_what_came_is_kept(
    crawl: Crawl, server: PageServer
) -> None:
    """The limit on the size of a file stands for the disk: writing fails in the middle of a record."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (24_000, 24_000))

    with server.opened(seeded(crawl, PAGES_OF_TEN_HOSTS)) as opened:
        generate(opened)
    settings = [
        "server_delay=0.2",
        "allow_addresses=127.0.0.0/8",
        "connect_to_file=connect-to.txt",
        "min_free_disk=0",
    ]
    command = ["fetch", crawl.root, *(f"--set=fetcher.{setting}" for setting in settings)]
    end = ended(start(*command, preexec_fn=limit))
    assert end.status == 1
    assert "cannot be written: File too large; what was fetched is kept" in end.stderr.splitlines()[-1]
    came = len(server.asked())
    assert 10 < came < 60
    assert run(*command, "--json").json()["outcomes"] == {"success": 60}
    # only what had not been flushed when the disk was full is asked for again
    assert 60 <= len(server.asked()) < 60 + came
    assert_every_page_is_archived(segment_of(crawl))


def test_a_time_limit_leaves_the_rest_due(crawl: Crawl) -> None:
    urls = [f"http://one.test/{n}" for n in range(30)]
    with PageServer({f"/{n}": "page" for n in range(30)}) as server:
        opened = server.opened(seeded(crawl, urls), fetcher__server_delay=0.1, fetcher__time_limit=1.0)
        with opened:
            generate(opened)
            report = fetch(opened)
            assert report.finished and report.stopped_by == ["time_limit"]
            assert 0 < report.pages < 15
            assert segment_of(opened).state == "fetched"
            parse(opened)
            changes = updatedb(opened).changes
            assert changes == {"fetched": report.pages, "none": 30 - report.pages}
            assert generate(opened).selected == 30 - report.pages
    assert len(server.asked()) == len(set(server.asked())) == report.pages


def test_whoever_cannot_be_reached_does_not_crawl(listed: Crawl) -> None:
    with pytest.raises(SettingError, match=r"fetcher\.agent_contact is not set"):
        fetch_with(listed, fetcher__connect_to_file=None)


def test_nothing_generated_is_nothing_due(crawl: Crawl) -> None:
    with pytest.raises(NothingDue, match="run 'pinyon generate"):
        fetch(crawl)


# -- redirects ------------------------------------------------------------------------------------------------


def statuses(root: Path) -> dict[str, str]:
    return {row["url"]: row["status"] for row in rows(root, CRAWLDB, "SELECT url, status FROM t")}


def test_many_pages_that_redirect_to_one_ask_for_it_once(crawl: Crawl) -> None:
    accounts = {f"/account/{n}": redirect("/login") for n in range(200)}
    with PageServer({"/": links(*accounts), **accounts, "/login": "log in"}) as server:
        with server.opened(seeded(crawl, ["http://site.test/"])) as opened:
            crawl_rounds(opened, rounds=None)
    assert len(server.asked("/login")) == 1
    assert len(server.asked()) == 202
    assert statuses(crawl.root)["http://site.test/login"] == "db_fetched"


def test_a_target_reached_by_redirect_and_by_link_is_fetched_once(crawl: Crawl) -> None:
    pages = {"/": links("/a", "/b"), "/a": redirect("/b", 301), "/b": links("/c"), "/c": redirect("/b")}
    with PageServer(pages) as server:
        with server.opened(seeded(crawl, ["http://site.test/"])) as opened:
            assert crawl_rounds(opened, rounds=None).ended_by == "empty"
    assert sorted(server.asked()) == [f"http://site.test/{name}" for name in ("", "a", "b", "c")]


def test_a_redirect_to_itself_is_taken_once(crawl: Crawl) -> None:
    same = Page(status=302, headers={"Location": "/same", "Set-Cookie": "seen=1"})
    with PageServer({"/same": same}) as server:
        with server.opened(seeded(crawl, ["http://site.test/same"])) as opened:
            assert crawl_rounds(opened, rounds=None).ended_by == "empty"
    assert server.asked() == ["http://site.test/same"]
    assert statuses(crawl.root) == {"http://site.test/same": "db_redir_temp"}


def test_a_redirect_out_of_scope_is_recorded_and_not_followed(crawl: Crawl) -> None:
    pages = {
        "http://in.test/": links("/away", "/stay"),
        "http://in.test/away": redirect("http://out.test/"),
        "http://in.test/stay": "here",
        "http://out.test/": links("/more", "http://in.test/never"),
    }
    with PageServer(pages) as server:
        with server.opened(seeded(crawl, ["http://in.test/"]), db__ignore_external=True) as opened:
            crawl_rounds(opened, rounds=None)
    assert set(server.asked()) == {
        "http://in.test/",
        "http://in.test/away",
        "http://in.test/stay",
    }
    assert statuses(crawl.root)["http://in.test/away"] == "db_redir_temp"
    [row] = rows(crawl.root, PAGES, "SELECT redirect_to FROM t WHERE outcome = 'redir_temp'")
    assert row["redirect_to"] == "http://out.test/"
    assert not any("out.test" in url for url in statuses(crawl.root))


def test_a_relative_redirect_is_resolved_against_the_page(crawl: Crawl) -> None:
    pages = {"/a/b": redirect("c?x=1#top"), "/a/c?x=1": "landed"}
    with PageServer(pages) as server:
        with server.opened(seeded(crawl, ["http://site.test/a/b"])) as opened:
            crawl_rounds(opened, rounds=None)
    assert server.asked() == ["http://site.test/a/b", "http://site.test/a/c?x=1"]
