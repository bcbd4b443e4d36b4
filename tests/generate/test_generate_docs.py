"""docs/generate.md holds: every reason, case, step and test that it names is there."""

from __future__ import annotations

import re
from pathlib import Path

from pinyon.cycle import selection

HOME = Path(__file__).resolve().parents[2]
PAGE = (HOME / "docs" / "generate.md").read_text(encoding="utf-8")
SQL = "\n".join(path.read_text() for path in (HOME / "src" / "pinyon" / "cycle").glob("generate_*.sql"))


def part(title: str) -> str:
    return PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def test_every_reason_stands_in_the_page_in_the_order_it_is_asked() -> None:
    told = re.findall(r"^\| `(\w+)` \|", part("Candidates") + part("Limits"), re.MULTILINE)
    unused = {"blocked", "filter_error"}
    assert told == [reason for reason in (*selection.REASONS, *selection.LIMITS) if reason not in unused]
    assert all(f"`{reason}`" in PAGE for reason in unused)


def test_every_case_that_ends_otherwise_than_in_nutch_stands_in_the_page() -> None:
    cases = HOME / "tests" / "data" / "nutch"
    named = set(re.findall(r"`(\d\d\w+)`", part("Where pinyon differs from Nutch")))
    assert named <= {path.name for path in cases.iterdir()}
    assert {path.parent.name for path in cases.glob("*/expected.ours.json")} <= named


def test_every_step_that_is_named_is_one() -> None:
    steps = re.findall(r"step `(\w+)`", part("Three forms of one selection"))
    assert len(steps) > 4
    for step in steps:
        assert f"-- step: {step}" in SQL, step


def test_every_test_that_is_named_is_one() -> None:
    rows = [
        line
        for line in part("Promises and their tests").splitlines()
        if "`test_" in line or "`tests/" in line
    ]
    assert len(rows) > 20
    for row in rows:
        for file, tests in re.findall(r"`([\w/]+\.py)`: ((?:`test_\w+`(?:, )?)+)", row):
            path = HOME / file if "/" in file else HOME / "tests" / "generate" / file
            text = path.read_text(encoding="utf-8")
            for name in re.findall(r"`(test_\w+)`", tests):
                assert f"def {name}(" in text, (file, name)


def test_a_promise_without_a_test_is_none() -> None:
    rows = [line for line in part("Promises and their tests").splitlines() if line.startswith("| ")][2:]
    assert all(re.search(r"`[\w/]+\.py`: `test_\w+`", row) for row in rows)
