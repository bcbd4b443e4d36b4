"""One pattern, one answer: in DuckDB, in Python's RE2, and in a backtracking engine such as Java's."""

from __future__ import annotations

import re
from collections.abc import Iterator

import duckdb
import pytest
import re2
from hypothesis import given, settings
from hypothesis import strategies as st

from pinyon.regexes import Engine, check_regex, translate


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        yield connection


def _on_duckdb(connection: duckdb.DuckDBPyConnection, function: str, pattern: str, text: str) -> bool:
    translated = translate(pattern, "duckdb")
    row = connection.execute(f"SELECT {function}(?, ?)", [text, translated]).fetchone()
    assert row is not None
    return bool(row[0])


def _backtracking(pattern: str) -> re.Pattern[str]:
    """What is written for Spark, in the spelling of Python's re: both backtrack, and know look-around."""
    translated = translate(pattern, "spark").replace(r"\z", r"\Z")
    return re.compile(re.sub(r"\\x\{(\w+)\}", lambda match: f"\\U{match[1]:0>8}", translated))


@pytest.mark.parametrize(
    ("pattern", "matching", "others"),
    [
        ("", [""], ["a"]),
        (
            "a.b",
            ["a-b", "a\tb", "aéb", "a\U0001f600b"],
            ["ab", "a\nb", "a\rb", "a\x85b", "a\u2028b", "a\u2029b"],
        ),
        ("(?s)a.b", ["a\nb", "a\u2028b", "a-b"], ["ab"]),
        ("a(?s:.)b.", ["a\nbc"], ["a\nb\n"]),
        (r"\d+", ["0123"], ["", "١٢", "1a"]),
        (r"\w+", ["aZ_9"], ["é", "-", ""]),
        (r"\s+", [" \t\n\x0b\f\r"], ["\xa0", "\u2003", "a"]),
        (r"\S\D\W", ["a--", "1b "], ["   ", "aab", "11-"]),
        (r"[\w.-]+@[^@\s]+", ["a.b-c@x"], ["@x", "a@ ", "a@@"]),
        (r"[^\d/]", ["a", "\n"], ["1", "/", ""]),
        (r"[]a]".replace("]a", r"\]a"), ["]", "a"], ["b"]),
        (r"[a\-z]", ["a", "-", "z"], ["b"]),
        ("[-a]|[b-]", ["-", "a", "b"], ["c"]),
        ("(?i)straße", ["STRAßE", "straße"], ["STRASSE", "strasse"]),
        ("(?i)[a-c]k", ["bK", "Ck"], ["b\u212a", "dk"]),
        ("(?i)a|K", ["A", "k"], ["\u212a"]),
        ("[Ss]|a", ["S", "a"], ["\u017f", "A"]),
        ("(?i)[^a]", ["b", "é"], ["a", "A"]),
        ("a(?i)b|c", ["ab", "aB", "c", "C"], ["Ab"]),
        ("(?i:a)b", ["Ab"], ["aB"]),
        ("(?i)a(?-i)b", ["Ab"], ["AB"]),
        ("(a|b)*c{2,3}?", ["cc", "abbacc", "ccc"], ["c", "cccc"]),
        ("x{0}y{2}z{1,}", ["yyz", "yyzzz"], ["xyyz", "yz"]),
        (r".*\bword\b.*", ["word", "a word.", "éword"], ["words", "sword", "word_"]),
        (r"a\Bb\b", ["ab"], []),
        (r"\Aab\z", ["ab"], ["ab\n"]),
        ("^ab$", ["ab"], ["ab\n", "\nab"]),
        (r"\Qa.b*\E+", ["a.b*", "a.b***"], ["axb", "a.b"]),
        (r"\x41\x{1F600}\u00e9\t\.", ["A\U0001f600é\t."], ["a"]),
        (r"\_\/\-\@\~\ ", ["_/-@~ "], []),
        ("(?<year>[0-9]{4})-(?P<month>[0-9]+)", ["2026-11"], ["26-11"]),
        ("é|\U0001f600", ["é", "\U0001f600"], ["e"]),
        ("}|]", ["}", "]"], ["{"]),
        ("|a|", ["", "a"], ["b"]),
        ("#x y", ["#x y"], ["", "#xy"]),
    ],
)
def test_a_pattern_matches_the_whole_text_alike_everywhere(
    connection: duckdb.DuckDBPyConnection, pattern: str, matching: list[str], others: list[str]
) -> None:
    check_regex(pattern)
    expected = {**dict.fromkeys(matching, True), **dict.fromkeys(others, False)}
    compiled, backtracking = re2.compile(translate(pattern, "re2")), _backtracking(pattern)
    for text, answer in expected.items():
        assert _on_duckdb(connection, "regexp_full_match", pattern, text) is answer, text
        assert (compiled.fullmatch(text) is not None) is answer, text
        assert (backtracking.fullmatch(text) is not None) is answer, text


