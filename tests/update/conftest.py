from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import update_crawls

from pinyon.crawl import Crawl


@pytest.fixture
def crawl(tmp_path: Path) -> Iterator[Crawl]:
    """An empty crawl of one bucket, default settings."""
    with update_crawls.new_crawl(tmp_path / "crawl") as crawl:
        yield crawl
