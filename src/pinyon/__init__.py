"""pinyon: a batch web crawler and crawl scheduler that remembers every URL and says why.

The nouns. A **crawl** is a directory. Its **crawldb** has one row for every URL ever met: its status, when it is due,
what it is worth. Its **hostdb** has one row a host: counters, and what fetching learned of it. A **segment** is one
fetch list and all that came of it: pages, WARC files, links, documents.

How a URL is born, moves, ends. It enters as a seed (`inject`) or as a link of a fetched page (`updatedb`), due at
once. `generate` takes the best of what is due, within limits for each host, into a segment, and locks it by that.
`fetch` asks for it, politely, and archives the answer; `parse` reads links and text out of the archive; `updatedb`
writes what was learned into its row and sets when it is due next: it is free again. `updatehostdb` counts the hosts
anew, for the limits of the next round. A URL never leaves: one that is gone is tried again after a longer time.

The invariant: the crawldb is the truth, and always one of its published versions. A step reads published tables and
publishes one new version of what it writes; killed in between it leaves litter, run again it gives the same result.

    import pinyon

    pinyon.Crawl.create("my-crawl")
    with pinyon.Crawl.open("my-crawl", fetcher__agent_contact="you@example.org") as crawl:
        pinyon.inject(crawl, ["seeds.txt"])
        pinyon.crawl_rounds(crawl, rounds=3)

Names are imported when they are first asked for (PEP 562): `import pinyon` alone loads no engine. Their types stand in
`__init__.pyi`, where they tie no module of the layers to another.
"""

from __future__ import annotations

import importlib

__version__ = "0.1.0"

#: Public name → the module it lives in.
_HOMES = {
    "Crawl": "pinyon.crawl",
    "Settings": "pinyon.settings",
    # the steps, and what they return
    "inject": "pinyon.cycle.inject",
    "InjectReport": "pinyon.cycle.inject",
    "generate": "pinyon.cycle.generate",
    "GenerateReport": "pinyon.cycle.generate",
    "fetch": "pinyon.cycle.fetch",
    "FetchReport": "pinyon.cycle.fetch",
    "parse": "pinyon.cycle.parse",
    "ParseReport": "pinyon.cycle.parse",
    "updatedb": "pinyon.cycle.updatedb",
    "UpdateReport": "pinyon.cycle.updatedb",
    "updatehostdb": "pinyon.cycle.updatehostdb",
    "HostDbReport": "pinyon.cycle.updatehostdb",
    "crawl_rounds": "pinyon.cycle.round",
    "CrawlReport": "pinyon.cycle.round",
    # reading
    "status": "pinyon.reports.status",
    "CrawlStatus": "pinyon.reports.status",
    "crawldb_stats": "pinyon.reports.readdb",
    "CrawlDbStats": "pinyon.reports.readdb",
    "url_row": "pinyon.reports.readdb",
    "host_row": "pinyon.reports.readdb",
    "query": "pinyon.reports.readdb",
    # what is raised
    "PinyonError": "pinyon.errors",
    "UsageError": "pinyon.errors",
    "SettingError": "pinyon.errors",
    "ExpressionError": "pinyon.errors",
    "NothingDue": "pinyon.errors",
    "StoreError": "pinyon.errors",
    "LockedError": "pinyon.errors",
    "EngineError": "pinyon.errors",
    "InputError": "pinyon.errors",
    "FetchError": "pinyon.errors",
    "MissingExtra": "pinyon.errors",
}
__all__ = [*_HOMES, "__version__"]


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'pinyon' has no attribute '{name}'")
    found: object = getattr(importlib.import_module(home), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
