"""The constants of an expression, read as JEXL reads them; each reader takes the token and its position."""

from __future__ import annotations

import math
import re
import struct
from datetime import UTC, datetime

from pinyon.expressions.refusal import Refused

_LONG_MAX = 2**63 - 1
_CONTROLS = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r"}
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|.)")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def integer(token: str, position: int) -> int:
    """`41`, `017` (octal), `0x1F`, each with L or H behind; 64 bits are all there is."""
    digits = token.rstrip("lLhH")
    if digits[:2] in ("0x", "0X"):
        value = int(digits, 16)
    elif digits[0] == "0":
        value = _octal(digits, position)
    else:
        value = int(digits)
    if value > _LONG_MAX:
        raise Refused(position, "an integer above 9223372036854775807")
    return value


def _octal(digits: str, position: int) -> int:
    if not set(digits) <= set("01234567"):
        raise Refused(position, f"'{digits}' begins with 0, so it is octal, and has other digits than 0 to 7")
    return int(digits, 8)


def decimal(token: str, position: int) -> float:
    """`1.5`, `.5`, `1e-7`, each with D or F behind: F keeps no more than a 32-bit float does."""
    if token[-1] in "bB":
        raise Refused(position, "exact decimals are not supported, leave out the B")
    value = float(token.rstrip("dDfF"))
    if token[-1] in "fF":
        try:
            value = struct.unpack("f", struct.pack("f", value))[0]
        except OverflowError:
            value = math.inf
    if math.isinf(value):
        raise Refused(position, "a decimal that is too large")
    return value


def string(token: str, position: int) -> str:
    """The text between the quotes. A backslash before any other character stays, as a pattern needs it."""
    quote = token[0]

    def unescaped(match: re.Match[str]) -> str:
        name = match[1]
        if len(name) == 5:
            return chr(int(name[1:], 16))
        if name == "u":
            raise Refused(position + 1 + match.start(), "four hexadecimal digits follow \\u")
        if name in ("\\", quote):
            return name
        return _CONTROLS.get(name, match[0])

    return _whole(_ESCAPE.sub(unescaped, token[1:-1]), position)


def _whole(text: str, position: int) -> str:
    """The text with the halves of surrogate pairs joined: `\\ud83d\\ude00` is one character."""
    try:
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
    except UnicodeDecodeError:
        raise Refused(position, "half of a surrogate pair") from None
    if "\0" in text:
        raise Refused(position, "not a character that text can hold")
    return text


def date_ms(token: str, position: int) -> int:
    """Milliseconds since 1970 of `2026-09-10T00:00:00Z`."""
    try:
        moment = datetime.strptime(token, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    except ValueError:
        raise Refused(position, f"'{token}' is not a date of the calendar") from None
    return round(moment.timestamp()) * 1000


def number_in(text: str, position: int) -> int | float | None:
    """The number that a text literal spells beside a number, a date in milliseconds; None if it spells none."""
    if _DATE.fullmatch(text):
        return date_ms(text, position)
    return float(text) if _NUMBER.fullmatch(text.strip()) else None
