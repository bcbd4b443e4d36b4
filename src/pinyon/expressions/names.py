"""Chains of names looked up in a scope: `fetched`, `hostdb.fetched`, `metadata['Content-Type']`."""

from __future__ import annotations

from pinyon.errors import nearest
from pinyon.expressions.refusal import Refused, shown
from pinyon.expressions.scope import Scope, quoted_key
from pinyon.expressions.tree import Column, Index, Literal, Name, Node, Property


def column(node: Name | Property | Index, scope: Scope) -> Column:
    """What the chain stands for; refused with the nearest known name if it stands for nothing."""
    spelled = _spelling(node)
    name = scope.names.get(spelled)
    if name is None:
        raise _unknown(node, spelled, scope)
    return Column(spelled, name.sql, name.nullable, position=_start(node), type=name.type)


def _spelling(node: Node) -> str:
    """How a scope spells the chain; refuses what is no chain of names."""
    match node:
        case Name():
            return node.text
        case Property():
            return f"{_spelling(node.target)}.{node.name}"
        case Index(key=Literal(value=str(key))):
            return quoted_key(_spelling(node.target), key)
        case Index():
            raise Refused(node.position, "between [ and ] stands a quoted metadata key")
    raise Refused(node.position, "only names have properties")


def _start(node: Node) -> int:
    while isinstance(node, Property | Index):
        node = node.target
    return node.position


def _unknown(node: Name | Property | Index, spelled: str, scope: Scope) -> Refused:
    if not isinstance(node, Name) and _spelling(node.target) in scope.names:
        return Refused(node.position, "a value has no properties and no elements here")
    return Refused(_start(node), f"unknown name '{shown(spelled)}'{nearest(spelled, scope.names)}")
