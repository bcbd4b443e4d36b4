"""Hypothesis strategies: random expressions in which every type fits."""

from __future__ import annotations

from hypothesis import strategies as st
from jexl_context import ROW
from jexl_evaluator import Tree

from pinyon.expressions import Type

_AWKWARD = ["", "false", "0", "12", "1.5", " 7 ", "nan", "it's", 'say "x"', "back\\slash", "line\nend", "{0}"]
_AWKWARD += ["'; DROP TABLE r; --", "$now :now ?", "%_", "ünïcode 😀", "\u2028", "/*", "\t x\x01", "abcabc"]


def _names(type_: Type) -> st.SearchStrategy[Tree]:
    return st.sampled_from([("name", name) for name, (kind, _) in ROW.items() if kind is type_])


def _literals(values: st.SearchStrategy[object]) -> st.SearchStrategy[Tree]:
    return values.map(lambda value: ("literal", value))


def _node(operators: list[str], *operands: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    return st.tuples(st.sampled_from(operators), *operands)


def integers(depth: int) -> st.SearchStrategy[Tree]:
    whole = st.integers(-20, 20) | st.sampled_from([2**31, 2**53 + 1, 2**63 - 1, 1 - 2**63])
    leaves = _literals(whole) | _names(Type.INTEGER)
    if not depth:
        return leaves
    less, more = depth - 1, integers(depth - 1)
    return st.one_of(
        leaves,
        _node(["+", "-", "*", "/", "%", "??", "?:", "Math.min", "Math.max"], more, more),
        _node(["negative", "Math.abs"], more),
        _node(["?"], conditions(less), more, more),
        _node(["+", "*"], booleans(less), more),
        _node([".length", "size"], texts(less)),
        _node([".indexOf"], texts(less), texts(less)),
        _node(["Math.round"], decimals(less)),
    )


def decimals(depth: int) -> st.SearchStrategy[Tree]:
    finite = st.sampled_from([0.0, 0.1, 0.2, -2.5, 1e-7, 1e300, 5e-324, 83.0]) | st.floats(-1000, 1000)
    leaves = _literals(finite) | _names(Type.DECIMAL)
    if not depth:
        return leaves
    less, more = depth - 1, decimals(depth - 1)
    calculated = ["+", "-", "*", "/", "%", "Math.min", "Math.max"]
    return st.one_of(
        leaves,
        _node([*calculated, "??", "?:"], more, more),
        _node(calculated, integers(less), more),
        _node(calculated, more, integers(less)),
        _node(["negative", "Math.abs", "Math.floor", "Math.ceil", "Math.sqrt"], more),
        _node(["?"], conditions(less), more, more),
    )


def texts(depth: int) -> st.SearchStrategy[Tree]:
    leaves = _literals(st.sampled_from(_AWKWARD) | st.text("ab'\\ 1é", max_size=5)) | _names(Type.TEXT)
    if not depth:
        return leaves
    less, more = depth - 1, texts(depth - 1)
    return st.one_of(
        leaves,
        _node(["+", ".concat", "??", "?:"], more, more),
        _node(["+"], more, integers(less)),
        _node(["+"], booleans(less), more),
        _node([".trim", ".toLowerCase", ".toUpperCase"], more),
        _node([".substring"], more, integers(0)),
        _node([".substring"], more, integers(0), integers(0)),
        _node([".replace"], more, texts(0), texts(0)),
        _node(["?"], conditions(less), more, more),
    )


def booleans(depth: int) -> st.SearchStrategy[Tree]:
    leaves = _literals(st.booleans())
    if not depth:
        return leaves
    less = depth - 1
    number, text, boolean = integers(less) | decimals(less), texts(less), booleans(less)
    compared = ["==", "!=", "<", "<=", ">", ">="]
    patterns = st.sampled_from(["", "d.", "[^/]+", ".*(b|x).*", "a{2,}", r"https?://.*"])
    names = _names(Type.TEXT) | _names(Type.INTEGER)
    return st.one_of(
        _node(compared, number, number),
        _node(compared, text, text),
        _node(compared, _names(Type.TEXT), number),
        _node(compared, number, _names(Type.TEXT)),
        _node(["==", "!="], boolean, boolean | number | text),
        st.lists(boolean, min_size=2, max_size=4).flatmap(
            lambda terms: st.sampled_from(["&&", "||"]).map(lambda operator: (operator, *terms))
        ),
        _node(["!"], conditions(less)),
        _node(["empty", "is null"], number | text | boolean),
        _node(["??", "?:"], boolean, boolean),
        _node(["?"], conditions(less), boolean, boolean),
        _node(
            ["=^", "=$", ".contains", ".startsWith", ".endsWith", ".equals", ".equalsIgnoreCase"], text, text
        ),
        _node([".isEmpty"], text),
        st.tuples(st.just("=~"), names, patterns),
        st.tuples(st.just("in"), text, st.lists(st.sampled_from(_AWKWARD), min_size=1, max_size=3)),
    )


def conditions(depth: int) -> st.SearchStrategy[Tree]:
    """What may stand before `?` or after `!`: a value of any type, mixed under && and || too."""
    anything = booleans(depth) | integers(depth) | decimals(depth) | texts(depth)
    return anything | _node(["&&", "||"], anything, anything)


def values(depth: int) -> st.SearchStrategy[Tree]:
    return integers(depth) | decimals(depth) | texts(depth) | booleans(depth)
