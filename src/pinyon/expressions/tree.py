"""The syntax tree: what the parser reads, what the checker makes of it, and what SQL is written from.

`position` counts characters from 1, as messages do. The parser leaves `type` at `Type.NULL`, the checker fills
it in, replaces `Property`, `Index` and `Name` by `Column`, and puts a `Convert` wherever JEXL would coerce.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from pinyon.expressions.types import Type


@dataclass(frozen=True, slots=True)
class Node:
    """One construct of an expression, and where it stands in the text."""

    position: int = field(kw_only=True)
    type: Type = field(kw_only=True, default=Type.NULL)

    def children(self) -> Iterator[Node]:
        return iter(())


@dataclass(frozen=True, slots=True)
class Literal(Node):
    """A constant; null is None."""

    value: int | float | str | bool | None


@dataclass(frozen=True, slots=True)
class ListLiteral(Node):
    items: tuple[Node, ...]

    def children(self) -> Iterator[Node]:
        return iter(self.items)


@dataclass(frozen=True, slots=True)
class Name(Node):
    """A name as written, not looked up yet."""

    text: str


@dataclass(frozen=True, slots=True)
class Property(Node):
    """`target.name`: only a longer name after checking."""

    target: Node
    name: str

    def children(self) -> Iterator[Node]:
        yield self.target


@dataclass(frozen=True, slots=True)
class Index(Node):
    """`target[key]`: only a quoted metadata key after checking."""

    target: Node
    key: Node

    def children(self) -> Iterator[Node]:
        yield from (self.target, self.key)


@dataclass(frozen=True, slots=True)
class Column(Node):
    """A name that the scope knows; `nullable` if a row may have no value for it."""

    text: str
    sql: str
    nullable: bool


@dataclass(frozen=True, slots=True)
class Prefix(Node):
    """`operator` is one of `- + ! empty size`, whatever the spelling."""

    operator: str
    operand: Node

    def children(self) -> Iterator[Node]:
        yield self.operand


@dataclass(frozen=True, slots=True)
class Binary(Node):
    """`operator` is the sign, whatever the spelling; `?:` and `??` are such operators too."""

    operator: str
    left: Node
    right: Node

    def children(self) -> Iterator[Node]:
        yield from (self.left, self.right)


@dataclass(frozen=True, slots=True)
class Logical(Node):
    """`&&` or `||` between two and more terms, in order."""

    operator: str
    terms: tuple[Node, ...]

    def children(self) -> Iterator[Node]:
        return iter(self.terms)


@dataclass(frozen=True, slots=True)
class Conditional(Node):
    """`test ? yes : no`"""

    test: Node
    yes: Node
    no: Node

    def children(self) -> Iterator[Node]:
        yield from (self.test, self.yes, self.no)


@dataclass(frozen=True, slots=True)
class Call(Node):
    """A method of `target`, or a function if there is none; `Math.f` is the function `f` after checking."""

    target: Node | None
    name: str
    arguments: tuple[Node, ...]

    def children(self) -> Iterator[Node]:
        if self.target is not None:
            yield self.target
        yield from self.arguments


@dataclass(frozen=True, slots=True)
class Convert(Node):
    """A coercion to `type`. A text that spells no number fails as one; a `lenient` text only equals none."""

    operand: Node
    lenient: bool = False

    def children(self) -> Iterator[Node]:
        yield self.operand
