"""Tables as published versions: one commit, three kept, none lost, none half."""

from __future__ import annotations

import json
import os
import time
import uuid
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pinyon.errors import LockedError, StoreError
from pinyon.store import DataFile, DeltaStore, Published, log
from pinyon.tables import HOSTDB

_SCHEMA = pa.schema([field for field in HOSTDB.arrow_schema() if field.name != "bucket"])
_ROW: dict[str, Any] = {
    field.name: [] if field.name == "metadata" else 0 for field in _SCHEMA if not field.nullable
}


@pytest.fixture
def store(tmp_path: Path) -> DeltaStore:
    made = DeltaStore(tmp_path)
    made.create(HOSTDB, buckets=4, facts={"metadata": {}})
    return made


def write(base: Published, bucket: int, hosts: Iterable[str]) -> DataFile:
    """A file of that bucket as an engine leaves it: written, not published."""
    path = base.root / f"bucket={bucket}" / f"part-{uuid.uuid4().hex}.parquet"
    path.parent.mkdir(exist_ok=True)
    table = pa.Table.from_pylist([_ROW | {"host": host} for host in hosts], schema=_SCHEMA)
    pq.write_table(table, path)
    return DataFile(path.relative_to(base.root).as_posix(), bucket, table.num_rows, path.stat().st_size)


def publish(store: DeltaStore, bucket: int, *hosts: str, **options: Any) -> int:
    base = store.current(HOSTDB)
    return store.publish(base, [write(base, bucket, hosts)], replaces=[bucket], **options)


def hosts(published: Published) -> list[str]:
    read = [pq.read_table(path, columns=["host"], partitioning=None) for path in published.paths()]
    return sorted(host for table in read for host in table.column("host").to_pylist())


def test_a_new_table_is_empty_and_knows_its_shape(store: DeltaStore) -> None:
    table = store.current(HOSTDB)
    assert (table.version, table.buckets, table.rows, table.paths()) == (0, 4, 0, [])
    with pytest.raises(StoreError, match="cannot create the table"):
        store.create(HOSTDB, buckets=4, facts={})


def test_files_are_unseen_until_one_commit_publishes_them_all(store: DeltaStore) -> None:
    base = store.current(HOSTDB)
    written = [write(base, bucket, [f"{bucket}.test"]) for bucket in range(4)]
    assert store.current(HOSTDB).rows == 0
    assert store.publish(base, written) == 1
    table = store.current(HOSTDB)
    assert hosts(table) == ["0.test", "1.test", "2.test", "3.test"]
    assert [file.bucket for file in table.all_files()].count(2) == 1
    assert len(table.paths([1, 3])) == 2


def test_only_the_buckets_named_are_replaced(store: DeltaStore) -> None:
    publish(store, 0, "a.test")
    publish(store, 1, "b.test")
    publish(store, 0, "c.test")
    assert hosts(store.current(HOSTDB)) == ["b.test", "c.test"]
    store.publish(store.current(HOSTDB), [])
    assert store.current(HOSTDB).rows == 0


def test_facts_and_operation_are_carried_on(store: DeltaStore) -> None:
    publish(store, 0, "a.test", facts={"filter": "abc"}, operation="inject (keep)")
    publish(store, 0, "b.test", operation="updatehostdb")
    assert store.current(HOSTDB).facts == {"format": 1, "buckets": 4, "metadata": {}, "filter": "abc"}
    told = store.history(HOSTDB)
    assert [(entry["version"], entry["operation"]) for entry in told] == [
        (2, "updatehostdb"),
        (1, "inject (keep)"),
        (0, "init"),
    ]
    assert all(abs(entry["timestamp"] / 1000 - time.time()) < 60 for entry in told)


def test_facts_survive_a_commit_of_somebody_else(store: DeltaStore) -> None:
    from deltalake import DeltaTable

    for _ in range(2):
        base = store.current(HOSTDB)
        store.publish(base, [write(base, 0, ["a.test"])], replaces=[])
    DeltaTable(str(store.path(HOSTDB))).optimize.compact()
    table = store.current(HOSTDB)
    assert table.facts["buckets"] == 4
    assert (len(table.paths()), table.rows) == (1, 2)


