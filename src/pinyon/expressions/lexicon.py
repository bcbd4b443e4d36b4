"""The words and signs of JEXL: which are spellings of one another, and which are refused, with the reason.

The functions are callbacks of the lexer: a token that is refused is refused as soon as it is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pinyon.expressions.refusal import Refused

if TYPE_CHECKING:
    from lark import Token

#: Words that are operators or constants: the terminal each belongs to, and the sign it stands for.
_WORDS = {
    "and": ("AND", "&&"),
    "or": ("OR", "||"),
    "not": ("NOT", "!"),
    "eq": ("EQUALITY", "=="),
    "ne": ("EQUALITY", "!="),
    "lt": ("RELATION", "<"),
    "le": ("RELATION", "<="),
    "gt": ("RELATION", ">"),
    "ge": ("RELATION", ">="),
    "div": ("PRODUCT", "/"),
    "mod": ("PRODUCT", "%"),
    "empty": ("MEASURE", "empty"),
    "size": ("MEASURE", "size"),
    "true": ("CONSTANT", "true"),
    "false": ("CONSTANT", "false"),
    "null": ("CONSTANT", "null"),
}

_UNSUPPORTED = {
    ";": "statements are not supported, an expression is one value",
    "{": "maps, sets and blocks are not supported",
    "}": "maps, sets and blocks are not supported",
    "`": "templates are not supported, quote text with ' or \"",
    "@": "annotations are not supported",
    "#": "pragmas and registers are not supported, a comment begins with ##",
    "..": "ranges are not supported, write x >= a && x <= b",
    "?.": "safe navigation is not supported",
    "->": "functions are not supported",
    "=>": "functions are not supported",
    "++": "'++' is not supported",
    "--": "'--' is not supported, write - - with a space for the opposite of the opposite",
    "===": "'===' is not supported, write ==",
    "!==": "'!==' is not supported, write !=",
}
_BITS = frozenset({"~", "&", "|", "^", "<<", ">>"})

_STATEMENTS = (
    "var let const if else for while do try catch finally throw return break continue import remove switch case "
    "default"
)
_RESERVED = dict.fromkeys(_STATEMENTS.split(), _UNSUPPORTED[";"]) | {
    "new": "objects cannot be made",
    "function": "functions are not supported",
    "this": "'this' is not supported",
    "instanceof": "'instanceof' is not supported",
    "in": "'in' is not an operator, write x =~ ['a', 'b']",
}


def position(token: Token) -> int:
    """Where the token begins, from 1."""
    return (token.start_pos or 0) + 1


def refuse_sign(token: Token) -> Token:
    """Refuses a sign that JEXL has and we do not."""
    if token in _UNSUPPORTED:
        reason = _UNSUPPORTED[token]
    elif token in _BITS:
        reason = f"operators on bits are not supported ('{token}')"
    else:
        reason = f"assignment is not supported ('{token}'), equality is =="
    raise Refused(position(token), reason)


def typed_word(token: Token) -> Token:
    """A name, or the terminal that the word is another spelling of."""
    if token in _RESERVED:
        raise Refused(position(token), _RESERVED[token])
    if token in _WORDS:
        return token.update(_WORDS[token][0])
    return token


def sign(token: Token) -> str:
    """The operator, however it is spelled."""
    return _WORDS[token][1] if token in _WORDS else str(token)
