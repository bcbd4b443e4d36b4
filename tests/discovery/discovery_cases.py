"""Cases as files: an input, and beside it in JSON what was given with it and what is expected of it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pinyon.discovery import Limits, Page, parse_page

DATA = Path(__file__).parent / "data"
URL = "http://site.test/dir/page.html"


@dataclass(frozen=True)
class Case:
    name: str
    body: bytes
    given: dict[str, Any]
    expect: dict[str, Any]


def cases(folder: str) -> list[Case]:
    found = [_case(path) for path in sorted((DATA / folder).glob("*.json"))]
    assert found, f"no cases in {folder}"
    return found


def _case(path: Path) -> Case:
    inputs = [other for other in path.parent.glob(f"{path.stem}.*") if other.suffix != ".json"]
    assert len(inputs) == 1, f"{path} needs one input beside it"
    said = json.loads(path.read_text(encoding="utf-8"))
    return Case(path.stem, inputs[0].read_bytes(), said.get("given", {}), said["expect"])


def page(body: bytes | str, *, limits: Limits | None = None, **given: Any) -> Page:
    """`body` parsed as HTML from URL, unless something else is given."""
    headers: dict[str, Any] = {"url": URL, "content_type": "text/html", "charset": None, "robots_tag": None}
    encoded = body.encode() if isinstance(body, str) else body
    return parse_page(encoded, **(headers | given), limits=limits or Limits())


def urls(body: bytes | str, **given: Any) -> list[str]:
    return [link.url for link in page(body, **given).links]
