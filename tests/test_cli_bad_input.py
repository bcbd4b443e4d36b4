"""Bad input gives one clear line, the documented exit status, and nothing is lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from command_line import Result, run_pinyon


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    """A crawl of three URLs."""
    root = tmp_path / "crawl"
    assert run_pinyon("init", root).status == 0
    seeds = tmp_path / "seeds.txt"
    seeds.write_text("http://a.test/\nhttp://b.test/x\nhttp://b.test/y\n")
    assert run_pinyon("inject", root, seeds).status == 0
    return root


def known(crawl: Path) -> int:
    return json.loads(run_pinyon("status", crawl, "--json").stdout)["urls"]


def one_line(result: Result, status: int, *says: str) -> None:
    assert result.status == status
    assert result.stdout == ""
    lines = [line for line in result.stderr.splitlines() if not line.startswith("note: ")]
    assert len(lines) == 1, lines
    for text in says:
        assert text in lines[0]


def test_a_missing_seed_file_leaves_no_lock_and_changes_nothing(crawl: Path, tmp_path: Path) -> None:
    one_line(run_pinyon("inject", crawl, tmp_path / "none.txt"), 1, "none.txt", "no such file")
    assert run_pinyon("inject", crawl, tmp_path / "seeds.txt").status == 0
    assert known(crawl) == 3


def test_an_unreadable_line_is_counted_and_named_and_the_others_enter(crawl: Path, tmp_path: Path) -> None:
    seeds = tmp_path / "odd.txt"
    seeds.write_bytes(b"http://c.test/\n\xff\xfe\xfd\nhttp://d.test/\n")
    result = run_pinyon("inject", crawl, seeds, "--json")
    report = json.loads(result.stdout)
    assert (report["new"], report["rejected"]) == (2, {"not_utf8": 1})
    assert "odd.txt:2" in result.stderr


@pytest.mark.parametrize("command", ["status", "readdb", "generate", "crawl", "updatedb", "sql"])
def test_a_directory_that_is_no_crawl_is_told_with_the_command_that_makes_one(
    command: str, tmp_path: Path
) -> None:
    more = ["SELECT 1"] if command == "sql" else []
    one_line(run_pinyon(command, tmp_path, *more), 1, "not a crawl directory", f"pinyon init {tmp_path}")


def test_init_does_not_touch_a_directory_that_holds_other_things(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("important")
    one_line(run_pinyon("init", tmp_path), 1, "not empty", "thesis.tex")
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.tex"]


def test_an_unknown_setting_is_refused_with_the_nearest_name(crawl: Path) -> None:
    wrong = run_pinyon("generate", crawl, "--set", "fetcher.server_dealy=2")
    one_line(wrong, 2, "fetcher.server_dealy", "did you mean 'fetcher.server_delay'?")
    (crawl / "pinyon.toml").write_text("[generate]\ntopn = 5\n")
    one_line(run_pinyon("generate", crawl), 2, "pinyon.toml", "'generate.topn'", "generate.top_n")


def test_a_setting_of_the_wrong_kind_says_what_was_wanted(crawl: Path) -> None:
    one_line(run_pinyon("generate", crawl, "--top-n", "many"), 2, "generate.top_n", "a whole number")


def test_a_second_writer_is_told_who_writes(crawl: Path, tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    command = [sys.executable, "-m", "pinyon", "inject", str(crawl), str(fifo)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as first:
        writer = fifo.open("w")  # opens once the first process reads: it holds the lock by then
        try:
            deadline = time.monotonic() + 20
            while not (crawl / ".writer.json").exists() and time.monotonic() < deadline:
                time.sleep(0.05)
            one_line(
                run_pinyon("generate", crawl), 1, "pinyon inject", str(first.pid), "another process writes"
            )
            assert str(first.pid) in run_pinyon("status", crawl).stdout
            assert run_pinyon("readdb", crawl, "--stats").status == 0
        finally:
            writer.write("http://e.test/\n")
            writer.close()
        assert first.wait(30) == 0
    assert known(crawl) == 4


def test_ctrl_c_in_inject_ends_at_once_and_changes_nothing(crawl: Path, tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    command = [sys.executable, "-m", "pinyon", "inject", str(crawl), str(fifo)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        with fifo.open("w") as writer:
            writer.write("http://f.test/\n")
            writer.flush()
            time.sleep(1.0)
            process.send_signal(signal.SIGINT)
            assert process.wait(10) == 130
        assert process.stderr is not None
        assert process.stderr.read().strip().startswith("stopped: ")
    assert known(crawl) == 3
    assert run_pinyon("inject", crawl, tmp_path / "seeds.txt").status == 0


def test_a_segment_from_which_a_file_is_missing_is_named_with_the_mend(crawl: Path) -> None:
    report = json.loads(run_pinyon("generate", crawl, "--json").stdout)
    name = report["segments"][0]["name"]
    next((crawl / "segments" / name / "fetchlist").iterdir()).unlink()
    one_line(
        run_pinyon("fetch", crawl), 1, name, "fetchlist/part-00000.parquet", f"segments {crawl} abort {name}"
    )
    assert run_pinyon("segments", crawl, "abort", name).status == 0
    assert run_pinyon("generate", crawl).status == 0


def test_a_crawl_that_nobody_could_be_asked_about_is_not_begun(crawl: Path) -> None:
    assert run_pinyon("generate", crawl).status == 0
    one_line(run_pinyon("fetch", crawl), 2, "fetcher.agent_contact")


def test_nothing_due_is_exit_status_three_and_leaves_no_segment(crawl: Path) -> None:
    yesterday = datetime.now(UTC) - timedelta(days=1)
    one_line(run_pinyon("generate", crawl, "--now", yesterday.isoformat()), 3, "nothing is due", "not_due 3")
    assert not list((crawl / "segments").iterdir())


@pytest.mark.parametrize(
    "query",
    [
        "DELETE FROM crawldb",
        "SELECT 1; SELECT 2",
        "COPY crawldb TO 'stolen.csv'",
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM '/etc/passwd'",
        "SET enable_external_access = true",
    ],
)
def test_sql_reads_the_tables_of_the_crawl_and_nothing_else(crawl: Path, query: str) -> None:
    result = run_pinyon("sql", crawl, query)
    assert result.status in (1, 2)
    assert result.stdout == ""
    assert known(crawl) == 3


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("command", ["readdb", "readhostdb"])
def test_tables_are_dumped_in_every_format(crawl: Path, tmp_path: Path, command: str, ending: str) -> None:
    import duckdb

    assert run_pinyon("updatehostdb", crawl).status == 0
    path = tmp_path / f"out.{ending}"
    assert run_pinyon(command, crawl, "--dump", path).status == 0
    key = "url" if command == "readdb" else "host"
    rows = {row[0] for row in duckdb.sql(f"SELECT {key} FROM '{path}'").fetchall()}
    wanted = (
        {"http://a.test/", "http://b.test/x", "http://b.test/y"} if key == "url" else {"a.test", "b.test"}
    )
    assert rows == wanted


def test_an_unknown_format_is_refused(crawl: Path, tmp_path: Path) -> None:
    one_line(run_pinyon("readdb", crawl, "--dump", tmp_path / "out.xlsx"), 2, ".xlsx", ".parquet")
