-- Of domains and hosts whose limit is for a period, how much of it is used up: one bucket's share.
-- reads: crawldb, limits
-- params: now

-- step: fetched
SELECT domain AS name, last_fetch_time FROM crawldb WHERE last_fetch_time IS NOT NULL
UNION ALL
SELECT host, last_fetch_time FROM crawldb WHERE last_fetch_time IS NOT NULL AND host <> domain

-- step: fetched_lately (kept)
SELECT f.name, count(*) AS urls
FROM fetched AS f
JOIN limits AS l ON l.name = f.name
WHERE l.interval IS NOT NULL AND f.last_fetch_time > CAST(:now AS TIMESTAMPTZ) - to_seconds(l.interval)
GROUP BY f.name
