"""What an expression's parts can be: the types, and how they widen."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum


class Type(Enum):
    """The type of a value; a null is of any type.

    Names have one of the first four. `NUMBER` is what a choice between an integer and a decimal gives: JEXL
    decides for each row, SQL needs one type, so it is held as a decimal and refused where the difference shows.
    `LIST` and `NULL` are those of a list literal and of the word null.
    """

    INTEGER = "integer"
    DECIMAL = "decimal"
    TEXT = "text"
    BOOLEAN = "boolean"
    NUMBER = "number"
    LIST = "list"
    NULL = "null"

    @property
    def is_number(self) -> bool:
        return self in (Type.INTEGER, Type.DECIMAL, Type.NUMBER)

    @property
    def is_double(self) -> bool:
        """Whether SQL holds it as a DOUBLE."""
        return self in (Type.DECIMAL, Type.NUMBER)


_WIDTHS = (Type.INTEGER, Type.DECIMAL, Type.TEXT)


def widest(types: Iterable[Type]) -> Type:
    """The one type that holds metadata values of all these types; an integer where there are none."""
    return max(types, key=_WIDTHS.index, default=Type.INTEGER)
