"""Parsing one chunk of pages, in a process of its own: archive records in, rows of links and docs out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pinyon.archive import Record, read_record
from pinyon.cycle.parse_rows import DocRows, LinkRows, Targets
from pinyon.discovery import Limits, Page, parse_page
from pinyon.engines.workers import stopping
from pinyon.errors import InputError
from pinyon.fetcher import decode_body
from pinyon.settings import Parse
from pinyon.urls import Normaliser, UrlFilter

#: Links listed of a page before filters look at them: the limit on links counts those that are kept.
_MOST_LISTED = 10_000


@dataclass(frozen=True, slots=True)
class ParseRules:
    """What holds for every chunk of a segment: where its archive lies, where its rows go, what is kept."""

    archive: Path
    target: Path
    buckets: int
    settings: Parse
    private_suffixes: bool
    max_url_length: int
    normalise: Normaliser
    url_filter: UrlFilter
    agent_names: tuple[str, ...]

    @property
    def limits(self) -> Limits:
        settings = self.settings
        return Limits(
            max_links=-1 if settings.max_outlinks < 0 else max(_MOST_LISTED, settings.max_outlinks),
            text=settings.text,  # type: ignore[arg-type]
            text_chars=settings.max_text_chars,
            anchor_chars=settings.max_anchor_chars,
            max_url_length=self.max_url_length,
        )


@dataclass(frozen=True, slots=True)
class ChunkJob:
    """`rows` is an Arrow stream with what `parse_input.sql` says of each page."""

    number: int
    rows: bytes
    rules: ParseRules


@dataclass(frozen=True, slots=True)
class ChunkResult:
    """What was parsed: pages taken (redirects too), documents by parse status, links kept and dropped."""

    pages: int
    statuses: Mapping[str, int] = field(default_factory=dict)
    links: int = 0
    dropped: int = 0


def parse_chunk(job: ChunkJob) -> ChunkResult:
    """Writes `links/part-N.parquet` and `docs/part-N.parquet` of one chunk. One page never stops the others."""
    import pyarrow.parquet as pq

    chunk = _Chunk(job.rules)
    pages = 0
    for row in _rows(job.rows):
        if stopping():  # the parent gives all of this up
            return ChunkResult(pages)
        chunk.take(row)
        pages += 1
    for name, table in (("links", chunk.links.table()), ("docs", chunk.docs.table())):
        path = job.rules.target / name / f"part-{job.number:05d}.parquet"
        pq.write_table(table, path, compression="zstd", row_group_size=16_384)
    return ChunkResult(pages, dict(chunk.statuses), len(chunk.links), chunk.dropped)


def _rows(stream: bytes) -> Iterator[dict[str, Any]]:
    import pyarrow as pa

    for batch in pa.ipc.open_stream(stream):
        yield from batch.to_pylist(maps_as_pydicts="lossy")


class _Chunk:
    """Rows on their way."""

    def __init__(self, rules: ParseRules) -> None:
        self._rules = rules
        self._limits = rules.limits
        targets = Targets(
            rules.normalise,
            rules.url_filter,
            private_suffixes=rules.private_suffixes,
            buckets=rules.buckets,
        )
        self.links = LinkRows(targets, rules.settings.max_outlinks)
        self.docs = DocRows()
        self.statuses: Counter[str] = Counter()
        self.dropped = 0

    def take(self, row: dict[str, Any]) -> None:
        """One page; a redirect has a link and no document. Links that say where a page is now (`redirect`, `refresh`)
        cost no depth and pass on the whole score."""
        if row["redirect_to"]:
            _, dropped = self.links.add(row, [(row["redirect_to"], "", "redirect")])
            self.dropped += dropped
            return
        try:
            page = self._page(row)
        except Exception as error:  # whatever is wrong with one page or its record, it is that page's row
            page = Page(status="failed", error=f"{type(error).__name__}: {error}"[:500])
        followed = [(link.url, link.anchor, link.rel) for link in page.links if self._follows(link.rel)]
        unfollowed = len(page.links) - len(followed)
        if page.refresh_to:
            followed.insert(0, (page.refresh_to, "", "refresh"))
        kept, dropped = self.links.add(row, followed)
        dropped += unfollowed + page.links_dropped
        self.docs.add(row, page, self._rules.normalise, kept, dropped)
        self.statuses[page.status] += 1
        self.dropped += dropped

    def _follows(self, rel: str) -> bool:
        return not rel or self._rules.settings.keep_nofollow or "nofollow" not in rel.split()

    def _page(self, row: Mapping[str, Any]) -> Page:
        record = self._record(row)
        limit = self._rules.settings.max_decoded_bytes
        decoded = decode_body(record.payload, record.header("Content-Encoding"), limit)
        page = parse_page(
            decoded.data,
            url=row["url"],
            content_type=row["content_type"],
            charset=row["charset"],
            robots_tag=row["robots_tag"],
            link_header=record.header("Link"),
            content_language=record.header("Content-Language"),
            agent_names=self._rules.agent_names,
            limits=self._limits,
        )
        if decoded.error and page.status != "parsed":
            return replace(page, status="failed", error=decoded.error)
        return page

    def _record(self, row: Mapping[str, Any]) -> Record:
        """Raises `InputError` if there is no such record, or it is another page's."""
        record = read_record(self._rules.archive / row["warc_file"], row["warc_offset"], row["warc_length"])
        if record.url != row["url"]:
            raise InputError(f"{row['warc_file']}, offset {row['warc_offset']}: holds {record.url}")
        return record
