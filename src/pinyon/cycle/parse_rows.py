"""The rows of links and documents of one chunk, column by column.

What the links of a page have in common stands once a page, and is spread over them by Arrow: a page has a hundred
links, and a chunk hundreds of pages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from pinyon.discovery import Page
from pinyon.tables import DOCS, LINKS
from pinyon.urls import Normaliser, UrlFilter, locate

if TYPE_CHECKING:
    import pyarrow as pa

#: Targets remembered: pages of a site link to the same ones again and again.
_REMEMBERED = 200_000


class Target(NamedTuple):
    """Where a link leads, normalised; `refused`: a filter keeps it out."""

    url: str
    url_key: int
    host: str | None
    host_key: int | None
    domain: str | None
    bucket: int
    refused: bool


class Targets:
    """Callable: a link's URL → its target, None if it is no URL. Remembers."""

    def __init__(
        self, normalise: Normaliser, url_filter: UrlFilter, *, private_suffixes: bool, buckets: int
    ) -> None:
        self._normalise = normalise
        self._filter = url_filter
        self._private = private_suffixes
        self._buckets = buckets
        self._known: dict[str, Target | None] = {}

    def __call__(self, link: str) -> Target | None:
        try:
            return self._known[link]
        except KeyError:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            target = self._known[link] = self._found(link)
            return target

    def _found(self, link: str) -> Target | None:
        url = self._normalise(link)
        if url is None:
            return None
        at = locate(url, self._private)
        refused = self._filter.reason(url, at.host) is not None
        return Target(url, at.url_key, at.host, at.host_key, at.domain, at.bucket(self._buckets), refused)


class LinkRows:
    """Collects the links of page after page."""

    _OF_TARGET = ("to_url", "url_key", "host", "host_key", "domain", "bucket")
    #: Column of a link → column of its page's input row.
    _OF_PAGE: Mapping[str, str] = {
        "from_url": "url",
        "from_host": "host",
        "from_domain": "domain",
        "from_score": "score",
        "from_depth": "depth",
        "from_first": "first",
        "from_metadata": "metadata",
    }

    def __init__(self, targets: Callable[[str], Target | None], max_outlinks: int) -> None:
        self._targets = targets
        self._limit = max_outlinks
        self._pages: list[Mapping[str, Any]] = []
        self._outlinks: list[int] = []
        self._links: list[tuple[Target, str, str]] = []

    def __len__(self) -> int:
        return len(self._links)

    def add(self, page: Mapping[str, Any], links: list[tuple[str, str, str]]) -> tuple[int, int]:
        """Takes (URL, anchor, rel) of a page's links that enter, each target once and not the page itself; how many
        were kept, and how many a filter or the limit dropped."""
        seen = {page["url"]}
        kept = dropped = 0
        for link, anchor, rel in links:
            target = self._targets(link)
            if target is None or target.url in seen:
                continue
            seen.add(target.url)
            if target.refused or 0 <= self._limit <= kept:
                dropped += 1
                continue
            self._links.append((target, anchor, rel))
            kept += 1
        if kept:
            self._pages.append(page)
            self._outlinks.append(kept)
        return kept, dropped

    def table(self) -> pa.Table:
        """The rows, sorted by bucket: who reads one bucket skips the row groups of the others."""
        import pyarrow as pa

        schema = LINKS.arrow_schema()
        place = pa.array([i for i, count in enumerate(self._outlinks) for _ in range(count)], pa.int32())

        def spread(name: str, values: list[Any]) -> pa.Array:
            return pa.array(values, schema.field(name).type).take(place)

        columns = {
            name: pa.array([link[0][i] for link in self._links], schema.field(name).type)
            for i, name in enumerate(self._OF_TARGET)
        }
        columns["anchor"] = pa.array([link[1] for link in self._links], pa.string())
        columns["rel"] = pa.array([link[2] for link in self._links], pa.string())
        columns["from_outlinks"] = spread("from_outlinks", self._outlinks)
        for name, source in self._OF_PAGE.items():
            columns[name] = spread(name, [page[source] for page in self._pages])
        table = pa.Table.from_arrays([columns[name] for name in schema.names], schema=schema)
        return table.sort_by("bucket")


class DocRows:
    """Collects the documents of page after page."""

    def __init__(self) -> None:
        self._rows: list[tuple[Any, ...]] = []

    def add(self, row: Mapping[str, Any], page: Page, normalise: Normaliser, kept: int, dropped: int) -> None:
        self._rows.append(
            (
                row["url"],
                row["url_key"],
                row["bucket"],
                page.status,
                page.error,
                page.signature or None,
                page.title,
                page.text,
                page.language,
                page.charset,
                normalise(page.canonical) if page.canonical else None,
                page.noindex,
                page.nofollow,
                normalise(page.refresh_to) if page.refresh_to else None,
                kept,
                dropped,
                [feed.url for feed in page.feeds],
            )
        )

    def table(self) -> pa.Table:
        import pyarrow as pa

        schema = DOCS.arrow_schema()
        columns = [
            pa.array([row[i] for row in self._rows], schema.field(i).type) for i in range(len(schema.names))
        ]
        return pa.Table.from_arrays(columns, schema=schema)
