"""JEXL text → syntax tree, or a refusal with the position and the reason."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pinyon.expressions import literals
from pinyon.expressions.refusal import Refused, shown
from pinyon.expressions.tree import (
    Binary,
    Call,
    Conditional,
    Index,
    ListLiteral,
    Literal,
    Logical,
    Name,
    Node,
    Prefix,
    Property,
)
from pinyon.expressions.types import Type

if TYPE_CHECKING:
    from lark import Lark, Token
    from lark.exceptions import UnexpectedInput

MAX_LENGTH = 10_000
MAX_DEPTH = 100

#: Words that are operators or constants: the terminal each belongs to, and the sign it stands for.
_WORDS = {
    "and": ("AND", "&&"),
    "or": ("OR", "||"),
    "not": ("NOT", "!"),
    "eq": ("EQUALITY", "=="),
    "ne": ("EQUALITY", "!="),
    "lt": ("RELATION", "<"),
    "le": ("RELATION", "<="),
    "gt": ("RELATION", ">"),
    "ge": ("RELATION", ">="),
    "div": ("PRODUCT", "/"),
    "mod": ("PRODUCT", "%"),
    "empty": ("MEASURE", "empty"),
    "size": ("MEASURE", "size"),
    "true": ("CONSTANT", "true"),
    "false": ("CONSTANT", "false"),
    "null": ("CONSTANT", "null"),
}

_UNSUPPORTED = {
    ";": "statements are not supported, an expression is one value",
    "{": "maps, sets and blocks are not supported",
    "}": "maps, sets and blocks are not supported",
    "`": "templates are not supported, quote text with ' or \"",
    "@": "annotations are not supported",
    "#": "pragmas and registers are not supported, a comment begins with ##",
    "..": "ranges are not supported, write x >= a && x <= b",
    "?.": "safe navigation is not supported",
    "->": "functions are not supported",
    "=>": "functions are not supported",
    "++": "'++' is not supported",
    "--": "'--' is not supported, write - - with a space for the opposite of the opposite",
    "===": "'===' is not supported, write ==",
    "!==": "'!==' is not supported, write !=",
}
_BITS = frozenset({"~", "&", "|", "^", "<<", ">>"})

_STATEMENTS = (
    "var let const if else for while do try catch finally throw return break continue import remove switch case "
    "default"
)
_RESERVED = dict.fromkeys(_STATEMENTS.split(), _UNSUPPORTED[";"]) | {
    "new": "objects cannot be made",
    "function": "functions are not supported",
    "this": "'this' is not supported",
    "instanceof": "'instanceof' is not supported",
    "in": "'in' is not an operator, write x =~ ['a', 'b']",
}

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
        transformer=_builder(),
        lexer_callbacks={"UNSUPPORTED": _refuse_sign, "NAME": _typed_word},
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


# -- what is refused --------------------------------------------------------------------------------------


def _position(token: Token) -> int:
    return (token.start_pos or 0) + 1


def _refuse_sign(token: Token) -> Token:
    if token in _UNSUPPORTED:
        reason = _UNSUPPORTED[token]
    elif token in _BITS:
        reason = f"operators on bits are not supported ('{token}')"
    else:
        reason = f"assignment is not supported ('{token}'), equality is =="
    raise Refused(_position(token), reason)


def _typed_word(token: Token) -> Token:
    """A name, or the terminal that the word is another spelling of."""
    if token in _RESERVED:
        raise Refused(_position(token), _RESERVED[token])
    if token in _WORDS:
        return token.update(_WORDS[token][0])
    return token


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
    return Refused(_position(token), f"expected {what}, not '{shown(token, 40)}'")


# -- the tree ---------------------------------------------------------------------------------------------


def _sign(token: Token) -> str:
    return _WORDS[token][1] if token in _WORDS else str(token)


def _binary(parts: list[Any]) -> Node:
    left, sign, right = parts
    return Binary(_sign(sign), left, right, position=_position(sign))


def _logical(parts: list[Any]) -> Node:
    return Logical(_sign(parts[1]), tuple(parts[::2]), position=_position(parts[1]))


def _conditional(parts: list[Any]) -> Node:
    test, sign, yes, no = parts
    return Conditional(test, yes, no, position=_position(sign))


def _prefix(parts: list[Any]) -> Node:
    sign, operand = parts
    return Prefix(_sign(sign), operand, position=_position(sign))


def _property(parts: list[Any]) -> Node:
    target, word = parts
    return Property(target, str(word), position=_position(word))


def _index(parts: list[Any]) -> Node:
    target, bracket, key = parts
    return Index(target, key, position=_position(bracket))


def _method(parts: list[Any]) -> Node:
    target, word, *arguments = parts
    return Call(target, str(word), tuple(*arguments), position=_position(word))


def _function(parts: list[Any]) -> Node:
    name, *arguments = parts
    return Call(None, str(name), tuple(*arguments), position=_position(name))


def _list(parts: list[Any]) -> Node:
    bracket, *items = parts
    return ListLiteral(tuple(*items), position=_position(bracket), type=Type.LIST)


def _literal(parts: list[Token]) -> Node:
    token, position = parts[0], _position(parts[0])
    read, type_ = _LITERALS[str(token) if token.type == "CONSTANT" else token.type]
    return Literal(read(str(token), position), position=position, type=type_)


_LITERALS: dict[str, tuple[Callable[[str, int], Any], Type]] = {
    "INTEGER": (literals.integer, Type.INTEGER),
    "DECIMAL": (literals.decimal, Type.DECIMAL),
    "STRING": (literals.string, Type.TEXT),
    "DATE": (literals.date_ms, Type.INTEGER),
    "true": (lambda *_: True, Type.BOOLEAN),
    "false": (lambda *_: False, Type.BOOLEAN),
    "null": (lambda *_: None, Type.NULL),
}

_RULES: dict[str, Callable[[list[Any]], Any]] = {
    "start": lambda parts: parts[0],
    "arguments": lambda parts: parts,
    "word": lambda parts: parts[0],
    "name": lambda parts: Name(str(parts[0]), position=_position(parts[0])),
    "literal": _literal,
    "list": _list,
    "binary": _binary,
    "logical": _logical,
    "conditional": _conditional,
    "prefix": _prefix,
    "property": _property,
    "index": _index,
    "method": _method,
    "function": _function,
}


def _builder() -> Any:
    """A lark Transformer that makes our nodes while lark parses, so that nothing walks a deep tree."""
    from lark import Transformer

    return type("Builder", (Transformer,), {name: staticmethod(rule) for name, rule in _RULES.items()})()
