-- How many URLs of each status, when they are due, how they score.
-- reads: crawldb, hostdb
-- params: now
-- fragments: wanted

-- step: wanted
{wanted}

-- step: totals (kept)
SELECT
    count(*) AS urls,
    count(DISTINCT host) AS hosts,
    count(DISTINCT domain) AS domains,
    count(*) FILTER (WHERE fetch_time <= :now) AS due,
    count(*) FILTER (WHERE retries > 0) AS failing,
    min(fetch_time) AS earliest_fetch_time,
    max(fetch_time) AS latest_fetch_time,
    min(score) AS min_score,
    avg(score) AS mean_score,
    max(score) AS max_score
FROM wanted

-- step: by_status (kept)
SELECT status, count(*) AS urls FROM wanted GROUP BY status

-- step: by_depth (kept)
SELECT depth, count(*) AS urls FROM wanted GROUP BY depth
