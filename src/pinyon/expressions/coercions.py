"""One type for two operands: what JEXL coerces while it runs, decided from the types alone, or refused."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from pinyon.expressions import literals
from pinyon.expressions.refusal import Refused, shown
from pinyon.expressions.tree import Binary, Convert, Literal, Node
from pinyon.expressions.types import Type

_ARTICLES = {
    Type.INTEGER: "an integer",
    Type.DECIMAL: "a decimal",
    Type.NUMBER: "a number",
    Type.TEXT: "a text",
    Type.BOOLEAN: "a boolean",
    Type.LIST: "a list",
    Type.NULL: "null",
}


def described(type_: Type) -> str:
    return _ARTICLES[type_]


def convert(node: Node, to: Type, lenient: bool = False) -> Node:
    """The node as a value of another type; integers that are constants are converted here and now."""
    if node.type is to or node.type is Type.NULL:
        return node
    if isinstance(node, Literal) and node.type is Type.INTEGER and to.is_double:
        assert isinstance(node.value, int)
        return replace(node, value=float(node.value), type=Type.DECIMAL)
    return Convert(node, lenient, position=node.position, type=to)


def calculated_type(types: Iterable[Type]) -> Type:
    """The type of what is calculated from numbers of these types."""
    together = set(types)
    if Type.DECIMAL in together:
        return Type.DECIMAL
    return Type.NUMBER if Type.NUMBER in together else Type.INTEGER


def as_number(side: Node, node: Binary) -> Node:
    """One side of an arithmetic operator; booleans count as 0 and 1."""
    if side.type is Type.BOOLEAN:
        return convert(side, Type.INTEGER)
    if not side.type.is_number:
        raise Refused(node.position, f"'{node.operator}' with {described(side.type)}")
    return side


def as_text(side: Node, node: Binary, booleans: bool = True) -> Node:
    """One side of an operator on texts. Java spells decimals in a way of its own: they are refused."""
    if side.type in (Type.TEXT, Type.INTEGER) or (booleans and side.type is Type.BOOLEAN):
        return convert(side, Type.TEXT)
    raise Refused(node.position, f"'{node.operator}' with text and {described(side.type)}")


def alternatives(node: Node, left: Node, right: Node) -> tuple[Node, Node, Type]:
    """Two values of which a row takes one, and their one type; null goes with everything."""
    if left.type is Type.NULL:
        return left, right, right.type
    if right.type in (left.type, Type.NULL):
        return left, right, left.type
    if left.type.is_number and right.type.is_number:
        return convert(left, Type.NUMBER), convert(right, Type.NUMBER), Type.NUMBER
    raise Refused(
        node.position, f"a choice between {described(left.type)} and {described(right.type)} has no one type"
    )


def comparable(node: Binary, lenient: bool) -> Node:
    """A comparison of two numbers, two texts, or one of each: then the text is read as a number of the other's kind.

    A text of a row that spells no number fails; if `lenient`, it is only not equal.
    """
    left, right = node.left, node.right
    if left.type is not right.type:
        if left.type is Type.TEXT:
            left = _number_in(left, right, lenient)
        elif right.type is Type.TEXT:
            right = _number_in(right, left, lenient)
        type_ = calculated_type((left.type, right.type))
        left, right = convert(left, type_), convert(right, type_)
    return replace(node, left=left, right=right, type=Type.BOOLEAN)


def _number_in(text: Node, number: Node, lenient: bool) -> Node:
    if number.type is Type.NUMBER:
        raise Refused(text.position, "a text beside a number that may be an integer or a decimal")
    if not (isinstance(text, Literal) and isinstance(text.value, str)):
        return convert(text, number.type, lenient)
    value = literals.number_in(text.value, text.position)
    if value is None or (number.type is Type.INTEGER and not float(value).is_integer()):
        reason = f"'{shown(text.value)}' beside {described(number.type)} does not spell one"
        raise Refused(text.position, reason)
    if number.type is Type.INTEGER:
        return replace(text, value=int(value), type=Type.INTEGER)
    return replace(text, value=float(value), type=Type.DECIMAL)
