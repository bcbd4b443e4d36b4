"""Which links may bring a URL in: how far from its seed it lies, and whether it stays in the seed's scope.

A seed says so in its metadata, which its links inherit: `max_depth=3`, and `scope=prefix`, `host` or `domain`, with
`+N` for N links out of it. What a page inherits names the scope itself (`host:www.example.org+1`) and, where it lies
outside, the links it took to get there (`scope_hops=1`). A seed that redirects has the scope of where it ends.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from pinyon.errors import SettingError
from pinyon.settings import Db

#: Metadata keys that are understood here; the last one is what Nutch calls it (scoring-depth).
KEYS = ("scope", "max_depth", "_maxdepth_")

#: Deeper than a row can say.
_NO_DEPTH_LIMIT = 65_536

_SCOPE = re.compile(r"(?:prefix|host|domain)(?:\+\d{1,4})?")
_DEPTH = "l.from_depth + CASE WHEN l.moved THEN 0 ELSE 1 END"


def check_scope(text: str) -> str:
    """`text` if it is a scope; `SettingError` if not."""
    if not _SCOPE.fullmatch(text):
        raise SettingError(
            f"db.scope = '{text}': wanted prefix, host or domain, and +N for N links out of it"
        )
    return text


def fragments(db: Db, known_keys: Collection[str], inherited: str) -> dict[str, str]:
    """`placed_links`, `allowed` and `inherited`.

    `known_keys` are the metadata keys ever seen in the crawldb: scopes and depths that nobody gave cost nothing.
    """
    depths = [f"TRY_CAST(l.from_metadata['{k}'] AS INTEGER)" for k in KEYS[1:] if k in known_keys]
    default = _NO_DEPTH_LIMIT if db.max_depth is None else int(db.max_depth)
    most = f"coalesce({', '.join([*depths, str(default)])})"
    near = f"{_DEPTH} <= {most}"
    if db.scope is None and "scope" not in known_keys:
        return {
            "placed_links": "marked_links",
            "default_scope": "NULL",
            "allowed": near,
            "inherited": inherited,
        }
    scope = "NULL" if db.scope is None else f"'{check_scope(db.scope)}'"
    return {
        "placed_links": "scoped_links",
        "default_scope": scope,
        # outside the scope its own number of links counts, not the depth
        "allowed": f"CASE WHEN l.in_scope THEN {near} ELSE l.next_hops <= l.hops END",
        "inherited": f"CASE WHEN l.scope IS NULL THEN {inherited} ELSE map_concat({inherited}, "
        "MAP {'scope': l.scope, 'scope_hops': CAST(l.next_hops AS VARCHAR)}) END",
    }
