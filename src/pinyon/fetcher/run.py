"""One run over one list: what is set up, when it ends, and how it ends early."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

from pinyon.fetcher.capture import Normalise
from pinyon.fetcher.config import FetcherConfig
from pinyon.fetcher.dispatch import Dispatcher
from pinyon.fetcher.frontier import Frontier
from pinyon.fetcher.gate import Gate, OpenGate
from pinyon.fetcher.model import FetchItem, Progress, Sink, Summary
from pinyon.fetcher.pace import Throughput
from pinyon.fetcher.politeness import Policy, Politeness
from pinyon.fetcher.robots_book import RobotsBook
from pinyon.fetcher.robots_cache import FileRobotsCache, RobotsCache
from pinyon.fetcher.transport import Transport
from pinyon.fetcher.worker import Workshop, delay_s
from pinyon.urls import Normaliser, domain_of

Items = Iterable[FetchItem] | AsyncIterable[FetchItem]

_BATCH = 256
_TICK_S = 1.0
#: Between two batches that mostly go to disk, while a host is searched for that may be asked now.
_SEARCH_PAUSE_S = 0.02


def utc_now() -> datetime:
    return datetime.now(UTC)


async def fetch_items(
    items: Items,
    config: FetcherConfig,
    sink: Sink,
    *,
    transport: Transport | None = None,
    robots_cache: RobotsCache | None = None,
    normalise: Normalise | None = None,
    blocked: Callable[[FetchItem], bool] | None = None,
    gate: Gate | None = None,
    clock: Callable[[], datetime] = utc_now,
    stop: asyncio.Event | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Summary:
    """Fetches `items` politely and hands one page capture for each to `sink`, in the order they end.

    Items should come with their hosts interleaved; those of one host are asked for in the order given. `normalise`
    makes a redirect's target of the URL that redirects and its Location, in this order, or None of one that is none.
    `blocked` is asked before every request, and `gate`, which processes may share, lets it pass. When `stop` is set,
    requests under way get `stop_grace_s`; what is not captured by then is due as before. `progress` is called about
    once a second. A page never raises; what the sink raises, a list that cannot be read, and a full disk do, after
    everything was closed.
    """
    async with contextlib.AsyncExitStack() as stack:
        if robots_cache is None:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="pinyon-robots-"))
            robots_cache = FileRobotsCache(Path(folder))
        if transport is None:
            # aiohttp takes a third of a second to import: not before there is something to fetch.
            from pinyon.fetcher.aiohttp_transport import AiohttpTransport

            transport = AiohttpTransport(config, clock)
            stack.push_async_callback(transport.close)
        run = _Run(
            config,
            sink,
            transport,
            robots_cache,
            normalise or _default_normalise(),
            blocked,
            gate or OpenGate(),
            clock,
        )
        stack.callback(run.frontier.close)
        return await run.through(items, stop, progress)


def _default_normalise() -> Normalise:
    normaliser = Normaliser()
    return lambda base, location: normaliser(location, base)


class _Run:
    """Feeds the frontier, starts the workers, watches the clock."""

    def __init__(
        self,
        config: FetcherConfig,
        sink: Sink,
        transport: Transport,
        cache: RobotsCache,
        normalise: Normalise,
        blocked: Callable[[FetchItem], bool] | None,
        gate: Gate,
        clock: Callable[[], datetime],
    ) -> None:
        self._config = config
        self._sink = sink
        self._transport = transport
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self._started = self._loop.time()
        self._items = 0
        self._by_address: dict[str, str] = {}
        self._stopped_by: str | None = None
        self.frontier = Frontier(Politeness(_policy(config), self._started), config.max_queued)
        self._dispatcher = Dispatcher(self.frontier, config.connections, config.max_idle_s)
        self._workshop = Workshop(
            config,
            sink,
            transport,
            self.frontier,
            self._dispatcher,
            RobotsBook(cache, config.agent_names),
            gate,
            key_of=self._key_of,
            normalise=normalise,
            blocked=blocked,
            clock=clock,
        )

    async def through(
        self, items: Items, stop: asyncio.Event | None, progress: Callable[[Progress], None] | None
    ) -> Summary:
        """The whole run; raises what the sink, the list or the disk raised."""
        workers = {asyncio.create_task(self._workshop.work()) for _ in range(self._config.connections)}
        others = {asyncio.create_task(self._feed(items)), asyncio.create_task(self._watch(progress))}
        if stop is not None:
            others.add(asyncio.create_task(self._obey(stop)))
        try:
            await self._until_home(workers, others)
        finally:
            self._dispatcher.close()
            for task in workers | others:
                task.cancel()
            await asyncio.gather(*workers, *others, return_exceptions=True)
        for facts in self._workshop.facts.all():
            self._sink.host(facts)
        return self._summary()

    async def _until_home(self, workers: set[asyncio.Task[None]], others: set[asyncio.Task[None]]) -> None:
        """Until every worker has gone home, or the grace of a stopped run is over. Raises what any task raised."""
        working, waiting = set(workers), workers | others
        deadline: float | None = None
        while working:
            left = None if deadline is None else max(0.0, deadline - self._loop.time())
            done, waiting = await asyncio.wait(waiting, timeout=left, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
            working -= done
            if not done:
                return
            if self._stopped_by is not None and deadline is None:
                deadline = self._loop.time() + self._config.stop_grace_s

    def _halt(self, reason: str) -> None:
        """No new turn is given out; requests under way go on until the grace is over."""
        if self._stopped_by is None:
            self._stopped_by = reason
            self._dispatcher.close()

    async def _obey(self, stop: asyncio.Event) -> None:
        await stop.wait()
        self._halt("stop")

    # -- the list -------------------------------------------------------------------------------------------------

    async def _feed(self, items: Items) -> None:
        """Reads on while there is room or somebody is idle."""
        async for batch in _batches(items, _BATCH):
            keys = await self._keys_of(batch)
            for key, item in zip(keys, batch, strict=True):
                self.frontier.offer(key, item, delay_s(item), self._steady(item.not_before))
            self._items += len(batch)
            self._dispatcher.hungry.clear()
            self._dispatcher.wake()
            await self._dispatcher.hungry.wait()
            if self._stopped_by is not None:
                return
            await asyncio.sleep(0 if self.frontier.has_room else _SEARCH_PAUSE_S)
        self._dispatcher.nothing_more()

    def _steady(self, moment: datetime | None) -> float | None:
        """A time of day as a time of the steady clock politeness is kept by."""
        if moment is None:
            return None
        return self._loop.time() + (moment - self._clock()).total_seconds()

    async def _keys_of(self, batch: list[FetchItem]) -> list[str]:
        """What the delay of each item's host is kept for."""
        if self._config.queue_mode == "host":
            return [item.host for item in batch]
        if self._config.queue_mode == "domain":
            return [item.domain for item in batch]
        await asyncio.gather(*(self._key_of(host) for host in {item.host for item in batch}))
        return [self._by_address[item.host] for item in batch]

    async def _key_of(self, host: str) -> str:
        """The same for a host of which nothing else is known. An address is looked up once a run, and then kept to:
        names with several give them in another order each time."""
        if self._config.queue_mode == "host":
            return host
        if self._config.queue_mode == "domain":
            return domain_of(host)
        key = self._by_address.get(host)
        if key is None:
            key = await self._transport.locate(host, 80) or await self._transport.locate(host, 443) or host
            self._by_address[host] = key
        return key

    # -- the clock ------------------------------------------------------------------------------------------------

    async def _watch(self, progress: Callable[[Progress], None] | None) -> None:
        """Once a second: tells how the run stands, and ends one that has run too long or too slowly."""
        throughput = Throughput(
            self._config.throughput_min_pages_s, self._config.throughput_window_s, self._started
        )
        limit = self._config.time_limit_s
        while self._stopped_by is None:
            now = self._loop.time()
            elapsed = now - self._started
            if progress is not None:
                progress(self._progress(now))
            if limit is not None and elapsed >= limit:
                self._halt("time_limit")
                return
            if throughput.too_slow(self._workshop.tally.captured, now):
                self._halt("throughput")
                return
            await asyncio.sleep(_TICK_S if limit is None else min(_TICK_S, max(0.01, limit - elapsed)))

    def _progress(self, now: float) -> Progress:
        politeness, tally = self.frontier.politeness, self._workshop.tally
        next_at = politeness.next_at()
        return Progress(
            elapsed_s=now - self._started,
            captured=tally.captured,
            requests=tally.requests,
            received_bytes=tally.received_bytes,
            active=politeness.active,
            queued=politeness.queued,
            spilled=self.frontier.spilled,
            waiting=politeness.waiting(now),
            next_start_in_s=None if next_at is None else max(0.0, next_at - now),
        )

    def _summary(self) -> Summary:
        tally = self._workshop.tally
        if self._stopped_by is None and self._dispatcher.all_asleep:
            self._stopped_by = "idle"
        return Summary(
            items=self._items,
            captured=tally.captured,
            outcomes=dict(tally.outcomes),
            requests=tally.requests,
            robots_requests=tally.robots_requests,
            received_bytes=tally.received_bytes,
            hosts=len(self._workshop.facts),
            elapsed_s=self._loop.time() - self._started,
            stopped_by=self._stopped_by,
        )


def _policy(config: FetcherConfig) -> Policy:
    return Policy(
        server_delay_s=config.server_delay_s,
        min_delay_s=config.min_delay_s,
        first_back_off_s=config.first_back_off_s,
        max_back_off_s=config.max_back_off_s,
        connections_per_host=config.connections_per_host,
        max_failures=config.max_failures,
        pause_first=config.pause_first,
    )


async def _batches(items: Items, size: int) -> AsyncIterator[list[FetchItem]]:
    if isinstance(items, AsyncIterable):
        batch: list[FetchItem] = []
        async for item in items:
            batch.append(item)
            if len(batch) == size:
                yield batch
                batch = []
        if batch:
            yield batch
        return
    source = iter(items)
    while chunk := list(islice(source, size)):
        yield chunk
