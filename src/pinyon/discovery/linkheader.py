"""The HTTP `Link` header (RFC 8288): `</f.atom>; rel="alternate"; type="application/atom+xml", <…>`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_MAX_CHARS = 32_768
_TARGET = re.compile(r"[\s,]*+<([^>]*)>")
_PARAMETER = re.compile(
    r"\s*+;\s*+(?:([^\s=;,\"<>]++)\s*+(?:=\s*+(?:\"((?:[^\"\\]|\\.)*+)\"|([^\s;,\"]*+)))?)?"
)
_QUOTED_PAIR = re.compile(r"\\(.)")


@dataclass(frozen=True, slots=True)
class HeaderLink:
    """One link of the header: its target as written, and its parameters, names in lower case."""

    target: str
    parameters: dict[str, str]

    @property
    def rels(self) -> list[str]:
        return self.parameters.get("rel", "").lower().split()


def header_links(value: str | None) -> Iterator[HeaderLink]:
    """The links of one or several Link headers joined by commas or lines, in order.

    Links that speak of another page than this one (`anchor`) are left out. What cannot be read ends the list.
    """
    text = (value or "")[:_MAX_CHARS]
    position = 0
    while target := _TARGET.match(text, position):
        parameters, position = _parameters(text, target.end())
        if "anchor" not in parameters:
            yield HeaderLink(target[1].strip(), parameters)


def _parameters(text: str, position: int) -> tuple[dict[str, str], int]:
    """The parameters from `position` on, and where they end. The first of equal names counts."""
    found: dict[str, str] = {}
    while match := _PARAMETER.match(text, position):
        position = match.end()
        name, quoted, token = match.groups()
        if name:
            value = _QUOTED_PAIR.sub(r"\1", quoted) if quoted is not None else token or ""
            found.setdefault(name.lower(), value)
    return found, position
