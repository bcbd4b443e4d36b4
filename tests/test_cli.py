"""The command line: help that shows how, one line when it fails, one JSON object when asked, a documented status."""

from __future__ import annotations

import io
import json
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from command_line import Result, run_pinyon
from pinyon.cli import cli
from pinyon.crawl import Crawl
from pinyon.simweb import SimWeb
from pinyon.store import WriterLock
from support.crawls import ended, new_crawl, run, start, step_under_way

COMMANDS = sorted(cli.commands)


def told(result: Result) -> dict[str, Any]:
    """The one JSON object a command printed."""
    assert result.status == 0, result.stderr
    assert result.stdout.count("\n") == 1 and result.stdout.endswith("\n")
    value = json.loads(result.stdout)
    assert isinstance(value, dict)
    return value


def failed(result: Any, status: int, pattern: str) -> None:
    """One line that says what, and the status that goes with it; nothing on standard output."""
    assert (result.status, result.stdout) == (status, ""), (result.stderr, result.stdout)
    assert result.stderr.count("\n") == 1, result.stderr
    assert re.search(pattern, result.stderr), result.stderr


def stopped(result: Any) -> None:
    """As after Ctrl-C; the empty line ends that of the terminal, where ^C stands."""
    assert (result.status, result.stdout) == (130, "")
    assert re.fullmatch(r"\nstopped: .*\n", result.stderr), result.stderr


