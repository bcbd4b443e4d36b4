"""Seeds: as people write them, counted to the last one, and all or nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from pinyon.crawl import Crawl
from pinyon.cycle.inject import InjectReport, inject
from pinyon.cycle.seeds import MAX_LINE_BYTES, read_seeds
from pinyon.errors import InputError, SettingError
from pinyon.jobs import Files
from pinyon.store import holder
from pinyon.tables import CRAWLDB

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
LATER = NOW + timedelta(days=3)


def seeds(tmp_path: Path, text: str | bytes, name: str = "seeds.txt") -> Path:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def rows(crawl: Crawl) -> dict[str, dict[str, Any]]:
    crawl.engine.bind({"crawldb": Files.of(CRAWLDB, crawl.store.current(CRAWLDB).paths())})
    return {row["url"]: row for row in crawl.engine.rows("SELECT * FROM crawldb")}


def add_up(report: InjectReport) -> bool:
    return report.seeds == report.new + report.known + report.duplicates + sum(report.rejected.values())


# -- what seeds look like -------------------------------------------------------------------------------------


def test_a_seed_becomes_a_row_that_is_due(crawl: Crawl, tmp_path: Path) -> None:
    report = inject(crawl, [seeds(tmp_path, "HTTPS://www.A.test:443/x/../y#z\n")], now=NOW)
    assert (report.seeds, report.new, report.version) == (1, 1, 1)
    row = rows(crawl)["https://www.a.test/y"]
    assert row["host"] == "www.a.test" and row["domain"] == "www.a.test"
    assert row["status"] == "db_unfetched"
    assert row["fetch_time"] == row["first_seen"] == NOW
    assert (row["score"], row["fetch_interval"], row["depth"], row["inlinks"]) == (1.0, 2_592_000, 0, 0)
    assert row["bucket"] == row["host_key"] & 3
    assert row["metadata"] == {} and row["last_fetch_time"] is None


def test_the_file_of_many_habits_gives_one_row(crawl: Crawl, tmp_path: Path) -> None:
    """A byte order mark, CRLF, a comment, a blank line, metadata with '=', and the same line ten times."""
    line = "http://a.test/\tscore=2\tfoo=bar=baz\r\n"
    text = "\ufeff# c\r\n\r\n" + line * 11
    report = inject(crawl, [seeds(tmp_path, text)], now=NOW)
    assert (report.seeds, report.new, report.duplicates) == (11, 1, 10)
    row = rows(crawl)["http://a.test/"]
    assert row["metadata"] == {"foo": "bar=baz"}
    assert row["score"] == 2.0


def test_a_byte_order_mark_before_the_first_url_is_not_of_it(crawl: Crawl, tmp_path: Path) -> None:
    inject(crawl, [seeds(tmp_path, b"\xef\xbb\xbfhttp://a.test/\n\xef\xbb\xbfhttp://b.test/")])
    assert "http://a.test/" in rows(crawl)


@pytest.mark.parametrize(
    ("fields", "score", "interval", "metadata"),
    [
        ("", 1.0, 2_592_000, {}),
        ("score=2.5", 2.5, 2_592_000, {}),
        ("nutch.score=0.25\tnutch.fetchInterval=86400", 0.25, 86_400, {}),
        ("nutch.fetchInterval.fixed=60", 1.0, 60, {}),
        ("interval=3600\tscore=-1", -1.0, 3600, {}),
        ("a=1\tb=\tc==\td=x y\ta=2", 1.0, 2_592_000, {"a": "2", "b": "", "c": "=", "d": "x y"}),
        ("\t\tk=v\t", 1.0, 2_592_000, {"k": "v"}),
        ("clé=é", 1.0, 2_592_000, {"clé": "é"}),
    ],
)
def test_metadata_stands_behind_tabs_in_nutchs_spelling_too(
    crawl: Crawl, tmp_path: Path, fields: str, score: float, interval: int, metadata: dict[str, str]
) -> None:
    inject(crawl, [seeds(tmp_path, f"http://a.test/\t{fields}\n")])
    row = rows(crawl)["http://a.test/"]
    assert (row["score"], row["fetch_interval"], row["metadata"]) == (score, interval, metadata)


@pytest.mark.parametrize(
    "fields",
    ["score=high", "score=nan", "score=inf", "score=1e39", "interval=1.5", "interval=-1", "interval=9999999999",
     "noequals", "=value", "score="],
)  # fmt: skip
def test_metadata_that_makes_no_sense_refuses_its_line_alone(
    crawl: Crawl, tmp_path: Path, fields: str
) -> None:
    report = inject(crawl, [seeds(tmp_path, f"http://a.test/\t{fields}\nhttp://b.test/\n")])
    assert report.rejected == {"bad_metadata": 1}
    assert report.examples == [f"{tmp_path}/seeds.txt:1: bad_metadata: http://a.test/"]
    assert list(rows(crawl)) == ["http://b.test/"]


def test_every_seed_is_counted_once_and_the_first_refused_are_told(crawl: Crawl, tmp_path: Path) -> None:
    long = "http://a.test/" + "x" * 3000
    lines = [
        b"http://a.test/",
        b"  http://a.test/#same  ",
        b"# comment",
        b"",
        b"\t",
        b"http://\xff.test/",
        b"no url",
        b"ftp://a.test/",
        b"mailto:a@b.test",
        b"http:///x",
        b"http://a.test/pic.jpg",
        b"http://a.test/a/a/a/",
        long.encode(),
        b"http://a.test/" + b"x" * 70_000,
        b"http://b.test/\x00x",
        b"http://b.test/" + b"y" * (MAX_LINE_BYTES + 5),
        b"http://c.test/ last",
    ]
    report = inject(crawl, [seeds(tmp_path, b"\n".join(lines))], now=NOW)
    assert report.rejected == {
        "not_a_url": 1,
        "not_utf8": 1,
        "repeated_segments": 1,
        "scheme": 2,
        "suffix": 1,
        "too_long": 3,
    }
    assert (report.seeds, report.new, report.known, report.duplicates) == (14, 4, 0, 1)
    assert add_up(report)
    assert list(rows(crawl)) != []
    assert set(rows(crawl)) == {"http://a.test/", "http://x/", "http://b.test/%00x", "http://c.test/%20last"}
    where = [example.split(": ")[0].rpartition(":")[2] for example in report.examples]
    assert where == ["6", "7", "8", "9", "11"]
    assert all(len(example) < 400 for example in report.examples)


@pytest.mark.parametrize("size", [MAX_LINE_BYTES, MAX_LINE_BYTES + 1, 4_194_304, 9_000_000])
@pytest.mark.parametrize("ending", [b"", b"\n", b"\nhttp://last.test/"])
def test_a_line_of_megabytes_is_passed_over(tmp_path: Path, size: int, ending: bytes) -> None:
    text = b"http://first.test/\n" + b"x" * size + ending
    found = list(read_seeds([seeds(tmp_path, text)]))
    expected = ["http://first.test/", "", *(["http://last.test/"] if len(ending) > 1 else [])]
    if size == MAX_LINE_BYTES:
        expected[1] = "x" * size
    assert [seed.url for seed in found] == expected
    assert found[1].problem == (None if size == MAX_LINE_BYTES else "too_long")


def test_lines_are_whole_however_the_file_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pinyon.cycle.seeds._CHUNK_BYTES", 7)
    text = "".join(f"http://a.test/{'é' * (n % 9)}{n}\r\n" for n in range(100)) + "http://end.test/"
    found = list(read_seeds([seeds(tmp_path, text)]))
    assert [seed.url for seed in found] == text.split("\r\n")
    assert not any(seed.problem for seed in found)


# -- where seeds come from ------------------------------------------------------------------------------------


def test_folders_are_read_with_all_below_them_but_hidden_files(crawl: Crawl, tmp_path: Path) -> None:
    root = tmp_path / "lists"
    seeds(root, "http://a.test/\n", "a.txt")
    seeds(root, "http://b.test/", "deep/er/b")
    seeds(root, '<opml><body><outline xmlUrl="http://c.test/feed"/></body></opml>', "deep/c.OPML")
    seeds(root, "http://no.test/", ".hidden")
    seeds(root, "http://no.test/", ".git/x/config")
    (root / "empty").mkdir()
    report = inject(crawl, [root, seeds(tmp_path, "", "empty.txt")])
    assert (report.seeds, report.new) == (3, 3)
    assert set(rows(crawl)) == {"http://a.test/", "http://b.test/", "http://c.test/feed"}


def test_standard_input_is_a_source(crawl: Crawl, tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "pinyon",
        "inject",
        str(crawl.root),
        "-",
        str(seeds(tmp_path, "http://b.test/")),
    ]
    done = subprocess.run(
        command, input="http://a.test/\nbad line\n", capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "2 new URLs, 0 known, 0 given twice\nrejected: not_a_url 1\n"
    assert done.stderr == "not used: standard input:2: not_a_url: bad line\n"
    assert set(rows(crawl)) == {"http://a.test/", "http://b.test/"}


OPML = """<?xml version="1.0"?>
<opml version="2.0" xmlns:x="urn:x"><head><title>t</title></head><body>
<outline text="folder"><outline XMLURL="http://a.test/feed?a=1&amp;b=2" htmlUrl=" http://a.test/ "/></outline>
<x:outline xmlUrl="http://b.te&#10;st/&#9;feed"/><outline xmlUrl=""/><outline text="no address"/>
<other xmlUrl="http://no.test/"/></body></opml>"""


def test_opml_gives_feeds_and_their_sites(crawl: Crawl, tmp_path: Path) -> None:
    report = inject(crawl, [seeds(tmp_path, OPML, "blogs.opml")])
    assert set(rows(crawl)) == {"http://a.test/feed?a=1&b=2", "http://a.test/", "http://b.test/feed"}
    assert report.seeds == 3


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no xml",
        "<opml><body>",
        '<!DOCTYPE o [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]><opml><outline xmlUrl="&b;"/></opml>',
        '<!DOCTYPE o [<!ENTITY x SYSTEM "file:///etc/passwd">]><opml><outline xmlUrl="&x;"/></opml>',
    ],
)
def test_opml_that_is_torn_or_a_trap_changes_nothing(crawl: Crawl, tmp_path: Path, text: str) -> None:
    good = seeds(tmp_path, "http://a.test/")
    with pytest.raises(InputError, match=r"bad\.opml: not valid OPML") as error:
        inject(crawl, [good, seeds(tmp_path, text, "bad.opml")])
    assert "\n" not in str(error.value)
    assert rows(crawl) == {}
    assert crawl.store.current(CRAWLDB).version == 0


@pytest.mark.parametrize("name", ["nowhere.txt", "no/where", "nowhere.opml"])
def test_a_missing_source_leaves_no_lock_and_changes_nothing(crawl: Crawl, tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="there is no such file"):
        inject(crawl, [seeds(tmp_path, "http://a.test/"), tmp_path / name])
    assert holder(crawl.root) is None
    assert rows(crawl) == {}
    assert inject(crawl, [tmp_path / "seeds.txt"]).new == 1


def test_a_source_that_cannot_be_read_leaves_no_lock_and_changes_nothing(
    crawl: Crawl, tmp_path: Path
) -> None:
    root = tmp_path / "lists"
    seeds(root, "http://a.test/\n", "a.txt")
    broken = root / "b.txt"
    broken.symlink_to("/proc/self/mem")  # opens, and fails when read: also for root
    with pytest.raises(InputError, match=r"b\.txt: cannot be read"):
        inject(crawl, [root])
    assert holder(crawl.root) is None
    assert rows(crawl) == {}
    assert not list(crawl.root.rglob("*.parquet"))


def test_nothing_given_publishes_nothing(crawl: Crawl, tmp_path: Path) -> None:
    report = inject(crawl, [seeds(tmp_path, "# nothing\n")])
    assert (report.seeds, report.new, report.version) == (0, 0, 0)


# -- modes ----------------------------------------------------------------------------------------------------


def test_lines_of_one_url_are_one_seed_the_last_that_says_something_counts(
    crawl: Crawl, tmp_path: Path
) -> None:
    text = (
        "http://a.test/\tscore=2\ta=1\n"
        "http://a.test/#x\tinterval=60\n"
        "http://a.test/\tscore=3\n"
        "http://A.test\ta=2\tb=3\n"
        "http://a.test/\n"
    )
    report = inject(crawl, [seeds(tmp_path, text)])
    assert (report.new, report.duplicates) == (1, 4)
    row = rows(crawl)["http://a.test/"]
    assert (row["score"], row["fetch_interval"], row["metadata"]) == (3.0, 60, {"a": "2", "b": "3"})


KNOWN = "http://a.test/\tscore=2\tinterval=60\ta=1\tb=2\nhttp://other.test/\tscore=7\n"
AGAIN = "http://a.test/\tscore=5\tb=3\tc=4\nhttp://new.test/\n"


@pytest.mark.parametrize(
    ("mode", "score", "interval", "metadata", "fetch_time", "first_seen"),
    [
        ("keep", 2.0, 60, {"a": "1", "b": "2"}, NOW, NOW),
        ("update", 5.0, 60, {"a": "1", "b": "3", "c": "4"}, NOW, NOW),
        ("overwrite", 5.0, 2_592_000, {"b": "3", "c": "4"}, LATER, LATER),
    ],
)
def test_a_known_url_is_kept_updated_or_begun_anew(
    crawl: Crawl, tmp_path: Path, mode: str, score: float, interval: int, metadata: dict[str, str],
    fetch_time: datetime, first_seen: datetime,
) -> None:  # fmt: skip
    inject(crawl, [seeds(tmp_path, KNOWN)], now=NOW)
    report = inject(crawl, [seeds(tmp_path, AGAIN)], mode=mode, now=LATER)
    assert (report.new, report.known, report.seeds) == (1, 1, 2)
    found = rows(crawl)
    row = found["http://a.test/"]
    assert (row["score"], row["fetch_interval"], row["metadata"]) == (score, interval, metadata)
    assert (row["fetch_time"], row["first_seen"]) == (fetch_time, first_seen)
    assert found["http://other.test/"]["score"] == 7.0
    assert found["http://new.test/"]["first_seen"] == LATER


@pytest.mark.parametrize("mode", ["keep", "update", "overwrite"])
def test_a_seed_without_fields_takes_nothing_away_unless_it_overwrites(
    crawl: Crawl, tmp_path: Path, mode: str
) -> None:
    inject(crawl, [seeds(tmp_path, KNOWN)], now=NOW)
    inject(crawl, [seeds(tmp_path, "http://a.test/")], mode=mode, now=LATER)
    row = rows(crawl)["http://a.test/"]
    expected = (1.0, 2_592_000, {}) if mode == "overwrite" else (2.0, 60, {"a": "1", "b": "2"})
    assert (row["score"], row["fetch_interval"], row["metadata"]) == expected


def test_the_mode_is_a_setting_and_checked(crawl: Crawl, tmp_path: Path) -> None:
    path = seeds(tmp_path, "http://a.test/")
    with pytest.raises(SettingError, match="did you mean 'update'"):
        inject(crawl, [path], mode="upadte")
    updating = crawl.with_settings(inject__mode="overwrite", inject__score="3.5")
    inject(crawl, [path], now=NOW)
    inject(updating, [path], now=LATER)
    updating.close()
    assert rows(crawl)["http://a.test/"]["score"] == 3.5


@pytest.mark.parametrize("mode", ["keep", "update", "overwrite"])
def test_injecting_twice_is_injecting_once(crawl: Crawl, tmp_path: Path, mode: str) -> None:
    path = seeds(tmp_path, "".join(f"http://h{n % 7}.test/{n}\tscore={n}\tk={n}\n" for n in range(200)))
    first = inject(crawl, [path], mode=mode, now=NOW)
    before = rows(crawl)
    again = inject(crawl, [path], mode=mode, now=NOW)
    assert (first.new, again.new, again.known) == (200, 0, 200)
    assert rows(crawl) == before


def test_only_buckets_with_seeds_are_written(crawl: Crawl, tmp_path: Path) -> None:
    inject(crawl, [seeds(tmp_path, "".join(f"http://h{n}.test/\n" for n in range(50)))])
    before = crawl.store.current(CRAWLDB)
    inject(crawl, [seeds(tmp_path, "http://h1.test/more\n")])
    after = crawl.store.current(CRAWLDB)
    assert set(before.files) == set(after.files) == {0, 1, 2, 3}
    assert sum(before.files[bucket] != after.files[bucket] for bucket in range(4)) == 1


def test_names_of_metadata_are_remembered_with_the_widest_type(crawl: Crawl, tmp_path: Path) -> None:
    inject(crawl, [seeds(tmp_path, "http://a.test/\ti=1\td=2\tt=3\nhttp://b.test/\td=2.5\n")])
    inject(crawl, [seeds(tmp_path, "http://c.test/\tt=x\ti=-7\n")])
    assert crawl.store.current(CRAWLDB).facts["metadata"] == {"i": "integer", "d": "decimal", "t": "text"}


# -- many of them ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("chunk_bytes", [500, 4_194_304])
def test_many_seeds_are_taken_apart_by_processes_with_the_same_result(
    crawl: Crawl, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk_bytes: int
) -> None:
    monkeypatch.setattr("pinyon.cycle.seeds._CHUNK_BYTES", chunk_bytes)
    lines = [f"http://h{n % 13}.test/{n % 150}\tscore={n}\tk{n % 3}={n}" for n in range(300)]
    lines[40], lines[250] = "bad one", "http://a.test/x.jpg"
    report = inject(crawl, [seeds(tmp_path, "\n".join(lines))], now=NOW)
    expected = {line.split("\t")[0] for line in lines if line.startswith("http://h")}
    assert (report.seeds, report.new) == (300, len(expected))
    assert add_up(report)
    assert report.examples == [
        f"{tmp_path}/seeds.txt:41: not_a_url: bad one",
        f"{tmp_path}/seeds.txt:251: suffix: http://a.test/x.jpg",
    ]
    found = rows(crawl)
    assert set(found) == expected
    last = {}
    for number, line in enumerate(lines):
        if line.startswith("http://h"):
            last[line.split("\t")[0]] = number
    assert {url: row["score"] for url, row in found.items()} == {url: float(n) for url, n in last.items()}


def test_metadata_of_a_megabyte_goes_in_and_is_updated(crawl: Crawl, tmp_path: Path) -> None:
    big = "x" * 1_000_000
    inject(crawl, [seeds(tmp_path, "".join(f"http://h{n}.test/\tbig={big}{n}\n" for n in range(24)))])
    inject(crawl, [seeds(tmp_path, "http://h3.test/\tsmall=1\n")], mode="update")
    crawl.engine.bind({"crawldb": Files.of(CRAWLDB, crawl.store.current(CRAWLDB).paths())})
    sizes = crawl.engine.rows("SELECT length(metadata['big']) AS n, metadata['small'] AS s FROM crawldb")
    assert Counter(row["n"] for row in sizes) == {1_000_001: 10, 1_000_002: 14}
    assert [row["s"] for row in sizes].count("1") == 1


def test_thirty_six_thousand_real_addresses_go_in_whole(crawl: Crawl, others_data: Path) -> None:
    path = others_data / "smallweb.txt"
    lines = [line for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]
    plain = crawl.with_settings(urls__deny_suffixes="")
    report = inject(plain, [path])
    plain.close()
    assert report.seeds == len(lines) == 36_515
    assert report.rejected == {}
    assert add_up(report)
    found = rows(crawl)
    assert report.new == len(found) == len({crawl.normalise(line) for line in lines})
    assert all(
        row["host"] and row["domain"] and row["bucket"] == row["host_key"] & 3 for row in found.values()
    )


def test_a_real_list_of_blogs_goes_in(crawl: Crawl, others_data: Path) -> None:
    path = others_data / "engineering_blogs.opml"
    text = path.read_text(encoding="utf-8")
    report = inject(crawl, [path])
    assert report.seeds == text.count("xmlUrl=") + text.count("htmlUrl=")
    assert report.rejected == {}
    assert add_up(report) and report.new > 500
    again = inject(crawl, [path])
    assert (again.new, again.known) == (0, report.new)


# -- disasters ------------------------------------------------------------------------------------------------


def test_a_crawl_of_a_newer_format_is_left_alone(crawl: Crawl, tmp_path: Path) -> None:
    base = crawl.store.current(CRAWLDB)
    crawl.store.publish(base, [], facts={"format": 99})
    command = [
        sys.executable,
        "-m",
        "pinyon",
        "inject",
        str(crawl.root),
        str(seeds(tmp_path, "http://a.test/")),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1 and "newer pinyon" in done.stderr


def test_writers_that_wait_for_each_other_lose_nothing(crawl: Crawl, tmp_path: Path) -> None:
    processes = []
    for n in range(3):
        seeds = tmp_path / f"seeds-{n}.txt"
        seeds.write_text(f"http://a.test/{n}\n")
        command = [sys.executable, "-m", "pinyon", "inject", str(crawl.root), str(seeds)]
        wait = ["--set", "store.lock_wait=60"]
        processes.append(subprocess.Popen([*command, *wait], stdout=subprocess.PIPE, text=True))
    told = [process.communicate(timeout=60)[0] for process in processes]
    assert told == ["1 new URLs, 0 known, 0 given twice\n"] * 3
    assert set(rows(crawl)) == {f"http://a.test/{n}" for n in range(3)}
    assert crawl.store.current(CRAWLDB).version == 3


_LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), int(sys.argv[1])))
sys.argv = ["pinyon", "inject", *sys.argv[2:]]
from pinyon.cli import main
main()
"""


