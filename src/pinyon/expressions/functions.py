"""The methods of texts and the functions of `Math` that an expression may call."""

from __future__ import annotations

from dataclasses import dataclass

from pinyon.expressions.types import Type

_I, _T, _B = Type.INTEGER, Type.TEXT, Type.BOOLEAN


@dataclass(frozen=True, slots=True)
class Method:
    """One method of a text: its arguments' types, its result, its template, and whether it can fail itself."""

    arguments: tuple[Type, ...]
    result: Type
    template: str
    fails: bool = False


#: By name, then one for each number of arguments. Indexes count characters from 0, as in Java.
METHODS: dict[str, tuple[Method, ...]] = {
    "contains": (Method((_T,), _B, "contains"),),
    "concat": (Method((_T,), _T, "concat"),),
    "endsWith": (Method((_T,), _B, "ends"),),
    "equals": (Method((_T,), _B, "="),),
    "equalsIgnoreCase": (Method((_T,), _B, "same letters"),),
    "indexOf": (Method((_T,), _I, "index"),),
    "isEmpty": (Method((), _B, "empty text"),),
    "length": (Method((), _I, "length"),),
    "matches": (Method((_T,), _B, "full match"),),
    "replace": (Method((_T, _T), _T, "replace", fails=True),),
    "startsWith": (Method((_T,), _B, "starts"),),
    "substring": (
        Method((_I,), _T, "substring from", fails=True),
        Method((_I, _I), _T, "substring", fails=True),
    ),
    "toLowerCase": (Method((), _T, "lower"),),
    "toUpperCase": (Method((), _T, "upper"),),
    "trim": (Method((), _T, "trim"),),
}


@dataclass(frozen=True, slots=True)
class Function:
    """One function of Math: how many arguments, its result (None: as its arguments), its template."""

    arity: int
    result: Type | None
    template: str


MATH: dict[str, Function] = {
    "abs": Function(1, None, "abs"),
    "ceil": Function(1, Type.DECIMAL, "ceil"),
    "exp": Function(1, Type.DECIMAL, "exp"),
    "floor": Function(1, Type.DECIMAL, "floor"),
    "log": Function(1, Type.DECIMAL, "log"),
    "log10": Function(1, Type.DECIMAL, "log10"),
    "max": Function(2, None, "greater"),
    "min": Function(2, None, "smaller"),
    "pow": Function(2, Type.DECIMAL, "pow"),
    "round": Function(1, Type.INTEGER, "round"),
    "sqrt": Function(1, Type.DECIMAL, "sqrt"),
}
