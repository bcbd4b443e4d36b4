"""The checks of a URL filter as conditions in DuckDB's SQL: true where `UrlFilter` finds the same of a row.

`url` and `host` are the names of columns. A condition may be NULL where it is not true.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pinyon.regexes import translate
from pinyon.urls.hosts import HostPatterns

#: More names than these are joined (hashed): a list in an expression is compared one by one.
_COMPARED = 32


def literal(text: str) -> str:
    """A text as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"


def has_scheme(schemes: Sequence[str], url: str) -> str:
    """Also of a URL that was never normalised (an imported one): parsers take spaces in front and any case."""
    start = f"lower(ltrim({url}))"
    return " OR ".join(f"starts_with({start}, {literal(scheme + ':')})" for scheme in schemes) or "false"


def found(pattern: str, url: str) -> str:
    return f"regexp_matches({url}, {literal(translate(pattern, 'duckdb'))})"


def has_ending(suffixes: Sequence[str], url: str) -> str:
    escaped = "|".join("".join(c if c.isalnum() else f"\\{c}" for c in suffix) for suffix in suffixes)
    return found(rf"^[^/?]*//[^/?]*/(?:[^?]*/)?[^/?]*\.(?i:{escaped})(?:\?|$)", url)


def repeats(most: int, url: str) -> str:
    """Segments counted only where there are slashes enough for them."""
    path = f"str_split(split_part({url}, '?', 1), '/')"
    counted = f"map_values(list_aggregate(list_filter({path}[4:], lambda s: s <> ''), 'histogram'))"
    return (
        f"length({url}) - length(replace({url}, '/', '')) >= {3 + most} AND {path}[2] = '' "
        f"AND coalesce(list_max({counted}), 0) > {most}"
    )


def is_among(patterns: HostPatterns, host: str) -> str:
    hosts, domains = patterns.parts()
    tests = [_is_one_of(hosts, host)] if hosts else []
    if len(domains) <= _COMPARED:
        tests += [f"{host} = {literal(d)} OR ends_with({host}, {literal('.' + d)})" for d in domains]
    else:
        for labels, group in _by_labels(domains):
            ending = f"array_to_string(str_split({host}, '.')[-{labels}:], '.')"
            tests.append(_is_one_of(group, ending))
    return " OR ".join(tests)


def _by_labels(domains: Iterable[str]) -> list[tuple[int, list[str]]]:
    """The domains by how many labels they have: a host lies in one of them if its last labels are one."""
    groups: dict[int, list[str]] = {}
    for domain in domains:
        groups.setdefault(domain.count(".") + 1, []).append(domain)
    return sorted(groups.items())


def _is_one_of(names: Sequence[str], value: str) -> str:
    listed = ", ".join(literal(name) for name in names)
    return f"{value} IN ({listed})" if len(names) <= _COMPARED else f"{value} IN (SELECT unnest([{listed}]))"
