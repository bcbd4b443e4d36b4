"""A slow, obvious evaluator of expressions, the answer book for the compiled SQL.

A tree is a tuple `(operator, operand, …)`; `render` writes it as JEXL, `evaluate` computes it value by value.
Null is None, a failure raises `Failed`. Integers are Python's, checked against 64 bits; decimals are floats.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

Tree = tuple[Any, ...]
Row = Mapping[str, Any]


class Failed(Exception):
    """The expression has no value in this row."""


# -- JEXL -------------------------------------------------------------------------------------------------


def render(tree: Tree) -> str:
    operator, *operands = tree
    match operator:
        case "literal":
            return literal(operands[0])
        case "name":
            return str(operands[0])
        case "?":
            test, yes, no = map(render, operands)
            return f"({test} ? {yes} : {no})"
        case "!" | "negative" | "empty" | "size":
            word = "-" if operator == "negative" else operator
            return f"({word} ({render(operands[0])}))"
        case "&&" | "||":
            return "(" + f" {operator} ".join(map(render, operands)) + ")"
        case "is null":
            return f"({render(operands[0])} == null)"
        case "=~":
            return f"({render(operands[0])} =~ {literal(operands[1])})"
        case "in":
            return f"({render(operands[0])} =~ [{', '.join(map(literal, operands[1]))}])"
        case str() if operator.startswith("Math."):
            return f"{operator}({', '.join(map(render, operands))})"
        case str() if operator.startswith("."):
            target, *arguments = map(render, operands)
            return f"({target}){operator}({', '.join(arguments)})"
    left, right = map(render, operands)
    return f"({left} {operator} {right})"


def literal(value: Any) -> str:
    if isinstance(value, str):
        escapes = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\u2028": "\\u2028"}
        return "'" + "".join(escapes.get(char, char) for char in value) + "'"
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    return f"({value!r})" if value < 0 else repr(value)


# -- values -----------------------------------------------------------------------------------------------


def evaluate(tree: Tree, row: Row) -> Any:
    operator, *operands = tree
    match operator:
        case "literal":
            return operands[0]
        case "name":
            return row[operands[0]]
        case "?":
            test = evaluate(operands[0], row)
            return evaluate(operands[1 if test is not None and true(test) else 2], row)
        case "?:":
            value = evaluate(operands[0], row)
            return value if value is not None and true(value) else evaluate(operands[1], row)
        case "??":
            value = evaluate(operands[0], row)
            return value if value is not None else evaluate(operands[1], row)
        case "&&" | "||":
            return short_circuit(operator == "||", operands, row)
        case "is null":
            return evaluate(operands[0], row) is None
        case "empty":
            value = evaluate(operands[0], row)
            return value is None or (not isinstance(value, bool) and value in ("", 0)) or is_nan(value)
        case "size":
            try:
                return len(evaluate(operands[0], row) or "")
            except Failed:
                return 0
        case "=~":
            return re.fullmatch(operands[1], str(needed(evaluate(operands[0], row)))) is not None
        case "in":
            return needed(evaluate(operands[0], row)) in operands[1]
    return apply(operator, [needed(evaluate(operand, row)) for operand in operands])


def needed(value: Any) -> Any:
    if value is None:
        raise Failed
    return value


def short_circuit(decisive: bool, operands: list[Tree], row: Row) -> bool:
    for operand in operands:
        if true(needed(evaluate(operand, row))) is decisive:
            return decisive
    return not decisive


def true(value: Any) -> bool:
    if isinstance(value, str):
        return value not in ("", "false")
    return value != 0 and not is_nan(value)


def is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def apply(operator: str, values: list[Any]) -> Any:
    """An operator over values none of which is null."""
    if operator == "!":
        return not true(values[0])
    if operator.startswith("Math."):
        return math_function(operator[5:], values)
    if operator.startswith("."):
        return method(operator[1:], *values)
    if operator == "negative":
        return calculate("-", 0, values[0]) if isinstance(values[0], int) else -values[0]
    left, right = values
    match operator:
        case "==":
            return equal(left, right)
        case "!=":
            return not equal(left, right)
        case "<":
            return less(left, right)
        case ">":
            return less(right, left)
        case "<=":
            return not less(right, left)
        case ">=":
            return not less(left, right)
        case "=^":
            return left.startswith(str(right))
        case "=$":
            return left.endswith(str(right))
        case "+" if isinstance(left, str) or isinstance(right, str):
            return as_text(left) + as_text(right)
    return calculate(operator, left, right)


def as_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def calculate(operator: str, left: Any, right: Any) -> Any:
    if isinstance(left, float) or isinstance(right, float):
        return calculate_double(operator, float(left), float(right))
    left, right = int(left), int(right)
    if operator in "/%" and right == 0:
        raise Failed
    quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1) if operator in "/%" else 0
    results = {"+": left + right, "-": left - right, "*": left * right, "/": quotient}
    results["%"] = left - quotient * right
    if not -(2**63) <= results[operator] < 2**63:
        raise Failed
    return results[operator]


def calculate_double(operator: str, left: float, right: float) -> float:
    if operator in "/%" and right == 0:
        raise Failed
    match operator:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "/":
            return left / right
    return math.nan if math.isinf(left) or is_nan(left) or is_nan(right) else math.fmod(left, right)


# -- comparisons ------------------------------------------------------------------------------------------


def equal(left: Any, right: Any) -> bool:
    if isinstance(left, bool) or isinstance(right, bool):
        return true(left) == true(right)
    try:
        left, right = beside(left, right), beside(right, left)
    except Failed:
        return False
    return left == right or (is_nan(left) and is_nan(right))


def less(left: Any, right: Any) -> bool:
    left, right = beside(left, right), beside(right, left)
    if is_nan(left) or is_nan(right):
        return is_nan(left) and not is_nan(right)
    return bool(left < right)


def beside(value: Any, other: Any) -> Any:
    """The value as it is compared with the other: a text as a number of the other's kind, integers as decimals."""
    if isinstance(value, str) and not isinstance(other, str):
        number = number_in(value)
        if isinstance(other, float):
            return number
        if is_nan(number):
            return 0
        if number != math.floor(number) or abs(number) >= 9e18:
            raise Failed
        return int(number)
    return float(value) if isinstance(value, int) and isinstance(other, float) else value


