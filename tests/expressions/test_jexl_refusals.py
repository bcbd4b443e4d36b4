"""What is refused is refused before anything runs: one line with the text, the position and the reason."""

from __future__ import annotations

import inspect

import jexl_context
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pinyon.expressions
from pinyon.errors import ExpressionError, UsageError
from pinyon.expressions import Want, compile
from pinyon.expressions.functions import MATH, METHODS


def _refusal(text: str, want: Want = "any") -> str:
    with pytest.raises(ExpressionError) as refusal:
        compile(text, jexl_context.SCOPE, want=want)
    return str(refusal.value)


@pytest.mark.parametrize(
    ("text", "position", "reason"),
    [
        ("", 1, "the expression is empty"),
        ("fetched ? 1", 12, "expected ':', but the expression ends"),
        ("fetched > ", 11, "expected a value, but the expression ends"),
        ("(fetched", 9, "expected ')'"),
        ("lang =~ ['a'", 13, "expected ']'"),
        ("fetched > > 1", 11, "expected a value, not '>'"),
        ("fetched gone", 9, "expected an operator or the end, not 'gone'"),
        ("1 < 2 < 3", 7, "expected an operator or the end, not '<'"),
        ("lang == 'de", 9, "this text is never closed"),
        ("lang == “de”", 9, "'“' cannot be read"),
        ("fetched = 3", 9, "assignment is not supported ('='), equality is =="),
        ("fetched += 3", 9, "assignment is not supported ('+=')"),
        ("x => 1", 3, "functions are not supported"),
        ("lang?.length()", 5, "safe navigation is not supported"),
        ("fetched === 3", 9, "'===' is not supported, write =="),
        ("fetched & 1", 9, "operators on bits are not supported ('&')"),
        ("fetched > 1; gone", 12, "statements are not supported"),
        ("new Date()", 1, "objects cannot be made"),
        ("lang in ['de']", 6, "'in' is not an operator, write x =~ ['a', 'b']"),
        ("lang instanceof String", 6, "'instanceof' is not supported"),
        ("fetchd > 3", 1, "unknown name 'fetchd', did you mean 'fetched'?"),
        ("Content-Type == 'x'", 1, "unknown name 'Content', did you mean 'Content_Type'?"),
        ("1 + foo.bar.baz", 5, "unknown name 'foo.bar.baz'"),
        ("lang.length", 6, "a value has no properties and no elements here"),
        ("lang['x']", 5, "a value has no properties and no elements here"),
        ("metadata[lang]", 9, "between [ and ] stands a quoted metadata key"),
        ("'x'.y", 1, "only names have properties"),
        ("max(1, 2)", 1, "there is no function 'max', write Math.max"),
        ("Math.maxx(1, 2)", 6, "there is no Math.maxx, did you mean 'max'?"),
        ("Math.max(1)", 6, "Math.max takes 2 arguments, not 1"),
        ("Math.abs('x')", 10, "Math.abs takes numbers, not a text"),
        ("lang.startWith('d')", 6, "method 'startWith' is not supported, did you mean 'startsWith'?"),
        ("lang.getClass()", 6, "method 'getClass' is not supported"),
        ("fetched.length()", 9, "'length' of an integer: it is a method of texts"),
        ("lang.substring()", 6, "'substring' takes 1 or 2 arguments, not 0"),
        ("lang.substring('a')", 16, "'substring' takes an integer here, not a text"),
        ("lang - 1", 6, "'-' with a text"),
        ("lang + score", 6, "'+' with text and a decimal"),
        ("-lang", 1, "'-' before a text"),
        ("null + 1", 6, "'+' with null"),
        ("fetched > null", 9, "'>' with null"),
        ("fetched > true", 9, "'>' with a boolean"),
        ("!fetched > 3", 10, "'>' with a boolean, write not (a > b) if that is meant"),
        ("fetched > 'many'", 11, "'many' beside an integer does not spell one"),
        ("fetched == '1.5'", 12, "'1.5' beside an integer does not spell one"),
        ("gone ? 'a' : 1", 6, "a choice between a text and an integer has no one type"),
        ("lang ?? 1", 6, "a choice between a text and an integer has no one type"),
        ("(gone ? 1 : 2.5) / 2", 18, "a division that cuts its result or not, depending on the row"),
        ("lang < (gone ? 1 : 2.5)", 1, "a text beside a number that may be an integer or a decimal"),
        ("fetched && gone", 1, "an integer beside '&&', whose value would be that: compare it"),
        ("lang =~ url", 9, "a pattern is a quoted text"),
        ("lang =~ ''.trim()", 12, "a pattern is a quoted text"),
        ("lang =~ 'a(?=b)'", 9, "in the pattern, position 4: look-ahead is not supported"),
        ("lang.matches('a**')", 14, "in the pattern, position 2: a repeat of a repeat"),
        ("score =~ '1.*'", 7, "'=~' with text and a decimal"),
        ("fetched =~ [1, 250]", 13, "a list holds only quoted texts: compare anything else with == and ||"),
        ("lang =~ []", 9, "an empty list holds nothing"),
        ("[1, 2]", 1, "a list stands only to the right of =~ and !~"),
        ("fetched =^ '2'", 9, "'=^' after an integer, not a text"),
        ("size fetched", 1, "the size of an integer: only texts have one"),
        ("9223372036854775808", 1, "an integer above 9223372036854775807"),
        ("089", 1, "'089' begins with 0, so it is octal, and has other digits than 0 to 7"),
        ("1e999", 1, "a decimal that is too large"),
        ("1e300F", 1, "a decimal that is too large"),
        ("2.5B", 1, "exact decimals are not supported"),
        ("2026-02-30T00:00:00Z", 1, "'2026-02-30T00:00:00Z' is not a date of the calendar"),
        (r"'\u12'", 2, r"four hexadecimal digits follow \u"),
        (r"'\ud83d'", 1, "half of a surrogate pair"),
        (r"'a\u0000'", 1, "not a character that text can hold"),
        ("'a\0'", 3, "not a character that text can hold"),
        ("'\ud800'", 2, "not a character that text can hold"),
    ],
)
def test_a_refusal_names_the_position_and_the_reason(text: str, position: int, reason: str) -> None:
    message = _refusal(text)
    assert f": position {position}: {reason}" in message
    assert message.startswith("expression '") and message.isprintable()


