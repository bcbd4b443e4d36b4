"""JEXL text → syntax tree, or a refusal with the position and the reason."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING

from pinyon.expressions import lexicon
from pinyon.expressions.builder import builder
from pinyon.expressions.refusal import Refused, shown
from pinyon.expressions.tree import Node

if TYPE_CHECKING:
    from lark import Lark
    from lark.exceptions import UnexpectedInput

MAX_LENGTH = 10_000
MAX_DEPTH = 100

_EXPECTED = {"_COLON": "':'", "_RPAR": "')'", "_RSQB": "']'"}


def parse(text: str) -> Node:
    """The tree of an expression, names and types unchecked.

    Raises Refused for what cannot be read, is not supported, or is too long or too deep.
    """
    from lark.exceptions import UnexpectedInput

    _check_text(text)
    try:
        tree: Node = _lark().parse(text)  # type: ignore[assignment]
    except UnexpectedInput as error:
        raise _explained(error, text) from None
    _check_depth(tree)
    return tree


@functools.cache
def _lark() -> Lark:
    """The parser, built once: importing lark and its tables take as long as a small query."""
    from lark import Lark

    return Lark(
        Path(__file__).with_name("jexl.lark").read_text(encoding="utf-8"),
        parser="lalr",
        lexer="basic",
        transformer=builder(),
        lexer_callbacks={"UNSUPPORTED": lexicon.refuse_sign, "NAME": lexicon.typed_word},
        maybe_placeholders=False,
    )


def _check_text(text: str) -> None:
    if len(text) > MAX_LENGTH:
        raise Refused(MAX_LENGTH + 1, f"longer than {MAX_LENGTH} characters")
    for at, char in enumerate(text):
        if char == "\0" or "\ud800" <= char <= "\udfff":
            raise Refused(at + 1, "not a character that text can hold")


def _check_depth(tree: Node) -> None:
    """Bounds the recursion of everything that walks the tree; itself walks without recursion."""
    stack = [(tree, 1)]
    while stack:
        node, depth = stack.pop()
        if depth > MAX_DEPTH:
            raise Refused(node.position, f"nested deeper than {MAX_DEPTH} levels")
        stack += [(child, depth + 1) for child in node.children()]


def _explained(error: UnexpectedInput, text: str) -> Refused:
    """The refusal for what lark could not go on with."""
    from lark.exceptions import UnexpectedCharacters, UnexpectedToken

    if isinstance(error, UnexpectedCharacters):
        at = error.pos_in_stream or 0
        if text[at] in "'\"":
            return Refused(at + 1, "this text is never closed (or holds a line end)")
        return Refused(at + 1, f"'{shown(text[at])}' cannot be read")
    assert isinstance(error, UnexpectedToken)
    token, accepted = error.token, error.accepts or set()
    expected = next((sign for name, sign in _EXPECTED.items() if name in accepted), "")
    if token.type == "$END":
        if not text.strip():
            return Refused(1, "the expression is empty")
        return Refused(len(text) + 1, f"expected {expected or 'a value'}, but the expression ends")
    what = "a value" if "NAME" in accepted else expected or "an operator or the end"
    return Refused(lexicon.position(token), f"expected {what}, not '{shown(token, 40)}'")
