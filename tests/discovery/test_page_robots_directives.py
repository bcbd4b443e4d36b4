"""What pages tell robots: every spelling of it is obeyed, and what is meant for others is not."""

from __future__ import annotations

import pytest
from discovery_cases import page

_LINKS = "<a href=1>1</a><a href=2>2</a><a href=2>2</a>"

_CONTENTS = [
    ("noindex", True, False),
    ("nofollow", False, True),
    ("none", True, True),
    ("NONE", True, True),
    ("noindex,nofollow", True, True),
    ("NoIndex , NoFollow", True, True),
    ("noindex nofollow", True, True),
    ("index;nofollow", False, True),
    ("all", False, False),
    ("index, follow", False, False),
    ("noarchive, max-snippet:-1", False, False),
    ("nofollowing", False, False),
    ("", False, False),
]


@pytest.mark.parametrize("name", ["robots", "ROBOTS", " Robots "])
@pytest.mark.parametrize(("content", "noindex", "nofollow"), _CONTENTS)
def test_a_meta_element_is_obeyed_in_any_case(name: str, content: str, noindex: bool, nofollow: bool) -> None:
    parsed = page(f'<META NAME="{name}" CONTENT="{content}">{_LINKS}')
    assert (parsed.noindex, parsed.nofollow) == (noindex, nofollow)


@pytest.mark.parametrize(("content", "noindex", "nofollow"), [c for c in _CONTENTS if ";" not in c[0]])
def test_the_header_says_the_same_as_the_meta_element(content: str, noindex: bool, nofollow: bool) -> None:
    parsed = page(_LINKS, robots_tag=content)
    assert (parsed.noindex, parsed.nofollow) == (noindex, nofollow)


def test_under_nofollow_no_link_is_listed_and_all_are_counted() -> None:
    parsed = page(f"<meta name=robots content=nofollow>{_LINKS}")
    assert (parsed.links, parsed.links_dropped) == ([], 2)


def test_under_noindex_no_text_is_kept_but_links_are() -> None:
    parsed = page(f"<meta name=robots content=noindex><p>words{_LINKS}")
    assert (parsed.text, len(parsed.links)) == ("", 2)


@pytest.mark.parametrize(
    ("name", "obeyed"),
    [
        ("pinyon", True),
        ("PINYON", True),
        ("ourbot", True),
        ("googlebot", False),
        ("pinyonx", False),
        ("x", False),
    ],
)
def test_a_meta_element_for_one_robot_is_for_that_robot(name: str, obeyed: bool) -> None:
    parsed = page(f"<meta name={name} content=noindex>", agent_names=["Pinyon/1.0", "ourbot"])
    assert parsed.noindex is obeyed


@pytest.mark.parametrize(
    ("header", "noindex", "nofollow"),
    [
        ("pinyon: noindex", True, False),
        ("Pinyon : NOINDEX, NOFOLLOW", True, True),
        ("otherbot: none", False, False),
        ("otherbot: noindex, nofollow", False, False),
        ("nofollow, otherbot: noindex", False, True),
        ("otherbot: noindex, pinyon: nofollow", False, True),
        ("otherbot: noindex\nnofollow", False, True),
        ("*: noindex", True, False),
        ("unavailable_after: 25 Jun 2026 15:00:00 PST, noindex", True, False),
        ("unavailable_after: Thu, 25 Jun 2026 15:00:00 GMT, nofollow", False, True),
        ("max-snippet: 20, nofollow", False, True),
        ("max-image-preview:large,noindex", True, False),
        (":::,,: , noindex", True, False),
    ],
)
def test_a_header_for_one_robot_is_for_that_robot(header: str, noindex: bool, nofollow: bool) -> None:
    parsed = page("x", robots_tag=header, agent_names=["pinyon"])
    assert (parsed.noindex, parsed.nofollow) == (noindex, nofollow)


def test_the_strictest_of_several_words_wins() -> None:
    body = "<meta name=robots content=index><meta name=robots content=nofollow><meta name=pinyon content=all>"
    parsed = page(body, robots_tag="noindex", agent_names=["pinyon"])
    assert (parsed.noindex, parsed.nofollow) == (True, True)


@pytest.mark.parametrize("content_type", ["text/plain", "application/pdf", "application/rss+xml"])
def test_the_header_counts_for_every_type(content_type: str) -> None:
    parsed = page("words", content_type=content_type, robots_tag="none")
    assert (parsed.noindex, parsed.nofollow, parsed.text) == (True, True, "")
