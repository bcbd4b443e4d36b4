"""docs/decisions.md: what pinyon depends on, in which release, and why."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from parts import code, sentence, table

_HOME = Path(__file__).resolve().parents[2]

#: By package; whoever adds a dependency says here what decided for it.
REASONS = {
    "ada-url": "URLs by the WHATWG standard: right on every http(s) case of web-platform-tests, as one other of the "
    "parsers compared is, and the fastest of all at joining; `urllib` and what is built on it miss most odd cases",
    "aiodns": "look-ups that do not block, and tell an unknown name from a name server that fails",
    "aiohttp": "the only client compared that gives all of: header bytes as sent; bodies before content decoding, with "
    "back-pressure; hooks for resolver and socket, so that the address connected to can be judged; limits on "
    "connecting, reading and the whole",
    "aiohttp-socks": "SOCKS proxies for aiohttp",
    "backports-zstd": "content coding zstd, where the standard library has none yet",
    "brotli": "content coding br",
    "click": "the command line",
    "defusedxml": "OPML and Hadoop configurations: entities are never expanded",
    "deltalake": "versions of tables: one atomic commit names the files that an engine wrote",
    "duckdb": "joins and windows over Parquet, embedded, within a memory limit",
    "fastwarc": "reads WARC faster than warcio, and writes it. It ends a gzip member only when told, so each record "
    "is finished by hand",
    "filelock": "a lock that the kernel drops with its process",
    "google-re2": "patterns that operators write, in linear time and in DuckDB's own syntax",
    "lark": "the grammar of expressions",
    "protego": "matches robots.txt as fast in a large file as in a small one. Which group is ours is decided here: for "
    "it an unknown line between two User-agent lines closes a group, and `pi` binds `pine`",
    "publicsuffixlist": "the list is in the wheel, dated, and nothing is fetched; the private section is a switch",
    "pyarrow": "Parquet and columns, between processes and engines",
    "resiliparse": "guesses encodings better than the detectors it was compared with, and finds main text fast enough "
    "to keep up with fetching. Its DOM is not used: walking it is quadratic",
    "rich": "progress bars",
    "selectolax": "HTML by Lexbor: as right as html5lib on the pages compared, and faster than lxml, which misses "
    "links in broken ones",
    "xxhash": "64-bit hashes that are the same in every process and engine",
    # extras
    "pyspark": "the engine for a cluster",
    "sqlglot": "DuckDB's spelling of SQL turned into Spark's, refusing what it cannot turn",
    "tantivy": "full-text search, and exact terms on disk",
    "starlette": "the dashboard",
    "uvicorn": "serves the dashboard",
    "scrapy": "what is offered to Scrapy's users is tested with it",
}


def libraries() -> str:
    locked = {package["name"]: package for package in _read("uv.lock")["package"]}
    rows = []
    for spec, note in _dependencies():
        name = re.split(r"[^\w-]", spec)[0]
        package = locked[name]
        rows.append([code(name) + note, package["version"], _released(package), sentence(REASONS[name])])
    return table(["library", "locked", "released", "why"], rows)


def _dependencies() -> Iterator[tuple[str, str]]:
    """Requirements of pyproject.toml, those of the extras behind the others."""
    project = _read("pyproject.toml")["project"]
    for spec in project["dependencies"]:
        yield spec, ""
    for extra, listed in project["optional-dependencies"].items():
        for spec in listed:
            yield spec, f" (extra `{extra}`)"


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((_HOME / name).read_text(encoding="utf-8"))


def _released(package: dict[str, Any]) -> str:
    """Year and month of the first file of a release."""
    files = [*package.get("wheels", ()), *filter(None, [package.get("sdist")])]
    return min((file["upload-time"][:7] for file in files if "upload-time" in file), default="")
