"""The SQL of the steps: all of it runs in one session, so names may not get in each other's way."""

from __future__ import annotations

from importlib.resources import files

from pinyon.jobs import Job, load


def jobs() -> list[Job]:
    names = [
        path.name.removesuffix(".sql")
        for path in files("pinyon.cycle").iterdir()
        if path.name.endswith(".sql")
    ]
    return [load("pinyon.cycle", name) for name in sorted(names)]


def test_what_one_step_keeps_has_the_name_of_nothing_that_another_reads() -> None:
    kept = {step.name: job.name for job in jobs() for step in job.steps if step.kept}
    clashes = [(job.name, name, kept[name]) for job in jobs() for name in job.reads if name in kept]
    assert clashes == []