def test_a_pattern_can_also_be_looked_for(connection: duckdb.DuckDBPyConnection) -> None:
    pattern = r"(?i)\.(gif|jpe?g)(\?|$)|^ftp:"
    for text, answer in {
        "http://a/B.GIF": True,
        "a.jpg?x": True,
        "a.gifx": False,
        "ftp:": True,
        "x ftp:": False,
    }.items():
        assert _on_duckdb(connection, "regexp_matches", pattern, text) is answer
        assert (re2.search(translate(pattern, "re2"), text) is not None) is answer


@pytest.mark.parametrize(
    ("pattern", "position", "reason"),
    [
        ("a(?=b)", 4, "look-ahead is not supported"),
        ("a(?!b)", 4, "look-ahead is not supported"),
        ("(?<=a)b", 3, "look-behind is not supported"),
        ("(?<!a)b", 3, "look-behind is not supported"),
        ("(?>a)", 3, "atomic groups are not supported"),
        ("(?#x)", 3, "comments are not supported"),
        ("(?m)^a", 3, "only (?:…), (?<name>…) and the flags i and s are supported"),
        ("(?i", 4, "only (?:…), (?<name>…) and the flags i and s are supported"),
        ("(?--i)", 4, "two '-' in flags"),
        ("(?i)*", 5, "flags cannot be repeated"),
        ("(?<1>a)", 4, "the name of a group is letters and digits, and ends with '>'"),
        ("(?<a", 4, "the name of a group"),
        (r"-.*(/[^/]+)/[^/]+\1/", 18, r"\1: back-references and octal escapes are not supported"),
        (r"\012", 1, r"\0: back-references and octal escapes are not supported"),
        (r"\p{L}", 1, r"\p{…} is not supported"),
        (r"a\Z", 2, r"\Z is not supported"),
        (r"[\b]", 2, r"\b is not supported"),
        ("\\\n", 1, "this escape is not supported"),
        ("a\\", 3, "the pattern ends too early"),
        ("a**", 2, "a repeat of a repeat"),
        ("a*+", 3, "possessive repeats are not supported"),
        ("a|*", 3, "nothing to repeat before '*'"),
        ("(+)", 2, "nothing to repeat before '+'"),
        ("{2}", 1, r"nothing to repeat before '{'; a brace is written \{"),
        ("^*", 2, "a place between characters cannot be repeated"),
        (r"\b{2}", 3, "a place between characters cannot be repeated"),
        ("a{,3}", 2, "a count is {n}, {n,} or {n,m}"),
        ("a{x}", 2, "a count is {n}, {n,} or {n,m}"),
        ("a{2", 2, "a count is {n}, {n,} or {n,m}"),
        ("a{²}", 2, "a count is {n}, {n,} or {n,m}"),
        ("a{3,2}", 2, "a count that ends before it begins"),
        ("a{1001}", 2, "a count above 1000"),
        ("(a{1000}){1000}", 1, "invalid repetition size"),
        ("(a", 1, "'(' is never closed"),
        ("a)", 2, "')' without '('"),
        ("[a", 1, "'[' is never closed"),
        ("[]", 2, r"']' in a class is written \]"),
        ("[[:alpha:]]", 2, r"'[' in a class is written \["),
        ("[a&&b]", 3, "'&&' and '--' in a class"),
        ("[--b]", 2, "'&&' and '--' in a class"),
        ("[z-a]", 2, "a range that ends before it begins"),
        (r"[a-\d]", 2, "a range that ends in a class"),
        (r"[^\d\D]", 1, "a class without any character"),
        (r"\Qabc", 3, r"\Q without \E"),
        (r"\Q\E", 3, r"nothing between \Q and \E"),
        (r"\xZZ", 1, r"a character is written \xHH, \x{H…} or \uHHHH"),
        (r"\x{}", 1, r"a character is written"),
        (r"\x{41", 1, r"a character is written"),
        (r"\x{110000}", 1, "not a character"),
        (r"\ud800", 1, "not a character"),
        ("\ud800", 1, "half of a surrogate pair"),
        ("a" * 4001, 4001, "longer than 4000 characters"),
        ("(" * 51 + ")" * 51, 52, "groups nested deeper than 50"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_what_engines_disagree_on_is_refused_at_its_position(
    pattern: str, position: int, reason: str
) -> None:
    with pytest.raises(ValueError, match="^" + re.escape(f"position {position}: {reason}")):
        check_regex(pattern)


def test_what_is_written_out_is_plain_ascii_without_flags_or_groups() -> None:
    for engine in ("duckdb", "spark", "re2"):
        translated = translate("(?i)(é|k)\x00.", _engine(engine))
        assert translated == r"(?:\x{e9}|(?:K|k))\x{0}[^\x{a}\x{d}\x{85}\x{2028}-\x{2029}]"


def _engine(name: str) -> Engine:
    assert name in ("duckdb", "spark", "re2")
    return name


def _patterns() -> st.SearchStrategy[str]:
    sets = ["[ab]", "[^a]", r"[\w-]", "[A-c]", r"[^\s/]", r"[\d.]"]
    atoms = st.sampled_from([*"abKs1-/ é.^$", r"\d", r"\W", r"\s", r"\b", r"\.", *sets])
    repeats = st.sampled_from(["", "", "*", "+", "?", "{2}", "{1,3}", "*?"])

    def larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        group = st.tuples(st.sampled_from(["(", "(?:", "(?i:", "(?s:"]), inner, repeats)
        return st.one_of(
            group.map(lambda parts: f"{parts[0]}{parts[1]}){parts[2]}"),
            st.tuples(atoms, repeats, inner).map("".join),
            st.tuples(inner, inner).map("|".join),
            inner.map(lambda pattern: f"(?i){pattern}"),
        )

    return st.recursive(atoms, larger, max_leaves=6)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(
    _patterns(),
    st.lists(st.text("abAKks\u017f\u212a1-/ é\n\r\x0b\u2028", max_size=6), min_size=1, max_size=4),
)
def test_random_patterns_answer_alike(
    connection: duckdb.DuckDBPyConnection, pattern: str, texts: list[str]
) -> None:
    try:
        check_regex(pattern)
    except ValueError as refusal:
        assert "repeat" in str(refusal)
        return
    backtracking = _backtracking(pattern)
    for text in texts:
        found = backtracking.search(text) is not None
        assert _on_duckdb(connection, "regexp_matches", pattern, text) is found
        whole = backtracking.fullmatch(text) is not None
        assert _on_duckdb(connection, "regexp_full_match", pattern, text) is whole


@settings(max_examples=500, deadline=None, derandomize=True)
@given(st.text("ab()[]{}|\\^$.*+?-&:=!<>PQEiswdbxu10,é\n", max_size=15) | st.text(max_size=15))
def test_any_pattern_is_accepted_or_refused_and_nothing_else(pattern: str) -> None:
    try:
        check_regex(pattern)
    except ValueError as refusal:
        assert str(refusal).startswith("position ") and str(refusal).isprintable()
        return
    _backtracking(pattern)
