"""The promise of politeness, simulated: no clock, no network, any order of events."""

from __future__ import annotations

import heapq
import itertools
import time
from collections import defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinyon.fetcher.politeness import Policy, Politeness, Turn, Verdict

SECONDS = st.floats(0, 50, allow_nan=False).map(lambda value: round(value, 2))


#: How long a request takes, how it goes, and what Retry-After it brings.
Fate = tuple[float, Verdict, float | None]


@st.composite
def crawls(draw: st.DrawFn) -> tuple[Policy, dict[str, float | None], list[str], list[Fate]]:
    """A policy, hosts with their own delays, a list of jobs, and how each request will go."""
    policy = Policy(
        server_delay_s=draw(SECONDS),
        min_delay_s=draw(SECONDS),
        first_back_off_s=draw(st.floats(0.1, 5)),
        max_back_off_s=draw(st.floats(1, 400)),
        max_failures=draw(st.sampled_from([0, 3, 100])),
        pause_first=draw(st.booleans()),
    )
    hosts = draw(st.dictionaries(st.sampled_from("abcdefgh"), st.none() | SECONDS, min_size=1))
    jobs = draw(st.lists(st.sampled_from(sorted(hosts)), min_size=1, max_size=40))
    fates = draw(
        st.lists(
            st.tuples(SECONDS, st.sampled_from(list(Verdict)), st.none() | st.floats(0, 500)),
            min_size=len(jobs),
            max_size=len(jobs),
        )
    )
    return policy, hosts, jobs, fates


def promised(policy: Policy, own: float | None, failures: int, retry_after: float | None) -> float:
    """The pause after a request, written down once more from the words of the promise."""
    pause = max(policy.min_delay_s, policy.server_delay_s if own is None else own)
    if failures:
        pause = max(pause, min(max(pause, policy.first_back_off_s) * 2**failures, policy.max_back_off_s))
    return max(pause, min(retry_after or 0, policy.max_back_off_s))


@settings(max_examples=200, deadline=None)
@given(crawls(), st.integers(1, 4))
def test_no_host_is_asked_sooner_than_promised_and_nothing_is_lost_or_handed_out_twice(crawl, workers):
    policy, hosts, jobs, fates = crawl
    politeness: Politeness[tuple[str, int]] = Politeness(policy, started=0.0)
    numbered = [(host, number) for number, host in enumerate(jobs)]
    for host, number in numbered:
        politeness.add(host, (host, number), delay_s=hosts[host])

    now, order = 0.0, itertools.count()
    running: list[tuple[float, int, Turn[tuple[str, int]]]] = []
    handed_out: list[tuple[str, int]] = []
    free_at = {
        host: promised(policy, own, 0, None) if policy.pause_first else 0.0 for host, own in hosts.items()
    }
    failures: dict[str, int] = defaultdict(int)
    ended: set[str] = set()

    while True:
        while len(running) < workers and (turn := politeness.acquire(now)) is not None:
            host, number = turn.job
            handed_out.append(turn.job)
            assert (turn.ended is not None) == (host in ended)
            if turn.ended is None:
                assert now >= free_at[host], "asked before its time"
                assert all(other.key != host for _, _, other in running), "asked twice at a time"
                heapq.heappush(running, (now + fates[number][0], next(order), turn))
            else:
                politeness.release(turn, now, Verdict.UNUSED)
        if running:
            now, _, turn = heapq.heappop(running)
            host, number = turn.job
            _, verdict, retry_after = fates[number]
            politeness.release(turn, now, verdict, retry_after)
            if verdict is not Verdict.UNUSED:
                failures[host] = failures[host] + 1 if verdict is Verdict.FAILED else 0
                free_at[host] = now + promised(policy, hosts[host], failures[host], retry_after)
                if 0 < policy.max_failures <= failures[host]:
                    ended.add(host)
        elif (at := politeness.next_at()) is not None:
            assert at >= now or politeness.queued == 0
            now = max(now, at)
            if not politeness.queued:
                break
        else:
            break

    assert sorted(handed_out) == sorted(numbered)
    for host in hosts:
        assert [n for h, n in handed_out if h == host] == [n for h, n in numbered if h == host]
    assert politeness.queued == politeness.active == 0


