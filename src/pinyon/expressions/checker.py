"""Names and types: a parsed tree → the tree that SQL is written from, or a refusal.

JEXL decides while it runs; here every construct gets one type before anything runs. What would depend on the
values of a row is refused, but for two coercions that JEXL does row by row and SQL can do as well: a text
beside a number in a comparison, and any value as a condition.
"""

from __future__ import annotations

from dataclasses import replace

from pinyon.errors import nearest
from pinyon.expressions import names
from pinyon.expressions.coercions import (
    alternatives,
    as_number,
    as_text,
    calculated_type,
    comparable,
    convert,
    described,
)
from pinyon.expressions.functions import MATH, METHODS, Function, Method
from pinyon.expressions.refusal import Refused
from pinyon.expressions.scope import Scope
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
from pinyon.regexes import check_regex


def check(node: Node, scope: Scope) -> Node:
    """The tree with every name looked up and every type known. Raises Refused."""
    return _Checker(scope).value(node)


class _Checker:
    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    def value(self, node: Node) -> Node:
        """The node as something that has a value of its own type."""
        match node:
            case Literal():
                return node
            case Name() | Property() | Index():
                return names.column(node, self.scope)
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
        """The node as a boolean, where only that counts: all is true but false, 0, NaN, '' and 'false'."""
        if isinstance(node, Logical):
            return replace(node, terms=tuple(map(self.condition, node.terms)), type=Type.BOOLEAN)
        return convert(self.value(node), Type.BOOLEAN)

    def logical(self, node: Logical) -> Node:
        """As a value `a && b` is in JEXL one of the two, so both must be booleans for it to be one."""
        terms = tuple(map(self.value, node.terms))
        for term in terms:
            if term.type is not Type.BOOLEAN:
                what = f"{described(term.type)} beside '{node.operator}', whose value would be that"
                raise Refused(term.position, f"{what}: compare it with something")
        return replace(node, terms=terms, type=Type.BOOLEAN)

    def conditional(self, node: Conditional) -> Node:
        yes, no, type_ = alternatives(node, self.value(node.yes), self.value(node.no))
        return replace(node, test=self.condition(node.test), yes=yes, no=no, type=type_)

    def prefix(self, node: Prefix) -> Node:
        match node.operator:
            case "!":
                return replace(node, operand=self.condition(node.operand), type=Type.BOOLEAN)
            case "empty":
                return replace(node, operand=self.value(node.operand), type=Type.BOOLEAN)
        operand = self.value(node.operand)
        if node.operator == "size":
            if operand.type not in (Type.TEXT, Type.NULL):
                raise Refused(node.position, f"the size of {described(operand.type)}: only texts have one")
            return replace(node, operand=operand, type=Type.INTEGER)
        return self.sign(node, operand)

    def sign(self, node: Prefix, operand: Node) -> Node:
        if not operand.type.is_number:
            raise Refused(node.position, f"'{node.operator}' before {described(operand.type)}")
        if node.operator == "+":
            return operand
        if isinstance(operand, Literal) and isinstance(operand.value, int | float):
            return replace(operand, value=-operand.value, position=node.position)
        return replace(node, operand=operand, type=operand.type)

    # -- two operands -------------------------------------------------------------------------------------

    def binary(self, node: Binary) -> Node:
        left = self.value(node.left)
        if node.operator in ("=~", "!~"):
            return self.match(node, left)
        node = replace(node, left=left, right=self.value(node.right))
        match node.operator:
            case "?:" | "??":
                left, right, type_ = alternatives(node, node.left, node.right)
                return replace(node, left=left, right=right, type=type_)
            case "==" | "!=":
                return self.equality(node)
            case "<" | "<=" | ">" | ">=":
                return self.order(node)
            case "=^" | "!^" | "=$" | "!$":
                return self.affix(node)
            case "+" if Type.TEXT in (node.left.type, node.right.type):
                left, right = as_text(node.left, node), as_text(node.right, node)
                return replace(node, left=left, right=right, type=Type.TEXT)
        return self.arithmetic(node)

    def arithmetic(self, node: Binary) -> Node:
        left, right = as_number(node.left, node), as_number(node.right, node)
        type_ = calculated_type((left.type, right.type))
        if node.operator == "/" and type_ is Type.NUMBER:
            what = "a division that cuts its result or not, depending on the row"
            raise Refused(node.position, f"{what}: write 2.0 instead of 2 in the choice before it")
        return replace(node, left=convert(left, type_), right=convert(right, type_), type=type_)

    def equality(self, node: Binary) -> Node:
        types = {node.left.type, node.right.type}
        if Type.NULL in types:
            return replace(node, type=Type.BOOLEAN)
        if Type.BOOLEAN in types:
            left, right = convert(node.left, Type.BOOLEAN), convert(node.right, Type.BOOLEAN)
            return replace(node, left=left, right=right, type=Type.BOOLEAN)
        return comparable(node, lenient=True)

    def order(self, node: Binary) -> Node:
        for side in (node.left, node.right):
            if side.type in (Type.NULL, Type.BOOLEAN):
                hint = ", write not (a > b) if that is meant" if isinstance(side, Prefix) else ""
                raise Refused(node.position, f"'{node.operator}' with {described(side.type)}{hint}")
        return comparable(node, lenient=False)

    def affix(self, node: Binary) -> Node:
        if node.left.type is not Type.TEXT:
            raise Refused(node.position, f"'{node.operator}' after {described(node.left.type)}, not a text")
        return replace(node, right=as_text(node.right, node, booleans=False), type=Type.BOOLEAN)

    def match(self, node: Binary, left: Node) -> Node:
        if isinstance(node.right, ListLiteral):
            self.list_of_texts(node.right)
        else:
            self.pattern(node.right)
        return replace(node, left=as_text(left, node, booleans=False), type=Type.BOOLEAN)

    def list_of_texts(self, node: ListLiteral) -> None:
        if not node.items:
            raise Refused(node.position, "an empty list holds nothing")
        for item in node.items:
            if not (isinstance(item, Literal) and item.type is Type.TEXT):
                reason = "a list holds only quoted texts: compare anything else with == and ||"
                raise Refused(item.position, reason)

    def pattern(self, node: Node) -> None:
        if not isinstance(node, Literal) or not isinstance(node.value, str):
            raise Refused(node.position, "a pattern is a quoted text")
        try:
            check_regex(node.value)
        except ValueError as error:
            raise Refused(node.position, f"in the pattern, {error}") from None

    # -- calls --------------------------------------------------------------------------------------------

    def call(self, node: Call) -> Node:
        if node.target is None:
            hint = f", write Math.{node.name}" if node.name in MATH else ""
            raise Refused(node.position, f"there is no function '{node.name}'{hint}")
        if isinstance(node.target, Name) and node.target.text == "Math":
            return self.function(node)
        return self.method(node, node.target)

    def method(self, node: Call, target: Node) -> Node:
        known = METHODS.get(node.name)
        if known is None:
            near = nearest(node.name, METHODS)
            raise Refused(node.position, f"method '{node.name}' is not supported{near}")
        target = self.value(target)
        if target.type is not Type.TEXT:
            raise Refused(
                node.position, f"'{node.name}' of {described(target.type)}: it is a method of texts"
            )
        method = next((m for m in known if len(m.arguments) == len(node.arguments)), None)
        if method is None:
            counts = " or ".join(str(len(m.arguments)) for m in known)
            raise Refused(node.position, f"'{node.name}' takes {counts} arguments, not {len(node.arguments)}")
        arguments = self.arguments(node, method)
        return replace(node, target=target, arguments=arguments, type=method.result)

    def arguments(self, node: Call, method: Method) -> tuple[Node, ...]:
        arguments = tuple(map(self.value, node.arguments))
        for argument, type_ in zip(arguments, method.arguments, strict=True):
            if argument.type is not type_:
                what = f"{described(type_)} here, not {described(argument.type)}"
                raise Refused(argument.position, f"'{node.name}' takes {what}")
        if method.template == "full match":
            self.pattern(arguments[0])
        return arguments

    def function(self, node: Call) -> Node:
        function = MATH.get(node.name)
        if function is None:
            raise Refused(node.position, f"there is no Math.{node.name}{nearest(node.name, MATH)}")
        if len(node.arguments) != function.arity:
            counts = f"{function.arity} arguments, not {len(node.arguments)}"
            raise Refused(node.position, f"Math.{node.name} takes {counts}")
        arguments = tuple(map(self.value, node.arguments))
        for argument in arguments:
            if not argument.type.is_number:
                what = f"numbers, not {described(argument.type)}"
                raise Refused(argument.position, f"Math.{node.name} takes {what}")
        return self.typed_function(node, function, arguments)

    def typed_function(self, node: Call, function: Function, arguments: tuple[Node, ...]) -> Node:
        together = calculated_type(argument.type for argument in arguments)
        taken = together if function.result is None else Type.DECIMAL
        converted = tuple(convert(argument, taken) for argument in arguments)
        return replace(node, target=None, arguments=converted, type=function.result or together)
