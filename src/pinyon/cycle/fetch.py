"""fetch: the pages of a segment, one process a part."""

from __future__ import annotations

import ipaddress
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pinyon import __version__
from pinyon.crawl import Crawl
from pinyon.cycle.choose import segment_in_state
from pinyon.cycle.fetch_part import PartJob, PartResult, fetch_part
from pinyon.errors import FetchError, InputError, SettingError
from pinyon.fetcher import FetcherConfig
from pinyon.jobs import Files
from pinyon.settings import Settings
from pinyon.store import Segment
from pinyon.tables import CRAWLDB, PAGES


@dataclass(frozen=True, slots=True)
class FetchReport:
    """What the fetch met: `outcomes` counts pages. `finished` is False if some parts are still to be fetched."""

    segment: str
    finished: bool
    outcomes: Mapping[str, int]
    bytes: int
    stopped_by: Sequence[str] = field(default_factory=tuple)

    @property
    def pages(self) -> int:
        return sum(self.outcomes.values())


def fetch(
    crawl: Crawl,
    segment: str | None = None,
    *,
    part: int | None = None,
    progress: Callable[[Segment], None] | None = None,
) -> FetchReport:
    """Fetches a segment (the oldest that is generated, unless named), or one `part` of it.

    What was fetched before is not fetched again. Ctrl-C stops within ten seconds: what came is kept, and the next
    call goes on. Raises `SettingError` if site owners could not tell who is crawling them, `LockedError`.
    """
    chosen = segment_in_state(crawl, "generated", segment)
    chosen.check_whole()
    if part is not None:
        # one part on one of several machines: the part's own lock is enough, tables are not written
        return _fetch(crawl, chosen, [part], progress)
    with crawl.writing("fetch"):
        report = _fetch(crawl, chosen, _parts(chosen), progress)
        if report.finished:
            chosen.advance("fetched", fetched={"outcomes": dict(report.outcomes), "bytes": report.bytes})
        return report


def _parts(segment: Segment) -> list[int]:
    return [int(Path(path).stem.removeprefix("part-")) for path in segment.files("fetchlist")]


def _fetch(
    crawl: Crawl, segment: Segment, parts: Sequence[int], progress: Callable[[Segment], None] | None
) -> FetchReport:
    config = fetcher_config(crawl.settings, crawl.root)
    jobs = [_job(crawl, segment, part, config) for part in parts]
    results: list[PartResult] = []
    engine = crawl.engine
    try:
        for result in engine.map_parts(fetch_part, jobs, len(jobs)):
            results.append(result)
            if progress is not None:
                progress(segment)
    except KeyboardInterrupt:
        engine.stop_workers()
        raise
    finished = len(results) == len(jobs) and all(result.finished for result in results)
    stopped = sorted({result.stopped_by for result in results if result.stopped_by})
    if "disk" in stopped:
        raise FetchError(
            f"{segment.path}: less than {config_free(crawl)} bytes free on the disk: make room and fetch again "
            "(fetcher.min_free_disk); what was fetched is kept"
        )
    return _report(crawl, segment, finished, stopped)


def config_free(crawl: Crawl) -> int:
    return crawl.settings.fetcher.min_free_disk


def _report(crawl: Crawl, segment: Segment, finished: bool, stopped: list[str]) -> FetchReport:
    engine = crawl.engine
    engine.bind({"pages": Files.of(PAGES, segment.files("pages"))})
    outcomes: Counter[str] = Counter()
    received = 0
    for row in engine.rows(
        "SELECT outcome, count(*) AS n, CAST(coalesce(sum(length), 0) AS BIGINT) AS bytes FROM pages GROUP BY outcome"
    ):
        outcomes[row["outcome"]] += row["n"]
        received += row["bytes"]
    return FetchReport(segment.name, finished, dict(outcomes), received, stopped)


def _job(crawl: Crawl, segment: Segment, part: int, config: FetcherConfig) -> PartJob:
    urls = crawl.settings.urls
    return PartJob(
        segment=segment.path,
        name=segment.name,
        part=part,
        buckets=crawl.store.current(CRAWLDB).buckets,
        private_suffixes=urls.private_suffixes,
        config=config,
        warc=crawl.settings.warc,
        robots_cache=crawl.root / "robots",
        strip_session_ids=urls.strip_session_ids,
        drop_query_params=urls.drop_query_params,
        https_hosts=urls.https_hosts,
        min_free_disk=crawl.settings.fetcher.min_free_disk,
    )


def fetcher_config(settings: Settings, root: Path) -> FetcherConfig:
    """The settings as the fetcher takes them; raises `SettingError` for a crawl nobody could ask about."""
    s = settings.fetcher
    connect_to = _lines(root / s.connect_to_file) if s.connect_to_file else ()
    if not s.agent_contact and not _stays_on_loopback(s.allow_addresses, bool(connect_to)):
        raise SettingError(
            "fetcher.agent_contact is not set: site owners must be able to reach you; "
            "set it to a web page or mail address, in pinyon.toml or as PINYON_FETCHER_AGENT_CONTACT"
        )
    contact = f" (+{s.agent_contact})" if s.agent_contact else ""
    return FetcherConfig(
        user_agent=f"{s.agent_name}/{__version__}{contact}",
        agent_names=s.robots_agents or (s.agent_name,),
        obey_robots=s.obey_robots,
        queue_mode=s.queue_mode,  # type: ignore[arg-type]
        server_delay_s=s.server_delay,
        min_delay_s=s.min_delay,
        max_crawl_delay_s=None if s.max_crawl_delay < 0 else s.max_crawl_delay,
        connections=s.connections,
        connections_per_host=s.connections_per_host,
        max_failures=s.max_failures,
        max_back_off_s=s.max_back_off,
        # whoever was asked at the end of the last round is not asked at once at the start of this one
        pause_first=True,
        connect_timeout_s=s.connect_timeout,
        read_timeout_s=s.read_timeout,
        total_timeout_s=s.total_timeout,
        max_bytes=s.max_bytes,
        accept_types=s.accept_types,
        redirect_max=s.redirect_max,
        time_limit_s=s.time_limit,
        allow_addresses=s.allow_addresses,
        connect_to=connect_to,
        only_connect_to=bool(connect_to),
        proxy=s.proxy,
        verify_tls=s.verify_tls,
        ca_file=str(root / s.ca_file) if s.ca_file else None,
    )


def _stays_on_loopback(allowed: Sequence[str], only_connect_to: bool) -> bool:
    """Nobody outside can be met: every name leads where `connect_to_file` says, or only loopback is allowed."""
    if not allowed:
        return False
    loopback = all(ipaddress.ip_network(network, strict=False).is_loopback for network in allowed)
    return loopback and only_connect_to


def _lines(path: Path) -> tuple[str, ...]:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    return tuple(line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#"))
