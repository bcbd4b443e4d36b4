"""A request as the web sees it, and an answer before it is put into bytes. Both are plain values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum

HTML = "text/html; charset=utf-8"
REDIRECTS = frozenset({301, 302, 303, 307, 308})

Headers = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Ask:
    """One request, with all that an answer may depend on.

    `path` is the target as sent, query included. The last three are memory and clock, for hosts that behave
    differently over time; they keep their defaults everywhere else, so that an answer depends on the URL alone.
    """

    host: str
    path: str
    scheme: str = "http"
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)  # names in lower case
    now_s: float = 0.0  # Unix time
    host_visit: int = 0  # requests this host had before
    path_visit: int = 0  # requests this path had before
    path_age_s: float = 0.0  # since the first of them


class Manner(Enum):
    """How an answer goes onto the wire; `wire.py` has one function for each."""

    LENGTH = "with a Content-Length"
    CHUNKED = "chunked, with an extension and a trailer"
    UNTIL_CLOSE = "without a length: the end of the connection ends the body"
    OLD = "as HTTP/1.0, until the connection ends"
    HINTED = "after an interim answer 103"
    SPLIT = "in small pieces that cut through the head"
    CUT = "Content-Length is larger than what is sent"
    CUT_CHUNK = "chunked, and the connection ends inside a chunk"
    DRIBBLE = "byte by byte, with pauses"
    RAW = "the body is all that is sent, its head included"
    RESET = "nothing: the connection is reset"
    HANG_UP = "nothing: the connection is closed"
    NEVER = "nothing, and the connection stays open"
    SHUT = "nothing: the connection is reset and the host stops listening"


#: Manners that send no status line at all.
MUTE = frozenset({Manner.RESET, Manner.HANG_UP, Manner.NEVER, Manner.SHUT})


@dataclass(frozen=True, slots=True)
class Answer:
    """What a host says to one request.

    `links` is the other half of `body`: the URLs, absolute and normalised, that a polite crawler finds in it and
    may follow (for a redirect: its target). The oracle reads `links`, a crawler reads `body`; tests hold them
    together. `settled` is False where what a crawler makes of the answer depends on its patience or its limits.
    """

    status: int = 200
    body: bytes | Callable[[], bytes] = b""
    type: str | None = HTML
    headers: Headers = ()
    links: tuple[str, ...] = ()
    etag: str | None = None
    last_modified: str | None = None
    coding: str | None = None  # content coding, used if the request accepts it
    manner: Manner = Manner.LENGTH
    delay_s: float = 0.0
    settled: bool = True

    @property
    def is_page(self) -> bool:
        """Whether a fetch of it is a success with HTML."""
        return self.status == 200 and self.manner not in MUTE and is_html(self.type)

    def content(self) -> bytes:
        """The body, rendered if it was not yet."""
        return self.body if isinstance(self.body, bytes) else self.body()


def is_html(content_type: str | None) -> bool:
    """Whether a Content-Type is that of an HTML page."""
    mime = (content_type or "").partition(";")[0].strip().lower()
    return mime in ("text/html", "application/xhtml+xml")


def is_current(answer: Answer, ask: Ask) -> bool:
    """Whether the copy the client names is the one we would send (RFC 9110, 13.2.2: If-None-Match decides alone).

    Dates must be equal, not merely later: a client has to send back what it was given, byte for byte.
    """
    if answer.status != 200 or answer.manner is not Manner.LENGTH:
        return False
    tags = ask.headers.get("if-none-match")
    if tags is not None and answer.etag is not None:
        named = {tag.strip().removeprefix("W/") for tag in (tags, *tags.split(","))}
        return answer.etag.removeprefix("W/") in named
    since = ask.headers.get("if-modified-since")
    return tags is None and since is not None and since == answer.last_modified


def not_modified(answer: Answer) -> Answer:
    """The 304 that stands for an answer."""
    return Answer(
        304, type=None, etag=answer.etag, last_modified=answer.last_modified, settled=answer.settled
    )
