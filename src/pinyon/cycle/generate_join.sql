-- The HostDb's rows meet the URLs: a join, then one window a host.
-- reads:

-- step: ranked
SELECT
    j.*,
    p.max_count,
    p.said_delay_ms,
    p.crawl_delay_ms,
    p.retry_at,
    p.ip,
    p.host IS NOT NULL AS in_hostdb,
    row_number() OVER (PARTITION BY j.host_key, j.host ORDER BY j.sort_value DESC, j.url_key) AS host_rank
FROM candidates AS j
LEFT JOIN host_policy AS p ON p.host = j.host
