-- Rows of the HostDb as the mapper of the reference takes them.
-- reads: hostdb
-- fragments: max_count_expr, fetch_delay_expr

-- step: mapped_hosts
SELECT
    h.host, h.domain, h.crawl_delay_ms, h.retry_at, h.ip,
    TRY_CAST(trunc({max_count_expr}) AS BIGINT) AS max_count,
    TRY_CAST(trunc({fetch_delay_expr}) AS BIGINT) AS fetch_delay_ms
FROM hostdb AS h
