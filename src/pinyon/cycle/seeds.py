"""Seeds as people write them: text with metadata behind tabs, OPML, folders of both, standard input."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from pinyon.errors import InputError
from pinyon.interop.opml import read_opml

#: A longer line is no seed; it is cut off unread.
MAX_LINE_BYTES = 1_048_576

#: Metadata that is not kept as metadata, in Nutch's spelling and in ours.
_SCORE = frozenset({"score", "nutch.score"})
_INTERVAL = frozenset({"interval", "nutch.fetchInterval", "nutch.fetchInterval.fixed"})


@dataclass(frozen=True, slots=True)
class Seed:
    """One seed as it stands in its source, not yet normalised. `problem` says why the line cannot be used."""

    url: str
    origin: str
    score: float | None = None
    interval_s: int | None = None
    metadata: dict[str, str] = field(default_factory=dict)
    problem: str | None = None


def read_seeds(sources: Iterable[Path | str]) -> Iterator[Seed]:
    """Every seed of every source, in order: a file, a folder with all files below it, or '-'.

    Raises `InputError` if a source is not there or cannot be read.
    """
    for source in sources:
        if str(source) == "-":
            yield from _text(sys.stdin.buffer, "standard input")
        else:
            for path in _files(Path(source)):
                yield from _file(path)


def check_sources(sources: Iterable[Path | str]) -> None:
    """Raises `InputError` for the first source that is not there: before a lock is taken or a row written."""
    for source in sources:
        if str(source) != "-":
            _files(Path(source))


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        return sorted(p for p in path.rglob("*") if p.is_file() and not p.name.startswith("."))
    if not path.exists():
        raise InputError(f"{path}: there is no such file; seeds are one URL a line, or OPML")
    return [path]


def _file(path: Path) -> Iterator[Seed]:
    if path.suffix.lower() == ".opml":
        yield from (Seed(url, str(path)) for url in read_opml(path))
        return
    try:
        with path.open("rb") as file:
            yield from _text(file, str(path))
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error


def _text(file: BinaryIO, origin: str) -> Iterator[Seed]:
    number = 0
    while line := file.readline(MAX_LINE_BYTES):
        number += 1
        where = f"{origin}:{number}"
        if len(line) == MAX_LINE_BYTES:
            _skip_line(file)
            yield Seed("", where, problem="too_long")
            continue
        if number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        seed = _line(line, where)
        if seed is not None:
            yield seed


def _skip_line(file: BinaryIO) -> None:
    while (rest := file.readline(MAX_LINE_BYTES)) and not rest.endswith(b"\n"):
        continue


def _line(line: bytes, where: str) -> Seed | None:
    """A seed, or None for a comment or a blank line."""
    try:
        text = line.decode("utf-8").strip("\r\n")
    except UnicodeDecodeError:
        return Seed("", where, problem="not_utf8")
    url, *fields = text.split("\t")
    url = url.strip()
    if not url or url.startswith("#"):
        return None
    return _with_fields(url, fields, where)


def _with_fields(url: str, fields: list[str], where: str) -> Seed:
    score: float | None = None
    interval_s: int | None = None
    metadata: dict[str, str] = {}
    for text in fields:
        name, equals, value = text.strip().partition("=")
        if not name:
            continue
        if not equals:
            return Seed(url, where, problem="bad_metadata")
        try:
            if name in _SCORE:
                score = float(value)
            elif name in _INTERVAL:
                interval_s = int(value)
            else:
                metadata[name] = value
        except ValueError:
            return Seed(url, where, problem="bad_metadata")
    return Seed(url, where, score, interval_s, metadata)
