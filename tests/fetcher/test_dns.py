"""Names and addresses, asked of a real name server on loopback."""

from __future__ import annotations

import asyncio
import contextlib

import pytest
from name_server import SERVFAIL, SILENCE, NameServer

from pinyon.errors import SettingError
from pinyon.fetcher.connect_to import ConnectTo, Endpoint
from pinyon.fetcher.dns import Addresses, AresLookup, CachingResolver, ResolveError, SystemLookup


class Clock:
    """Seconds that pass when told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@contextlib.asynccontextmanager
async def resolver(server: NameServer, clock: Clock, **options: int):
    lookup = AresLookup((server.address,), timeout_s=0.2, tries=1)
    names = CachingResolver(lookup, time=clock, **options)
    try:
        yield names
    finally:
        await names.close()
        await lookup.close()


async def failure(names: CachingResolver, name: str) -> ResolveError:
    with pytest.raises(ResolveError) as caught:
        await names.resolve(name)
    return caught.value


def test_an_unknown_name_is_told_from_one_nobody_answers_for():
    async def main() -> None:
        records = {"a.test": ["192.0.2.7"], "broken.test": SERVFAIL, "silent.test": SILENCE, "empty.test": []}
        async with NameServer(records) as server, resolver(server, Clock()) as names:
            assert await names.resolve("a.test") == ("192.0.2.7",)
            assert (await failure(names, "nothing.test")).unknown
            assert (await failure(names, "empty.test")).unknown
            assert not (await failure(names, "broken.test")).unknown
            assert not (await failure(names, "silent.test")).unknown

    asyncio.run(main())


class Counted:
    """A lookup that counts; c-ares keeps answers too, by the real clock, so that lifetimes are tested without it."""

    def __init__(self, answers: dict[str, Addresses | ResolveError]) -> None:
        self.answers = answers
        self.asked: list[str] = []

    async def __call__(self, name: str) -> Addresses:
        self.asked.append(name)
        answer = self.answers[name]
        if isinstance(answer, ResolveError):
            raise answer
        return answer


@pytest.mark.parametrize(
    ("answer", "kept_s"),
    [
        (Addresses(("192.0.2.7",), 120), 120),
        (Addresses(("192.0.2.7",), 0), 60),
        (Addresses(("192.0.2.7",), 10_000_000), 3600),
        (ResolveError("a.test: no such name", unknown=True), 300),
        (ResolveError("a.test: no answer", unknown=False), 30),
        (Addresses((), 120), 300),
    ],
)
def test_answers_good_and_bad_are_kept_for_bounded_times(answer, kept_s):
    async def ask(names: CachingResolver) -> tuple[str, ...] | str:
        try:
            return await names.resolve("A.test.")
        except ResolveError as error:
            return str(error)

    async def main() -> None:
        clock, lookup = Clock(), Counted({"a.test": answer})
        names = CachingResolver(lookup, time=clock)
        first = await ask(names)
        clock.now += kept_s - 1
        assert await ask(names) == first
        assert len(lookup.asked) == 1
        clock.now += 2
        assert await ask(names) == first
        assert len(lookup.asked) == 2
        await names.close()

    asyncio.run(main())


def test_a_name_is_asked_for_once_whoever_wants_it_at_the_same_time():
    async def main() -> None:
        async with (
            NameServer({"a.test": ["192.0.2.7"]}, delay_s=0.05) as server,
            resolver(server, Clock()) as names,
        ):
            found = await asyncio.gather(*(names.resolve("a.test") for _ in range(50)))
            assert set(found) == {("192.0.2.7",)}
            assert len(server.asked) <= 2  # A and AAAA

    asyncio.run(main())


def test_who_gives_up_waiting_does_not_take_the_answer_from_the_others():
    async def main() -> None:
        async with (
            NameServer({"a.test": ["192.0.2.7"]}, delay_s=0.05) as server,
            resolver(server, Clock()) as names,
        ):
            first = asyncio.create_task(names.resolve("a.test"))
            second = asyncio.create_task(names.resolve("a.test"))
            await asyncio.sleep(0.01)
            first.cancel()
            assert await second == ("192.0.2.7",)

    asyncio.run(main())


def test_a_lookup_that_never_ends_is_a_failure_not_a_wait():
    async def lookup(name: str) -> Addresses:
        await asyncio.sleep(60)
        raise AssertionError

    async def main() -> None:
        names = CachingResolver(lookup, time=Clock(), timeout_s=0.05)
        assert not (await failure(names, "a.test")).unknown
        await names.close()

    asyncio.run(main())


def test_not_more_names_are_asked_for_at_once_than_allowed():
    async def main() -> None:
        records = {f"h{n}.test": ["192.0.2.7"] for n in range(30)}
        server = NameServer(records, delay_s=0.01)  # type: ignore[arg-type]
        async with server, resolver(server, Clock(), concurrency=3) as names:
            await asyncio.gather(*(names.resolve(name) for name in records))
            assert server.most_at_once <= 2 * 3  # A and AAAA of each

    asyncio.run(main())


def test_the_cache_does_not_outgrow_its_size():
    async def main() -> None:
        lookup = Counted({f"h{number}.test": Addresses(("192.0.2.7",), 3600) for number in range(100)})
        names = CachingResolver(lookup, time=Clock(), max_names=10)
        for name in lookup.answers:
            await names.resolve(name)
        assert len(names._answers) == 10
        await names.resolve("h99.test")
        assert len(lookup.asked) == 100
        await names.close()

    asyncio.run(main())


def test_ipv4_comes_first_and_no_name_has_addresses_without_end():
    async def main() -> None:
        many = ["2001:db8::1", *(f"192.0.2.{n}" for n in range(1, 40))]
        async with NameServer({"a.test": many}) as server, resolver(server, Clock()) as names:
            found = await names.resolve("a.test")
            assert len(found) == 8
            assert found[0].startswith("192.0.2.")

    asyncio.run(main())


def test_search_domains_are_not_tried():
    async def main() -> None:
        async with NameServer({}) as server, resolver(server, Clock()) as names:
            await failure(names, "nothing")
            assert set(server.asked) <= {"nothing"}

    asyncio.run(main())


@pytest.mark.parametrize("name", ["a" * 70 + ".test", "a..test", "x" * 300, "ü.test", "", "a b.test"])
def test_what_is_no_name_is_unknown(name):
    async def main() -> None:
        async with NameServer({}) as server, resolver(server, Clock()) as names:
            assert (await failure(names, name)).unknown

    asyncio.run(main())


def test_the_systems_resolver_is_a_fallback():
    async def main() -> None:
        assert "127.0.0.1" in (await SystemLookup()("localhost")).addresses
        with pytest.raises(ResolveError):
            await SystemLookup()("a..test")

    asyncio.run(main())


# -- connect-to -----------------------------------------------------------------------------------------------


def test_the_most_specific_line_says_where_to_connect():
    lines = ConnectTo(
        [
            "# comment",
            "",
            "a.test:80:127.1.0.5:18080",
            "a.test:443:127.1.0.5:18443",
            "*.b.test:80:127.1.0.6:1",
            "*.x.b.test::127.1.0.7:2",
            "c.test::[::1]:",
            "d.test:80:backend.test:",
        ]
    )
    assert lines.find("a.test", 80) == Endpoint("127.1.0.5", 18080)
    assert lines.find("a.test", 443) == Endpoint("127.1.0.5", 18443)
    assert lines.find("a.test", 8080) is None
    assert lines.find("b.test", 80) is None
    assert lines.find("y.b.test", 80) == Endpoint("127.1.0.6", 1)
    assert lines.find("y.x.b.test", 9) == Endpoint("127.1.0.7", 2)
    assert lines.find("c.test", 81) == Endpoint("::1", 81)
    assert lines.find("d.test", 80) == Endpoint("backend.test", 80)
    assert lines.find("other.test", 80) is None


def test_a_star_stands_for_any_name():
    assert ConnectTo(["*:80:127.0.0.1:8080"]).find("whatever.test", 80) == Endpoint("127.0.0.1", 8080)
    assert ConnectTo(["::127.0.0.1:8080"]).find("whatever.test", 443) == Endpoint("127.0.0.1", 8080)
    assert not ConnectTo([])


@pytest.mark.parametrize(
    "line", ["a.test:80:127.0.0.1", "a.test:x:127.0.0.1:1", "a:b:c:d:e", "a test:80:127.0.0.1:1"]
)
def test_a_line_that_says_nothing_is_an_error_that_quotes_it(line):
    with pytest.raises(SettingError, match="wanted HOST:PORT:ADDRESS:PORT"):
        ConnectTo([line])
