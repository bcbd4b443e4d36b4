"""Names to addresses: asynchronous, cached for bounded times, unknown names told from those nobody answers for.

A name is asked for once at a time, whoever wants it; not more than `concurrency` names are asked for at once. aiodns
(c-ares) asks the name servers; where it cannot start, the system's resolver is asked in threads.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import aiodns
import aiodns.error
import pycares

_MIN_LIFE_S = 60.0
_MAX_LIFE_S = 3600.0
#: A name that does not exist may be registered, a server that fails may be mended: sooner.
_UNKNOWN_LIFE_S = 300.0
_FAILED_LIFE_S = 30.0
#: Addresses kept of a name: nobody needs more, and a hostile zone may list thousands.
_MAX_ADDRESSES = 8

_UNKNOWN_CODES = frozenset(
    {
        aiodns.error.ARES_ENOTFOUND,
        aiodns.error.ARES_ENODATA,
        aiodns.error.ARES_EBADNAME,
        aiodns.error.ARES_ENONAME,
    }
)
_UNKNOWN_GAI = frozenset({socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)})


class ResolveError(OSError):
    """No address: `unknown` tells a name that does not exist from one that could not be looked up."""

    def __init__(self, message: str, *, unknown: bool) -> None:
        super().__init__(message)
        self.unknown = unknown


@dataclass(frozen=True, slots=True)
class Addresses:
    """Addresses of a name in the order to try, and how long they may be kept."""

    addresses: tuple[str, ...]
    life_s: float


Lookup = Callable[[str], Awaitable[Addresses]]


class CachingResolver:
    """Answers from memory while an answer lives; forgets the longest unused beyond `max_names`."""

    def __init__(
        self,
        lookup: Lookup,
        *,
        time: Callable[[], float],
        max_names: int = 65_536,
        concurrency: int = 64,
        timeout_s: float = 8.0,
    ) -> None:
        self._lookup = lookup
        self._time = time
        self._max_names = max_names
        self._timeout_s = timeout_s
        self._slots = asyncio.Semaphore(concurrency)
        self._answers: OrderedDict[str, tuple[float, tuple[str, ...] | ResolveError]] = OrderedDict()
        self._asking: dict[str, asyncio.Task[tuple[str, ...]]] = {}

    async def resolve(self, name: str) -> tuple[str, ...]:
        """Addresses of `name`, at least one; raises `ResolveError`."""
        name = name.lower().rstrip(".")
        known = self._answers.get(name)
        if known is not None and known[0] > self._time():
            self._answers.move_to_end(name)
            if isinstance(known[1], ResolveError):
                raise ResolveError(str(known[1]), unknown=known[1].unknown)
            return known[1]
        task = self._asking.get(name)
        if task is None:
            task = self._asking[name] = asyncio.create_task(self._ask(name))
            task.add_done_callback(lambda done: self._asked(name, done))
        # Whoever gives up waiting must not cancel the answer for the others.
        return await asyncio.shield(task)

    async def _ask(self, name: str) -> tuple[str, ...]:
        async with self._slots:
            try:
                answer = await self._looked_up(name)
                if not answer.addresses:
                    raise ResolveError(f"{name} has no address", unknown=True)
            except ResolveError as error:
                # A new one is kept: a raised exception holds its traceback, and with it whoever asked.
                kept = ResolveError(str(error), unknown=error.unknown)
                self._keep(name, kept, _UNKNOWN_LIFE_S if error.unknown else _FAILED_LIFE_S)
                raise
        addresses = answer.addresses[:_MAX_ADDRESSES]
        self._keep(name, addresses, min(max(answer.life_s, _MIN_LIFE_S), _MAX_LIFE_S))
        return addresses

    async def _looked_up(self, name: str) -> Addresses:
        try:
            async with asyncio.timeout(self._timeout_s):
                return await self._lookup(name)
        except TimeoutError:
            raise ResolveError(f"{name}: no answer in {self._timeout_s:g} s", unknown=False) from None

    def _keep(self, name: str, answer: tuple[str, ...] | ResolveError, life_s: float) -> None:
        self._answers[name] = (self._time() + life_s, answer)
        self._answers.move_to_end(name)
        if len(self._answers) > self._max_names:
            self._answers.popitem(last=False)

    def _asked(self, name: str, task: asyncio.Task[tuple[str, ...]]) -> None:
        del self._asking[name]
        if not task.cancelled():
            task.exception()  # seen, also when nobody waits for it any more

    async def close(self) -> None:
        """Stops asking; whoever still waits is cancelled."""
        tasks = list(self._asking.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class AresLookup:
    """Asks name servers through c-ares: /etc/hosts first, then A and AAAA, IPv4 addresses in front.

    c-ares keeps answers itself, for an hour at most, and hands them on with what is left of their lifetime.
    """

    def __init__(self, nameservers: Sequence[str] = (), timeout_s: float = 3.0, tries: int = 2) -> None:
        # Search domains are left out: on the web every name is whole, and a wildcard zone of ours answers anything.
        options = {"timeout": timeout_s, "tries": tries, "flags": pycares.ARES_FLAG_NOSEARCH}
        self._resolver = aiodns.DNSResolver(list(nameservers) or None, **options)

    async def __call__(self, name: str) -> Addresses:
        try:
            found = await self._resolver.getaddrinfo(name, family=socket.AF_UNSPEC, type=socket.SOCK_STREAM)
        except aiodns.error.DNSError as error:
            code, text = error.args[0], error.args[1] if len(error.args) > 1 else ""
            raise ResolveError(f"{name}: {text}", unknown=code in _UNKNOWN_CODES) from error
        except UnicodeError as error:
            raise ResolveError(f"{name}: not a host name", unknown=True) from error
        nodes = sorted(found.nodes, key=lambda node: node.family != socket.AF_INET)
        addresses = tuple(dict.fromkeys(_text(node.addr[0]) for node in nodes))
        return Addresses(addresses, float(min((node.ttl for node in nodes), default=0)))

    async def close(self) -> None:
        await self._resolver.close()


def _text(address: bytes | str) -> str:
    return address.decode("ascii") if isinstance(address, bytes) else address


class SystemLookup:
    """Asks the system's resolver, in threads: it may know names no name server does. It tells no lifetime."""

    async def __call__(self, name: str) -> Addresses:
        loop = asyncio.get_running_loop()
        try:
            found = await loop.getaddrinfo(name, None, type=socket.SOCK_STREAM)
        except socket.gaierror as error:
            raise ResolveError(f"{name}: {error.strerror}", unknown=error.errno in _UNKNOWN_GAI) from error
        except (UnicodeError, OSError) as error:
            raise ResolveError(f"{name}: {error}", unknown=isinstance(error, UnicodeError)) from error
        found.sort(key=lambda entry: entry[0] != socket.AF_INET)
        return Addresses(tuple(dict.fromkeys(str(entry[4][0]) for entry in found)), 300.0)

    async def close(self) -> None:
        return None


def make_lookup(nameservers: Sequence[str] = ()) -> AresLookup | SystemLookup:
    """c-ares, or the system's resolver where c-ares cannot start (no configuration, no file watches left)."""
    with contextlib.suppress(OSError, RuntimeError, pycares.AresError):
        return AresLookup(nameservers)
    return SystemLookup()
