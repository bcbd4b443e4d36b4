r"""Regular expressions that mean the same everywhere: a checked subset of RE2 syntax.

A pattern comes from an operator (an expression, a URL filter) and runs in an engine: RE2 inside DuckDB and
Python, `java.util.regex` inside Spark. These disagree in quiet ways: where `.` stops, what `(?i)` does to
letters outside ASCII, on `\s`, `\b`, `$` and `[a&&b]`. So a pattern is read here and written out again in
words that leave an engine nothing to decide; what cannot be written so is refused, with the position.

| written | means |
|---|---|
| `.` | all but the line ends `\n \r U+0085 U+2028 U+2029`, as in Java; everything under `(?s)` |
| `^ \A`, `$ \z` | start and end of the text, never of a line, nor before a final newline |
| `\d \w \s \b` and `\D \W \S \B` | ASCII; `\s` holds the vertical tab, as in Java |
| `(?i)`, `(?s)`, `(?is)`, `(?-i)`, `(?i:…)` | case of ASCII letters only, as in Java |
| `[a-z_]`, `[^/]`, `[\w.-]` | one character; no `&&`, no `[` unless escaped, no POSIX names |
| `* + ? {n} {n,} {n,m}`, and lazy with `?` | n and m up to 1000 |
| `(…)`, `(?:…)`, `(?<name>…)`, `(?P<name>…)` | a group; nothing is captured, a pattern answers yes or no |
| `\xHH`, `\x{H…}`, `\uHHHH`, `\t \n \r \f`, `\Q…\E`, `\` and a sign | that character |

Refused: look-around, back-references, atomic groups, possessive repeats, `\p{…}`, octal escapes, other
flags. Whether a pattern must match the whole text (JEXL's `=~`) or is sought in it (a URL filter) is the
caller's. On RE2 time is linear in the text; Java backtracks, and `(a+)+b` can take it very long.
"""

from __future__ import annotations

from typing import Literal

Engine = Literal["duckdb", "spark", "re2"]

MAX_LENGTH = 4000
MAX_DEPTH = 50
MAX_REPEAT = 1000

_LAST = 0x10FFFF
_Ranges = list[tuple[int, int]]

_SIGNS = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~ ")
_CONTROLS = {"t": 0x09, "n": 0x0A, "r": 0x0D, "f": 0x0C}
_DIGITS: _Ranges = [(0x30, 0x39)]
_WORD: _Ranges = [(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)]
_SPACE: _Ranges = [(0x09, 0x0D), (0x20, 0x20)]
_LINE_ENDS: _Ranges = [(0x0A, 0x0A), (0x0D, 0x0D), (0x85, 0x85), (0x2028, 0x2029)]
_EVERYTHING: _Ranges = [(0, _LAST)]


def _complement(ranges: _Ranges) -> _Ranges:
    """The characters that lie in none of the ranges, which are sorted and apart."""
    starts = [0, *(high + 1 for _, high in ranges)]
    ends = [*(low - 1 for low, _ in ranges), _LAST]
    return [(low, high) for low, high in zip(starts, ends, strict=True) if low <= high]


_CLASSES: dict[str, _Ranges] = {"d": _DIGITS, "w": _WORD, "s": _SPACE}
_CLASSES |= {name.upper(): _complement(ranges) for name, ranges in list(_CLASSES.items())}

# RE2 takes [Kk] for a k of any case, and in `[Kk]|a` that is the Kelvin sign too; with [Ss] it is the long s.
_FOLDED_PAIRS: list[_Ranges] = [[(ord(c), ord(c)), (ord(c) + 32, ord(c) + 32)] for c in "KS"]

# RE2 knows no look-around but an ASCII \b; Java's \b was not ASCII before version 19, but it has look-around.
_JAVA_B = "(?:(?<=[0-9A-Z_a-z])(?![0-9A-Z_a-z])|(?<![0-9A-Z_a-z])(?=[0-9A-Z_a-z]))"
_JAVA_NOT_B = "(?:(?<=[0-9A-Z_a-z])(?=[0-9A-Z_a-z])|(?<![0-9A-Z_a-z])(?![0-9A-Z_a-z]))"
_ANCHORS = {"A": r"\A", "z": r"\z", "b": r"\b", "B": r"\B"}
_JAVA_ANCHORS = {**_ANCHORS, "b": _JAVA_B, "B": _JAVA_NOT_B}