def disaster(crawl: Crawl, done: subprocess.CompletedProcess[str]) -> None:
    """One line, status 1; the table, the lock and the disk as before."""
    assert done.returncode == 1, done.stderr
    assert done.stderr.startswith("pinyon: ") and done.stderr.count("\n") == 1, done.stderr
    assert holder(crawl.root) is None
    table = crawl.store.current(CRAWLDB)
    assert set(rows(crawl)) == {"http://kept.test/"}
    left = {str(path) for path in crawl.root.rglob("*.parquet")}
    assert left == set(table.paths())
    assert not (crawl.root / ".tmp" / "work").exists()


@pytest.mark.parametrize("limit", [100, 3_000, 20_000, 60_000])
def test_files_that_cannot_grow_are_one_line_and_nothing_is_lost(
    crawl: Crawl, tmp_path: Path, limit: int
) -> None:
    """At whatever file the step is stopped: those set aside, those of the table."""
    inject(crawl, [seeds(tmp_path, "http://kept.test/")])
    many = seeds(
        tmp_path, "".join(f"http://h{n % 50}.test/{n * 7919}\tk={n * 104729}\n" for n in range(8_000))
    )
    done = subprocess.run(
        [sys.executable, "-c", _LIMITED, str(limit), str(crawl.root), str(many)],
        capture_output=True,
        text=True,
        timeout=60,
    )
    disaster(crawl, done)
    assert inject(crawl, [many]).new == 8_000


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a small disk")
def test_a_full_disk_is_one_line_and_nothing_is_lost(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=700k", "tmpfs", str(disk)], capture_output=True, timeout=20
    )
    if mounted.returncode:
        pytest.skip("mounting is not allowed here")
    try:
        Crawl.create(disk / "crawl", store__buckets=4).close()
        with Crawl.open(disk / "crawl") as crawl:
            inject(crawl, [seeds(tmp_path, "http://kept.test/")])
            many = seeds(tmp_path, "".join(f"http://h{n % 50}.test/{n * 7919}\n" for n in range(50_000)))
            command = [sys.executable, "-m", "pinyon", "inject", str(crawl.root), str(many)]
            done = subprocess.run(command, capture_output=True, text=True, timeout=60)
            disaster(crawl, done)
            assert inject(crawl, [seeds(tmp_path, "http://more.test/")]).new == 1
    finally:
        subprocess.run(["umount", str(disk)], check=True, timeout=20)
