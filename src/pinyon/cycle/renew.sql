-- One bucket of the crawldb under new rules: what stays, and what comes to it, from here or from other buckets.
-- reads: crawldb, changes, moved

-- step: staying
SELECT c.*
FROM crawldb AS c
ANTI JOIN changes AS n ON n.url_key = c.url_key AND n.url = c.url

-- step: arriving
-- Rows that have one URL now: the one that was fetched last is kept.
SELECT *
FROM (
    SELECT * FROM moved
    UNION ALL
    SELECT s.* FROM staying AS s SEMI JOIN moved AS m ON m.url_key = s.url_key AND m.url = s.url
) AS candidates
QUALIFY row_number() OVER (
    PARTITION BY url_key, url
    ORDER BY last_fetch_time DESC NULLS LAST, score DESC, first_seen NULLS LAST, fetch_time, status
) = 1

-- step: renewed (kept)
SELECT s.* FROM staying AS s ANTI JOIN moved AS m ON m.url_key = s.url_key AND m.url = s.url
UNION ALL
SELECT * FROM arriving
