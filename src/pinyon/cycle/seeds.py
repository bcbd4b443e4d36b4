"""Seeds as people write them: text with metadata behind tabs, OPML, folders of both, standard input.

Sources are read in chunks of whole lines, so that a chunk can be taken apart in another process; a line longer
than `MAX_LINE_BYTES` is no seed, and is never held in memory.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NamedTuple

from pinyon.errors import InputError
from pinyon.interop.opml import read_opml

MAX_LINE_BYTES = 1_048_576
_CHUNK_BYTES = 4_194_304

#: Metadata that is not kept as metadata, in Nutch's spelling and in ours.
_SCORE = frozenset({"score", "nutch.score"})
_INTERVAL = frozenset({"interval", "nutch.fetchInterval", "nutch.fetchInterval.fixed"})
_LINE_BREAKS = re.compile(r"[\t\r\n]")


class Seed(NamedTuple):
    """One seed as it stands in its source, not yet normalised. `problem` says why the line cannot be used."""

    url: str
    score: float | None = None
    interval_s: int | None = None
    metadata: Mapping[str, str] = {}
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Chunk:
    """Whole lines of one source. `number` counts the lines of all sources before it, `line` those of its own.

    `line` is None where lines mean nothing to a person (OPML).
    """

    text: bytes
    origin: str
    number: int
    line: int | None

    def seeds(self) -> Iterator[tuple[int, Seed]]:
        """Number and seed of every line that is not empty and no comment."""
        for number, line in enumerate(self.text.split(b"\n"), self.number):
            seed = _seed(line)
            if seed is not None:
                yield number, seed

    def where(self, number: int) -> str:
        """The line of that number, as a person finds it."""
        return self.origin if self.line is None else f"{self.origin}:{self.line + number - self.number + 1}"


def read_seeds(sources: Iterable[Path | str]) -> Iterator[Seed]:
    """Every seed of every source, in order: a file, a folder with all files below it, or '-'.

    Raises `InputError` if a source is not there or cannot be read.
    """
    for chunk in read_chunks(sources):
        for _, seed in chunk.seeds():
            yield seed


def read_chunks(sources: Iterable[Path | str]) -> Iterator[Chunk]:
    """The same as text, a few megabytes at a time."""
    number = 0
    for origin, line, text in _texts(sources):
        yield Chunk(text, origin, number, line)
        number += text.count(b"\n") + 1


def check_sources(sources: Iterable[Path | str]) -> None:
    """Raises `InputError` for the first source that is not there: before a lock is taken or a row written."""
    for source in sources:
        if str(source) != "-":
            _files(Path(source))


def _texts(sources: Iterable[Path | str]) -> Iterator[tuple[str, int | None, bytes]]:
    """Origin, lines before, and text of every chunk."""
    for source in sources:
        if str(source) == "-":
            yield from _lines(sys.stdin.buffer, "standard input")
        else:
            for path in _files(Path(source)):
                yield from _file(path)


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        return sorted(p for p in path.rglob("*") if p.is_file() and not _is_hidden(p.relative_to(path)))
    if not path.exists():
        raise InputError(f"{path}: there is no such file; seeds are one URL a line, or OPML")
    return [path]


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _file(path: Path) -> Iterator[tuple[str, int | None, bytes]]:
    if path.suffix.lower() == ".opml":
        urls = (_LINE_BREAKS.sub("", url) for url in read_opml(path))
        yield str(path), None, "\n".join(urls).encode()
        return
    try:
        with path.open("rb") as file:
            yield from _lines(file, str(path))
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error


def _lines(file: BinaryIO, origin: str) -> Iterator[tuple[str, int | None, bytes]]:
    line = 0
    for text in _whole_lines(file):
        bare = text.removeprefix(b"\xef\xbb\xbf") if line == 0 else text
        yield origin, line, bare.removesuffix(b"\n")
        line += text.count(b"\n")


def _whole_lines(file: BinaryIO) -> Iterator[bytes]:
    """Blocks that end where a line ends. Of a line that is too long, enough is kept to tell."""
    begun = b""
    while block := file.read(_CHUNK_BYTES):
        end = block.rfind(b"\n") + 1
        if end:
            yield begun + block[:end]
            begun = block[end:]
        else:
            begun = (begun + block)[: MAX_LINE_BYTES + 1]
    if begun:
        yield begun


# -- a line ---------------------------------------------------------------------------------------------------


def _seed(line: bytes) -> Seed | None:
    """None for a comment or a blank line."""
    if len(line) > MAX_LINE_BYTES:
        return Seed("", problem="too_long")
    try:
        text = line.decode()
    except UnicodeDecodeError:
        return Seed("", problem="not_utf8")
    url, tab, fields = text.partition("\t")
    url = url.strip()
    if not url or url[0] == "#":
        return None
    return _with_fields(url, fields.split("\t")) if tab else Seed(url)


def _with_fields(url: str, fields: list[str]) -> Seed:
    score: float | None = None
    interval_s: int | None = None
    metadata: dict[str, str] = {}
    try:
        for name, value in _pairs(fields):
            if name in _SCORE:
                score = _finite(value)
            elif name in _INTERVAL:
                interval_s = _interval(value)
            else:
                metadata[name] = value
    except ValueError:
        return Seed(url, problem="bad_metadata")
    return Seed(url, score, interval_s, metadata)


def _pairs(fields: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Name and value of each field; the value may hold '=' again. Empty fields are none."""
    for text in fields:
        name, equals, value = text.strip().partition("=")
        if equals and not name.strip():
            raise ValueError(text)
        if name:
            if not equals:
                raise ValueError(text)
            yield name.strip(), value


def _finite(text: str) -> float:
    value = float(text)
    if not abs(value) < 3.4e38:  # the column is a 32-bit float; NaN fails too
        raise ValueError(text)
    return value


def _interval(text: str) -> int:
    value = int(text)
    if not 0 <= value < 2**31:
        raise ValueError(text)
    return value
