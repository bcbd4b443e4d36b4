"""Whole pages: each file gives what stands beside it."""

from __future__ import annotations

from dataclasses import asdict

import pytest
from discovery_cases import Case, cases, page

from pinyon.discovery import Page


def _as_json(parsed: Page) -> dict[str, object]:
    fields = asdict(parsed)
    fields["links"] = [[link.url, link.anchor, link.rel] for link in parsed.links]
    fields["feeds"] = [[feed.url, feed.title, feed.type] for feed in parsed.feeds]
    return fields


@pytest.mark.parametrize("case", cases("pages"), ids=lambda case: case.name)
def test_a_page_gives_what_stands_beside_it(case: Case) -> None:
    got = _as_json(page(case.body, **case.given))
    assert {name: got[name] for name in case.expect} == case.expect
