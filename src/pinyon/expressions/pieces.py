"""Pieces of SQL that know what their NULL means.

SQL has one NULL, JEXL has two things: a null, which `== null`, `empty`, `??` and a condition may look at, and a
failure (a null operand, a division by zero, an overflow), which ends the whole expression. Both become NULL in
the end. In between every piece knows which of the two its NULL can be, so that `x / 0 ?? 7` stays NULL while
`missing ?? 7` is 7. Where a piece can be both, it carries a second piece of SQL that tells them apart.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Piece:
    """SQL of one node: whether its NULL can be a null of JEXL, a failure, or both; then `failed` says which."""

    sql: str
    nulls: bool = False
    fails: bool = False
    failed: str = ""

    @property
    def is_sure(self) -> bool:
        """Whether it is never NULL."""
        return not (self.nulls or self.fails)

    @property
    def failure(self) -> str:
        """SQL that is true where it failed, false elsewhere; empty if it cannot fail."""
        if not self.fails:
            return ""
        return self.failed if self.nulls else f"({self.sql} IS NULL)"


def unless_failed(sql: str, *operands: Piece) -> Piece:
    """`sql`, never NULL itself, where none of the operands failed: it takes their nulls for what they are."""
    failures = [operand.failure for operand in operands if operand.fails]
    if not failures:
        return Piece(sql)
    return Piece(f"CASE WHEN {' OR '.join(failures)} THEN NULL ELSE {sql} END", fails=True)


def is_null(operand: Piece) -> Piece:
    """`operand == null`"""
    return unless_failed(f"({operand.sql} IS NULL)" if operand.nulls else "false", operand)


def conditional(test: Piece, yes: Piece, no: Piece) -> Piece:
    """`test ? yes : no`: a test that is null, but did not fail, is not true."""
    cases = f"WHEN {test.sql} THEN {yes.sql} ELSE {no.sql} END"
    failed = f"CASE WHEN {test.sql} THEN {yes.failure or 'false'} ELSE {no.failure or 'false'} END"
    if test.fails:
        cases = f"WHEN {test.failure} THEN NULL {cases}"
        failed = f"({test.failure} OR {failed})"
    fails = test.fails or yes.fails or no.fails
    return _choice(f"CASE {cases}", failed, nulls=yes.nulls or no.nulls, fails=fails)


def if_true(left: Piece, truth: str, right: Piece) -> Piece:
    """`left ?: right`; `truth` is the SQL of left as a condition."""
    test = Piece(truth, left.nulls, left.fails, left.failed)
    # Where it is true, left is a value: neither null nor failed.
    return conditional(test, Piece(left.sql), right)


def if_not_null(left: Piece, right: Piece) -> Piece:
    """`left ?? right`"""
    if not left.nulls:
        return left
    sql = f"coalesce({left.sql}, {right.sql})"
    failed = f"({left.sql} IS NULL AND {right.failure})" if right.fails else "false"
    if left.fails:
        sql = f"CASE WHEN {left.failure} THEN NULL ELSE {sql} END"
        failed = f"({left.failure} OR {failed})"
    return _choice(sql, failed, nulls=right.nulls, fails=left.fails or right.fails)


def _choice(sql: str, failed: str, *, nulls: bool, fails: bool) -> Piece:
    return Piece(sql, nulls, fails, failed if nulls and fails else "")


def short_circuit(operator: str, terms: list[Piece]) -> Piece:
    """`a && b && …`: a null term fails, unless a term before it has decided; SQL's AND would not look at the order."""
    *first, last = terms
    fails = not all(term.is_sure for term in terms)
    if all(term.is_sure for term in first):
        word = " AND " if operator == "&&" else " OR "
        return Piece(f"({word.join(term.sql for term in terms)})", fails=fails)
    undecided = "TRUE" if operator == "&&" else "FALSE"
    cases = " ".join(f"WHEN {term.sql} IS NOT {undecided} THEN {term.sql}" for term in first)
    return Piece(f"CASE {cases} ELSE {last.sql} END", fails=fails)
