"""Facts of a page that are kept as metadata of its row, and that its links do not inherit."""

from __future__ import annotations

from collections.abc import Sequence

from pinyon.cycle.schedules import Bound
from pinyon.errors import SettingError, nearest
from pinyon.settings import Db

#: What can be kept, and what expressions take it for.
FACTS = {"content_type": "text", "language": "text"}


def kept_facts(db: Db, bounds: Sequence[Bound]) -> list[str]:
    """Names of the facts to keep; `SettingError` for one that there is not.

    With bounds by MIME type the type is kept anyway: a 304 does not tell it.
    """
    for name in db.keep_facts:
        if name not in FACTS:
            raise SettingError(
                f"db.keep_facts: unknown fact '{name}'{nearest(name, FACTS)}: wanted {', '.join(FACTS)}"
            )
    by_type = any(bound.kind in ("type", "types") for bound in bounds)
    return sorted({*db.keep_facts, *(("content_type",) if by_type else ())})


def kept_sql(names: Sequence[str]) -> str:
    """A row's metadata with the facts of its page."""
    kept = "metadata"
    for name in names:
        kept = f"CASE WHEN {name} IS NULL THEN {kept} ELSE map_concat({kept}, MAP {{'{name}': left({name}, 100)}}) END"
    return kept


def inherited_sql(names: Sequence[str]) -> str:
    """The metadata of a page without its facts."""
    if not names:
        return "l.from_metadata"
    listed = ", ".join(f"'{name}'" for name in names)
    return f"map_from_entries(list_filter(map_entries(l.from_metadata), lambda e: e.key NOT IN ({listed})))"
