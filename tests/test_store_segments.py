"""Segments: born whole, moved on by their file, named when broken."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pinyon.errors import StoreError
from pinyon.store import Segment, Segments
from pinyon.store.files import read_json, write_json


@pytest.fixture
def segments(tmp_path: Path) -> Segments:
    (tmp_path / "segments").mkdir()
    return Segments(tmp_path)


def published(segments: Segments, name: str) -> Segment:
    draft = segments.draft(name)
    (draft / "fetchlist").mkdir()
    (draft / "fetchlist" / "part-00000.parquet").write_bytes(b"PAR1")
    return segments.publish(draft, name, {"generate_time": "2026-11-30T12:00:00+00:00"})


def test_a_segment_is_unseen_until_it_is_whole(segments: Segments) -> None:
    draft = segments.draft("20261130120000")
    assert list(segments) == []
    (draft / "x.parquet").touch()
    segment = segments.publish(draft, "20261130120000", {})
    assert [found.name for found in segments] == ["20261130120000"]
    assert segment.state == "generated"
    assert segment.info()["files"] == ["x.parquet"]


def test_segments_come_oldest_first_and_numbered_ones_in_order(segments: Segments) -> None:
    names = ["20261130120000-10", "20261130120000-2", "20261130120000", "20251130120000", "20261130120000-1"]
    for name in names:
        published(segments, name)
    (segments.root / "notes").mkdir()
    (segments.root / "20261130120009").touch()
    assert [segment.name for segment in segments] == [
        "20251130120000",
        "20261130120000",
        "20261130120000-1",
        "20261130120000-2",
        "20261130120000-10",
    ]


def test_a_taken_name_is_not_given_again(segments: Segments) -> None:
    published(segments, "20261130120000")
    assert segments.free_name("20261130120000") == "20261130120000-1"
    assert segments.free_name("20261130120000", ["20261130120000-1"]) == "20261130120000-2"
    assert segments.free_name("20261130120001") == "20261130120001"


def test_states_move_on_and_tell_more(segments: Segments) -> None:
    segment = published(segments, "20261130120000")
    segment.advance("fetched", counts={"pages": 3})
    assert segment.state == "fetched"
    assert segment.info()["counts"] == {"pages": 3}
    assert segment.info()["generate_time"] == "2026-11-30T12:00:00+00:00"


@pytest.mark.parametrize("name", ["20261130120001", "x", "", "..", "../20261130120000x", ".hidden"])
def test_an_unknown_segment_is_an_error_with_the_nearest_name(segments: Segments, name: str) -> None:
    published(segments, "20261130120000")
    with pytest.raises(StoreError, match="no segment"):
        segments[name]


def test_a_segment_is_found_by_name_and_by_path(segments: Segments) -> None:
    published(segments, "20261130120000")
    assert segments["20261130120000"].name == segments[str(segments.root / "20261130120000")].name
    with pytest.raises(StoreError, match="did you mean '20261130120000'"):
        segments["20261130120009"]


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        ("", "not valid JSON"),
        ('{"state": "fetch', "not valid JSON"),
        ("[1]", "not a JSON object"),
        ('{"state": "eaten"}', "unknown state 'eaten'"),
        ("{}", "unknown state 'None'"),
        ('{"state": "fetched", "format": 99}', "newer pinyon"),
        ("\udcff", "not valid JSON"),
        (None, "cannot be read"),
    ],
)
def test_a_torn_state_is_one_line_with_the_way_out(segments: Segments, damage: str | None, told: str) -> None:
    segment = published(segments, "20261130120000")
    path = segment.path / "segment.json"
    path.unlink()
    if damage is not None:
        path.write_text(damage, errors="surrogateescape")
    with pytest.raises(StoreError) as error:
        segment.state  # noqa: B018
    text = str(error.value)
    assert "\n" not in text and told in text and str(path) in text
    assert "abort 20261130120000" in text or "newer" in text


def test_a_missing_file_is_named(segments: Segments) -> None:
    segment = published(segments, "20261130120000")
    segment.check_whole()
    (segment.path / "fetchlist" / "part-00000.parquet").unlink()
    with pytest.raises(StoreError, match=r"fetchlist/part-00000\.parquet is missing; .*abort 20261130120000"):
        segment.check_whole()


def test_a_removed_segment_is_gone_at_once_and_litter_is_swept(segments: Segments) -> None:
    segment = published(segments, "20261130120000")
    segments.remove(segment)
    assert list(segments.root.iterdir()) == []
    published(segments, "20261130120000").path.rename(segments.root / ".20261130120000.removing")
    segments.remove(published(segments, "20261130120000"))
    assert list(segments.root.iterdir()) == []


def test_files_are_there_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    write_json(path, {"a": "é"})
    assert read_json(path) == {"a": "é"} == json.loads(path.read_text(encoding="utf-8"))
    with pytest.raises(TypeError):
        write_json(path, {("no", "key"): 1})
    with pytest.raises(StoreError, match="cannot be written"):
        write_json(tmp_path / "nowhere" / "x.json", {})
    assert [p.name for p in tmp_path.iterdir()] == ["x.json"]
    assert read_json(path) == {"a": "é"}
