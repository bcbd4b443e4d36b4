-- Policy of a host: one row a host that has a HostDb row.
-- reads: hostdb
-- fragments: max_count_expr, fetch_delay_expr

-- step: host_policy
-- Its own limit and delay; null where the expression gives none.
SELECT
    h.host,
    TRY_CAST(trunc({max_count_expr}) AS BIGINT) AS max_count,
    TRY_CAST(trunc({fetch_delay_expr}) AS BIGINT) AS said_delay_ms,
    h.crawl_delay_ms,
    h.retry_at,
    h.ip
FROM hostdb AS h
