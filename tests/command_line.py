"""Runs the command line inside the test's process: exit status and what was printed, as a shell would see it."""

from __future__ import annotations

import contextlib
import io
import sys
from dataclasses import dataclass
from unittest import mock

from pinyon.cli import main


@dataclass(frozen=True)
class Result:
    status: int
    stdout: str
    stderr: str


def run_pinyon(*arguments: object) -> Result:
    stdout, stderr = io.StringIO(), io.StringIO()
    argv = ["pinyon", *(str(argument) for argument in arguments)]
    with (
        mock.patch.object(sys, "argv", argv),
        contextlib.redirect_stdout(stdout),
        contextlib.redirect_stderr(stderr),
    ):
        try:
            main()
            status = 0
        except SystemExit as end:
            status = int(end.code or 0)
    return Result(status, stdout.getvalue(), stderr.getvalue())
