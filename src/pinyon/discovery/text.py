"""The text of a page, for the search index."""

from __future__ import annotations

from resiliparse.extract.html2text import extract_plain_text
from selectolax.lexbor import LexborHTMLParser, LexborNode

from pinyon.discovery.guard import Markup
from pinyon.discovery.model import Limits

#: Beyond this main text is not looked for: its search is quadratic in the depth (5,000 nested elements take half a
#: second; browsers flatten at 512 as well), and slow on very many elements.
_MAX_DEPTH = 512
_MAX_ELEMENTS = 50_000
#: Fewer tags than this nest less deeply, and cannot make too many elements of formatting that is reopened.
_FEW_TAGS = 500
#: Elements whose content is no text to a reader.
_UNSEEN = ("script", "style", "noscript", "template", "textarea", "iframe", "title")


def html_text(markup: Markup, tree: LexborHTMLParser, limits: Limits) -> str:
    """The text the limits ask for, cut at `text_chars`. Takes elements out of `tree`: the last to look at it.

    Main text has its paragraphs parted by empty lines, all text is words parted by single spaces. Where main text
    cannot be told apart in bounded time, or nothing is left of it, it is all text.
    """
    if limits.text == "none":
        return ""
    text = ""
    if limits.text == "main" and not markup.flat and not _may_take_long(markup, tree):
        text = extract_plain_text(markup.text, main_content=True, list_bullets=False, alt_texts=False).strip()
    return (text or _all_text(tree))[: limits.text_chars]


def _all_text(tree: LexborHTMLParser) -> str:
    """Everything in the body a reader might see.

    From the tree that is there: a sixth of the time resiliparse takes for it, with 999 of 1,000 words the same.
    The others are words with an element inside.
    """
    for tag in _UNSEEN:
        for node in tree.tags(tag):
            node.decompose()
    return " ".join(tree.body.text(separator=" ").split()) if tree.body else ""


def _may_take_long(markup: Markup, tree: LexborHTMLParser) -> bool:
    return markup.utf8.count(b"<") > _FEW_TAGS and _is_too_big(tree.root)


def _is_too_big(root: LexborNode | None) -> bool:
    level = [root] if root else []
    elements = 0
    for _ in range(_MAX_DEPTH):
        level = [child for node in level for child in node.iter()]
        elements += len(level)
        if not level or elements > _MAX_ELEMENTS:
            return elements > _MAX_ELEMENTS
    return True
