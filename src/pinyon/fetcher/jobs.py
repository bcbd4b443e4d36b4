"""What waits in a host's queue: a page to fetch, or a robots.txt that somebody waits for."""

from __future__ import annotations

from dataclasses import dataclass

from pinyon.fetcher.model import FetchItem


@dataclass(slots=True)
class PageJob:
    """`url` is the item's, or after `hops` redirects followed at once, their target."""

    item: FetchItem
    url: str
    hops: int = 0
    tries: int = 0

    @property
    def kind(self) -> str:
        return "redirect" if self.hops else "page"


@dataclass(slots=True)
class RobotsJob:
    """The robots.txt of `authority`, asked for at `url` after `hop` redirects."""

    authority: str
    url: str
    hop: int = 0
    tries: int = 0


Job = PageJob | RobotsJob
