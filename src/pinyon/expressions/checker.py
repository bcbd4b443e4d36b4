"""Names and types: a parsed tree → the tree that SQL is written from, or a refusal.

JEXL decides while it runs; here every construct gets one type before anything runs. What would depend on the
values of a row is refused, but for two coercions that JEXL does row by row and SQL can do as well: a text
beside a number in a comparison, and any value as a condition.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from pinyon.errors import nearest
from pinyon.expressions import literals
from pinyon.expressions.functions import MATH, METHODS, Function
from pinyon.expressions.refusal import Refused, shown
from pinyon.expressions.scope import Scope, quoted_key
from pinyon.expressions.tree import (
    Binary,
    Call,
    Column,
    Conditional,
    Convert,
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
from pinyon.regexes import check_regex

_ARTICLES = {
    Type.INTEGER: "an integer",
    Type.DECIMAL: "a decimal",
    Type.NUMBER: "a number",
    Type.TEXT: "a text",
    Type.BOOLEAN: "a boolean",
    Type.LIST: "a list",
    Type.NULL: "null",
}


def check(node: Node, scope: Scope) -> Node:
    """The tree with every name looked up and every type known. Raises Refused."""
    return _Checker(scope).value(node)


def described(type_: Type) -> str:
    return _ARTICLES[type_]


def _convert(node: Node, to: Type, lenient: bool = False) -> Node:
    """The node as a value of another type; constants are converted here and now."""
    if node.type is to or node.type is Type.NULL:
        return node
    if isinstance(node, Literal) and node.type is Type.INTEGER and to.is_double:
        assert isinstance(node.value, int)
        return replace(node, value=float(node.value), type=Type.DECIMAL)
    return Convert(node, lenient, position=node.position, type=to)


def _numbers_together(types: Iterable[Type]) -> Type:
    """The type of what is calculated from numbers of these types."""
    together = set(types)
    if Type.DECIMAL in together:
        return Type.DECIMAL
    return Type.NUMBER if Type.NUMBER in together else Type.INTEGER


class _Checker:
    def __init__(self, scope: Scope) -> None:
        self.names = scope.names

    # -- values and conditions ----------------------------------------------------------------------------

    def value(self, node: Node) -> Node:
        """The node as something that has a value of its own type."""
        match node:
            case Literal():
                return node
            case Name() | Property() | Index():
                return self.column(node)
            case Prefix():
                return self.prefix(node)
            case Binary():
                return self.binary(node)
            case Logical():
                return self.logical(node)
            case Conditional():
                return self.conditional(node)
            case Call():
                return self.call(node)
            case ListLiteral():
                raise Refused(node.position, "a list stands only to the right of =~ and !~")
        raise AssertionError(node)

    def condition(self, node: Node) -> Node:
        """The node as a boolean, where only that matters: any number or text is true unless 0, NaN, '', 'false'."""
        if isinstance(node, Logical):
            return replace(node, terms=tuple(map(self.condition, node.terms)), type=Type.BOOLEAN)
        return _convert(self.value(node), Type.BOOLEAN)

    def logical(self, node: Logical) -> Node:
        """As a value `a && b` is in JEXL one of the two, so both must be booleans for it to be one."""
        terms = tuple(map(self.value, node.terms))
        for term in terms:
            if term.type is not Type.BOOLEAN:
                raise Refused(
                    term.position,
                    f"{described(term.type)} beside '{node.operator}', whose value would be that: "
                    "compare it with something",
                )
        return replace(node, terms=terms, type=Type.BOOLEAN)

    def prefix(self, node: Prefix) -> Node:
        match node.operator:
            case "!":
                return replace(node, operand=self.condition(node.operand), type=Type.BOOLEAN)
            case "empty":
                return replace(node, operand=self.value(node.operand), type=Type.BOOLEAN)
            case "size":
                operand = self.value(node.operand)
                if operand.type not in (Type.TEXT, Type.NULL):
                    raise Refused(
                        node.position, f"the size of {described(operand.type)}: only texts have one"
                    )
                return replace(node, operand=operand, type=Type.INTEGER)
        return self.sign(node)

    def sign(self, node: Prefix) -> Node:
        operand = self.value(node.operand)
        if not operand.type.is_number:
            raise Refused(node.position, f"'{node.operator}' before {described(operand.type)}")
        if node.operator == "+":
            return operand
        if isinstance(operand, Literal) and isinstance(operand.value, int | float):
            return replace(operand, value=-operand.value, position=node.position)
        return replace(node, operand=operand, type=operand.type)

    # -- two operands -------------------------------------------------------------------------------------

    def binary(self, node: Binary) -> Node:
        match node.operator:
            case "=~" | "!~":
                return self.match(node)
            case "?:" | "??":
                return self.otherwise(node)
        node = replace(node, left=self.value(node.left), right=self.value(node.right))
        match node.operator:
            case "==" | "!=":
                return self.equality(node)
            case "<" | "<=" | ">" | ">=":
                return self.order(node)
            case "=^" | "!^" | "=$" | "!$":
                return self.affix(node)
            case "+" if Type.TEXT in (node.left.type, node.right.type):
                return self.concatenation(node)
        return self.arithmetic(node)

    def arithmetic(self, node: Binary) -> Node:
        left, right = (self.operand(node, side) for side in (node.left, node.right))
        type_ = _numbers_together((left.type, right.type))
        if node.operator == "/" and type_ is Type.NUMBER:
            raise Refused(
                node.position,
                "a division that cuts its result or not, depending on the row: "
                "write 2.0 instead of 2 in the choice before it",
            )
        return replace(node, left=_convert(left, type_), right=_convert(right, type_), type=type_)

    def operand(self, node: Binary, side: Node) -> Node:
        """One side of an arithmetic operator; booleans count as 0 and 1."""
        if side.type is Type.BOOLEAN:
            return _convert(side, Type.INTEGER)
        if not side.type.is_number:
            raise Refused(node.position, f"'{node.operator}' with {described(side.type)}")
        return side

    def concatenation(self, node: Binary) -> Node:
        left, right = (self.as_text(node, side) for side in (node.left, node.right))
        return replace(node, left=left, right=right, type=Type.TEXT)

    def as_text(self, node: Binary, side: Node, booleans: bool = True) -> Node:
        if side.type in (Type.TEXT, Type.INTEGER) or (booleans and side.type is Type.BOOLEAN):
            return _convert(side, Type.TEXT)
        raise Refused(node.position, f"'{node.operator}' with text and {described(side.type)}")

    def affix(self, node: Binary) -> Node:
        if node.left.type is not Type.TEXT:
            raise Refused(node.position, f"'{node.operator}' after {described(node.left.type)}, not a text")
        return replace(node, right=self.as_text(node, node.right, booleans=False), type=Type.BOOLEAN)

    def match(self, node: Binary) -> Node:
        left, right = self.as_text(node, self.value(node.left), booleans=False), node.right
        if isinstance(right, ListLiteral):
            if not right.items:
                raise Refused(right.position, "an empty list holds nothing")
            for item in right.items:
                if item.type is not Type.TEXT or not isinstance(item, Literal):
                    raise Refused(
                        item.position, "a list holds only quoted texts: compare anything else with == and ||"
                    )
        else:
            self.pattern(right)
        return replace(node, left=left, right=right, type=Type.BOOLEAN)

    def pattern(self, node: Node) -> None:
        if not isinstance(node, Literal) or not isinstance(node.value, str):
            raise Refused(node.position, "a pattern is a quoted text")
        try:
            check_regex(node.value)
        except ValueError as error:
            raise Refused(node.position, f"in the pattern, {error}") from None

    def otherwise(self, node: Binary) -> Node:
        left, right = self.one_type(node, self.value(node.left), self.value(node.right))
        return replace(node, left=left, right=right, type=self.type_of_both(left, right))

    def conditional(self, node: Conditional) -> Node:
        yes, no = self.one_type(node, self.value(node.yes), self.value(node.no))
        test = self.condition(node.test)
        return replace(node, test=test, yes=yes, no=no, type=self.type_of_both(yes, no))

    def one_type(self, node: Node, left: Node, right: Node) -> tuple[Node, Node]:
        """Both as values of one type, for a choice between them; null goes with everything."""
        if left.type is right.type or Type.NULL in (left.type, right.type):
            return left, right
        if left.type.is_number and right.type.is_number:
            return _convert(left, Type.NUMBER), _convert(right, Type.NUMBER)
        raise Refused(
            node.position,
            f"a choice between {described(left.type)} and {described(right.type)} has no one type",
        )

    @staticmethod
    def type_of_both(left: Node, right: Node) -> Type:
        types = {left.type, right.type} - {Type.NULL}
        return Type.NULL if not types else types.pop() if len(types) == 1 else Type.NUMBER

    # -- comparisons --------------------------------------------------------------------------------------

    def equality(self, node: Binary) -> Node:
        types = {node.left.type, node.right.type}
        if Type.NULL in types:
            return replace(node, type=Type.BOOLEAN)
        if Type.BOOLEAN in types:
            left, right = _convert(node.left, Type.BOOLEAN), _convert(node.right, Type.BOOLEAN)
            return replace(node, left=left, right=right, type=Type.BOOLEAN)
        return self.comparable(node, lenient=True)

    def order(self, node: Binary) -> Node:
        for side in (node.left, node.right):
            if side.type in (Type.NULL, Type.BOOLEAN):
                hint = ", write not (a > b) if that is meant" if isinstance(side, Prefix) else ""
                raise Refused(node.position, f"'{node.operator}' with {described(side.type)}{hint}")
        return self.comparable(node, lenient=False)

    def comparable(self, node: Binary, lenient: bool) -> Node:
        """Two numbers, two texts, or one of each: then the text is read as a number of the other's kind."""
        left, right = node.left, node.right
        if left.type is not right.type:
            if left.type is Type.TEXT:
                left = self.number_of_text(left, right, lenient)
            elif right.type is Type.TEXT:
                right = self.number_of_text(right, left, lenient)
            type_ = _numbers_together((left.type, right.type))
            left, right = _convert(left, type_), _convert(right, type_)
        return replace(node, left=left, right=right, type=Type.BOOLEAN)

    def number_of_text(self, text: Node, number: Node, lenient: bool) -> Node:
        if number.type is Type.NUMBER:
            raise Refused(text.position, "a text beside a number that may be an integer or a decimal")
        if not (isinstance(text, Literal) and isinstance(text.value, str)):
            return _convert(text, number.type, lenient)
        value = literals.number_in(text.value, text.position)
        if value is None or (number.type is Type.INTEGER and value != int(value)):
            kind = described(number.type)
            raise Refused(text.position, f"'{shown(text.value)}' beside {kind} does not spell one")
        if number.type is Type.INTEGER:
            return replace(text, value=int(value), type=Type.INTEGER)
        return replace(text, value=float(value), type=Type.DECIMAL)

    # -- names --------------------------------------------------------------------------------------------

    def column(self, node: Name | Property | Index) -> Node:
        spelled = self.spelling(node)
        name = self.names.get(spelled)
        if name is None:
            raise self.unknown(node, spelled)
        return Column(spelled, name.sql, name.nullable, position=self.start(node), type=name.type)

    def spelling(self, node: Node) -> str:
        """How the scope would spell a chain of names; refuses what is no such chain."""
        match node:
            case Name():
                return node.text
            case Property():
                return f"{self.spelling(node.target)}.{node.name}"
            case Index(key=Literal(value=str(key))):
                return quoted_key(self.spelling(node.target), key)
            case Index():
                raise Refused(node.position, "between [ and ] stands a quoted metadata key")
        raise Refused(node.position, "only names have properties")

    def start(self, node: Node) -> int:
        while isinstance(node, Property | Index):
            node = node.target
        return node.position

    def unknown(self, node: Name | Property | Index, spelled: str) -> Refused:
        if not isinstance(node, Name) and self.spelling(node.target) in self.names:
            return Refused(node.position, "a value has no properties and no elements here")
        return Refused(self.start(node), f"unknown name '{shown(spelled)}'{nearest(spelled, self.names)}")

    # -- calls --------------------------------------------------------------------------------------------

    def call(self, node: Call) -> Node:
        if node.target is None:
            hint = f", write Math.{node.name}" if node.name in MATH else ""
            raise Refused(node.position, f"there is no function '{node.name}'{hint}")
        if isinstance(node.target, Name) and node.target.text == "Math":
            return self.function(node)
        return self.method(node)

    def method(self, node: Call) -> Node:
        assert node.target is not None
        known = METHODS.get(node.name)
        if known is None:
            raise Refused(
                node.position, f"method '{node.name}' is not supported{nearest(node.name, METHODS)}"
            )
        target = self.value(node.target)
        if target.type is not Type.TEXT:
            raise Refused(
                node.position, f"'{node.name}' of {described(target.type)}: it is a method of texts"
            )
        method = next((m for m in known if len(m.arguments) == len(node.arguments)), None)
        if method is None:
            counts = " or ".join(str(len(m.arguments)) for m in known)
            raise Refused(node.position, f"'{node.name}' takes {counts} arguments, not {len(node.arguments)}")
        arguments = tuple(map(self.value, node.arguments))
        for argument, type_ in zip(arguments, method.arguments, strict=True):
            if argument.type is not type_:
                raise Refused(
                    argument.position,
                    f"'{node.name}' takes {described(type_)} here, not {described(argument.type)}",
                )
        if method.template == "full_match":
            self.pattern(arguments[0])
        return replace(node, target=target, arguments=arguments, type=method.result)

    def function(self, node: Call) -> Node:
        function = MATH.get(node.name)
        if function is None:
            raise Refused(node.position, f"there is no Math.{node.name}{nearest(node.name, MATH)}")
        if len(node.arguments) != function.arity:
            raise Refused(
                node.position, f"Math.{node.name} takes {function.arity} arguments, not {len(node.arguments)}"
            )
        arguments = tuple(map(self.value, node.arguments))
        for argument in arguments:
            if not argument.type.is_number:
                raise Refused(
                    argument.position, f"Math.{node.name} takes numbers, not {described(argument.type)}"
                )
        return self.typed_function(node, function, arguments)

    def typed_function(self, node: Call, function: Function, arguments: tuple[Node, ...]) -> Node:
        together = _numbers_together(argument.type for argument in arguments)
        taken = together if function.result is None else Type.DECIMAL
        converted = tuple(_convert(argument, taken) for argument in arguments)
        return replace(node, target=None, arguments=converted, type=function.result or together)