def number_in(text: str) -> float:
    if text == "":
        return math.nan
    if not re.fullmatch(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?\s*", text, re.ASCII):
        raise Failed
    return float(text)


# -- calls ------------------------------------------------------------------------------------------------


def math_function(name: str, values: list[Any]) -> Any:
    if name in ("min", "max"):
        kind = float if any(isinstance(value, float) for value in values) else int
        if any(map(is_nan, values)):
            return math.nan
        return kind(min(values) if name == "min" else max(values))
    value = values[0]
    match name:
        case "abs":
            return abs(value) if isinstance(value, float) else calculate("*", value, -1 if value < 0 else 1)
        case "sqrt":
            return math.sqrt(value) if value >= 0 else math.nan
    if math.isinf(value) or is_nan(value):
        if name == "round":
            raise Failed
        return value
    if name == "round":
        if abs(value) >= 9e18:
            raise Failed
        return math.floor(value + 0.5)
    return float(math.floor(value) if name == "floor" else math.ceil(value))


def method(name: str, text: str, *arguments: Any) -> Any:
    match name:
        case "substring":
            first, last = arguments[0], arguments[1] if len(arguments) == 2 else len(text)
            if not 0 <= first <= last <= len(text):
                raise Failed
            return text[first:last]
        case "replace" if arguments[0] == "":
            raise Failed
    methods = {
        "length": lambda: len(text),
        "isEmpty": lambda: text == "",
        "trim": lambda: text.strip("".join(map(chr, range(33)))),
        "toLowerCase": lambda: text.lower(),
        "toUpperCase": lambda: text.upper(),
        "contains": lambda: arguments[0] in text,
        "startsWith": lambda: text.startswith(arguments[0]),
        "endsWith": lambda: text.endswith(arguments[0]),
        "equals": lambda: text == arguments[0],
        "equalsIgnoreCase": lambda: text.lower() == arguments[0].lower(),
        "indexOf": lambda: text.find(arguments[0]),
        "concat": lambda: text + arguments[0],
        "replace": lambda: text.replace(*arguments),
    }
    return methods[name]()