def test_who_publishes_on_an_old_version_fails_and_changes_nothing(store: DeltaStore) -> None:
    stale = store.current(HOSTDB)
    publish(store, 0, "first.test")
    with pytest.raises(LockedError, match="another process published version 1 meanwhile"):
        store.publish(stale, [write(stale, 0, ["second.test"])], segments=["20261130120000"])
    assert hosts(store.current(HOSTDB)) == ["first.test"]
    assert store.applied(HOSTDB, ["20261130120000"]) == set()


def test_segments_are_recorded_with_the_rows_they_brought(store: DeltaStore) -> None:
    publish(store, 0, "a.test", segments=["20261130120000", "20261130120001"])
    publish(store, 1, "b.test", segments=["20261130120002"])
    names = [f"2026113012000{n}" for n in range(5)]
    assert store.applied(HOSTDB, names) == set(names[:3])
    assert store.applied(HOSTDB, names, version=1) == set(names[:2])


def test_a_restored_version_takes_its_segments_back(store: DeltaStore) -> None:
    publish(store, 0, "a.test", segments=["20261130120000"])
    publish(store, 0, "b.test", segments=["20261130120001"])
    names = ["20261130120000", "20261130120001"]
    assert store.restore(HOSTDB, 1, names) == 3
    assert hosts(store.current(HOSTDB)) == ["a.test"]
    assert store.applied(HOSTDB, names) == {"20261130120000"}


# -- what is kept ---------------------------------------------------------------------------------------------


def aged(store: DeltaStore, hours: float) -> None:
    """As if the log had been written so long ago."""
    then = time.time() - hours * 3600
    for path in (store.path(HOSTDB) / "_delta_log").glob("*"):
        os.utime(path, (then, then))


def test_three_versions_stay_readable_whatever_their_age(store: DeltaStore) -> None:
    """Past checkpoints too: a crawl publishes once a day, and a log cleaned by age alone forgets what is kept."""
    for number in range(1, 26):
        publish(store, number % 4, f"{number}.test", segments=[f"20261130120{number:03}"])
        aged(store, hours=24 * 7)
        store.sweep(HOSTDB, keep_versions=3)
        for version in range(max(0, number - 2), number + 1):
            assert store.current(HOSTDB, version).rows == min(version, 4)
        assert store.kept(HOSTDB)[:3] == list(range(number, max(-1, number - 3), -1))
    assert len(store.applied(HOSTDB, [f"20261130120{n:03}" for n in range(1, 26)])) == 25
    assert len(list((store.path(HOSTDB) / "_delta_log").glob("*.json"))) <= 14


def test_a_reader_of_a_kept_version_reads_on_while_others_publish(store: DeltaStore) -> None:
    publish(store, 0, "old.test")
    reading = store.current(HOSTDB)
    for name in ("new.test", "newer.test"):
        publish(store, 0, name)
        store.sweep(HOSTDB, keep_versions=3)
    assert hosts(reading) == ["old.test"]
    publish(store, 0, "newest.test")
    store.sweep(HOSTDB, keep_versions=3)
    with pytest.raises(StoreError, match="version 1 is not kept any more"):
        store.current(HOSTDB, 1)


def test_young_versions_are_kept_for_hours_if_told(store: DeltaStore) -> None:
    for name in "abcde":
        publish(store, 0, f"{name}.test")
    store.sweep(HOSTDB, keep_versions=1, keep_hours=1)
    assert store.kept(HOSTDB) == [5, 4, 3, 2, 1, 0]
    store.sweep(HOSTDB, keep_versions=1)
    assert store.kept(HOSTDB) == [5]


