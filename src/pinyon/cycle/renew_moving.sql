-- Rows of one bucket that have another URL, host or domain now, whole.
-- reads: crawldb, changes

-- step: moving (kept)
SELECT
    n.new_url AS url, n.new_url_key AS url_key, n.new_host AS host, n.new_host_key AS host_key,
    n.new_domain AS domain, n.new_bucket AS bucket,
    c.* EXCLUDE (url, url_key, host, host_key, domain, bucket)
FROM crawldb AS c
JOIN changes AS n ON n.url_key = c.url_key AND n.url = c.url
WHERE n.new_url IS NOT NULL
