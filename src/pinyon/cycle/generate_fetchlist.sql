-- The chosen URLs of one bucket with all that is known of them, and their part.
-- reads: crawldb, chosen, assigned
-- params: now, seed, parts
-- fragments: group_key

-- step: fetchlist_rows (kept)
SELECT
    c.* EXCLUDE (fetch_time, fetch_interval, generate_time, metadata),
    CASE WHEN s.too_far THEN CAST(:now AS TIMESTAMPTZ) ELSE c.fetch_time END AS fetch_time,
    CAST(s.interval_now AS INTEGER) AS fetch_interval,
    CAST(:now AS TIMESTAMPTZ) AS generate_time,
    c.metadata,
    CAST(s.list AS INTEGER) AS list,
    CAST(coalesce(
        a.part,
        CAST('0x' || substr(md5(CAST(:seed AS VARCHAR) || ':' || {group_key}), 1, 15) AS BIGINT) % :parts
    ) AS INTEGER) AS part,
    s.fetch_delay_ms,
    s.not_before,
    s.host_rank,
    s.sort_value,
    s.delay_ms
FROM chosen AS s
JOIN crawldb AS c ON c.url_key = s.url_key AND c.host_key = s.host_key
LEFT JOIN assigned AS a ON a.list = s.list AND a.group_key = {group_key}
