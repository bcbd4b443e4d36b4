"""One generate on its way: what it goes by, where its intermediate files lie, and what it has counted."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from pinyon.crawl import Crawl
from pinyon.cycle.policy import Policy
from pinyon.jobs import Files
from pinyon.mapreduce import LIMITS as LIMITS
from pinyon.mapreduce import REASONS as REASONS
from pinyon.settings import Generate, Settings
from pinyon.tables import Column, TableSpec

_OVER_LIMIT = TableSpec(
    "over_limit", (Column("host", "VARCHAR", ""),), "hosts with more URLs than their limit"
)


@dataclass(slots=True)
class Selection:
    """`rejected` counts rows by reason, `failing` hosts by the expression that gave nothing for them; `over_limit` are
    files of hosts that had more URLs than their limit, with one list their number is enough."""

    crawl: Crawl
    everything: Settings
    policy: Policy
    now: datetime
    seed: int
    scratch: Path
    rows: int = 0
    rejected: Counter[str] = field(default_factory=Counter)
    over_limit: list[str] = field(default_factory=list)
    over_limit_here: int = 0
    failing: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def settings(self) -> Generate:
        return self.everything.generate

    @property
    def made_at(self) -> datetime:
        """When the lists are made: `now` lies `add_days` ahead of it."""
        return self.now - timedelta(days=self.settings.add_days)

    def forget_counts(self) -> None:
        """As if nothing had been looked at yet."""
        self.rejected.clear()
        self.over_limit.clear()
        self.over_limit_here = 0
        self.failing.clear()

    def hosts_over_limit(self) -> int:
        """How many hosts had more URLs than their limit lets through, in any list that counted."""
        if not self.over_limit:
            return self.over_limit_here
        self.crawl.engine.bind({"over_limit": Files.of(_OVER_LIMIT, self.over_limit)})
        return int(self.crawl.engine.rows("SELECT count(DISTINCT host) AS n FROM over_limit")[0]["n"])

    def by_reason(self) -> dict[str, int]:
        """What was rejected, in the order of the reasons."""
        return {reason: self.rejected[reason] for reason in (*REASONS, *LIMITS) if self.rejected[reason]}
