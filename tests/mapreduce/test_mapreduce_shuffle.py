"""Sorting in runs: the same as sorting in memory, in bounded space, and nothing is left behind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from pinyon.errors import EngineError
from pinyon.mapreduce.shuffle import MERGE_FACTOR, Record, RunWriter, grouped, merge, prefixed, sort, write


def records(count: int) -> list[Record[int]]:
    return [(n.to_bytes(4, "big"), n) for n in range(count)]


def shuffled(count: int, seed: int = 7) -> list[Record[int]]:
    return Random(seed).sample(records(count), count)


@pytest.mark.parametrize("run_records", [1, 2, 30, 99, 100, 101, 1000])
def test_spilled_and_unspilled_runs_give_the_same(tmp_path: Path, run_records: int) -> None:
    assert list(sort(shuffled(100), tmp_path, run_records)) == records(100)


def test_more_runs_than_files_may_be_open_are_merged_in_passes(tmp_path: Path) -> None:
    count = 3 * MERGE_FACTOR + 5
    assert list(sort(shuffled(count), tmp_path, 1)) == records(count)


def test_what_fits_in_memory_is_not_spilled(tmp_path: Path) -> None:
    merged = sort(shuffled(10), tmp_path, 11)
    next(merged)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_no_more_than_a_run_is_read_before_it_is_spilled(tmp_path: Path) -> None:
    on_disk_at = {}

    def incoming() -> Iterator[Record[int]]:
        for number, record in enumerate(shuffled(100)):
            on_disk_at[number] = len([path for path in tmp_path.rglob("run-*") if path.is_file()])
            yield record

    assert list(sort(incoming(), tmp_path, 10)) == records(100)
    assert on_disk_at == {number: number // 10 for number in range(100)}


@pytest.mark.parametrize("read", [0, 50, 100])
def test_runs_are_removed_however_far_they_were_read(tmp_path: Path, read: int) -> None:
    merged = sort(shuffled(100), tmp_path, 10)
    for _ in range(read):
        next(merged)
    merged.close()  # type: ignore[attr-defined]
    assert list(tmp_path.iterdir()) == []


def test_runs_are_removed_when_the_input_fails(tmp_path: Path) -> None:
    def failing() -> Iterator[Record[int]]:
        yield from shuffled(25)
        raise RuntimeError("the table ends here")

    with pytest.raises(RuntimeError, match="ends here"):
        list(sort(failing(), tmp_path, 10))
    assert list(tmp_path.iterdir()) == []


def test_equal_keys_keep_the_order_of_their_runs(tmp_path: Path) -> None:
    first, second = tmp_path / "1", tmp_path / "2"
    write([(b"a", 1), (b"b", 2)], first)
    write([(b"a", 3), (b"b", 4)], second)
    merged: Iterator[Record[int]] = merge([first, second], tmp_path)
    assert [value for _, value in merged] == [1, 3, 2, 4]


def test_leading_numbers_sort_as_numbers_and_are_taken_off() -> None:
    keys = sorted(
        prefixed(order, *numbers) for numbers in [(2, 300), (2, 3), (10, 0)] for order in (b"y", b"x")
    )
    groups = [
        (numbers, [key for key, _ in group]) for numbers, group in grouped([(k, None) for k in keys], 2)
    ]
    assert groups == [((2, 3), [b"x", b"y"]), ((2, 300), [b"x", b"y"]), ((10, 0), [b"x", b"y"])]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("size", [10, 1_000_000], ids=["when closed", "when written"])
def test_a_full_disk_is_told_as_such(size: int) -> None:
    with pytest.raises(EngineError, match=r"/dev/full: cannot spill: .*; is the disk full\?"):
        with RunWriter(Path("/dev/full")) as writer:
            writer.append((b"key", b"x" * size))
