"""robots.txt by RFC 9309: which group is ours is decided here, what its patterns match by protego.

Reading is lenient where the RFC asks for it (case, spaces, comments, unknown lines, a byte order mark, any encoding)
and where everybody is (misspelt fields, a missing colon). A group is bound by the product token it names, whole:
`mybot` binds "MyBot/1.0", not "mybots". The groups of all our agent names apply together, those of `*` only if no
group names one of us. A group ends at the first User-agent line behind a rule or a Crawl-delay; other lines between
do not end it.
"""

from __future__ import annotations

import codecs
import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from protego import Protego

#: RFC 9309, section 2.5: at least this much must be read. Nothing beyond it is.
MAX_BYTES = 512_000
_MAX_SITEMAPS = 100
_MAX_LINE = 16_384
#: Rules that are looked at one by one when somebody asks which line decided.
_MAX_EXPLAINED = 200

_FIELDS = {
    "user-agent": "agent",
    "useragent": "agent",
    "user agent": "agent",
    "disallow": "disallow",
    "dissallow": "disallow",
    "dissalow": "disallow",
    "disalow": "disallow",
    "diasllow": "disallow",
    "disallaw": "disallow",
    "allow": "allow",
    "crawl-delay": "delay",
    "crawldelay": "delay",
    "crawl delay": "delay",
    "sitemap": "sitemap",
    "site-map": "sitemap",
}
_LINE_END = re.compile(r"\r\n?|\n")
_TOKEN = re.compile(r"[A-Za-z0-9_-]+")
_PLAIN = re.compile(r"[A-Za-z0-9/_.~-]*")
_AGENT = "us"
_LOCAL = "http://host"


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether a URL may be fetched, and the line that says so as it stands in the file (None: no line speaks of it)."""

    allowed: bool
    line: str | None


class Rules:
    """What one robots.txt says to us. `crawl_delay_s` as written, without a cap; None if it asks for none."""

    __slots__ = ("_matcher", "_rules", "crawl_delay_s", "sitemaps", "size")

    def __init__(
        self, rules: Sequence[tuple[str, str]], crawl_delay_s: float | None, sitemaps: tuple[str, ...]
    ) -> None:
        self._rules = tuple(rules)
        self._matcher = _matcher(rules) if rules else None
        self.crawl_delay_s = crawl_delay_s
        self.sitemaps = sitemaps
        #: Bytes this roughly occupies, for whoever keeps many.
        self.size = 1_000 + sum(300 + 4 * len(pattern) for _, pattern in rules) + sum(map(len, sitemaps))

    def allowed(self, url: str) -> bool:
        """Whether `url` (absolute) may be fetched, taking it for one of the authority the file was asked from."""
        return self._matcher is None or self._matcher.can_fetch(_local(url), _AGENT)

    def decide(self, url: str) -> Decision:
        """The same, and the line that decided: the longest that matches, Allow before Disallow."""
        allowed = self.allowed(url)
        return Decision(allowed, self._line(url, allowed))

    def _line(self, url: str, allowed: bool) -> str | None:
        """Each rule that may match alone, longest first: the first that forbids if it were a Disallow is the one."""
        wanted, local = "allow" if allowed else "disallow", _local(url)
        candidates = [
            p for field, p in self._rules if field == wanted and _may_match(p, local[len(_LOCAL) :])
        ]
        candidates.sort(key=len, reverse=True)
        for pattern in candidates[:_MAX_EXPLAINED]:
            if not _matcher([("disallow", pattern)]).can_fetch(local, _AGENT):
                return f"{wanted.capitalize()}: {pattern}"
        return None


#: What a host without a robots.txt, or one that does not speak of us, says.
ALLOW_ALL = Rules((), None, ())


def _local(url: str) -> str:
    """Path and query behind an authority that parses: protego splits URLs, and not every host of ours is one."""
    start = url.find("//") + 2
    ends = [at for at in (url.find(mark, start) for mark in "/?#") if at >= 0]
    rest = url[min(ends) :] if ends else ""
    return f"{_LOCAL}{rest if rest.startswith('/') else '/' + rest}"


def _may_match(pattern: str, path: str) -> bool:
    """Whether they begin alike, as far as neither has an escape or a wildcard: a cheap no for most rules."""
    plain = _PLAIN.match(pattern)
    size = min(plain.end() if plain else 0, path.find("%") if "%" in path else len(path))
    return pattern[:size] == path[:size]


def _matcher(rules: Iterable[tuple[str, str]]) -> Protego:
    lines = [f"User-agent: {_AGENT}", *(f"{field}: {pattern}" for field, pattern in rules)]
    return Protego.parse("\n".join(lines))


def digest(body: bytes) -> str:
    """Of the bytes of a robots.txt: what was denied is looked at again when it changes."""
    return hashlib.sha1(body, usedforsecurity=False).hexdigest()


def product_token(name: str) -> str:
    """The part of an agent's name that robots.txt is matched by: "MyBot/1.0 (x)" → "mybot"."""
    match = _TOKEN.match(name.strip())
    return match[0].lower() if match else ""


