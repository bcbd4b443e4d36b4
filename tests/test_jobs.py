"""Jobs: SQL files whose steps, parameters and fragments are what they declare."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest

from pinyon.jobs import Files, load, parse
from pinyon.tables import CRAWLDB

JOB = """-- What this does; even so: {not} a fragment, :not a parameter.
-- reads: crawldb, seeds
-- params: now, mode
-- fragments: sort_value

-- step: due
-- It's due: :never is in a comment.
SELECT * FROM crawldb WHERE fetch_time <= :now;

-- step: unused
SELECT 1

-- step: best (kept)
SELECT {sort_value} AS v, x::INTEGER, ':text' AS t, '--' AS dashes -- a remark
FROM due WHERE mode = :mode

-- step: counted (kept)
SELECT count(*) FROM best
"""


def test_a_job_declares_what_it_reads_and_takes() -> None:
    job = parse("demo", JOB)
    assert job.reads == {"crawldb", "seeds"}
    assert job.params == {"now", "mode"}
    assert job.fragments == {"sort_value"}
    assert [(step.name, step.kept) for step in job.steps] == [
        ("due", False),
        ("unused", False),
        ("best", True),
        ("counted", True),
    ]


def test_kept_steps_become_queries_with_the_steps_they_need() -> None:
    statements = parse("demo", JOB).statements({"sort_value": "score"})
    assert [name for name, _ in statements] == ["best", "counted"]
    best, counted = (sql for _, sql in statements)
    assert best == (
        "WITH due AS (\nSELECT * FROM crawldb WHERE fetch_time <= :now\n)\n"
        "SELECT score AS v, x::INTEGER, ':text' AS t, '--' AS dashes\nFROM due WHERE mode = :mode"
    )
    assert counted == "SELECT count(*) FROM best"


@pytest.mark.parametrize("fragments", [{}, {"sort_value": "1", "more": "2"}, {"other": "1"}])
def test_fragments_that_do_not_fit_are_a_slip_of_ours(fragments: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="demo: fragments do not fit"):
        parse("demo", JOB).statements(fragments)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("params: now, mode", "params: now", "params: declares"),
        ("params: now, mode", "params: now, mode, more", "params: declares"),
        ("fragments: sort_value", "fragments: sort_value, more", "fragments: declares"),
        ("{sort_value}", "{sort_valeu}", "fragments: declares"),
    ],
)
def test_a_file_that_uses_what_it_does_not_declare_is_refused(old: str, new: str, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        parse("demo", JOB.replace(old, new))


def test_what_a_job_is_given_must_be_what_it_reads() -> None:
    job = parse("demo", JOB)
    job.check(["seeds", "crawldb"], ["mode", "now"])
    for tables, params in ((["crawldb"], ["now", "mode"]), (["crawldb", "seeds"], ["now"])):
        with pytest.raises(ValueError, match="demo reads"):
            job.check(tables, params)


@pytest.mark.parametrize("package", ["cycle", "reports"])
def test_every_job_of_ours_is_sound_and_says_what_it_does(package: str) -> None:
    found = list(Path(str(files(f"pinyon.{package}"))).glob("*.sql"))
    assert found
    for path in found:
        job = load(f"pinyon.{package}", path.stem)
        assert job.steps, path
        assert path.read_text(encoding="utf-8").startswith("-- "), path
        assert len({step.name for step in job.steps}) == len(job.steps), path


def test_files_of_some_buckets_are_the_same_files() -> None:
    source = Files.of(CRAWLDB, ["/a/bucket=1/x.parquet"])
    assert source.only([1, 3]) == Files(CRAWLDB, ("/a/bucket=1/x.parquet",), (1, 3))
