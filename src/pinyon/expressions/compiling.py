"""The two things one does with an expression: compile it, and look at what was understood."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from pinyon.expressions import tree
from pinyon.expressions.checker import check
from pinyon.expressions.coercions import described
from pinyon.expressions.dialects import DIALECTS, DialectName
from pinyon.expressions.parser import parse
from pinyon.expressions.refusal import Refused
from pinyon.expressions.scope import Scope
from pinyon.expressions.types import Type
from pinyon.expressions.writer import write

Want = Literal["number", "boolean", "text", "any"]


@dataclass(frozen=True, slots=True)
class Compiled:
    """SQL of one row's value, NULL where JEXL gives null or fails; it raises nothing whatever a row holds.

    `type` says what the SQL gives: BIGINT for INTEGER, DOUBLE for DECIMAL, text for TEXT, BOOLEAN; NULL for the
    expression `null`. `names_used` are the names as the scope spells them; without any it is `constant`.
    """

    sql: str
    type: Type
    names_used: frozenset[str]
    constant: bool


def compile(text: str, scope: Scope, *, want: Want = "any", dialect: DialectName = "duckdb") -> Compiled:
    """The expression as SQL; `want` is the kind of result that makes sense to the caller.

    Raises ExpressionError, one line with the position (from 1) and the reason, for whatever cannot be read, is
    not supported, names something unknown (with the nearest known name), or gives another type than wanted.
    """
    try:
        checked = _checked(text, scope, want)
        sql = write(checked, DIALECTS[dialect])
    except Refused as refused:
        raise refused.as_error(text) from None
    names = frozenset(node.text for node in _walk(checked) if isinstance(node, tree.Column))
    type_ = Type.DECIMAL if checked.type is Type.NUMBER else checked.type
    return Compiled(sql, type_, names, constant=not names)


def explain(text: str, scope: Scope) -> str:
    """The checked tree, one construct a line: position, type, and what it is, indented by depth.

    Raises ExpressionError as `compile` does.
    """
    try:
        checked = _checked(text, scope, "any")
    except Refused as refused:
        raise refused.as_error(text) from None
    return "\n".join(_lines(checked, depth=0))


def _checked(text: str, scope: Scope, want: Want) -> tree.Node:
    checked = check(parse(text), scope)
    fits = {
        "number": checked.type.is_number,
        "boolean": checked.type is Type.BOOLEAN,
        "text": checked.type is Type.TEXT,
        "any": True,
    }
    if not fits[want]:
        raise Refused(1, f"the result is {described(checked.type)}, a {want} is needed")
    return checked


def _walk(node: tree.Node) -> Iterator[tree.Node]:
    yield node
    for child in node.children():
        yield from _walk(child)


def _lines(node: tree.Node, depth: int) -> Iterator[str]:
    yield f"{node.position:>4}  {node.type.value:<8}  {'  ' * depth}{_label(node)}"
    for child in node.children():
        yield from _lines(child, depth + 1)


def _label(node: tree.Node) -> str:
    match node:
        case tree.Literal():
            return repr(node.value)
        case tree.Column():
            return f"{node.text}  {node.sql}"
        case tree.Convert():
            return f"as {node.type.value}"
        case tree.Conditional():
            return "? :"
        case tree.ListLiteral():
            return "[ ]"
        case tree.Call():
            return f"{'Math.' if node.target is None else ''}{node.name}()"
        case tree.Prefix() | tree.Binary() | tree.Logical():
            return node.operator
    raise AssertionError(node)
