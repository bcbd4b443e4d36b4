"""By which rules updatedb decides: the settings, as parameters and SQL fragments of its job. No clock, no disk."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pinyon.cycle import row_facts, schedules, scopes, scores
from pinyon.cycle.schedules import Bound
from pinyon.settings import Db

#: A page that was fetched twice gave each of its links twice.
_DISTINCT_LINKS = (
    "(SELECT * FROM links QUALIFY row_number() OVER "
    "(PARTITION BY url_key, to_url, from_url ORDER BY from_first DESC, from_depth, from_score, rel) = 1)"
)


@dataclass(frozen=True, slots=True)
class Rules:
    """The settings of `[db]`, the lines of its intervals file, and the metadata keys ever seen in the crawldb."""

    db: Db
    bounds: Sequence[Bound] = ()
    known_keys: Collection[str] = ()

    @property
    def kept_facts(self) -> list[str]:
        """Names of what is kept of a page as metadata. Raises `SettingError`."""
        return row_facts.kept_facts(self.db, self.bounds)

    @property
    def metadata_types(self) -> dict[str, str]:
        """What expressions take the metadata for that updatedb writes."""
        types = {name: row_facts.FACTS[name] for name in self.kept_facts}
        if self.db.scope is not None or "scope" in self.known_keys:
            types |= {"scope": "text", "scope_hops": "integer"}
        return types

    def params(self, now: datetime) -> dict[str, Any]:
        """Values of the job's parameters; intervals in seconds."""
        db = self.db
        return {
            "now": now,
            "retry_max": db.fetch_retry_max,
            "retry_interval": db.retry_interval,
            "interval_default": db.fetch_interval_default,
            "interval_max": db.fetch_interval_max,
            **schedules.params(db),
            "additions": db.additions,
            "max_inlinks": db.max_inlinks,
        }

    def fragments(self, *, pages_twice: bool = False, crowded: bool = False) -> dict[str, str]:
        """SQL of schedule, scores and links.

        `pages_twice`: some page was fetched more than once. `crowded`: more links lead to some URL than count.
        """
        return {
            "distinct_links": _DISTINCT_LINKS if pages_twice else "links",
            "link_filter": _link_filter(self.db),
            "capped_links": "best_links" if crowded else "counted_links",
            "kept_facts": row_facts.kept_sql(self.kept_facts),
            **schedules.fragments(self.db),
            **scores.fragments(self.db),
            **scopes.fragments(self.db, self.known_keys, row_facts.inherited_sql(self.kept_facts)),
        }


def _link_filter(db: Db) -> str:
    """Of redirects, only those that leave can be ignored: what moves within a host would be lost."""
    same = "domain = from_domain" if db.ignore_external_mode == "domain" else "host = from_host"
    filters = []
    if db.ignore_internal:
        filters.append(f"(moved OR NOT coalesce({same}, false))")
    if db.ignore_external:
        filters.append(f"coalesce({same}, false)")
    return " AND ".join(filters) or "true"
