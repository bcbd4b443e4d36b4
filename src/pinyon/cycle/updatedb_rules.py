"""By which rules updatedb decides: the settings, as parameters and SQL fragments of its job. No clock, no disk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pinyon.cycle import row_facts, schedules, scores
from pinyon.cycle.schedules import Bound
from pinyon.settings import Db

#: Deeper than any link path that is followed.
_NO_DEPTH_LIMIT = 32_767

#: A page that was fetched twice gave each of its links twice.
_DISTINCT_LINKS = (
    "(SELECT * FROM links QUALIFY row_number() OVER "
    "(PARTITION BY url_key, to_url, from_url ORDER BY from_first DESC, from_depth, from_score, rel) = 1)"
)


@dataclass(frozen=True, slots=True)
class Rules:
    """The settings of `[db]`, and the lines of its intervals file."""

    db: Db
    bounds: Sequence[Bound] = ()

    @property
    def kept_facts(self) -> list[str]:
        """Names of what is kept of a page as metadata. Raises `SettingError`."""
        return row_facts.kept_facts(self.db, self.bounds)

    @property
    def metadata_types(self) -> dict[str, str]:
        """What expressions take the kept facts for."""
        return {name: row_facts.FACTS[name] for name in self.kept_facts}

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
            "ignore_internal": db.ignore_internal,
            "ignore_external": db.ignore_external,
            "by_domain": db.ignore_external_mode == "domain",
            "max_depth": _NO_DEPTH_LIMIT if db.max_depth is None else db.max_depth,
        }

    def fragments(self, *, pages_twice: bool = False) -> dict[str, str]:
        """SQL of schedule, scores and links. `pages_twice`: some page was fetched more than once."""
        return {
            "distinct_links": _DISTINCT_LINKS if pages_twice else "links",
            **schedules.fragments(self.db),
            **scores.fragments(self.db),
            **row_facts.fragments(self.kept_facts),
        }
