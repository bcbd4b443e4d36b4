"""docs/coming-from-nutch.md: the properties of Nutch, and what they mean differently here.

Defaults of Nutch are those of its `nutch-default.xml`, release 1.20.
"""

from __future__ import annotations

from parts import code, table
from pinyon import settings

#: By property; one that is not listed means the same.
DIFFERENCES = {
    "crawl.gen.delay": "milliseconds there, seconds here (a `nutch-site.xml` is converted). There it holds only with "
    "`generate.update.crawldb`; here an open segment always keeps its URLs locked, without rewriting the CrawlDb",
    "db.fetch.retry.max": "same; then `db_gone`, tried again after 1.5 times the interval",
    "db.max.outlink.length": "4096 there, 2083 here; holds wherever a URL enters: seeds and redirect targets too",
    "db.max.outlinks.per.page": "100 there, 1000 here; a link given twice and a link to the page itself do not count",
    "fetcher.max.crawl.delay": "same, a negative value waits any delay; hosts left out have an outcome of their own, "
    "`crawl_delay_too_long`",
    "fetcher.max.exceptions.per.queue": "off there, 10 here, failures in a row; the rest of the host's URLs are "
    "`host_failing`: not asked for, nor counted as tries",
    "fetcher.queue.mode": "`byHost` there, `host` here (converted)",
    "fetcher.server.delay": "counted from the end of a request to the start of the next; robots.txt, redirects and "
    "retries count as requests",
    "fetcher.server.min.delay": "there only with several threads a queue; here always: the delay is never less",
    "fetcher.threads.fetch": "10 threads there; 100 connections of one process a part here",
    "fetcher.threads.per.queue": "same: with more than 1 the server delay is not kept; the minimum delay and "
    "Crawl-delay are",
    "fetcher.timelimit.mins": "minutes there, seconds here (converted); what was not fetched stays due",
    "generate.curTime": "epoch milliseconds there, those or ISO 8601 here",
    "generate.fetch.delay.expr": "a host for which it fails has the default delay; in Nutch it may get the value of "
    "the host before",
    "generate.hostdb": "a path, where any text turns it on; `auto`, `on`, `off` or a path here. `auto` uses the "
    "crawl's own HostDb once it has rows",
    "generate.max.count.expr": "a host for which it fails has the default limit; 0 means nothing from this host, "
    "negative no limit",
    "generate.max.num.segments": "list k is what a generate over the rest of lists 1 to k-1 would give",
    "generate.min.interval": "named for what it does: the interval is at most this",
    "generate.restrict.status": "one status there, a list here",
    "generate.topN": "exact over all partitions; Nutch divides it by the number of reducers",
    "http.agent.name": "must be set there; `pinyon` here, but no crawl leaves loopback without "
    "`fetcher.agent_contact`",
    "http.agent.url": "a page or a mail address; `http.agent.email` has no counterpart",
    "http.content.limit": "1 MiB there, 4 MiB here; what is cut is marked, in `pages.truncated` and in the WARC",
    "http.redirect.max": "same: 0 records redirects for a later round; followed ones stay within their host",
    "http.robots.agents": "instead of `fetcher.agent_name`, and the rules for all of them apply together; in "
    "Nutch they are looked for besides `http.agent.name`",
    "http.timeout": "milliseconds there, seconds here (converted); between two reads. Connecting and the whole "
    "request have limits of their own",
    "mapreduce.job.maps": "the number of parts, as `-numFetchers`; one fetcher process each",
    "partition.url.mode": "`byHost` there, `host` here (converted). The parts are balanced by estimated "
    "time unless `partition_mode` is `hash`",
    "scoring.depth.max": "a seed has depth 1 there, 0 here: give one less (a `nutch-site.xml` is not converted)",
    "urlfilter.regex.file": "a checked subset of RE2, sought anywhere in the URL; no match accepts, where Nutch "
    "rejects: end the file with `-.` to have that",
}


def properties() -> str:
    rows = [
        [code(s.nutch), code(s.key), DIFFERENCES.get(s.nutch, "same")]
        for s in sorted(settings.specs(), key=lambda s: s.nutch.lower())
        if s.nutch
    ]
    return table(["Nutch property", "setting", "difference"], rows)
