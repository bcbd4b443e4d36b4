-- One bucket of the crawldb with what was found of its duplicates.
-- reads: crawldb, verdicts

-- step: deduplicated (kept)
SELECT c.* EXCLUDE (status), coalesce(v.new_status, c.status) AS status
FROM crawldb AS c
LEFT JOIN verdicts AS v ON v.url_key = c.url_key AND v.url = c.url
