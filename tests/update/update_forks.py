"""A process that has everything imported and runs a step in a child of its own whenever it is asked to.

One line of JSON in (`step`, `root`, `now`), two out: the child's process id at once, and how it ended (a negative
number is the signal that killed it). Starting from a fork costs milliseconds where a new interpreter takes a second,
so that a step can be killed at many moments.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from types import TracebackType


class Forks:
    """The parent's end: `start` a step, kill it or not, `wait` for its status."""

    def __enter__(self) -> Forks:
        self._process = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate()

    def start(self, step: str, root: Path, now: datetime) -> int:
        self._send({"step": step, "root": str(root), "now": now.isoformat()})
        return int(self._receive())

    def wait(self) -> int:
        return int(self._receive())

    def _send(self, request: dict[str, str]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()

    def _receive(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the forking process died"
        return line


def _serve() -> None:
    import deltalake.transaction  # noqa: F401
    import duckdb  # noqa: F401
    import pyarrow.parquet  # noqa: F401

    from pinyon.crawl import Crawl
    from pinyon.cycle.updatedb import updatedb
    from pinyon.cycle.updatehostdb import updatehostdb

    def run(step: str, root: str, now: str) -> None:
        with Crawl.open(root, engine__threads=1, engine__memory_limit_mb=256) as crawl:
            if step == "updatedb":
                updatedb(crawl, now=datetime.fromisoformat(now))
            else:
                updatehostdb(crawl)

    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            status = 1
            try:
                run(**json.loads(line))
                status = 0
            finally:
                os._exit(status)
        print(child, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    _serve()
