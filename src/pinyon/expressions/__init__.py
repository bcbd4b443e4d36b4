r"""JEXL text → checked syntax tree → SQL.

An *expression* is a line an operator wrote: the limit of a host, the delay of a host, a condition on URLs. It is
born as text in a setting and read into a *tree* (parser). Against a *scope*, the names that a row offers, every
construct gets its one *type*, or the whole is refused with the position and the reason (checker). What is left
is written as *SQL* (writer) in the spelling of an engine (dialects); an engine puts it into its query, and the
tree is thrown away. The invariant: nothing is evaluated here, nothing is ever called, and SQL that came out raises
no error whatever a row holds.

The meaning is that of Apache Commons JEXL in its strict mode. A null operand, a division by zero or an overflow
of 64 bits fails the whole expression, and a failure is NULL; a null may be looked at by `== null`, `!= null`,
`empty`, `size`, `??`, `?:` and the condition of `? :`, where a null is not true, and it does not matter behind
a short circuit. What a row decides while JEXL runs is decided here before anything runs, or refused.

| construct | here |
|---|---|
| `41 017 0x1F 10L 1H`, `1.5 .5 1e-7 2D 2F` | 64-bit integers, doubles (F: of the precision of a float) |
| `'text' "text"`, `\' \" \\ \n \t \r \f \b \u00e9` | text; a backslash before anything else stays, as patterns need |
| `true false null`, `2026-09-10T00:00:00Z` | constants; a date is its milliseconds since 1970, as in Nutch |
| `+ - * /` `div` `%` `mod`, unary `- +` | integers divide as integers; booleans count 0 and 1; `+` joins texts |
| `== != < <= > >=`, `eq ne lt le gt ge` | numbers, texts; a text beside a number is read as one; no chains |
| `&& \|\| !`, `and or not` | short-circuit; in a condition of any type, else of booleans only |
| `a ? b : c`, `a ?: b`, `a ?? b` | integer and decimal together are a decimal, text and number are refused |
| `=~ !~` | full match of a quoted pattern (`pinyon.regexes`), or one of `['a', 'b']` |
| `=^ !^ =$ !$` | begins with, ends with |
| `empty x`, `size x` | of a name or a value; size of texts only |
| `x.length() isEmpty() indexOf(t)`, `contains(t) startsWith(t) endsWith(t)` | methods of texts |
| `x.equals(t) equalsIgnoreCase(t) matches(pattern)` | methods of texts |
| `x.trim() toLowerCase() toUpperCase() concat(t) replace(a, b) substring(i) substring(i, j)` | methods of texts |
| `Math.abs ceil exp floor log log10 max min pow round sqrt` | as `java.lang.Math` |
| `name`, `hostdb.name`, `metadata['any key']` | see `pinyon.expressions.scope` |
| `## // /* */` | comments |

Refused: statements, `;`, assignment, functions and lambdas, `new`, other methods, properties, maps, sets, ranges,
other lists, operators on bits, exact decimals (`1B`), templates, annotations, pragmas, `===`, `?.`; and what has
no one type, such as a choice between a text and a number. Known differences from JEXL: an integer beyond 64 bits
fails (JEXL goes on with a larger kind), -0.0 equals 0, texts are counted and ordered by character, not by UTF-16
unit, and the case of letters outside ASCII is the engine's.
"""

from pinyon.expressions.compiling import Compiled, Want, compile, explain
from pinyon.expressions.scope import Name, Scope, host_scope, text_type, text_type_sql, url_scope
from pinyon.expressions.types import Type, widest

__all__ = [
    "Compiled",
    "Name",
    "Scope",
    "Type",
    "Want",
    "compile",
    "explain",
    "host_scope",
    "text_type",
    "text_type_sql",
    "url_scope",
    "widest",
]
