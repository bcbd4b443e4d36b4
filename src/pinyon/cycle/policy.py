"""What generate goes by: the HostDb to use, limits, and expressions as SQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pinyon.crawl import Crawl
from pinyon.errors import StoreError
from pinyon.settings import Generate
from pinyon.store import DeltaStore, Published
from pinyon.tables import HOSTDB


@dataclass(frozen=True, slots=True)
class Policy:
    """`host_limit` and `domain_limit` are the defaults (negative: none); `hostdb` is None where it is not used."""

    hostdb: Published | None
    host_limit: int
    domain_limit: int
    fragments: Mapping[str, str]
    decides_by_host: bool
    notes: Sequence[str]


def policy_of(crawl: Crawl, settings: Generate, crawldb: Published) -> Policy:
    """The policy of this generate. Raises `StoreError` if the HostDb is asked for and is missing or empty."""
    by_domain = settings.count_mode == "domain"
    limits = [
        limit for limit in (settings.max_count if by_domain else -1, settings.max_per_domain) if limit >= 0
    ]
    hostdb = _hostdb(crawl, settings.hostdb)
    return Policy(
        hostdb=hostdb,
        host_limit=-1 if by_domain else settings.max_count,
        domain_limit=min(limits, default=-1),
        fragments={
            "sort_value": "c.score",
            "expression": "true",
            "url_filter": "false",
            "max_count_expr": "CAST(NULL AS DOUBLE)",
            "fetch_delay_expr": "CAST(NULL AS DOUBLE)",
        },
        decides_by_host=False,
        notes=[],
    )


def _hostdb(crawl: Crawl, choice: str) -> Published | None:
    """auto: the crawl's own once it has rows. on, or a path: an error if there are none."""
    if choice == "off":
        return None
    store = crawl.store if choice in ("auto", "on") else DeltaStore(Path(choice).parent)
    hostdb = store.current(HOSTDB)
    if hostdb.rows:
        return hostdb
    if choice == "auto":
        return None
    raise StoreError(
        f"{hostdb.root}: generate.hostdb = {choice}, but the HostDb is empty; "
        f"'pinyon updatehostdb {crawl.root}' fills it"
    )
