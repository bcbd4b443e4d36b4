"""What tests share: a fresh crawl, and files of others that lie beside the checkout."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pinyon.crawl import Crawl

_DATA_OF_OTHERS = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def others_data() -> Path:
    """A folder with files of other projects (web-platform-tests, lists of blogs), which are not ours to ship."""
    if not _DATA_OF_OTHERS.is_dir():
        pytest.skip(f"{_DATA_OF_OTHERS} is not there: these tests need files of other projects")
    return _DATA_OF_OTHERS


@pytest.fixture
def crawl(tmp_path: Path) -> Iterator[Crawl]:
    """An empty crawl with few buckets, open."""
    Crawl.create(tmp_path / "crawl", store__buckets=4)
    with Crawl.open(tmp_path / "crawl") as opened:
        yield opened
