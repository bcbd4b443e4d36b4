"""explain --segment: whether a past list took a URL, and if not, why, as far as what it recorded tells.

A segment records its settings, its time and its counts. The version of the crawldb it was made from is the newest that
was committed before its files were written; while that is kept the rules are asked of the very same rows, else of the
present ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from pinyon.crawl import Crawl, parse_time
from pinyon.cycle.explain import UrlExplanation, answer
from pinyon.cycle.explain_asking import asking_again
from pinyon.cycle.explain_facts import listed_in
from pinyon.cycle.explain_words import moment
from pinyon.errors import InputError, StoreError
from pinyon.jobs import Files
from pinyon.store import Segment
from pinyon.tables import CRAWLDB, PAGES

_PLACE = ("list", "part", "position", "score", "fetch_delay_ms", "not_before")
_PAGE = ("outcome", "http_status", "fetch_time", "duration_ms", "redirect_to", "error")


@dataclass(frozen=True, slots=True)
class SegmentExplanation:
    """`place` is where the list has the URL, `page` what the fetch met. Without a place, `why` asks the rules again,
    of `version` of the crawldb (None: of the present one). `counts` are what the list recorded."""

    url: str
    segment: str
    state: str
    generated_at: datetime
    counts: Mapping[str, Any]
    place: Mapping[str, Any] | None
    page: Mapping[str, Any] | None
    why: UrlExplanation | None
    version: int | None
    notes: Sequence[str]


def explain_segment(crawl: Crawl, url: str, name: str) -> SegmentExplanation:
    """Whether and where segment `name` has the URL; if it has not, which rule kept it out.

    Raises `StoreError` if there is no such segment.
    """
    segment = crawl.segments[name]
    place = listed_in(crawl, segment, url)
    version = None if place else _version(crawl, segment)
    why, notes = (None, []) if place else _why_not(crawl, segment, url, version)
    return SegmentExplanation(
        url=place["url"] if place else why.url if why else url,
        segment=segment.name,
        state=segment.state,
        generated_at=parse_time(segment.info()["generate_time"]),
        counts=segment.info().get("counts", {}),
        place={name: place[name] for name in _PLACE} if place else None,
        page=_page(crawl, segment, place["url"]) if place else None,
        why=why,
        version=version,
        notes=notes,
    )


def _version(crawl: Crawl, segment: Segment) -> int | None:
    """The version of the crawldb that the list was made from, if it is still kept."""
    written_ms = min((Path(file).stat().st_mtime for file in segment.files("fetchlist")), default=0) * 1000
    for entry in crawl.store.history(CRAWLDB):
        if entry["timestamp"] <= written_ms:
            try:
                return crawl.store.current(CRAWLDB, entry["version"]).version
            except StoreError:
                return None
    return None


def _why_not(
    crawl: Crawl, segment: Segment, url: str, version: int | None
) -> tuple[UrlExplanation | None, list[str]]:
    notes = ["the HostDb, and files that its settings name, are read as they are now"]
    if version is None:
        notes.append("the crawldb it was made from is not kept: rows are asked as they are now")
    try:
        with asking_again(crawl, segment, version) as question:
            why = answer(question, url, cut=True)
    except InputError as error:
        return None, [str(error), *notes]
    first_seen = why.row["first_seen"]
    if first_seen is not None and first_seen > why.now:
        notes.insert(0, f"it was not known then: first seen {moment(first_seen)}")
    elif why.selected:
        notes.insert(
            0, f"by these rules list {why.list} would have it: what it was made from has changed since"
        )
    return why, notes


def _page(crawl: Crawl, segment: Segment, url: str) -> dict[str, Any] | None:
    crawl.engine.bind({"pages": Files.of(PAGES, segment.files("pages"))})
    sql = f"SELECT {', '.join(_PAGE)} FROM pages WHERE url = :url ORDER BY fetch_time DESC LIMIT 1"
    return next(iter(crawl.engine.rows(sql, {"url": url})), None)