@pytest.mark.parametrize(
    ("text", "want", "reason"),
    [
        ("score", "boolean", "the result is a decimal, a boolean is needed"),
        ("gone > 3 ? '2' : '6'", "number", "the result is a text, a number is needed"),
        ("gone > 3", "number", "the result is a boolean, a number is needed"),
        ("null", "number", "the result is null, a number is needed"),
        ("fetched", "text", "the result is an integer, a text is needed"),
    ],
)
def test_a_result_of_another_kind_than_wanted_is_refused(text: str, want: Want, reason: str) -> None:
    assert _refusal(text, want).endswith(reason)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("1 +" + " " * 10_000 + "1", "longer than 10000 characters"),
        ("1 + " * 100 + "1", "nested deeper than 100 levels"),
        ("!" * 5000 + "true", "nested deeper than 100 levels"),
        ("lang" + ".trim()" * 200, "nested deeper than 100 levels"),
        ("(" * 4000, "expected a value, but the expression ends"),
        ("[" * 4000 + "]" * 4000, "nested deeper than 100 levels"),
        ("nan < nan ? 1 : " * 60 + "2", None),
        ("(" * 60 + "no_integer" + " ?: no_integer)" * 60, "the SQL would be too long"),
        ("(" * 40 + "no_integer > 1" + " ? no_integer : 1) > 1" * 40, "the SQL would be too long"),
    ],
)
def test_length_depth_and_size_are_bounded(text: str, reason: str | None) -> None:
    if reason is None:
        assert len(compile(text, jexl_context.SCOPE).sql) < 50_000
    else:
        assert reason in _refusal(text)


def test_a_long_expression_is_cut_in_the_message() -> None:
    assert len(_refusal("foo == '" + "x" * 9000 + "'")) < 300


def test_a_refusal_is_a_usage_error() -> None:
    assert issubclass(ExpressionError, UsageError)


_FRAGMENTS = st.sampled_from(
    "( ) [ ] ? : ?: ?? && || ! not and or == != < > =~ !~ =^ + - * / % . , ; = ' \" \\ // ## /* ` @ # { } -> .. 1 "
    "1.5 017 0x 'a' fetched lang nothing null true empty size Math.max .length() new 2026-02-30T00:00:00Z é \n".split(
        " "
    )
)


@settings(max_examples=500, deadline=None, derandomize=True)
@given(st.lists(_FRAGMENTS, max_size=12).map(" ".join) | st.text(max_size=30))
def test_any_text_is_compiled_or_refused_and_nothing_else(text: str) -> None:
    try:
        compile(text, jexl_context.SCOPE)
    except ExpressionError as error:
        assert str(error).isprintable()


def test_the_documentation_names_every_method_and_function() -> None:
    text = inspect.getdoc(pinyon.expressions) or ""
    assert not [name for name in METHODS if f"{name}(" not in text]
    assert not [name for name in MATH if f" {name}" not in text.replace("Math.", " ")]