@settings(max_examples=100, deadline=None)
@given(st.integers(2, 4), st.floats(0.1, 5), st.lists(st.floats(0, 3), min_size=3, max_size=20))
def test_several_connections_to_a_host_start_the_minimum_delay_apart(connections, delay, durations):
    policy = Policy(server_delay_s=100, min_delay_s=delay, connections_per_host=connections)
    politeness: Politeness[int] = Politeness(policy)
    for number in range(len(durations)):
        politeness.add("a", number)
    now, last_start = 0.0, float("-inf")
    running: list[tuple[float, int, Turn[int]]] = []
    started = 0
    while started < len(durations) or running:
        turn = politeness.acquire(now)
        if turn is not None:
            assert now - last_start >= delay * 0.999999
            last_start = now
            started += 1
            heapq.heappush(running, (now + durations[turn.job], turn.job, turn))
            assert len(running) <= connections
            continue
        at = politeness.next_at()
        if running and (at is None or running[0][0] <= at):
            now, _, turn = heapq.heappop(running)
            politeness.release(turn, now, Verdict.ANSWERED)
        else:
            assert at is not None
            now = max(now, at)
    assert politeness.acquire(now) is None


def only_turn(politeness: Politeness[str], now: float) -> Turn[str]:
    turn = politeness.acquire(now)
    assert turn is not None
    return turn


def test_a_crawl_delay_shorter_than_ours_does_not_make_us_faster():
    politeness: Politeness[str] = Politeness(Policy(server_delay_s=5))
    for job in "123":
        politeness.add("a", job)
    politeness.set_crawl_delay("a", 1)
    politeness.release(only_turn(politeness, 0), 0, Verdict.ANSWERED)
    assert politeness.next_at() == 5
    politeness.set_crawl_delay("a", 10)
    politeness.release(only_turn(politeness, 5), 5, Verdict.ANSWERED)
    assert politeness.next_at() == 15


def test_failures_double_the_pause_up_to_the_maximum_and_a_success_forgives_them():
    policy = Policy(server_delay_s=1, first_back_off_s=2, max_back_off_s=20, max_failures=0)
    politeness: Politeness[str] = Politeness(policy)
    for number in range(10):
        politeness.add("a", str(number))
    now, pauses = 0.0, []
    for verdict in [Verdict.FAILED] * 5 + [Verdict.ANSWERED, Verdict.FAILED]:
        politeness.release(only_turn(politeness, now), now, verdict)
        at = politeness.next_at()
        assert at is not None
        pauses.append(at - now)
        now = at
    assert pauses == [4, 8, 16, 20, 20, 1, 4]


def test_a_host_that_fails_for_ever_does_not_overflow():
    politeness: Politeness[str] = Politeness(Policy(server_delay_s=1, max_back_off_s=60, max_failures=0))
    now = 0.0
    for _ in range(2_000):
        politeness.add("a", "x")
        politeness.release(only_turn(politeness, now), now, Verdict.FAILED)
        now = politeness.next_at() or now
    assert politeness.next_at() == now


def test_retry_after_is_kept_up_to_the_cap_and_holds_for_the_whole_host():
    politeness: Politeness[str] = Politeness(Policy(server_delay_s=1, max_back_off_s=100))
    for job in "123":
        politeness.add("a", job)
    politeness.release(only_turn(politeness, 0), 0, Verdict.FAILED, retry_after_s=7)
    assert politeness.acquire(6.99) is None
    assert politeness.waiting(6.99) == {"retry_after": 1}
    politeness.release(only_turn(politeness, 7), 7, Verdict.FAILED, retry_after_s=864_000)
    assert politeness.next_at() == 107