def parse(body: bytes, agent_names: Sequence[str]) -> Rules:
    """The rules for the agents named. Never raises: what cannot be read says nothing."""
    names = frozenset(filter(None, map(product_token, agent_names)))
    ours, everybody = _Groups(), _Groups()
    sitemaps: dict[str, None] = {}
    named: list[str] = []
    closed = True
    for field, value in _fields(body):
        if field == "sitemap":
            if value and len(sitemaps) < _MAX_SITEMAPS:
                sitemaps[value] = None
        elif field == "agent":
            if closed:
                named, closed = [], False
            named.append(_agent(value))
            ours.found = ours.found or named[-1] in names
        else:
            closed = True
            for agent in set(named):
                (ours if agent in names else everybody if agent == "*" else _NOBODY).take(field, value)
    group = ours if ours.found else everybody
    return Rules(group.rules, group.delay_s, tuple(sitemaps))


class _Groups:
    """Rules gathered from all groups that speak to one audience, in the order of the file."""

    def __init__(self) -> None:
        self.found = False
        self.rules: list[tuple[str, str]] = []
        self.delay_s: float | None = None

    def take(self, field: str, value: str) -> None:
        if field == "delay":
            delay_s = _delay(value)
            if delay_s is not None:
                self.delay_s = max(delay_s, self.delay_s or 0.0)
        elif value[:1] in ("/", "*"):
            # Anything else matches no path. "http://elsewhere/" above all, which others take for a pattern.
            self.rules.append((field, value))


class _Nobody(_Groups):
    def take(self, field: str, value: str) -> None:
        """Rules for other robots are not kept."""


_NOBODY = _Nobody()


def _agent(value: str) -> str:
    if value.startswith("*") and (len(value) == 1 or value[1].isspace()):
        return "*"
    return product_token(value)


def _delay(value: str) -> float | None:
    try:
        seconds = float(value)
    except ValueError:
        return None
    return seconds if 0 <= seconds < float("inf") else None


def _fields(body: bytes) -> Iterator[tuple[str, str]]:
    """The lines that mean something: field as `_FIELDS` calls it, and value."""
    for line in _LINE_END.split(_text(body)):
        text = line[:_MAX_LINE].partition("#")[0].strip()
        if not text:
            continue
        name, colon, value = text.partition(":")
        field = _FIELDS.get(" ".join(name.lower().split()))
        if field is None or not colon:
            name, *rest = text.split(None, 1)
            field, value = _FIELDS.get(name.lower()), "".join(rest)
        if field is not None:
            yield field, value.strip()


def _text(body: bytes) -> str:
    """Cut to the limit, at a line's end; UTF-8 unless a byte order mark says UTF-16, with whatever else replaced."""
    if len(body) > MAX_BYTES:
        body = body[:MAX_BYTES].rpartition(b"\n")[0]
    if body.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return body.decode("utf-16", "replace")
    return body.decode("utf-8-sig", "replace")
