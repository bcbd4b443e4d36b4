"""What `docs/generate.py` prints into the pages, a module for each, and the Markdown they share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def code(text: object) -> str:
    return f"`{text}`"


def sentence(text: str) -> str:
    """With a capital and a full stop; code keeps its case."""
    head = text if text.startswith(("`", "'")) else text[:1].upper() + text[1:]
    return head + ("" if text.endswith((".", "…", ":")) else ".")