_WHY_NOT = {
    "=": "look-ahead is not supported",
    "!": "look-ahead is not supported",
    "<=": "look-behind is not supported",
    "<!": "look-behind is not supported",
    ">": "atomic groups are not supported",
    "#": "comments are not supported",
}


def check_regex(pattern: str) -> None:
    """Refuses a pattern outside the subset.

    Raises ValueError, "position N: reason", N from 1; the caller knows where the pattern stands and says so.
    """
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        # RE2 itself bounds the size of the compiled program, which repeats of repeats multiply.
        re2.compile(translate(pattern, "re2"), options)
    except re2.error as error:
        reason = error.args[0].decode() if isinstance(error.args[0], bytes) else str(error)
        raise ValueError(f"position 1: {reason.split(':')[0]}") from error


def translate(pattern: str, engine: Engine) -> str:
    """The pattern as `engine` must be given it, in ASCII; it captures nothing and sets no flag.

    The result goes to `regexp_matches` or `regexp_full_match` (DuckDB), `rlike` (Spark, which seeks it
    anywhere), `re2.compile` (Python). Raises ValueError as `check_regex` does, but does not ask RE2 whether
    the whole is small enough.
    """
    return _Translator(pattern, _JAVA_ANCHORS if engine == "spark" else _ANCHORS).run()


def _char(code: int) -> str:
    """One character as every engine reads it literally, inside a class and outside."""
    char = chr(code)
    if char.isascii() and (char.isalnum() or char in " _/:;,%@=<>!\"'"):
        return char
    return "\\" + char if char in _SIGNS else f"\\x{{{code:x}}}"


def _class(ranges: _Ranges, negated: bool = False) -> str:
    """The ranges as one class, or as the character itself if it is only one."""
    if not negated and len(ranges) == 1 and ranges[0][0] == ranges[0][1]:
        return _char(ranges[0][0])
    if not negated and ranges in _FOLDED_PAIRS:
        return f"(?:{chr(ranges[0][0])}|{chr(ranges[1][0])})"
    inside = "".join(_char(low) if low == high else f"{_char(low)}-{_char(high)}" for low, high in ranges)
    return f"[{'^' if negated else ''}{inside}]"


def _merged(ranges: _Ranges) -> _Ranges:
    """The same characters, sorted, overlapping and adjacent ranges joined."""
    merged: _Ranges = []
    for low, high in sorted(ranges):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], high))
        else:
            merged.append((low, high))
    return merged


def _both_cases(ranges: _Ranges) -> _Ranges:
    """The ranges with the other case of each ASCII letter in them."""
    other = list(ranges)
    for first, shift in ((0x41, 0x20), (0x61, -0x20)):
        for low, high in ranges:
            low, high = max(low, first), min(high, first + 25)
            if low <= high:
                other.append((low + shift, high + shift))
    return other


