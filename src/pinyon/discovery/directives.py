"""What a page tells robots: `<meta name="robots">` and the X-Robots-Tag header.

Everything addressed to all robots or to one of our names counts, and the strictest word wins, as search
engines read it. Rules that grant something (`index`, `follow`, `all`) change nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_SEPARATORS = re.compile(r"[\s,;]+")
_AGENT = re.compile(r"[a-z][a-z0-9_-]*|\*")
#: Directives with a value of their own: what stands before their colon is no robot's name.
_VALUED = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})


@dataclass(frozen=True, slots=True)
class Directives:
    noindex: bool
    nofollow: bool


class Audience:
    """Which robots' names are ours: all robots', and the product tokens of `agent_names`."""

    def __init__(self, agent_names: Iterable[str]) -> None:
        self._tokens = frozenset(name.partition("/")[0].strip().lower() for name in agent_names) - {""}

    def meta_is_for_us(self, name: str) -> bool:
        return name == "robots" or name in self._tokens

    def header_is_for_us(self, agent: str) -> bool:
        return agent == "*" or agent == "robots" or agent in self._tokens


def directives(meta_contents: Iterable[str], header: str | None, audience: Audience) -> Directives:
    """The sum of all meta contents (already chosen by name) and of the X-Robots-Tag header.

    Several headers may come as lines of one text; what is addressed to one robot ends with its line.
    """
    words: set[str] = set()
    for content in meta_contents:
        words.update(_SEPARATORS.split(content.lower()))
    for line in (header or "").lower().splitlines():
        words.update(_header_words(line, audience))
    everything = "none" in words
    return Directives(everything or "noindex" in words, everything or "nofollow" in words)


def _header_words(line: str, audience: Audience) -> Iterable[str]:
    """The words of `noindex, ourbot: nofollow, otherbot: none` that are for us."""
    for_us = True
    for part in line.split(","):
        name, colon, rest = part.partition(":")
        name = name.strip()
        if colon and name not in _VALUED and _AGENT.fullmatch(name):
            for_us = audience.header_is_for_us(name)
            part = rest
        if for_us:
            yield from part.split()
