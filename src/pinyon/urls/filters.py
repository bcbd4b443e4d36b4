"""Filters: whether a URL enters, asked one URL at a time or of a table, in SQL."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pinyon.errors import SettingError
from pinyon.regexes import check_regex, translate
from pinyon.urls import filter_sql
from pinyon.urls.hosts import HostPatterns

#: Why a filter refused a URL, in the order they are asked.
FILTER_REASONS = (
    "too_long",
    "scheme",
    "suffix",
    "host_denied",
    "host_not_allowed",
    "repeated_segments",
    "rule",
    "filter_error",
)

#: Grows when the same settings would refuse other URLs: it is part of the digest.
_MEANING = 1

_ASCII_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}


@dataclass(frozen=True, slots=True)
class Rule:
    """One filter rule: the first whose pattern is found anywhere in the URL decides."""

    accept: bool
    pattern: str

    @classmethod
    def parse(cls, text: str, origin: str) -> Rule:
        """'+regex' or '-regex'; `SettingError` if it is neither, or the expression is outside our subset."""
        if not text or text[0] not in "+-":
            raise SettingError(f"{origin}: '{text[:80]}': a rule begins with + (accept) or - (refuse)")
        try:
            check_regex(text[1:])
        except ValueError as error:
            raise SettingError(f"{origin}: rule '{text[:80]}': {error}") from error
        return cls(text[0] == "+", text[1:])


class UrlFilter:
    """Decides whether a normalised URL enters. Holds compiled rules, no state: ask it in any order.

    `max_url_length` is in characters, `deny_suffixes` are endings of the path ('pdf', 'tar.gz'), hosts as in
    `HostPatterns`. With rules, a URL that none of them names is refused. Raises `SettingError`.
    """

    def __init__(
        self,
        *,
        schemes: Sequence[str] = ("http", "https"),
        max_url_length: int = 2083,
        deny_suffixes: Sequence[str] = (),
        rules: Sequence[Rule] = (),
        allow_hosts: Sequence[str] = (),
        deny_hosts: Sequence[str] = (),
        max_repeated_segments: int = 2,
    ) -> None:
        self.schemes = tuple(schemes)
        self.max_url_length = max_url_length
        self.deny_suffixes = tuple(sorted({_suffix(text) for text in deny_suffixes}))
        self.rules = tuple(rules)
        self.allow_hosts = HostPatterns(allow_hosts)
        self.deny_hosts = HostPatterns(deny_hosts)
        self.max_repeated_segments = max_repeated_segments
        self._prefixes = tuple(f"{scheme}:" for scheme in schemes)
        self._endings = frozenset(self.deny_suffixes)
        self._searches = [(rule.accept, _compiled(rule.pattern)) for rule in self.rules]

    def reason(self, url: str, host: str | None) -> str | None:
        """Why `url` is refused (one of `FILTER_REASONS`), or None if it is accepted. Never raises."""
        if len(url) > self.max_url_length:
            return "too_long"
        if not url.startswith(self._prefixes) and not url.lstrip(" ").lower().startswith(self._prefixes):
            return "scheme"
        try:
            return self._reason(url, host)
        except Exception:  # whatever a rule does to one URL, that URL stays out and is counted
            return "filter_error"

    def sql(self, url: str = "url", host: str = "host") -> str:
        """What `reason` says, as a DuckDB expression over two columns: a reason, or NULL where it is accepted."""
        whens = "\n".join(f"    WHEN {test} THEN {reason}" for test, reason in self._sql_checks(url, host))
        rest = "'rule'" if self.rules else "NULL"
        return f"CASE\n{whens}\n    ELSE {rest}\nEND"

    def _sql_checks(self, url: str, host: str) -> Iterator[tuple[str, str]]:
        """In the order of `_reason`: condition, and what is said where it holds."""
        yield f"length({url}) > {self.max_url_length}", "'too_long'"
        yield f"NOT ({filter_sql.has_scheme(self.schemes, url)})", "'scheme'"
        if self.deny_suffixes:
            yield filter_sql.has_ending(self.deny_suffixes, url), "'suffix'"
        if self.deny_hosts:
            yield filter_sql.is_among(self.deny_hosts, host), "'host_denied'"
        if self.allow_hosts:
            yield f"NOT coalesce({filter_sql.is_among(self.allow_hosts, host)}, false)", "'host_not_allowed'"
        if self.max_repeated_segments:
            yield filter_sql.repeats(self.max_repeated_segments, url), "'repeated_segments'"
        for rule in self.rules:
            yield filter_sql.found(rule.pattern, url), "NULL" if rule.accept else "'rule'"

    def _reason(self, url: str, host: str | None) -> str | None:
        path = _path(url)
        if self._endings and self._has_ending(path):
            return "suffix"
        if host is not None and self.deny_hosts and host in self.deny_hosts:
            return "host_denied"
        if self.allow_hosts and (host is None or host not in self.allow_hosts):
            return "host_not_allowed"
        if self.max_repeated_segments and self._repeats(path):
            return "repeated_segments"
        for accept, search in self._searches:
            if search(url):
                return None if accept else "rule"
        return "rule" if self._searches else None

    def _has_ending(self, path: str) -> bool:
        name = path.rpartition("/")[2]
        if "." not in name:
            return False
        ending = (name.lower() if name.isascii() else name.translate(_ASCII_LOWER)).partition(".")[2]
        while ending not in self._endings and "." in ending:
            ending = ending.partition(".")[2]
        return ending in self._endings

    def _repeats(self, path: str) -> bool:
        # nearly all URLs are done here: too few segments, or too few that stand twice
        if path.count("/") < self.max_repeated_segments:
            return False
        segments = [segment for segment in path.split("/") if segment]
        if len(segments) - len(set(segments)) < self.max_repeated_segments:
            return False
        return any(n > self.max_repeated_segments for n in Counter(segments).values())

    def digest(self) -> str:
        """Of everything that decides: two filters with one digest refuse the same URLs."""
        parts = (
            _MEANING,
            self.schemes,
            self.max_url_length,
            self.deny_suffixes,
            [(r.accept, r.pattern) for r in self.rules],
            self.allow_hosts.parts(),
            self.deny_hosts.parts(),
            self.max_repeated_segments,
        )
        return hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _path(url: str) -> str:
    """What stands behind scheme://authority/ and before any query; empty where a URL has no such parts."""
    parts = url.partition("?")[0].split("/", 3)
    return parts[3] if len(parts) == 4 and not parts[1] else ""


def _suffix(text: str) -> str:
    suffix = text.strip().lower().lstrip(".")
    if not suffix.isascii() or not suffix or set(suffix) & set("/?#"):
        raise SettingError(f"'{text[:80]}': wanted the ending of a path, e.g. 'pdf' or 'tar.gz'")
    return suffix


def _compiled(pattern: str) -> Callable[[str], Any]:
    import re2

    return re2.compile(translate(pattern, "re2")).search  # type: ignore[no-any-return]
