#!/usr/bin/env python3
"""What a developer runs, on a machine that has only Python 3.11 or later:

python3 dev.py demo [OPTION]...   a crawl of the simulated web on loopback, and its report
python3 dev.py test [ARGUMENT]... the tests; arguments go to pytest
python3 dev.py check              ruff, mypy, the layers
python3 dev.py docs               prints the generated parts of docs/ anew
python3 dev.py setup              the environment alone

Each brings `.venv` to what `uv.lock` says first, with the uv on the PATH or one that pip puts into `.uv`. Apache
Spark comes along where there is a Java to run it.
"""

import sys

# before anything an older Python could stumble over
if not (3, 11) <= sys.version_info[:2] < (3, 15):
    sys.exit(
        f"dev.py: this is Python {sys.version.split()[0]}, wanted is 3.11 to 3.14, e.g. 'python3.12 dev.py'"
    )

import importlib.util
import os
import shutil
import ssl
import subprocess
from collections.abc import Sequence
from pathlib import Path

HOME = Path(__file__).resolve().parent
BIN = HOME / ".venv" / "bin"
UV_ENVIRONMENT = HOME / ".uv"
UV = "uv>=0.9,<1"

COMMANDS: dict[str, list[list[str]]] = {
    "demo": [["pinyon", "demo"]],
    "test": [["pytest", "-n", "auto"]],
    "check": [["ruff", "check"], ["ruff", "format", "--check"], ["mypy"], ["lint-imports"]],
    "docs": [["python", "docs/generate.py"]],
    "setup": [],
}


def main(arguments: Sequence[str]) -> int:
    """Runs one command; the exit status is that of the first tool that failed."""
    if not arguments or arguments[0] not in COMMANDS:
        print(__doc__, file=sys.stderr)
        return 2
    name, *rest = arguments
    statuses = [set_up()]
    if statuses == [0]:
        statuses += [run([str(BIN / tool), *options, *rest]) for tool, *options in COMMANDS[name]]
    return next((status for status in statuses if status), 0)


def set_up() -> int:
    """Makes `.venv` what `uv.lock` says, with this Python."""
    if not BIN.exists():
        print("dev.py: making .venv: this takes a minute or two, once", file=sys.stderr)
    python = ["--python", sys.executable, "--no-python-downloads"]
    extras = ["--all-extras", *([] if shutil.which("java") else ["--no-extra", "spark"])]
    return run([uv(), "sync", "--locked", "--quiet", *python, *extras])


def uv() -> str:
    """The uv to use; made by pip, in an environment of its own, where there is none."""
    found = shutil.which("uv")
    # a shim of pyenv is found, but does not run, where only another Python has uv
    if found and not subprocess.run([found, "--version"], capture_output=True).returncode:
        return found
    made = UV_ENVIRONMENT / "bin" / "uv"
    if not made.exists():
        if not all(importlib.util.find_spec(module) for module in ("venv", "ensurepip")):
            sys.exit("dev.py: this Python cannot make environments: install python3-venv (apt), or uv")
        pip = [str(UV_ENVIRONMENT / "bin" / "python"), "-m", "pip", "install", "--quiet", UV]
        if run([sys.executable, "-m", "venv", "--clear", str(UV_ENVIRONMENT)]) or run(pip):
            sys.exit("dev.py: uv could not be installed: see above")
    return str(made)


def run(command: list[str]) -> int:
    """Exit status of a command run at the top of the checkout."""
    environment = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
    if has_certificates():
        # a company's proxy is among these, as git and pip know
        environment.setdefault("UV_SYSTEM_CERTS", "1")
    return subprocess.call(command, cwd=HOME, env=environment)


def has_certificates() -> bool:
    """Whether the machine has certificate authorities of its own; uv brings some, where it has none."""
    paths = ssl.get_default_verify_paths()
    return bool(paths.cafile or (paths.capath and any(Path(paths.capath).iterdir())))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
