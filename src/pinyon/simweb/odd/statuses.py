"""Errors: those that stay, those that say when to come back, and those that are gone the next time."""

from __future__ import annotations

import math

from pinyon.simweb.answer import Answer, Ask
from pinyon.simweb.dates import http_date
from pinyon.simweb.kind import Handler, Route
from pinyon.simweb.pages import html_page, own_link
from pinyon.simweb.site import Site

_ERRORS = (400, 401, 403, 404, 410, 451, 500, 502, 503, 504)


def error(status: int) -> Handler:
    """Always that status, with a page that says so."""
    return lambda site, ask: Answer(status, f"<!DOCTYPE html><title>{status}</title><p>No.\n".encode())


def no_content(site: Site, ask: Ask) -> Answer:
    """204: a success without a body."""
    return Answer(204, type=None)


def wait_s(site: Site) -> int:
    """What a busy host asks for, in whole seconds: Retry-After has no smaller unit."""
    return max(1, math.ceil(site.world.slow_s))


def busy(status: int, *, date: bool = False) -> Handler:
    """That status with Retry-After until the time is over, counted from the first request; then a page."""

    def answer(site: Site, ask: Ask) -> Answer:
        wait = wait_s(site)
        if ask.path_visit and ask.path_age_s >= wait:
            return html_page(site, ask.path, [own_link(site, "/")])
        # A date has no fractions: one second more, or the wait it names may already be over.
        after = http_date(ask.now_s + wait + 1) if date else str(wait)
        return Answer(status, b"busy\n", "text/plain", (("Retry-After", after),))

    return answer


def refusing(status: int, retry_after: str) -> Handler:
    """Always that status, with that Retry-After."""
    return lambda site, ask: Answer(status, b"busy\n", "text/plain", (("Retry-After", retry_after),))


def second_time(site: Site, ask: Ask) -> Answer:
    """500 the first time, then a page."""
    if ask.path_visit == 0:
        return Answer(500, b"try again\n", "text/plain")
    return html_page(site, ask.path, [own_link(site, "/")])


STATUSES: tuple[Route, ...] = (
    *(Route(f"/status/{status}", error(status)) for status in _ERRORS),
    Route("/status/204", no_content),
)

BUSY: tuple[Route, ...] = (
    Route("/429/seconds", busy(429)),
    Route("/429/date", busy(429, date=True)),
    Route("/503/seconds", busy(503)),
    Route("/503/date", busy(503, date=True)),
    Route("/429/nonsense", refusing(429, "soon")),
    Route("/429/past", refusing(429, "Mon, 01 Jan 2024 00:00:00 GMT")),
    Route("/503/ten-days", refusing(503, "864000")),
)

FLAKY: tuple[Route, ...] = tuple(Route(f"/flaky/{n}", second_time) for n in range(3))
