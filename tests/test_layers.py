"""The one rule of direction: imports point down. The layers are drawn in pyproject.toml."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
SOURCES = REPOSITORY / "src" / "pinyon"


def lint_imports(repository: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"],
        cwd=repository,
        env={"PYTHONPATH": str(repository / "src")},
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_imports_point_down_never_up_never_sideways() -> None:
    done = lint_imports(REPOSITORY)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 kept, 0 broken" in done.stdout


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("urls/places.py", "import pinyon.store"),
        ("store/lock.py", "def late():\n    from pinyon.engines import Engine"),
        ("store/lock.py", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import pinyon.fetcher"),
        ("stray.py", ""),
    ],
)
def test_an_import_that_points_elsewhere_is_noticed(module: str, line: str, tmp_path: Path) -> None:
    """Upwards, sideways inside a function, sideways for types alone; and a module without a layer."""
    sources = tmp_path / "src" / "pinyon"
    shutil.copytree(SOURCES, sources, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(REPOSITORY / "pyproject.toml", tmp_path)
    with (sources / module).open("a") as file:
        file.write(f"\n{line}\n")
    done = lint_imports(tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or "")


def test_the_set_of_seen_urls_could_be_published_alone() -> None:
    modules = sorted((SOURCES / "urlset").rglob("*.py"))
    if not modules:
        pytest.skip("pinyon.urlset is not built yet")
    for path in modules:
        for name in imported(path):
            ours = re.fullmatch(r"pinyon(\..*)?", name)
            assert not ours or name.startswith("pinyon.urlset"), f"{path}: imports {name}"
            assert not name.startswith(".."), f"{path}: imports {name}"
