"""The grammar's rules → nodes of our tree, made while lark parses, so that nothing walks a deep tree of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pinyon.expressions import literals
from pinyon.expressions.lexicon import position, sign
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
    from lark import Token


def _binary(parts: list[Any]) -> Node:
    left, operator, right = parts
    return Binary(sign(operator), left, right, position=position(operator))


def _logical(parts: list[Any]) -> Node:
    return Logical(sign(parts[1]), tuple(parts[::2]), position=position(parts[1]))


def _conditional(parts: list[Any]) -> Node:
    test, mark, yes, no = parts
    return Conditional(test, yes, no, position=position(mark))


def _prefix(parts: list[Any]) -> Node:
    operator, operand = parts
    return Prefix(sign(operator), operand, position=position(operator))


def _property(parts: list[Any]) -> Node:
    target, word = parts
    return Property(target, str(word), position=position(word))


def _index(parts: list[Any]) -> Node:
    target, bracket, key = parts
    return Index(target, key, position=position(bracket))


def _method(parts: list[Any]) -> Node:
    target, word, *arguments = parts
    return Call(target, str(word), tuple(*arguments), position=position(word))


def _function(parts: list[Any]) -> Node:
    name, *arguments = parts
    return Call(None, str(name), tuple(*arguments), position=position(name))


def _list(parts: list[Any]) -> Node:
    bracket, *items = parts
    return ListLiteral(tuple(*items), position=position(bracket), type=Type.LIST)


def _literal(parts: list[Token]) -> Node:
    token, at = parts[0], position(parts[0])
    read, type_ = _LITERALS[str(token) if token.type == "CONSTANT" else token.type]
    return Literal(read(str(token), at), position=at, type=type_)


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
    "name": lambda parts: Name(str(parts[0]), position=position(parts[0])),
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


def builder() -> Any:
    """A lark Transformer with these rules."""
    from lark import Transformer

    return type("Builder", (Transformer,), {name: staticmethod(rule) for name, rule in _RULES.items()})()
