"""Nutch's CrawlDb and HostDb as JSON lines: one record a line, fields named as pinyon's columns are.

CrawlDb: `url`, `status`, `fetch_time` (ms), `fetch_interval` (s), `score`, `retries`, `modified_time` (ms),
`signature` (hexadecimal, optional), `metadata`. HostDb: `host`, `score`, `last_check` (ms), `homepage`, counters,
`metadata`. Scores that are not finite are the texts "NaN", "Infinity", "-Infinity". A metadata value is a text, a
number, a truth value, or `{"type": …, "value": …}`; `_ngt_` is Nutch's time of generation, in milliseconds.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pinyon.errors import InputError

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_GENERATED = "_ngt_"
_COUNTERS = (
    "dns_failures",
    "connection_failures",
    "unfetched",
    "fetched",
    "not_modified",
    "redir_temp",
    "redir_perm",
    "gone",
    "duplicate",
    "parse_failed",
    "robots_denied",
    "orphan",
)


def read_crawldb(path: Path) -> Iterator[dict[str, Any]]:
    """Rows with crawldb's columns, without those derived from the URL; `InputError` names a line that is wrong."""
    for where, record in _records(path):
        try:
            metadata = dict(record.get("metadata") or {})
            generated = metadata.pop(_GENERATED, None)
            yield {
                "url": _text(record["url"]),
                "status": _text(record["status"]),
                "fetch_time": _time(record["fetch_time"]),
                "fetch_interval": int(record["fetch_interval"]),
                "modified_time": _time(record.get("modified_time") or 0)
                if record.get("modified_time")
                else None,
                "retries": int(record.get("retries", 0)),
                "score": float(record["score"]),
                "signature": bytes.fromhex(record["signature"]) if record.get("signature") else None,
                "generate_time": None if generated is None else _time(_plain(generated)),
                "metadata": {name: _as_text(value) for name, value in metadata.items()},
            }
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise InputError(f"{where}: not a CrawlDb record: {_reason(error)}") from error


def read_hostdb(path: Path) -> Iterator[dict[str, Any]]:
    """Rows with hostdb's columns, without those derived from the host; `InputError` names a line that is wrong."""
    for where, record in _records(path):
        try:
            counters = {name: int(record.get(name, 0)) for name in _COUNTERS}
            yield {
                "host": _text(record["host"]),
                "score": float(record.get("score", 0.0)),
                "homepage_url": record.get("homepage") or None,
                "last_check": _time(record["last_check"]) if record.get("last_check") else None,
                **counters,
                "num_records": sum(counters[name] for name in _COUNTERS[2:]),
                "metadata": {name: _as_text(value) for name, value in (record.get("metadata") or {}).items()},
            }
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise InputError(f"{where}: not a HostDb record: {_reason(error)}") from error


def _records(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if not line.strip():
                    continue
                where = f"{path}:{number}"
                try:
                    record = json.loads(line)
                except ValueError as error:
                    raise InputError(f"{where}: not JSON: {error}") from error
                if not isinstance(record, dict):
                    raise InputError(f"{where}: not a JSON object")
                yield where, record
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from error


def _reason(error: Exception) -> str:
    return f"{error} is missing" if isinstance(error, KeyError) else str(error)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a text")
    return value


def _time(milliseconds: Any) -> datetime:
    return _EPOCH + timedelta(milliseconds=int(milliseconds))


def _plain(value: Any) -> Any:
    """The value inside a typed one: `{"type": "long", "value": 7}` is 7."""
    return value["value"] if isinstance(value, dict) and "value" in value else value


def _as_text(value: Any) -> str:
    plain = _plain(value)
    if isinstance(plain, str):
        return plain
    return json.dumps(plain, ensure_ascii=False)
