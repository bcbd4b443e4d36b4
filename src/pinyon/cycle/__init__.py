"""The cycle: inject → generate → fetch → parse → updatedb → updatehostdb, and round after round of it.

    seeds ─inject─▶ crawldb ─generate─▶ fetch list ─fetch─▶ pages ─parse─▶ links, docs
                       ▲       (hostdb)   (a segment)                          │
                       └──── updatehostdb ◀────────── updatedb ◀───────────────┘

A step is a function that takes a `Crawl`, reads published tables, publishes one new version of what it writes,
and returns what it counted. Where it is relational, its SQL lies beside it. Killed in between, it leaves litter,
never half a table; run again, it gives the same result. Time enters as `now`.
"""
