"""Prints the parts of these pages that the code knows better: `python docs/generate.py [--check]`.

Such a part stands between `<!-- generated: NAME -->` and `<!-- end -->`; `PARTS` says what makes it. Everything
outside is written by hand and left alone.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

from parts import commands, libraries, nutch, plans, settings, tables

FOLDER = Path(__file__).parent
PARTS: dict[str, Callable[[], str]] = {
    "tables": tables.columns,
    "statuses": tables.statuses,
    "outcomes": tables.outcomes,
    "settings": settings.sections,
    "common options": commands.common_options,
    "commands": commands.sections,
    "properties": nutch.properties,
    "libraries": libraries.libraries,
    "plans": plans.plans,
}
_PART = re.compile(r"(<!-- generated: ([\w ]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def generated(page: str) -> str:
    """The page with its generated parts as they should be; KeyError for a part nobody makes."""
    return _PART.sub(lambda m: f"{m[1]}\n{PARTS[m[2]]()}\n\n{m[3]}", page)


def main(arguments: list[str]) -> int:
    """Rewrites the pages that are out of date; with --check names them, and fails if there are any."""
    check = "--check" in arguments
    stale = 0
    for path in sorted(FOLDER.glob("*.md")):
        text = path.read_text(encoding="utf-8")
        fresh = generated(text)
        if fresh == text:
            continue
        stale += 1
        print(f"docs/{path.name}: {'out of date: run docs/generate.py' if check else 'written'}")
        if not check:
            path.write_text(fresh, encoding="utf-8")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
