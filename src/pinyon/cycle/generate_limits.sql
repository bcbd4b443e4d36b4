-- Of domains whose limit is for a period, how much of it is used up: one bucket's share.
-- reads: crawldb, limits
-- params: now

-- step: fetched_lately (kept)
SELECT c.domain AS name, count(*) AS urls
FROM crawldb AS c
JOIN limits AS l ON l.name = c.domain
WHERE l.interval IS NOT NULL AND c.last_fetch_time > CAST(:now AS TIMESTAMPTZ) - to_seconds(l.interval)
GROUP BY c.domain
