"""The docs hold: what is generated is fresh, what is named exists, what is shown runs."""

from __future__ import annotations

import inspect
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import pinyon
from pinyon import errors, settings, tables
from pinyon.cli import cli
from pinyon.simweb import SimWeb

HOME = Path(__file__).resolve().parents[1]
DOCS = HOME / "docs"
README = (HOME / "README.md").read_text(encoding="utf-8")
BIN = Path(sys.executable).parent


def page(name: str) -> str:
    return (DOCS / f"{name}.md").read_text(encoding="utf-8")


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def pages() -> list[Path]:
    return [HOME / "README.md", HOME / "CHANGELOG.md", *sorted(DOCS.glob("*.md"))]


# -- generated pages ------------------------------------------------------------------------------------------


def test_generated_pages_are_fresh() -> None:
    command = [sys.executable, str(DOCS / "generate.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, f"run python docs/generate.py\n{done.stdout}{done.stderr}"


def test_every_setting_stands_in_its_page_with_its_nutch_property() -> None:
    settings_page, nutch_page = page("settings"), page("coming-from-nutch")
    for spec in settings.specs():
        section = settings_page.partition(f"### [{spec.section}]")[2].partition("\n### ")[0]
        assert f"| `{spec.name}` |" in section, spec.key
        assert spec.nutch == "" or f"| `{spec.nutch}` | `{spec.key}` |" in nutch_page, spec.nutch


def test_every_table_column_status_and_outcome_stands_in_its_page() -> None:
    text = page("tables")
    for spec in tables.ALL_TABLES:
        section = text.partition(f"### {spec.name}\n")[2].partition("\n### ")[0]
        missing = [name for name in spec.names if f"| `{name}` |" not in section]
        assert not missing, (spec.name, missing)
    for word in [*tables.STATUSES, *tables.OUTCOMES]:
        assert f"| `{word}` |" in text, word


def commands() -> Iterator[tuple[str, click.Command]]:
    """Every command and subcommand, by the words one types."""

    def below(words: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
        if isinstance(command, click.Group):
            for name, subcommand in command.commands.items():
                yield from below(f"{words} {name}".strip(), subcommand)
        else:
            yield words, command

    return below("", cli)


def test_every_command_has_help_and_stands_in_its_page_with_every_option() -> None:
    text = page("cli")
    for words, command in commands():
        section = text.partition(f"### {words}\n")[2].partition("\n### ")[0]
        assert command.help, words
        assert command.help.splitlines()[0] in section, words
        for option in command.params:
            assert all(name in text for name in option.opts if name.startswith("--")), (words, option.opts)


# -- what is named exists -------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", pages(), ids=lambda path: path.name)
def test_links_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8")):
        assert (path.parent / target).exists(), target


@pytest.mark.parametrize("path", pages(), ids=lambda path: path.name)
def test_files_and_settings_that_are_named_exist(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for name in re.findall(r"`((?:src|docs|tests|cycle|reports|engines|store|cli)/[\w/.-]+\.\w+)`", text):
        assert (HOME / name).exists() or (HOME / "src" / "pinyon" / name).exists(), name
    known = {spec.key for spec in settings.specs()} | {spec.nutch for spec in settings.specs()}
    sections = "|".join({spec.section for spec in settings.specs()})
    for key in re.findall(rf"`((?:{sections})\.[a-z_]+)(?: = [^`]*)?`", text):
        assert key in known, key


def shown_commands() -> list[str]:
    """Every `pinyon …` line of the pages and of the help."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in pages())
    shown = "".join(blocks(text, "sh")).splitlines()
    shown += [(command.epilog or "").removeprefix("Example: ") for _, command in commands()]
    return sorted({line for line in shown if line.startswith("pinyon ")})


@pytest.mark.parametrize("line", shown_commands())
def test_a_command_that_is_shown_is_understood(line: str) -> None:
    words = shlex.split(line, comments=True)[1:]
    command: click.Command = cli
    context = click.Context(cli)
    while isinstance(command, click.Group):
        name, found, words = command.resolve_command(context, words)
        assert found is not None, line
        command, context = found, click.Context(found, info_name=name, parent=context)
    command.make_context(context.info_name, words, parent=context.parent)


# -- what is shown runs ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """An environment in which the snippets meet the simulated web; `SEED` is its first page."""
    folder = tmp_path_factory.mktemp("web")
    with SimWeb(seed=1, hosts=6, awkward=False, mean_pages=3, slow_s=0.1) as simulated:
        simulated.write_connect_to(folder / "connect-to.txt")
        yield {
            **{name: value for name, value in os.environ.items() if not name.startswith("PINYON_")},
            "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
            "PINYON_FETCHER_CONNECT_TO_FILE": str(folder / "connect-to.txt"),
            "PINYON_FETCHER_ALLOW_ADDRESSES": "127.0.0.0/8",
            "PINYON_FETCHER_SERVER_DELAY": "0.02",
            "PINYON_FETCHER_MIN_FREE_DISK": "0",
            "SEED": simulated.seeds()[0],
        }


def run(command: list[str], folder: Path, environment: dict[str, str]) -> str:
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_shell_snippets_of_the_readme_crawl(tmp_path: Path, web: dict[str, str]) -> None:
    scripts = [block for block in blocks(README, "sh") if "pinyon " in block]
    assert len(scripts) == 2
    script = "set -e\n" + "".join(scripts).replace("https://example.org/", web["SEED"])
    printed = run(["bash", "-c", script], tmp_path, web)
    assert int(re.findall(r"status db_fetched: (\d+)", printed)[0]) > 6
    assert "nothing" not in printed


def test_the_python_snippet_of_the_readme_crawls(tmp_path: Path, web: dict[str, str]) -> None:
    (tmp_path / "seeds.txt").write_text(web["SEED"] + "\n")
    script = tmp_path / "snippet.py"
    script.write_text("".join(blocks(README, "python")))
    printed = run([sys.executable, str(script)], tmp_path, web)
    assert int(printed.split()[0]) > 6
    assert "'db_fetched': " in printed


# -- the public names -----------------------------------------------------------------------------------------


def test_importing_pinyon_loads_no_engine_and_no_network() -> None:
    heavy = "{'duckdb', 'pyarrow', 'deltalake', 'aiohttp', 'asyncio', 'click'}"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys, pinyon; print(sorted({heavy} & set(sys.modules)))"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout == "[]\n", done.stderr


def test_every_public_name_is_there_and_hides_no_module() -> None:
    for name in pinyon.__all__:
        assert getattr(pinyon, name) is not None
        assert name in dir(pinyon)
        assert not (HOME / "src" / "pinyon" / name).exists()
        assert not (HOME / "src" / "pinyon" / f"{name}.py").exists()
    with pytest.raises(AttributeError, match="no attribute 'crwal'"):
        getattr(pinyon, "crwal")  # noqa: B009


def test_every_error_is_public() -> None:
    defined = {
        name
        for name, value in vars(errors).items()
        if inspect.isclass(value) and issubclass(value, Exception)
    }
    assert defined <= set(pinyon.__all__)


def test_the_types_of_the_public_names_are_those_of_the_same_modules() -> None:
    stub = (HOME / "src" / "pinyon" / "__init__.pyi").read_text(encoding="utf-8")
    typed = {
        name: module for module, name in re.findall(r"^from (\S+) import (\w+) as \2$", stub, re.MULTILINE)
    }
    assert typed == pinyon._HOMES


# -- dev.py and CI --------------------------------------------------------------------------------------------


def run_dev(prelude: str) -> subprocess.CompletedProcess[str]:
    code = f"import sys, runpy; sys.argv = ['dev.py', 'demo']; {prelude}; runpy.run_path('dev.py', run_name='__main__')"
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=HOME,
        env={"PATH": "/nonexistent", "HOME": "/nonexistent"},
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_an_old_python_is_told_in_one_line() -> None:
    done = run_dev("sys.version_info = (3, 9, 2)")
    assert done.returncode == 1
    assert re.fullmatch(r"dev.py: this is Python .*, wanted is 3.11 to 3.14.*\n", done.stderr)


@pytest.mark.skipif((HOME / ".uv").exists(), reason="dev.py has made its environment here before")
def test_a_python_without_venv_is_told_in_one_line() -> None:
    done = run_dev("sys.modules['ensurepip'] = None")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        "dev.py: this Python cannot make environments: install python3-venv (apt), or uv"
    )


def test_ci_runs_the_commands_of_the_readme() -> None:
    ci = (HOME / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    shown = [line.partition("#")[0].strip() for line in blocks(README, "sh")[0].splitlines()]
    assert shown == ["python3 dev.py demo", "python3 dev.py test"]
    assert set(shown) <= set(ci)
