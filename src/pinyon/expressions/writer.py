"""A checked tree → SQL text, in the spelling of one dialect."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from pinyon.expressions import pieces
from pinyon.expressions.dialects import Dialect
from pinyon.expressions.functions import MATH, METHODS
from pinyon.expressions.pieces import Piece
from pinyon.expressions.refusal import Refused
from pinyon.expressions.tree import (
    Binary,
    Call,
    Column,
    Conditional,
    Convert,
    ListLiteral,
    Literal,
    Logical,
    Node,
    Prefix,
)
from pinyon.expressions.types import Type

#: Operands are repeated where nulls are told apart: this bounds what nesting can multiply.
MAX_SQL = 200_000


def write(node: Node, dialect: Dialect) -> str:
    """The SQL of a checked tree: NULL where JEXL gives null or fails. Raises Refused if it gets too long."""
    return _Writer(dialect).write(node).sql


class _Writer:
    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect

    def write(self, node: Node) -> Piece:
        piece = self.written(node)
        if len(piece.sql) + len(piece.failed) > MAX_SQL:
            raise Refused(node.position, "too many choices inside one another: the SQL would be too long")
        return piece

    def written(self, node: Node) -> Piece:
        match node:
            case Literal():
                return self.literal(node)
            case Column():
                return Piece(node.sql, nulls=node.nullable)
            case Convert():
                return self.convert(node)
            case Prefix():
                return self.prefix(node)
            case Binary():
                return self.binary(node)
            case Logical():
                return pieces.short_circuit(node.operator, [self.write(term) for term in node.terms])
            case Conditional():
                return pieces.conditional(self.write(node.test), self.write(node.yes), self.write(node.no))
            case Call():
                return self.call(node)
        raise AssertionError(node)

    def strict(self, template: str, *operands: Piece, fails: bool = False) -> Piece:
        """A template over operands none of which may be null: it fails where one is."""
        fails = fails or not all(operand.is_sure for operand in operands)
        return Piece(self.dialect.spell(template, *(operand.sql for operand in operands)), fails=fails)

    # -- leaves -------------------------------------------------------------------------------------------

    def literal(self, node: Literal) -> Piece:
        match node.value:
            case None:
                return Piece("NULL", nulls=True)
            case bool():
                return Piece("true" if node.value else "false")
            case int():
                return Piece(f"CAST({node.value} AS BIGINT)")
            case float():
                return Piece(_double(node.value))
            case str():
                return Piece(self.dialect.quote(node.value))

    def convert(self, node: Convert) -> Piece:
        operand = self.write(node.operand)
        if node.operand.type is Type.TEXT and node.type in (Type.INTEGER, Type.DECIMAL):
            return self.number_in_text(node, operand)
        return self.converted(operand, node.operand.type, node.type)

    def converted(self, operand: Piece, before: Type, to: Type) -> Piece:
        """Keeps a null as it is: the operator around it decides what that means."""
        if before is to or (before.is_double and to.is_double):
            return operand
        if to is Type.BOOLEAN:
            template = "truth double" if before.is_double else f"truth {before.value}"
        elif to is Type.TEXT:
            template = "text"
        else:
            template = f"number {before.value}"
        return replace(operand, sql=self.dialect.spell(template, operand.sql))

    def number_in_text(self, node: Convert, operand: Piece) -> Piece:
        template = "integer in text" if node.type is Type.INTEGER else "decimal in text"
        piece = self.strict(template, operand, fails=True)
        if not node.lenient:
            return piece
        # Only a text that spells no number is a null here; one that is null itself fails.
        return replace(piece, nulls=True, fails=not operand.is_sure, failed=f"({operand.sql} IS NULL)")

    # -- nulls that are looked at -------------------------------------------------------------------------

    def equal_to_text(self, number: Piece, text: Piece) -> Piece:
        """Equality with the number in a text, false where it spells none."""
        number = Piece(number.sql, fails=not number.is_sure)
        return pieces.unless_failed(self.dialect.spell("same", number.sql, text.sql), number, text)

    def empty(self, node: Node, operand: Piece) -> Piece:
        if node.type in (Type.NULL, Type.BOOLEAN):
            return pieces.is_null(operand)
        kind = "double" if node.type.is_double else node.type.value
        sql = self.dialect.spell(f"empty {kind}", operand.sql)
        return pieces.unless_failed(f"coalesce({sql}, true)" if operand.nulls else sql, operand)

    def size(self, operand: Piece, type_: Type) -> Piece:
        """0 for a null, and for a failure too: JEXL's `size` swallows it."""
        if type_ is Type.NULL:
            return Piece("CAST(0 AS BIGINT)")
        sql = self.dialect.spell("length", operand.sql)
        return Piece(sql if operand.is_sure else f"coalesce({sql}, 0)")

    # -- operators ----------------------------------------------------------------------------------------

    def prefix(self, node: Prefix) -> Piece:
        operand = self.write(node.operand)
        match node.operator:
            case "!":
                return self.strict("not", operand)
            case "empty":
                return self.empty(node.operand, operand)
            case "size":
                return self.size(operand, node.operand.type)
        if node.type is Type.INTEGER:
            return self.strict("-", Piece("CAST(0 AS BIGINT)"), operand, fails=True)
        return self.strict("negate double", operand)

    def binary(self, node: Binary) -> Piece:
        match node.operator:
            case "==" | "!=":
                return self.equality(node)
            case "<" | ">" | "<=" | ">=":
                return self.order(node)
            case "=~" | "!~":
                return self.negated(node, self.match(node))
            case "=^" | "!^" | "=$" | "!$":
                template = "starts" if node.operator[1] == "^" else "ends"
                return self.negated(
                    node, self.strict(template, self.write(node.left), self.write(node.right))
                )
            case "?:":
                return self.if_true(node)
            case "??":
                return pieces.if_not_null(self.write(node.left), self.write(node.right))
        return self.arithmetic(node)

    def if_true(self, node: Binary) -> Piece:
        left, right = self.write(node.left), self.write(node.right)
        if node.left.type is Type.NULL:
            return right
        return pieces.if_true(left, self.converted(left, node.left.type, Type.BOOLEAN).sql, right)

    def negated(self, node: Binary, piece: Piece) -> Piece:
        return self.strict("not", piece) if node.operator.startswith("!") else piece

    def equality(self, node: Binary) -> Piece:
        left, right = self.write(node.left), self.write(node.right)
        if node.left.type is Type.NULL:
            equal = pieces.is_null(right)
        elif node.right.type is Type.NULL:
            equal = pieces.is_null(left)
        elif isinstance(node.left, Convert) and node.left.lenient:
            equal = self.equal_to_text(right, left)
        elif isinstance(node.right, Convert) and node.right.lenient:
            equal = self.equal_to_text(left, right)
        else:
            equal = self.strict("=", left, right)
        return self.negated(node, equal)

    def order(self, node: Binary) -> Piece:
        left, right, operator = node.left, node.right, node.operator
        if not (_may_be_nan(left) or _may_be_nan(right)):
            return self.strict(operator, self.write(left), self.write(right))
        # `a > b` is `b < a`, `a <= b` is `not (b < a)`: so there is one comparison that knows about NaN.
        if operator in (">", "<="):
            left, right = right, left
        less = self.less_with_nan(left, right)
        return less if operator in ("<", ">") else self.strict("not", less)

    def less_with_nan(self, left: Node, right: Node) -> Piece:
        """The short forms, which a scan can prune by, hold where the other side is never NULL."""
        less, more = self.write(left), self.write(right)
        if more.is_sure and not _may_be_nan(right):
            return self.strict("< nan left", less, more)
        if less.is_sure and not _may_be_nan(left):
            return self.strict("< nan right", less, more)
        return self.strict("< nan both", less, more)

    def match(self, node: Binary) -> Piece:
        left = self.write(node.left)
        if isinstance(node.right, ListLiteral):
            texts = ", ".join(self.write(item).sql for item in node.right.items)
            return Piece(f"({left.sql} IN ({texts}))", fails=not left.is_sure)
        return Piece(self.dialect.full_match(left.sql, _text(node.right)), fails=not left.is_sure)

    def arithmetic(self, node: Binary) -> Piece:
        left, right = self.write(node.left), self.write(node.right)
        if node.type is Type.TEXT:
            return self.strict("concat", left, right)
        divides = node.operator in "/%"
        safe = " safe" if divides and _is_safe_divisor(node.right) else ""
        if node.type.is_double:
            return self.strict(f"{node.operator} double{safe}", left, right, fails=divides and not safe)
        return self.strict(f"{node.operator}{safe}", left, right, fails=not safe)

    # -- calls --------------------------------------------------------------------------------------------

    def call(self, node: Call) -> Piece:
        arguments = [self.write(argument) for argument in node.arguments]
        if node.target is None:
            return self.function(node, arguments)
        target = self.write(node.target)
        method = next(m for m in METHODS[node.name] if len(m.arguments) == len(arguments))
        if method.template == "full match":
            sql = self.dialect.full_match(target.sql, _text(node.arguments[0]))
            return Piece(sql, fails=not target.is_sure)
        return self.strict(method.template, target, *arguments, fails=method.fails)

    def function(self, node: Call, arguments: Sequence[Piece]) -> Piece:
        function = MATH[node.name]
        template = function.template
        if function.result is None and node.type.is_double:
            template += " double"
        return self.strict(template, *arguments, fails=template in ("abs", "round"))


def _double(value: float) -> str:
    """The shortest decimal that reads as this double; the exponent keeps engines from a DECIMAL type."""
    assert math.isfinite(value)
    digits = repr(value)
    sql = digits if "e" in digits else f"{digits}e0"
    return f"({sql})" if sql.startswith("-") else sql


def _text(node: Node) -> str:
    assert isinstance(node, Literal) and isinstance(node.value, str)
    return node.value


def _is_safe_divisor(node: Node) -> bool:
    """A constant that can neither be zero nor overflow."""
    return isinstance(node, Literal) and node.value not in (0, -1)


def _may_be_nan(node: Node) -> bool:
    if not node.type.is_double or isinstance(node, Literal):
        return False
    return not (isinstance(node, Convert) and node.operand.type is Type.INTEGER)