@pytest.fixture(scope="session")
def fetched_crawl(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A crawl of a small simulated web, its first list fetched and parsed, not yet updated. Not to be changed."""
    with SimWeb(seed=3, hosts=6, slow_s=0.05, https=False) as web:
        root = new_crawl(tmp_path_factory.mktemp("cli") / "crawl", web, server_delay=0.01)
        for step in ("generate", "fetch", "parse"):
            done = run_pinyon(step, root, "-q")
            assert done.status == 0, done.stderr
    yield root


@pytest.fixture
def own_crawl(fetched_crawl: Path, tmp_path: Path) -> Path:
    """A copy of it that a test may change."""
    shutil.copytree(fetched_crawl, tmp_path / "crawl")
    return tmp_path / "crawl"


def segment_of(root: Path) -> str:
    return next((root / "segments").iterdir()).name


# -- help -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example_that_can_be_parsed(name: str) -> None:
    done = run_pinyon(name, "--help")
    assert done.status == 0 and done.stderr == ""
    command = cli.commands[name]
    for each in command.commands.values() if isinstance(command, click.Group) else [command]:
        assert each.help and each.epilog and each.epilog.startswith("Example: pinyon ")
        _, shown, *arguments = shlex.split(each.epilog.removeprefix("Example: "))
        assert shown == name
        assert command.make_context(name, arguments).params is not None


def test_the_groups_help_lists_every_command_once() -> None:
    done = run_pinyon("--help")
    assert done.status == 0
    listed = re.findall(r"^  ([a-z]+)  ", done.stdout, re.MULTILINE)
    assert sorted(listed) == COMMANDS
    assert run_pinyon("--version").stdout.startswith("pinyon, version ")


def test_every_option_says_what_it_does() -> None:
    silent = [
        f"{name} {option.opts[0]}"
        for name, command in cli.commands.items()
        for option in command.params
        if isinstance(option, click.Option) and not option.help and not option.show_default
    ]
    assert silent == []


_LIGHT = """
import sys
sys.argv = ["pinyon", *sys.argv[1:]]
from pinyon.cli import main
try:
    main()
finally:
    heavy = {"duckdb", "deltalake", "pyarrow", "aiohttp", "re2", "lark", "sqlglot", "publicsuffixlist"}
    print(sorted(heavy & sys.modules.keys()), file=sys.stderr)
"""


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["settings"], ["generate", "--help"]])
def test_what_needs_no_engine_loads_none(arguments: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _LIGHT, *arguments], capture_output=True, text=True, timeout=60
    )
    assert done.stderr == "[]\n"
    assert done.returncode == 0


def test_status_and_history_load_no_engine_either(fetched_crawl: Path) -> None:
    for command in ("status", "history", "segments"):
        done = subprocess.run(
            [sys.executable, "-c", _LIGHT, command, str(fetched_crawl)],
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert "duckdb" not in done.stderr and "aiohttp" not in done.stderr


# -- failures -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", [n for n in COMMANDS if any(p.name == "crawl_dir" for p in cli.commands[n].params)]
)
def test_a_directory_that_is_no_crawl_is_one_line(name: str, tmp_path: Path) -> None:
    if name in ("init", "settings"):
        return
    needed = {
        "import": ["nutch-jsonl", "--crawldb", "x"],
        "readseg": ["20261130120000"],
        "sql": ["SELECT 1"],
        "inject": ["seeds.txt"],
        "restore": ["1"],
        "rebucket": ["4"],
        "explain": ["https://example.org/"],
        "expr": ["1"],
        "renew": ["--filter"],
    }
    done = run_pinyon(name, tmp_path / "nowhere", *needed.get(name, []))
    failed(done, 1, r"^pinyon: .*nowhere: not a crawl directory; 'pinyon init .*nowhere' makes one$")
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize(
    ("arguments", "pattern"),
    [
        (
            ["readdb", "{}", "--set", "fetcher.server_dely=1"],
            "arguments: unknown setting .* 'fetcher.server_delay'",
        ),
        (["readdb", "{}", "--set", "server_delay=1"], "wanted SECTION.NAME=VALUE"),
        (
            ["readdb", "{}", "--set", "fetcher.server_delay=slow"],
            "fetcher.server_delay = 'slow': wanted a number",
        ),
        (["readdb", "{}", "--conf", "nowhere.toml"], "nowhere.toml: cannot be read"),
        (["readdb", "{}", "--dump", "x.xlsx"], "unknown format '.xlsx'"),
        (["segments", "{}", "drop"], "name the segments"),
        (["sql", "{}", "DROP TABLE crawldb"], "only one SELECT"),
        (["settings", "fetchr"], "no section 'fetchr'"),
        (["settings", "--conf", "x.toml"], "--conf needs --crawl"),
        (["inject", "{}", "x", "--now", "yesterday"], "'yesterday' is no time"),
        (["crawl", "{}", "--rounds", "1", "--until-empty"], "exclude each other"),
        (["parse", "{}", "--again"], "which segment|needs the name"),
    ],
)
def test_a_wrong_request_is_one_line_and_status_2(
    arguments: list[str], pattern: str, fetched_crawl: Path
) -> None:
    done = run_pinyon(*(argument.format(fetched_crawl) for argument in arguments))
    failed(done, 2, pattern)


@pytest.mark.parametrize(
    "arguments",
    [["nosuch"], ["readdb"], ["readdb", "x", "--nosuch"], ["readdb", "x", "--top", "0"], ["readdb", "x", "--top", "n"],
     ["segments", "x", "eat"], ["history", "x", "--limit", "-1"]],
)  # fmt: skip
def test_a_line_that_cannot_be_read_shows_the_usage_and_status_2(arguments: list[str]) -> None:
    done = run_pinyon(*arguments)
    assert done.status == 2 and done.stdout == ""
    assert done.stderr.startswith("Usage: pinyon") and "Error: " in done.stderr


@pytest.mark.parametrize(
    ("arguments", "pattern"),
    [
        (["readdb", "{}", "--url", "https://nowhere.test/"], "https://nowhere.test/: not in the crawldb"),
        (["readhostdb", "{}", "--host", "nowhere.test"], "nowhere.test: not in the HostDb"),
        (["readseg", "{}", "20200101000000"], "no segment '20200101000000'"),
        (["readdb", "{}", "--at-version", "99"], "version 99 "),
        (["sql", "{}", "SELECT nosuch FROM crawldb"], "nosuch"),
        (["sql", "{}", "SELEC 1"], "syntax error"),
        (["inject", "{}", "nowhere.txt"], "nowhere.txt: there is no such file"),
        (["init", "{}"], "there is a crawl here already"),
    ],
)
def test_what_cannot_be_done_is_one_line_and_status_1(
    arguments: list[str], pattern: str, fetched_crawl: Path
) -> None:
    done = run_pinyon(*(argument.format(fetched_crawl) for argument in arguments))
    failed(done, 1, pattern)


def test_nothing_due_is_status_3(tmp_path: Path) -> None:
    assert run_pinyon("init", tmp_path / "crawl").status == 0
    failed(run_pinyon("generate", tmp_path / "crawl"), 3, "nothing is due")
    failed(run_pinyon("fetch", tmp_path / "crawl"), 3, "no segment is generated: run 'pinyon generate")


def test_init_mixes_with_nothing(tmp_path: Path) -> None:
    (tmp_path / "file.txt").write_text("mine")
    failed(run_pinyon("init", tmp_path), 1, r"not empty \('file\.txt'\)")
    failed(run_pinyon("init", tmp_path / "file.txt" / "crawl"), 1, "cannot be made")
    failed(run_pinyon("init", tmp_path / "a", "--set", "store.buckets=3"), 2, "wanted a power of two")
    assert not (tmp_path / "a").exists()


def test_a_fault_of_our_own_is_one_line_and_a_traceback_if_asked(
    fetched_crawl: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fault(crawl: Crawl) -> None:
        raise ZeroDivisionError("by\nzero")

    monkeypatch.setattr("pinyon.reports.status.status", fault)
    failed(
        run_pinyon("status", fetched_crawl), 1, "a fault of pinyon's own, ZeroDivisionError: by zero; --debug"
    )
    with pytest.raises(ZeroDivisionError):
        run_pinyon("status", fetched_crawl, "--debug")


def test_a_reader_that_has_had_enough_is_no_error(fetched_crawl: Path) -> None:
    command = f"{sys.executable} -m pinyon sql {fetched_crawl} 'SELECT i FROM range(1000000) r(i)' | head -1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "i" and done.stderr == ""


# -- writers --------------------------------------------------------------------------------------------------


def test_a_second_writer_fails_fast_and_readers_do_not_care(own_crawl: Path) -> None:
    before = (own_crawl / "segments" / segment_of(own_crawl) / "segment.json").read_text()
    with WriterLock(own_crawl, "pinyon fetch"):
        for command in (
            ["inject", "{}", "/dev/null"],
            ["generate", "{}"],
            ["updatedb", "{}"],
            ["updatehostdb", "{}"],
        ):
            done = run(*(argument.format(own_crawl) for argument in command))
            failed(done, 1, r"another process writes here: 'pinyon fetch', process \d+ on \S+, since .* UTC")
        for command in (
            ["status"],
            ["readdb"],
            ["readhostdb"],
            ["history"],
            ["segments"],
            ["sql", "SELECT 1"],
        ):
            assert run_pinyon(command[0], own_crawl, *command[1:]).status == 0
        status = told(run_pinyon("status", own_crawl, "--json"))
        assert status["writer"].startswith("'pinyon fetch', process ")
    assert told(run_pinyon("status", own_crawl, "--json"))["writer"] is None
    assert (own_crawl / "segments" / segment_of(own_crawl) / "segment.json").read_text() == before


def test_status_looks_on_while_others_write(tmp_path: Path) -> None:
    """Files come and go under its eyes."""
    root = tmp_path / "crawl"
    Crawl.create(root, store__buckets=16, store__keep_versions=1).close()
    seeds = tmp_path / "seeds.txt"
    for number in range(3):
        seeds.write_text("".join(f"http://h{n}.test/{number}\n" for n in range(2000)))
        process = start("inject", root, seeds)
        looks = 0
        while process.poll() is None:
            done = run_pinyon("status", root, "--json")
            assert done.status == 0, done.stderr
            looks += 1
        assert ended(process).status == 0
        assert looks > 0
    assert told(run_pinyon("status", root, "--json"))["urls"] == 6000


# -- Ctrl-C ---------------------------------------------------------------------------------------------------


def test_ctrl_c_in_inject_changes_nothing_and_leaves_no_lock(tmp_path: Path) -> None:
    root = tmp_path / "crawl"
    Crawl.create(root).close()
    seeds = tmp_path / "seeds.txt"
    with seeds.open("w") as file:
        file.writelines(f"http://h{n % 5000}.test/{n}\tk={n}\n" for n in range(400_000))
    with step_under_way(root, "inject", "inject", root, seeds) as process:
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        done = ended(process, 20)
    stopped(done)
    assert told(run_pinyon("status", root, "--json")) | {"disk_bytes": 0, "disk_free_bytes": 0} == {
        "urls": 0, "hosts": 0, "crawldb_version": 0, "writer": None, "fetching": [], "open_segments": [],
        "disk_bytes": 0, "disk_free_bytes": 0, "next": f"pinyon inject {root} SEEDS",
    }  # fmt: skip
    assert not list(root.rglob("*.parquet"))
    with WriterLock(root, "test"):
        pass


def test_ctrl_c_in_a_reader_ends_it(own_crawl: Path) -> None:
    process = start("sql", own_crawl, "SELECT count(*) FROM range(1000000000000) r(i) WHERE hash(i) = 1")
    deadline = time.monotonic() + 30
    while not list((own_crawl / ".tmp" / "spills").glob("engine-*")):
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.01)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    stopped(ended(process, 20))


def test_a_killed_writer_leaves_a_crawl_that_goes_on(tmp_path: Path) -> None:
    root = tmp_path / "crawl"
    Crawl.create(root, store__buckets=4).close()
    seeds = tmp_path / "seeds.txt"
    with seeds.open("w") as file:
        file.writelines(f"http://h{n % 500}.test/{n}\n" for n in range(100_000))
    with step_under_way(root, "inject", "inject", root, seeds) as process:
        time.sleep(0.4)
        process.kill()
        process.communicate()
    assert run_pinyon("status", root).stdout.splitlines()[1] == "writer: none"
    report = told(run_pinyon("inject", root, seeds, "--json"))
    assert (report["new"], report["known"]) in ((100_000, 0), (0, 100_000))
    with Crawl.open(root) as crawl:
        from pinyon.tables import CRAWLDB

        paths = set(crawl.store.current(CRAWLDB).paths()) | set(crawl.store.current(CRAWLDB, 1).paths())
    assert {str(path) for path in root.rglob("*.parquet")} <= paths


# -- reading --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [["status"], ["readdb"], ["readdb", "--top", "3"], ["readhostdb"], ["readhostdb", "--top", "3"], ["history"],
     ["segments"], ["sql", "SELECT 1 AS n"], ["sql", "SELECT url, metadata, fetch_time FROM crawldb"],
     ["sql", "SELECT 'NaN'::DOUBLE AS n, 'infinity'::FLOAT AS i, '\\xff'::BLOB AS b, [1, NULL] AS l WHERE true"],
     ["sql", "SELECT 1 AS n WHERE false"], ["readseg", "SEGMENT"], ["readseg", "SEGMENT", "--top", "2"],
     ["readseg", "SEGMENT", "--what", "docs", "--top", "2"]],
)  # fmt: skip
def test_json_is_one_object_on_one_line(arguments: list[str], fetched_crawl: Path) -> None:
    command, *rest = arguments
    filled = [segment_of(fetched_crawl) if argument == "SEGMENT" else argument for argument in rest]
    told(run_pinyon(command, fetched_crawl, *filled, "--json"))
    assert run_pinyon(command, fetched_crawl, *filled).status == 0


def test_rows_of_sql_are_a_table_or_an_object(fetched_crawl: Path) -> None:
    query = "SELECT i AS number, 'x' || i AS text, NULL AS nothing FROM range(9, 12) r(i) ORDER BY i"
    assert run_pinyon("sql", fetched_crawl, query).stdout == (
        "number  text  nothing\n     9  x9    -\n    10  x10   -\n    11  x11   -\n"
    )
    rows = [{"number": n, "text": f"x{n}", "nothing": None} for n in (9, 10, 11)]
    assert told(run_pinyon("sql", fetched_crawl, query, "--json")) == {"rows": rows}


def test_sql_is_read_from_standard_input_too(fetched_crawl: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("SELECT count(*) AS n\nFROM crawldb -- all\n"))
    assert told(run_pinyon("sql", fetched_crawl, "-", "--json"))["rows"][0]["n"] > 0


@pytest.mark.parametrize(
    "query",
    ["COPY crawldb TO 'out.csv'", "INSERT INTO crawldb DEFAULT VALUES", "SELECT 1; SELECT 2", "ATTACH 'x.db'",
     "CREATE TEMP TABLE t AS FROM crawldb", "SET memory_limit = '9GB'", "PRAGMA database_list", ""],
)  # fmt: skip
def test_sql_cannot_write(query: str, fetched_crawl: Path) -> None:
    failed(run_pinyon("sql", fetched_crawl, query), 2, "only one SELECT")


@pytest.mark.parametrize(
    "query",
    ["SELECT * FROM read_text('/etc/passwd')", "SELECT * FROM read_csv('/proc/self/environ')",
     "SELECT * FROM glob('/**')", "SELECT * FROM read_parquet('https://example.org/x.parquet')",
     "SELECT * FROM read_text('{}/../secret.txt')", "SELECT getenv('HOME')"],
)  # fmt: skip
def test_sql_cannot_read_outside_the_crawl(query: str, own_crawl: Path) -> None:
    (own_crawl.parent / "secret.txt").write_text("secret")
    failed(run_pinyon("sql", own_crawl, query.format(own_crawl)), 1, "^pinyon: query: ")


def test_sql_reads_a_crawl_behind_a_link_and_by_a_relative_name(
    own_crawl: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (own_crawl.parent / "link").symlink_to(own_crawl)
    monkeypatch.chdir(own_crawl.parent)
    for name in ("link", "crawl", own_crawl.parent / "link"):
        assert (
            told(run_pinyon("sql", name, "SELECT count(*) AS n FROM crawldb", "--json"))["rows"][0]["n"] > 0
        )
        failed(run_pinyon("sql", name, "SELECT * FROM read_text('../conftest.py')"), 1, "^pinyon: query: ")


def test_what_a_page_says_cannot_move_the_readers_cursor(fetched_crawl: Path) -> None:
    query = "SELECT 'a' || chr(27) || '[2J' || chr(8238) || chr(155) || chr(10) || 'b' AS title"
    done = run_pinyon("sql", fetched_crawl, query)
    assert (
        done.stdout
        == "title\na\N{REPLACEMENT CHARACTER}[2J\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER} b\n"
    )
    long = run_pinyon("sql", fetched_crawl, "SELECT repeat('x', 1000000) AS text")
    assert len(long.stdout) < 1000
    assert (
        len(
            told(run_pinyon("sql", fetched_crawl, "SELECT repeat('x', 100000) AS t", "--json"))["rows"][0][
                "t"
            ]
        )
        == 100_000
    )


@pytest.mark.parametrize("command", ["readdb", "readhostdb", "readseg"])
@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_tables_are_dumped_whole_as_others_read_them(
    command: str, ending: str, own_crawl: Path, tmp_path: Path
) -> None:
    if command == "readhostdb":
        assert run_pinyon("updatehostdb", own_crawl).status == 0
    path = tmp_path / f"out.{ending}"
    segment = [segment_of(own_crawl)] if command == "readseg" else []
    report = told(run_pinyon(command, own_crawl, *segment, "--dump", path, "--json"))
    assert report == {"rows": report["rows"], "file": str(path)} and report["rows"] > 5
    if ending == "jsonl":
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        assert len(rows) == report["rows"] and rows[0]["host"]
    elif ending == "csv":
        header, *lines = path.read_text().splitlines()
        assert "host" in header.split(",") and len(lines) >= report["rows"]
    else:
        import pyarrow.parquet as pq

        assert pq.read_table(path).num_rows == report["rows"]


def test_readdb_tells_totals_one_url_and_the_best(own_crawl: Path) -> None:
    stats = told(run_pinyon("readdb", own_crawl, "--stats", "--json"))
    assert sum(stats["by_status"].values()) == stats["totals"]["urls"] == sum(stats["by_depth"].values())
    best = told(run_pinyon("readdb", own_crawl, "--top", "2", "--json"))["rows"]
    assert len(best) == 2
    spelled = re.sub("^http://[^/]+", lambda m: m[0].upper(), best[0]["url"]) + "#top"
    row = told(run_pinyon("readdb", own_crawl, "--url", spelled, "--json"))
    assert row["url"] == best[0]["url"]
    of_host = told(run_pinyon("readdb", own_crawl, "--host", row["host"], "--json"))["rows"]
    assert {r["url"].split("/")[2].split(":")[0] for r in of_host} == {row["host"]}
    assert run_pinyon("updatedb", own_crawl, "--hostdb", "-q").status == 0
    older = told(run_pinyon("readdb", own_crawl, "--at-version", "1", "--json"))
    assert older["totals"]["urls"] == stats["totals"]["urls"]
    assert told(run_pinyon("readdb", own_crawl, "--json"))["by_status"] != older["by_status"]


def test_readhostdb_tells_totals_one_host_and_the_largest(own_crawl: Path) -> None:
    assert run_pinyon("updatedb", own_crawl, "--hostdb", "-q").status == 0
    totals = told(run_pinyon("readhostdb", own_crawl, "--json"))
    best = told(run_pinyon("readhostdb", own_crawl, "--top", "3", "--json"))["rows"]
    assert totals["hosts"] >= len(best) == 3
    assert [row["num_records"] for row in best] == sorted((r["num_records"] for r in best), reverse=True)
    row = told(run_pinyon("readhostdb", own_crawl, "--host", f"HTTP://{best[0]['host'].upper()}/x", "--json"))
    assert row["host"] == best[0]["host"] and row["num_records"] == best[0]["num_records"]


def test_readseg_tells_state_counts_and_rows(fetched_crawl: Path) -> None:
    name = segment_of(fetched_crawl)
    stats = told(run_pinyon("readseg", fetched_crawl, name, "--json"))
    assert stats["state"] == "parsed" and stats["urls"] == sum(part["urls"] for part in stats["parts"])
    assert sum(stats["outcomes"].values()) == stats["urls"]
    for what in ("fetchlist", "pages", "docs", "links", "hosts"):
        rows = told(run_pinyon("readseg", fetched_crawl, name, "--what", what, "--top", "1", "--json"))[
            "rows"
        ]
        assert len(rows) == 1, what
    url = told(run_pinyon("readseg", fetched_crawl, name, "--what", "pages", "--top", "1", "--json"))["rows"][
        0
    ]["url"]
    for what in ("fetchlist", "pages"):
        rows = told(run_pinyon("readseg", fetched_crawl, name, "--what", what, "--url", url, "--json"))[
            "rows"
        ]
        assert [row["url"] for row in rows] == [url]


def test_history_tells_what_made_a_version_and_whether_it_is_kept(tmp_path: Path) -> None:
    root = tmp_path / "crawl"
    Crawl.create(root, store__buckets=1, store__keep_versions=2).close()
    for number in range(3):
        (tmp_path / "seeds.txt").write_text(f"http://a.test/{number}\n")
        assert run_pinyon("inject", root, tmp_path / "seeds.txt").status == 0
    versions = told(run_pinyon("history", root, "--json"))["versions"]
    assert [(v["version"], v["operation"], v["kept"]) for v in versions[:3]] == [
        (3, "inject (keep)", True),
        (2, "inject (keep)", True),
        (1, "inject (keep)", False),
    ]
    assert versions[0]["published_at"].endswith("+00:00")
    assert len(told(run_pinyon("history", root, "--limit", "1", "--json"))["versions"]) == 1


# -- segments -------------------------------------------------------------------------------------------------


def test_a_segment_is_dropped_when_both_tables_have_it_and_its_archive_stays(own_crawl: Path) -> None:
    name = segment_of(own_crawl)
    assert told(run_pinyon("segments", own_crawl, "--json"))["segments"][0]["state"] == "parsed"
    failed(
        run_pinyon("segments", own_crawl, "drop", name), 2, "is not in the crawldb yet: run 'pinyon updatedb"
    )
    assert run_pinyon("updatedb", own_crawl, "-q").status == 0
    failed(
        run_pinyon("segments", own_crawl, "drop", name),
        2,
        "is not in the hostdb yet: run 'pinyon updatehostdb",
    )
    for spelling in (name, own_crawl / "segments" / name):
        refused = run_pinyon("segments", own_crawl, "abort", spelling)
        failed(refused, 2, "is updated: 'pinyon segments .* drop' removes it")
    assert run_pinyon("updatehostdb", own_crawl).status == 0
    archived = sorted(path.name for path in (own_crawl / "segments" / name / "warc").iterdir())
    assert archived
    assert told(run_pinyon("segments", own_crawl, "drop", name, "--json")) == {"drop": [name]}
    assert told(run_pinyon("segments", own_crawl, "--json")) == {"segments": []}
    assert sorted(path.name for path in (own_crawl / "warc" / name).iterdir()) == archived
    failed(run_pinyon("segments", own_crawl, "drop", name), 1, "no segment")


def test_dropping_with_the_archive_leaves_nothing(own_crawl: Path) -> None:
    assert run_pinyon("updatedb", own_crawl, "--hostdb", "-q").status == 0
    assert run_pinyon("segments", own_crawl, "drop", segment_of(own_crawl), "--with-warc").status == 0
    assert not (own_crawl / "warc").exists() and not list((own_crawl / "segments").iterdir())


def test_an_aborted_segment_frees_its_urls_at_once(own_crawl: Path) -> None:
    name = segment_of(own_crawl)
    assert run_pinyon("generate", own_crawl).status == 3
    failed(
        run_pinyon("segments", own_crawl, "abort", name, "20200101000000"), 1, "no segment '20200101000000'"
    )
    assert (own_crawl / "segments" / name).is_dir()
    archived = sorted(path.name for path in (own_crawl / "segments" / name / "warc").iterdir())
    (own_crawl / "warc" / name).mkdir(parents=True)
    path = own_crawl / "segments" / name
    assert run_pinyon("segments", own_crawl, "abort", name, path, name).stdout == f"{name}: aborted\n"
    assert sorted(path.name for path in (own_crawl / "warc" / f"{name}.1").iterdir()) == archived
    assert run_pinyon("generate", own_crawl).status == 0


@pytest.mark.parametrize("damage", ["", '{"state": "par'])
def test_a_torn_segment_is_shown_and_can_be_given_up(own_crawl: Path, damage: str) -> None:
    name = segment_of(own_crawl)
    (own_crawl / "segments" / name / "segment.json").write_text(damage)
    assert told(run_pinyon("segments", own_crawl, "--json"))["segments"] == [
        {"name": name, "state": "broken", "urls": 0}
    ]
    status = told(run_pinyon("status", own_crawl, "--json"))
    assert status["next"] == f"pinyon segments {own_crawl} abort {name}"
    for command in ("generate", "fetch", "updatedb"):
        failed(run_pinyon(command, own_crawl), 1, rf"segment\.json: not valid JSON.*abort {name}'")
    assert run_pinyon(*shlex.split(status["next"])[1:]).status == 0
    assert run_pinyon("generate", own_crawl).status == 0


def test_a_segment_from_which_a_file_is_missing_is_not_applied(own_crawl: Path) -> None:
    lost = next((own_crawl / "segments" / segment_of(own_crawl) / "links").glob("*.parquet"))
    lost.unlink()
    failed(run_pinyon("updatedb", own_crawl), 1, rf"{lost.name} is missing; .*abort")
    assert told(run_pinyon("status", own_crawl, "--json"))["crawldb_version"] == 1


def test_settings_of_a_crawl_are_told_with_where_they_were_set(own_crawl: Path) -> None:
    told_by = told(run_pinyon("settings", "fetcher", "--crawl", own_crawl, "--json"))
    assert told_by["fetcher.server_delay"]["value"] == 0.01
    assert told_by["fetcher.server_delay"]["set_by"] == f"{own_crawl}/pinyon.toml"
    assert told_by["fetcher.agent_name"] | {"value": "", "help": ""} == {
        "default": "pinyon", "unit": "", "help": "", "nutch": "http.agent.name", "value": "", "set_by": None,
    }  # fmt: skip
    assert "fetcher.server_delay = 0.01    # " in run_pinyon("settings", "--crawl", own_crawl).stdout
