"""What is done with a turn: ask for a page, or first for the robots.txt that says whether it may be asked for."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import datetime

from pinyon.fetcher import robots
from pinyon.fetcher.capture import Normalise, base_headers, captured, page_request, undone, validators
from pinyon.fetcher.config import FetcherConfig
from pinyon.fetcher.dispatch import Dispatcher
from pinyon.fetcher.facts import Facts
from pinyon.fetcher.frontier import Frontier
from pinyon.fetcher.gate import Gate
from pinyon.fetcher.jobs import Job, PageJob, RobotsJob
from pinyon.fetcher.model import Capture, FetchItem, Sink
from pinyon.fetcher.outcomes import FAILURES
from pinyon.fetcher.pace import Bandwidth
from pinyon.fetcher.politeness import Turn, Verdict
from pinyon.fetcher.robots_book import Known, Moved, RobotsBook, judge
from pinyon.fetcher.robots_cache import RobotsRecord
from pinyon.fetcher.transport import Answer, Request, Transport, can_be_sent
from pinyon.urls import host_of

#: A connection is kept for the next request to its host if that comes within this time.
_WORTH_KEEPING_S = 15.0
#: After so much time spent on decisions without a request, others get the processor.
_BREATH_S = 0.01
_MAX_FOLLOWED = 100_000

KeyOf = Callable[[str], Awaitable[str]]


class Tally:
    """Counts of one run."""

    def __init__(self) -> None:
        self.outcomes: Counter[str] = Counter()
        self.captured = 0
        self.requests = 0
        self.robots_requests = 0
        self.received_bytes = 0


class Workshop:
    """What all workers of a run share. `work` is one worker's day."""

    def __init__(
        self,
        config: FetcherConfig,
        sink: Sink,
        transport: Transport,
        frontier: Frontier,
        dispatcher: Dispatcher,
        book: RobotsBook,
        gate: Gate,
        *,
        key_of: KeyOf,
        normalise: Normalise,
        blocked: Callable[[FetchItem], bool] | None,
        clock: Callable[[], datetime],
    ) -> None:
        self.tally = Tally()
        self.facts = Facts(clock)
        self._config = config
        self._sink = sink
        self._transport = transport
        self._frontier = frontier
        self._politeness = frontier.politeness
        self._dispatcher = dispatcher
        self._book = book
        self._gate = gate
        self._key_of = key_of
        self._normalise = normalise
        self._blocked = blocked
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self._headers = base_headers(config)
        self._bandwidth = Bandwidth(config.bandwidth_bytes_s)
        self._parked: dict[str, list[tuple[str, PageJob]]] = {}
        self._followed: set[str] = set()
        self._breathed_at = self._loop.time()

    async def work(self) -> None:
        """Takes turns until there are none."""
        while (turn := await self._dispatcher.next()) is not None:
            if isinstance(turn.job, RobotsJob):
                await self._robots_turn(turn, turn.job)
            else:
                await self._page_turn(turn, turn.job)

    def _give_back(self, turn: Turn[Job], verdict: Verdict, retry_after_s: float | None = None) -> None:
        self._politeness.release(turn, self._loop.time(), verdict, retry_after_s)
        self._dispatcher.wake()

    # -- pages ----------------------------------------------------------------------------------------------------

    async def _page_turn(self, turn: Turn[Job], job: PageJob) -> None:
        self.facts.met(job.item.host)
        refusal = self._refused(turn, job)
        if refusal is None and self._config.obey_robots:
            authority = authority_of(job.url)
            known = self._book.look(authority, self._clock())
            if known is None:
                await self._park(turn, job, authority)
                return
            refusal = self._forbidden(turn, job, known)
        if refusal is None and self._politeness.too_early(turn, self._loop.time()):
            self._politeness.put_back(turn.key, [job])
            self._give_back(turn, Verdict.UNUSED)
            return
        if refusal is None:
            await self._fetch_page(turn, job)
            return
        self._give_back(turn, Verdict.UNUSED)
        self._emit(job, undone(job.item, job.url, *refusal, self._clock(), job.kind))
        await self._breathe()

    async def _breathe(self) -> None:
        """A host with a million forbidden URLs must not keep everybody from reading their sockets."""
        if self._loop.time() - self._breathed_at > _BREATH_S:
            await asyncio.sleep(0)
            self._breathed_at = self._loop.time()

    def _refused(self, turn: Turn[Job], job: PageJob) -> tuple[str, str | None] | None:
        """Outcome and reason of a page that is not asked for, whatever its host's robots.txt says."""
        if turn.ended is not None:
            self.facts.ended(job.item.host, turn.ended)
            return "host_failing", turn.ended
        if self._blocked is not None and self._blocked(job.item):
            return "blocked", None
        if not can_be_sent(job.url):
            return "filtered", "not an http(s) URL, or characters that cannot be sent"
        return None

    def _forbidden(self, turn: Turn[Job], job: PageJob, known: Known) -> tuple[str, str | None] | None:
        """Why robots.txt keeps us from this page; None: it does not, and its delay is kept from here on."""
        self.facts.robots(job.item.host, known)
        if known.rules is None:
            return known.outcome, known.error
        if not known.rules.allowed(job.url):
            return "robots_denied", f"robots.txt: {known.rules.decide(job.url).line or 'forbidden'}"
        asked_s, most_s = known.rules.crawl_delay_s or 0.0, self._config.max_crawl_delay_s
        if most_s is not None and asked_s > most_s:
            return "crawl_delay_too_long", f"robots.txt asks for {asked_s:g} s, at most {most_s:g} s are kept"
        self._politeness.set_crawl_delay(turn.key, asked_s)
        return None

    async def _fetch_page(self, turn: Turn[Job], job: PageJob) -> None:
        if not self._may_ask(turn, job):
            return
        keep = self._worth_keeping(turn.key)
        request = page_request(job.item, job.url, self._headers, self._config, keep)
        answer = await self._ask(turn.key, request)
        if self._tried_in_vain(turn, job, answer):
            return
        capture = captured(
            job.url,
            job.item.position,
            answer,
            self._normalise,
            self._clock(),
            kind=job.kind,
            conditional=job.url == job.item.url and bool(validators(job.item)),
        )
        self._follow(turn.key, job, capture)
        self._finish(turn, job.item.host, capture, answer)
        self._emit(job, capture)
        await self._pay(answer)

    def _worth_keeping(self, key: str) -> bool:
        return self._frontier.has_more(key) and self._politeness.pause_s(key) <= _WORTH_KEEPING_S

    def _may_ask(self, turn: Turn[Job], job: Job) -> bool:
        """Not while another process asks the same host, nor too soon after: then the job goes back in front."""
        wait_s = self._gate.enter(turn.key, self._politeness.pause_s(turn.key))
        if wait_s <= 0:
            return True
        self._politeness.hold(turn.key, self._loop.time() + wait_s)
        self._politeness.put_back(turn.key, [job])
        self._give_back(turn, Verdict.UNUSED)
        return False

    async def _ask(self, key: str, request: Request) -> Answer:
        try:
            answer = await self._transport.fetch(request)
        finally:
            self._gate.leave(key)
        self.tally.requests += answer.sent
        self.tally.received_bytes += len(answer.body) + len(answer.response_head)
        return answer

    def _tried_in_vain(self, turn: Turn[Job], job: PageJob | RobotsJob, answer: Answer) -> bool:
        """A kept connection had been closed meanwhile: the host is asked once more, after its delay."""
        if not answer.stale or job.tries:
            return False
        job.tries += 1
        self._politeness.put_back(turn.key, [job])
        self._give_back(turn, Verdict.ANSWERED)
        return True

    def _finish(self, turn: Turn[Job], host: str, capture: Capture, answer: Answer) -> None:
        """Gives the turn back: what was met decides how long the host is left alone."""
        self.facts.asked(host, capture, answer.sent)
        if not answer.sent:
            self._give_back(turn, Verdict.UNUSED)
            return
        failed = capture.outcome in FAILURES
        wait_s = (capture.retry_at - self._clock()).total_seconds() if capture.retry_at is not None else None
        self._give_back(turn, Verdict.FAILED if failed else Verdict.ANSWERED, wait_s)

    def _emit(self, job: PageJob, capture: Capture) -> None:
        if not job.hops:
            self.tally.captured += 1
            self.tally.outcomes[capture.outcome] += 1
        self._sink.capture(capture)

    def _follow(self, key: str, job: PageJob, capture: Capture) -> None:
        """Redirects within a host are followed at once if so set, each target once in a run."""
        target = capture.redirect_to
        if target is None or job.hops >= self._config.redirect_max or target in self._followed:
            return
        if host_of(target) != job.item.host or len(self._followed) >= _MAX_FOLLOWED:
            return
        self._followed.add(target)
        self._politeness.put_back(key, [PageJob(job.item, target, job.hops + 1)])

    async def _pay(self, answer: Answer) -> None:
        wait_s = self._bandwidth.take(len(answer.body), self._loop.time())
        if wait_s > 0:
            await asyncio.sleep(wait_s)

    # -- robots.txt -----------------------------------------------------------------------------------------------

    async def _park(self, turn: Turn[Job], job: PageJob, authority: str) -> None:
        """The page waits aside for its robots.txt; who comes first uses this turn to ask for it."""
        parked = self._parked.setdefault(authority, [])
        parked.append((turn.key, job))
        if len(parked) == 1:
            await self._robots_turn(turn, RobotsJob(authority, f"{authority}/robots.txt"))
        else:
            self._give_back(turn, Verdict.UNUSED)

    async def _robots_turn(self, turn: Turn[Job], job: RobotsJob) -> None:
        if turn.ended is not None:
            self._learn(RobotsRecord(job.authority, "unavailable", self._clock(), error=turn.ended))
            self._give_back(turn, Verdict.UNUSED)
            return
        if not self._may_ask(turn, job):
            return
        keep = job.hop == 0 and self._politeness.pause_s(turn.key) <= _WORTH_KEEPING_S
        request = Request(job.url, self._headers, robots.MAX_BYTES, keep_alive=keep)
        answer = await self._ask(turn.key, request)
        self.tally.robots_requests += answer.sent
        if self._tried_in_vain(turn, job, answer):
            return
        capture = captured(
            job.url, -1, answer, self._normalise, self._clock(), kind="robots", conditional=False
        )
        verdict = judge(job.authority, job.url, job.hop, answer, capture.outcome, self._normalise)
        if isinstance(verdict, Moved):
            await self._ask_elsewhere(RobotsJob(job.authority, verdict.url, job.hop + 1))
        else:
            self._learn(verdict)
        self._finish(turn, host_of(job.url) or "", capture, answer)
        self._sink.capture(capture)

    async def _ask_elsewhere(self, job: RobotsJob) -> None:
        """The host a robots.txt has moved to has its own delay: the question takes its place in that queue."""
        key = await self._key_of(host_of(job.url) or "")
        self._politeness.put_back(key, [job])

    def _learn(self, record: RobotsRecord) -> None:
        """Takes in what a robots.txt says, and brings back the pages that waited for it.

        To be called before the turn is given back: so that its Crawl-delay counts from this very request on, and so
        that there is never a moment in which nothing is queued and nothing under way, which would end the run.
        """
        known = self._book.learn(record, self._clock())
        asked_s = (known.rules.crawl_delay_s if known.rules is not None else None) or 0.0
        for key, job in reversed(self._parked.pop(record.authority, [])):
            if self._config.max_crawl_delay_s is None or asked_s <= self._config.max_crawl_delay_s:
                self._politeness.set_crawl_delay(key, asked_s)  # else nothing will be asked, nor waited for
            self._politeness.put_back(key, [job], delay_s=delay_s(job.item))


def authority_of(url: str) -> str:
    """Scheme, host and port of a normalised http(s) URL, without user and password: what a robots.txt speaks for."""
    scheme, _, rest = url.partition("://")
    for mark in "/?#":
        rest = rest.partition(mark)[0]
    return f"{scheme}://{rest.rpartition('@')[2]}"


def delay_s(item: FetchItem) -> float | None:
    """The delay an item's host has of its own, in seconds."""
    return None if item.fetch_delay_ms is None else item.fetch_delay_ms / 1000
