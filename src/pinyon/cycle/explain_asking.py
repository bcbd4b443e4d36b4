"""How an explanation comes to its question: that of a generate now, or that of one that made a segment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

from pinyon.crawl import Crawl, parse_time
from pinyon.cycle.aside import selection_aside, selection_of
from pinyon.cycle.candidates import limits_file, listed_urls
from pinyon.cycle.explain_question import Lock, Question
from pinyon.cycle.selection import Selection
from pinyon.settings import Settings, specs
from pinyon.store import Published, Segment
from pinyon.tables import CRAWLDB


@contextmanager
def asking(crawl: Crawl, now: datetime | str | None, options: Mapping[str, Any]) -> Iterator[Question]:
    """What generate with these options would ask now; the folder is gone at the end. Raises what generate raises."""
    with selection_aside(crawl, now, options) as (selection, crawldb):
        yield _question(selection, crawldb, _locks(selection, crawldb, None))


@contextmanager
def asking_again(crawl: Crawl, segment: Segment, version: int | None) -> Iterator[Question]:
    """What the generate that made a segment asked, of that version of the crawldb (None: as it is now).

    The HostDb is the present one, and files that its settings name are read as they are now.
    """
    info = segment.info()
    known = {spec.key for spec in specs()}
    recorded = {name: value for name, value in info["settings"].items() if name in known}
    everything = Settings().with_values(recorded, f"{segment.name}/segment.json")
    now = parse_time(info["generate_time"]) + timedelta(days=everything.generate.add_days)
    crawldb = crawl.store.current(CRAWLDB, version)
    with selection_of(crawl, everything, now, crawldb) as selection:
        yield _question(selection, crawldb, _locks(selection, crawldb, before=segment))


def _question(selection: Selection, crawldb: Published, locks: Sequence[Lock]) -> Question:
    # rows that entered through these very rules need no second look
    passed = crawldb.facts.get("filter") == selection.crawl.url_filter.digest()
    is_filtered = selection.settings.filter and not passed
    return Question(
        crawl=selection.crawl,
        everything=selection.everything,
        policy=selection.policy,
        now=selection.now,
        crawldb=crawldb,
        folder=selection.scratch,
        locks=locks,
        limits=limits_file(selection, crawldb),
        listed=listed_urls(selection, crawldb.buckets),
        is_filtered=is_filtered,
        fragments=_fragments(selection, is_filtered, any(lock.holds for lock in locks)),
        values=_values(selection),
    )


def _locks(selection: Selection, crawldb: Published, before: Segment | None) -> list[Lock]:
    """Segments that this version of the crawldb has not taken in; only those `before` one, if that is given."""
    crawl = selection.crawl
    segments = list(crawl.segments)
    done = crawl.store.applied(CRAWLDB, [segment.name for segment in segments], crawldb.version)
    oldest = selection.made_at - timedelta(seconds=selection.settings.gen_delay)
    found = []
    for segment in segments:
        if before is not None and segment.name == before.name:
            break
        if segment.name not in done:
            generated_at = parse_time(segment.info()["generate_time"])
            found.append(Lock(segment, generated_at, generated_at > oldest))
    return found


def _fragments(selection: Selection, filtered: bool, locked: bool) -> dict[str, str]:
    # URLs themselves are read only where they must be compared
    same = "EXISTS (SELECT 1 FROM {0} AS o WHERE o.url_key = c.url_key AND o.url = c.url)"
    rules = selection.crawl.url_filter
    return {
        **selection.policy.fragments,
        "host_join": "LEFT JOIN hostdb AS h ON h.host = c.host" if selection.policy.needs_host else "",
        "url_filter": rules.sql("c.url", "c.host") if filtered else "CAST(NULL AS VARCHAR)",
        "is_locked": same.format("locked") if locked else "false",
        "is_listed": same.format("listed") if selection.settings.from_list is not None else "true",
    }


def _values(selection: Selection) -> dict[str, Any]:
    settings, fetcher, policy = selection.settings, selection.everything.fetcher, selection.policy
    return {
        "now": selection.now,
        "max_interval": selection.everything.db.fetch_interval_max,
        "gen_delay_from": selection.now - timedelta(seconds=settings.gen_delay),
        "restrict_status": list(settings.restrict_status),
        "exclude_status": list(settings.exclude_status),
        "min_score": settings.min_score,
        "interval_at_most": settings.interval_at_most,
        "max_count": policy.host_limit,
        "max_per_domain": policy.domain_limit,
        "max_hosts_per_domain": settings.max_hosts_per_domain,
        "lists": settings.segments,
        "together": settings.keep_together if settings.spread and settings.segments > 1 else 1,
        "time_budget_ms": None if settings.time_budget is None else settings.time_budget * 1000,
        "default_delay_ms": round(fetcher.server_delay * 1000),
        "min_delay_ms": round(fetcher.min_delay * 1000),
    }