class _Translator:
    """One pass over a pattern: every method reads one construct at `at` and gives its translation."""

    def __init__(self, pattern: str, anchors: dict[str, str]) -> None:
        self.pattern = pattern
        self.anchors = anchors
        self.at = 0
        self.ignore_case = False
        self.dot_all = False

    def run(self) -> str:
        if len(self.pattern) > MAX_LENGTH:
            raise self.refused(f"longer than {MAX_LENGTH} characters", at=MAX_LENGTH)
        translated = self.alternatives(depth=0)
        if self.at < len(self.pattern):
            raise self.refused("')' without '('")
        return translated

    def refused(self, reason: str, at: int | None = None) -> ValueError:
        return ValueError(f"position {(self.at if at is None else at) + 1}: {reason}")

    def peek(self, text: str) -> bool:
        return self.pattern.startswith(text, self.at)

    def take(self, text: str) -> bool:
        """Whether `text` stands here; it is passed over then."""
        if not self.peek(text):
            return False
        self.at += len(text)
        return True

    def next(self) -> str:
        if self.at >= len(self.pattern):
            raise self.refused("the pattern ends too early")
        self.at += 1
        return self.pattern[self.at - 1]

    def one(self, ranges: _Ranges) -> str:
        return _class(_merged(_both_cases(ranges) if self.ignore_case else ranges))

    # -- structure ------------------------------------------------------------------------------------------

    def alternatives(self, depth: int) -> str:
        if depth > MAX_DEPTH:
            raise self.refused(f"groups nested deeper than {MAX_DEPTH}")
        flags = self.ignore_case, self.dot_all
        branches = [self.branch(depth)]
        while self.take("|"):
            branches.append(self.branch(depth))
        self.ignore_case, self.dot_all = flags
        return "|".join(branches)

    def branch(self, depth: int) -> str:
        parts: list[str] = []
        while self.at < len(self.pattern) and self.pattern[self.at] not in "|)":
            if self.take(r"\Q"):
                parts += self.quoted()
            else:
                parts.append(self.atom(depth))
            if parts:
                parts[-1] += self.repeat()
        return "".join(parts)

    def quoted(self) -> list[str]:
        end = self.pattern.find(r"\E", self.at)
        if end < 0:
            raise self.refused(r"\Q without \E")
        text, self.at = self.pattern[self.at : end], end + 2
        if not text:
            raise self.refused(r"nothing between \Q and \E", at=end)
        return [self.one([self.only(char)]) for char in text]

    def atom(self, depth: int) -> str:
        start, char = self.at, self.next()
        match char:
            case "(":
                return self.group(depth)
            case "[":
                return self.char_class()
            case "\\":
                return self.escape()
            case ".":
                return _class(_EVERYTHING) if self.dot_all else _class(_LINE_ENDS, negated=True)
            case "^" | "$":
                return self.anchor("A" if char == "^" else "z")
            case "*" | "+" | "?":
                raise self.refused(f"nothing to repeat before '{char}'", at=start)
            case "{":
                raise self.refused(r"nothing to repeat before '{'; a brace is written \{", at=start)
        return self.one([self.only(char)])

    def only(self, char: str) -> tuple[int, int]:
        if "\ud800" <= char <= "\udfff":
            raise self.refused("half of a surrogate pair", at=self.at - 1)
        return ord(char), ord(char)

    def anchor(self, name: str) -> str:
        if self.at < len(self.pattern) and self.pattern[self.at] in "*+?{":
            raise self.refused("a place between characters cannot be repeated")
        return self.anchors[name]

    def group(self, depth: int) -> str:
        start = self.at - 1
        outer = self.ignore_case, self.dot_all
        if self.take("?") and not self.group_kind():
            return ""
        inside = self.alternatives(depth + 1)
        self.ignore_case, self.dot_all = outer
        if not self.take(")"):
            raise self.refused("'(' is never closed", at=start)
        return f"(?:{inside})"

    def group_kind(self) -> bool:
        """Reads what follows `(?`; False if that was flags for the rest of the group, and its end."""
        for sign, reason in _WHY_NOT.items():
            if self.peek(sign):
                raise self.refused(reason)
        if self.take("P<") or self.take("<"):
            self.group_name()
            return True
        self.flags()
        if self.take(":"):
            return True
        if self.take(")"):
            if self.at < len(self.pattern) and self.pattern[self.at] in "*+?{":
                raise self.refused("flags cannot be repeated")
            return False
        raise self.refused("only (?:…), (?<name>…) and the flags i and s are supported")

    def group_name(self) -> None:
        end = self.pattern.find(">", self.at)
        name = self.pattern[self.at : max(end, 0)]
        if not (name.isascii() and name.isidentifier()):
            raise self.refused("the name of a group is letters and digits, and ends with '>'")
        self.at = end + 1

    def flags(self) -> None:
        value = True
        while self.at < len(self.pattern) and self.pattern[self.at] in "is-":
            match self.next():
                case "i":
                    self.ignore_case = value
                case "s":
                    self.dot_all = value
                case _ if not value:
                    raise self.refused("two '-' in flags", at=self.at - 1)
                case _:
                    value = False

    # -- repeats --------------------------------------------------------------------------------------------

    def repeat(self) -> str:
        """The repeat that follows, or an empty text."""
        start = self.at
        if self.at < len(self.pattern) and self.pattern[self.at] in "*+?":
            repeat = self.next()
        elif self.take("{"):
            repeat = self.counts()
        else:
            return ""
        if self.take("?"):
            repeat += "?"
        elif self.take("+"):
            raise self.refused("possessive repeats are not supported", at=self.at - 1)
        if self.at < len(self.pattern) and self.pattern[self.at] in "*+?{":
            raise self.refused("a repeat of a repeat", at=start)
        return repeat

    def counts(self) -> str:
        start = self.at - 1
        end = self.pattern.find("}", self.at)
        low, comma, high = self.pattern[self.at : max(end, 0)].partition(",")
        if not _is_count(low) or (high and not _is_count(high)):
            raise self.refused(r"a count is {n}, {n,} or {n,m}; a brace is written \{", at=start)
        self.at = end + 1
        if max(int(low), int(high or 0)) > MAX_REPEAT:
            raise self.refused(f"a count above {MAX_REPEAT}", at=start)
        if high and int(low) > int(high):
            raise self.refused("a count that ends before it begins", at=start)
        return f"{{{int(low)}{comma}{int(high) if high else ''}}}"

    # -- characters -----------------------------------------------------------------------------------------

    def escape(self) -> str:
        name = self.pattern[self.at : self.at + 1]
        if name and name in "AzbB":
            self.at += 1
            return self.anchor(name)
        return self.one(self.escaped())

    def escaped(self) -> _Ranges:
        """The characters that an escape stands for, the backslash already read."""
        start, name = self.at - 1, self.next()
        if name in _CLASSES:
            return _CLASSES[name]
        code = self.escaped_char(name, start)
        return [(code, code)]

    def escaped_char(self, name: str, start: int) -> int:
        if name in _SIGNS:
            return ord(name)
        if name in _CONTROLS:
            return _CONTROLS[name]
        if name == "u":
            return self.hex(self.pattern[self.at : self.at + 4], 4, start)
        if name == "x" and self.take("{"):
            end = self.pattern.find("}", self.at)
            code = self.hex(self.pattern[self.at : max(end, 0)], 0, start)
            self.at += 1
            return code
        if name == "x":
            return self.hex(self.pattern[self.at : self.at + 2], 2, start)
        raise self.refused(_escape_reason(name), at=start)

    def hex(self, digits: str, length: int, start: int) -> int:
        """The code point in hexadecimal digits, exactly `length` of them unless that is 0."""
        wrong = (length and len(digits) != length) or not 1 <= len(digits) <= 6
        if wrong or any(d not in "0123456789abcdefABCDEF" for d in digits):
            raise self.refused("a character is written \\xHH, \\x{H…} or \\uHHHH", at=start)
        code = int(digits, 16)
        if code > _LAST or 0xD800 <= code <= 0xDFFF:
            raise self.refused("not a character", at=start)
        self.at += len(digits)
        return code

    def char_class(self) -> str:
        start = self.at - 1
        negated = self.take("^")
        ranges: _Ranges = []
        while not (ranges and self.take("]")):
            if self.at >= len(self.pattern):
                raise self.refused("'[' is never closed", at=start)
            ranges += self.class_item()
        if self.ignore_case:
            ranges = _both_cases(ranges)
        if _merged(ranges) == _EVERYTHING and negated:
            raise self.refused("a class without any character", at=start)
        return _class(_merged(ranges), negated)

    def class_item(self) -> _Ranges:
        start = self.at
        first = self.class_char()
        is_range = self.peek("-") and self.pattern[self.at + 1 : self.at + 2] not in ("]", "")
        if not is_range or len(first) > 1 or first[0][0] != first[0][1]:
            return first
        self.at += 1
        last = self.class_char()
        if len(last) > 1 or last[0][0] != last[0][1]:
            raise self.refused("a range that ends in a class", at=start)
        if first[0][0] > last[0][0]:
            raise self.refused("a range that ends before it begins", at=start)
        return [(first[0][0], last[0][0])]

    def class_char(self) -> _Ranges:
        if self.peek("&&") or self.peek("--"):
            raise self.refused("'&&' and '--' in a class mean other things elsewhere: escape them")
        char = self.next()
        if char == "\\":
            return self.escaped()
        if char in "[]":
            raise self.refused(f"'{char}' in a class is written \\{char}", at=self.at - 1)
        return [self.only(char)]


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 6


def _escape_reason(name: str) -> str:
    if name.isdigit():
        return f"\\{name}: back-references and octal escapes are not supported"
    if name in "pP":
        return "\\p{…} is not supported: Unicode tables differ between engines"
    return f"\\{name} is not supported" if name.isprintable() else "this escape is not supported"
