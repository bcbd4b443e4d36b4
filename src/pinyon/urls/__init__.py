"""URLs where they enter: resolved as browsers do, normalised to one spelling, located, hashed, filtered.

A URL comes in as text that a person, a page or a server wrote. `resolve` reads it as the URL Standard says and
nothing else. `Normaliser` is our policy on top: no fragment, one spelling of percent escapes, no session ids.
`locate` gives it its place: host, registered domain, and the hashes that tables are ordered and bucketed by.
`UrlFilter` decides whether it enters, by the same rules in two forms: a URL at a time in Python, a table at a
time in SQL.

Invariant: a URL that went through the normaliser comes out of it the same, and filters look at normalised URLs
only; so a URL accepted once is accepted whenever it is looked at again, by whichever form.
"""

from pinyon.urls.filters import FILTER_REASONS, Rule, UrlFilter
from pinyon.urls.hosts import HostPatterns
from pinyon.urls.normalise import MAX_URL_CHARS, NORMALISER_VERSION, Normaliser
from pinyon.urls.places import (
    Location,
    domain_of,
    host_of,
    is_address,
    key_of,
    locate,
    suffix_list_version,
)
from pinyon.urls.standard import resolve

__all__ = [
    "FILTER_REASONS",
    "MAX_URL_CHARS",
    "NORMALISER_VERSION",
    "HostPatterns",
    "Location",
    "Normaliser",
    "Rule",
    "UrlFilter",
    "domain_of",
    "host_of",
    "is_address",
    "key_of",
    "locate",
    "resolve",
    "suffix_list_version",
]
