"""Parsing one chunk of pages, in a process of its own: archive records in, rows of links and docs out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pinyon.archive import Record, read_record
from pinyon.discovery import Limits, Page, parse_page
from pinyon.fetcher import decode_body
from pinyon.settings import Parse, Urls
from pinyon.tables import DOCS, LINKS
from pinyon.urls import Normaliser, UrlFilter, locate

#: Links that say where a page is now: they cost no depth and pass on the whole score.
MOVES = ("redirect", "refresh")


@dataclass(frozen=True, slots=True)
class ChunkJob:
    """All a process needs to parse one chunk: the rows `[start, start + count)` of the input file."""

    segment: Path
    rows: Path
    start: int
    count: int
    number: int
    buckets: int
    settings: Parse
    urls: Urls
    normaliser: Normaliser
    filter: UrlFilter
    agent_names: tuple[str, ...]


@dataclass(slots=True)
class ChunkResult:
    """What was parsed: pages by parse status, links kept and dropped."""

    statuses: dict[str, int] = field(default_factory=dict)
    links: int = 0
    dropped: int = 0


def parse_chunk(job: ChunkJob) -> ChunkResult:
    """Writes `links/part-N.parquet` and `docs/part-N.parquet` of one chunk. One page never stops the others."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    result = ChunkResult()
    links: list[dict[str, Any]] = []
    docs: list[dict[str, Any]] = []
    for row in _rows(job):
        page_links, doc = _parse(job, row)
        links += page_links
        if doc is not None:
            docs.append(doc)
            status = doc["parse_status"]
            result.statuses[status] = result.statuses.get(status, 0) + 1
            result.dropped += doc["outlinks_dropped"]
    result.links = len(links)
    # sorted by bucket: who reads one bucket skips the row groups of the others
    links.sort(key=lambda link: link["bucket"])
    for name, spec, rows in (("links", LINKS, links), ("docs", DOCS, docs)):
        target = job.segment / name / f"part-{job.number:05d}.parquet"
        table = pa.Table.from_pylist(rows, schema=spec.arrow_schema())
        pq.write_table(table, target, compression="zstd", row_group_size=16_384)
    return result


def _rows(job: ChunkJob) -> Iterator[dict[str, Any]]:
    import pyarrow.parquet as pq

    with pq.ParquetFile(job.rows) as file:
        seen = 0
        for batch in file.iter_batches(1_000):
            begin, end = max(job.start - seen, 0), min(job.start + job.count - seen, batch.num_rows)
            if begin < end:
                yield from batch.slice(begin, end - begin).to_pylist(maps_as_pydicts="lossy")
            seen += batch.num_rows
            if seen >= job.start + job.count:
                return


def _parse(job: ChunkJob, row: dict[str, Any]) -> tuple[list[dict[str, Any]], dict[str, Any] | None]:
    """Rows of links and the row of docs of one page; a redirect has a link and no document."""
    if row["redirect_to"]:
        targets = [(row["redirect_to"], "", "redirect")]
        return _link_rows(job, row, targets)[0], None
    try:
        page = _page(job, row)
    except Exception as error:  # whatever is wrong with one page or its record, it is that page's row
        page = Page(status="failed", error=f"{type(error).__name__}: {error}"[:500])
    targets = [(page.refresh_to, "", "refresh")] if page.refresh_to else []
    targets += [(link.url, link.anchor, link.rel) for link in page.links if _follows(job, link.rel)]
    links, dropped = _link_rows(job, row, targets)
    return links, _doc_row(
        row, page, len(links), dropped + len(page.links) + page.links_dropped - len(targets)
    )


def _page(job: ChunkJob, row: dict[str, Any]) -> Page:
    record: Record = read_record(
        job.segment / "warc" / row["warc_file"], row["warc_offset"], row["warc_length"]
    )
    decoded = decode_body(record.payload, record.header("Content-Encoding"), job.settings.max_decoded_bytes)
    if decoded.error and not decoded.data:
        return Page(status="failed", error=decoded.error)
    limits = Limits(
        text=job.settings.text,  # type: ignore[arg-type]
        text_chars=job.settings.max_text_chars,
        anchor_chars=job.settings.max_anchor_chars,
        max_url_length=job.urls.max_url_length,
    )
    return parse_page(
        decoded.data,
        url=row["url"],
        content_type=row["content_type"],
        charset=row["charset"],
        robots_tag=row["robots_tag"],
        link_header=record.header("Link"),
        content_language=record.header("Content-Language"),
        agent_names=job.agent_names,
        limits=limits,
    )


def _follows(job: ChunkJob, rel: str) -> bool:
    return job.settings.keep_nofollow or "nofollow" not in rel.split()


def _link_rows(
    job: ChunkJob, row: dict[str, Any], targets: list[tuple[str, str, str]]
) -> tuple[list[dict[str, Any]], int]:
    """Rows for the targets that enter, each once and not the page itself; and how many were dropped."""
    kept: list[dict[str, Any]] = []
    seen = {row["url"]}
    dropped = 0
    limit = job.settings.max_outlinks
    for target, anchor, rel in targets:
        url = job.normaliser(target)
        if url is None or url in seen:
            continue
        seen.add(url)
        place = locate(url, job.urls.private_suffixes)
        if job.filter.reason(url, place.host) is not None or 0 <= limit <= len(kept):
            dropped += 1
            continue
        kept.append(
            {
                "from_url": row["url"],
                "to_url": url,
                "url_key": place.url_key,
                "host": place.host,
                "host_key": place.host_key,
                "domain": place.domain,
                "bucket": place.bucket(job.buckets),
                "anchor": anchor,
                "rel": rel,
                "from_host": row["host"],
                "from_domain": row["domain"],
                "from_score": row["score"],
                "from_depth": row["depth"],
                "from_first": row["first"],
                "from_metadata": row["metadata"],
            }
        )
    for link in kept:
        link["from_outlinks"] = len(kept)
    return kept, dropped


def _doc_row(row: dict[str, Any], page: Page, links: int, dropped: int) -> dict[str, Any]:
    return {
        "url": row["url"],
        "url_key": row["url_key"],
        "bucket": row["bucket"],
        "parse_status": page.status,
        "parse_error": page.error,
        "signature": page.signature,
        "title": page.title,
        "text": page.text,
        "language": page.language,
        "charset": page.charset,
        "canonical": page.canonical,
        "noindex": page.noindex,
        "nofollow": page.nofollow,
        "refresh_to": page.refresh_to,
        "outlinks": links,
        "outlinks_dropped": dropped,
        "feeds": [feed.url for feed in page.feeds],
    }