def test_a_host_given_up_hands_out_its_jobs_at_once_those_that_come_later_too():
    politeness: Politeness[str] = Politeness(Policy(server_delay_s=1, max_failures=2))
    for job in "1234":
        politeness.add("a", job)
    politeness.release(only_turn(politeness, 0), 0, Verdict.FAILED)
    now = politeness.next_at() or 0.0
    politeness.release(only_turn(politeness, now), now, Verdict.FAILED)
    rest = [only_turn(politeness, now) for _ in "34"]
    assert [(turn.job, turn.ended) for turn in rest] == [
        ("3", "2 failures in a row"),
        ("4", "2 failures in a row"),
    ]
    for turn in rest:
        politeness.release(turn, now, Verdict.UNUSED)
    politeness.add("a", "late")
    assert only_turn(politeness, now).ended is not None


def test_a_job_put_back_comes_before_the_others_and_after_the_delay():
    politeness: Politeness[str] = Politeness(Policy(server_delay_s=2))
    for job in "12":
        politeness.add("a", job)
    turn = only_turn(politeness, 0)
    politeness.put_back("a", [turn.job])
    politeness.release(turn, 0, Verdict.ANSWERED)
    assert politeness.acquire(1.9) is None
    assert only_turn(politeness, 2).job == "1"


def test_an_unused_turn_costs_the_host_nothing():
    politeness: Politeness[str] = Politeness(Policy(server_delay_s=60))
    for job in "12":
        politeness.add("a", job)
    politeness.release(only_turn(politeness, 0), 0, Verdict.UNUSED)
    assert only_turn(politeness, 0).job == "2"


def test_a_turn_is_given_back_once():
    politeness: Politeness[str] = Politeness(Policy())
    politeness.add("a", "1")
    turn = only_turn(politeness, 0)
    politeness.release(turn, 0, Verdict.ANSWERED)
    with pytest.raises(ValueError, match="released before"):
        politeness.release(turn, 0, Verdict.ANSWERED)


def test_a_delay_lasts_beyond_the_last_job_that_was_known():
    politeness: Politeness[str] = Politeness(Policy(server_delay_s=5))
    politeness.add("a", "1")
    politeness.release(only_turn(politeness, 0), 0, Verdict.ANSWERED)
    assert politeness.acquire(1) is None
    politeness.add("a", "2")
    assert politeness.acquire(4.9) is None
    assert only_turn(politeness, 5).job == "2"


def test_hosts_whose_pause_is_over_are_forgotten():
    politeness: Politeness[str] = Politeness(Policy(server_delay_s=5))
    for number in range(100):
        politeness.add(f"h{number}", "x")
    turns = [only_turn(politeness, 0) for _ in range(100)]
    for turn in turns:
        politeness.release(turn, 0, Verdict.ANSWERED)
    assert politeness.acquire(5) is None
    assert politeness.next_at() is None
    assert politeness._queues == {}


def test_hosts_that_share_a_queue_keep_the_longest_of_their_delays():
    politeness: Politeness[str] = Politeness(Policy(server_delay_s=5))
    politeness.add("example.org", "a", delay_s=0.1)
    politeness.add("example.org", "b")
    politeness.release(only_turn(politeness, 0), 0, Verdict.ANSWERED)
    assert politeness.next_at() == 5


def test_fifty_thousand_waiting_hosts_cost_nothing_to_look_at():
    politeness: Politeness[str] = Politeness(Policy(server_delay_s=1000))
    for number in range(50_000):
        politeness.add(f"h{number}", "1")
        politeness.add(f"h{number}", "2")
    turns = [only_turn(politeness, 0) for _ in range(50_000)]
    for turn in turns:
        politeness.release(turn, 0, Verdict.ANSWERED)
    began = time.perf_counter()
    for _ in range(10_000):
        assert politeness.acquire(1) is None
        assert politeness.next_at() == 1000
    # A look at every host would take a thousand times as long.
    assert time.perf_counter() - began < 1