def test_litter_of_a_killed_step_is_swept_and_nothing_else(store: DeltaStore) -> None:
    publish(store, 0, "a.test")
    base = store.current(HOSTDB)
    litter = [base.root / write(base, bucket, ["litter.test"]).path for bucket in (0, 3)]
    assert store.sweep(HOSTDB, keep_versions=3) == 2
    assert not any(path.exists() for path in litter)
    assert not litter[1].parent.exists()
    assert hosts(store.current(HOSTDB)) == ["a.test"]


def test_a_shortened_log_still_tells_what_matters(store: DeltaStore) -> None:
    for number in range(5):
        publish(store, 0, f"{number}.test", segments=[f"2026113012000{number}"], facts={"filter": "x"})
    store.sweep(HOSTDB, keep_versions=1)
    store.shorten_log(HOSTDB)
    assert [path.name for path in (store.path(HOSTDB) / "_delta_log").glob("*.json")] == [f"{5:020}.json"]
    assert store.current(HOSTDB).facts["filter"] == "x"
    assert hosts(store.current(HOSTDB)) == ["4.test"]
    assert store.applied(HOSTDB, ["20261130120003", "20261130120009"]) == {"20261130120003"}


# -- disasters ------------------------------------------------------------------------------------------------


def one_line(error: pytest.ExceptionInfo[StoreError], *parts: str) -> None:
    text = str(error.value)
    assert "\n" not in text
    assert all(part in text for part in parts), text


def test_a_missing_table_is_an_error_never_a_fresh_start(tmp_path: Path) -> None:
    with pytest.raises(StoreError) as error:
        DeltaStore(tmp_path).current(HOSTDB)
    one_line(error, "hostdb: there is no table here")


@pytest.mark.parametrize("version", [-1, 7, 10**30])
def test_a_version_that_never_was_is_refused(store: DeltaStore, version: int) -> None:
    with pytest.raises(StoreError) as error:
        store.current(HOSTDB, version)
    one_line(error, "version")


def test_a_table_of_a_newer_format_is_refused_in_one_line(store: DeltaStore) -> None:
    publish(store, 0, "a.test", facts={"format": 99})
    with pytest.raises(StoreError) as error:
        store.current(HOSTDB)
    one_line(error, "newer pinyon (format 99, this one knows 1)", "pip install --upgrade pinyon")


def test_a_delta_table_that_is_not_ours_is_refused(tmp_path: Path) -> None:
    from deltalake import write_deltalake

    write_deltalake(str(tmp_path / "hostdb"), pa.table({"host": ["a.test"]}))
    with pytest.raises(StoreError) as error:
        DeltaStore(tmp_path).current(HOSTDB)
    one_line(error, "not a table of pinyon")


@pytest.mark.parametrize("damage", ["", "{", '{"add": 1}', "\x00" * 50, "not json\n"])
def test_a_torn_commit_is_one_line(store: DeltaStore, damage: str) -> None:
    publish(store, 0, "a.test")
    log.log_file(store.path(HOSTDB), 1).write_text(damage)
    with pytest.raises(StoreError) as error:
        store.current(HOSTDB)
    one_line(error, "hostdb")


def test_a_missing_file_is_named_with_the_way_back(store: DeltaStore) -> None:
    publish(store, 0, "a.test")
    publish(store, 1, "b.test")
    lost = Path(store.current(HOSTDB).paths([1])[0])
    lost.unlink()
    with pytest.raises(StoreError) as error:
        store.current(HOSTDB)
    one_line(error, lost.name, "is missing", "pinyon restore")
    store.restore(HOSTDB, 1)
    assert hosts(store.current(HOSTDB)) == ["a.test"]


def test_a_newer_protocol_is_refused(store: DeltaStore) -> None:
    path = log.log_file(store.path(HOSTDB), 0)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:
        if "protocol" in line:
            line["protocol"] = {"minReaderVersion": 99, "minWriterVersion": 99}
    path.write_text("\n".join(map(json.dumps, lines)))
    with pytest.raises(StoreError) as error:
        store.current(HOSTDB)
    one_line(error, "hostdb")
