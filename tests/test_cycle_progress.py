"""Progress of long steps: lines where nobody sees a bar, a bar where somebody does, nothing when quiet."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pinyon.cli import progress
from pinyon.cli.common import Out
from pinyon.cli.progress import Watch
from pinyon.simweb import SimWeb
from pinyon.store import Segment
from support.crawls import new_crawl


@pytest.fixture
def segment(tmp_path: Path) -> Segment:
    """A segment of 2,000 URLs that two processes are fetching."""
    path = tmp_path / "20261130120000"
    (path / "pages").mkdir(parents=True)
    (path / "segment.json").write_text(
        json.dumps({"state": "generated", "parts": [{"urls": 1200}, {"urls": 800}]})
    )
    for part, captured in enumerate((300, 100)):
        counters = {"captured": captured, "elapsed_s": 20.0, "received_bytes": 5_000_000, "active": 3}
        (path / "pages" / f"part-{part:05d}.progress.json").write_text(json.dumps(counters))
    return Segment(path)


@pytest.fixture
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_PLAIN_EVERY_S", 0.05)
    monkeypatch.setattr(progress, "_POLL_S", 0.02)


def test_counters_of_all_parts_add_up_to_one_line(
    segment: Segment, often: None, capsys: pytest.CaptureFixture[str]
) -> None:
    with Watch(Out(as_json=False, quiet=False)) as watch:
        watch.heard(segment)
        time.sleep(0.3)
        watch.heard(segment, 50, 400)
        time.sleep(0.1)
        watch.heard(segment, 60, 400)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "fetch 20261130120000: 400 of 2,000 20.0 pages/s, 0.50 MB/s, 6 active"
    assert lines[-1] == "parse 20261130120000: 60 of 400"


@pytest.mark.parametrize("out", [Out(as_json=False, quiet=True), Out(as_json=True, quiet=False)])
def test_nothing_is_said_when_quiet_or_to_a_program(
    segment: Segment, often: None, capsys: pytest.CaptureFixture[str], out: Out
) -> None:
    with Watch(out) as watch:
        watch.heard(segment)
        watch.heard(segment, 50, 400)
        time.sleep(0.2)
        watch.heard(segment, 60, 400)
    assert capsys.readouterr() == ("", "")


def test_short_steps_have_no_line_of_their_own(segment: Segment, capsys: pytest.CaptureFixture[str]) -> None:
    with Watch(Out(as_json=False, quiet=False)) as watch:
        for done in range(1, 5):
            watch.heard(segment, done, 4)
    assert capsys.readouterr().err == ""


def test_a_terminal_sees_a_bar(tmp_path: Path) -> None:
    with SimWeb(seed=2, hosts=6, awkward=False, mean_pages=8) as web:
        root = new_crawl(tmp_path / "crawl", web, seeds=sorted(web.reachable(web.seeds())), server_delay=0.15)
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            [sys.executable, "-m", "pinyon", "crawl", str(root)], stderr=theirs, stdout=subprocess.DEVNULL
        )
        os.close(theirs)
        shown = _read_to_end(ours)
        assert process.wait() == 0
    assert "pages/s" in shown and "━" in shown
    assert "updatehostdb: " in shown
    assert "Traceback" not in shown


def _read_to_end(terminal: int) -> str:
    parts = []
    while True:
        try:
            parts.append(os.read(terminal, 65_536))
        except OSError:  # Linux says so when the other end is closed
            break
        if not parts[-1]:
            break
    os.close(terminal)
    return b"".join(parts).decode("utf-8", "replace")
