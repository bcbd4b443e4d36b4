"""How an expression is refused: one line with the text, the position and the reason."""

from __future__ import annotations

from pinyon.errors import ExpressionError


class Refused(Exception):
    """One construct cannot be accepted; `position` counts from 1. Never leaves this package."""

    def __init__(self, position: int, reason: str) -> None:
        super().__init__(reason)
        self.position = position
        self.reason = reason

    def as_error(self, text: str) -> ExpressionError:
        return ExpressionError(f"expression '{shown(text)}': position {self.position}: {self.reason}")


def shown(text: str, limit: int = 120) -> str:
    """A text as messages show it: one line, at most `limit` characters, control characters spelled out."""
    line = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text[:limit])
    return line if len(text) <= limit else line + "…"
