-- The chosen URLs of one bucket with all that is known of them, and their place.
-- reads: crawldb, placed
-- params: now

-- step: fetchlist_rows
SELECT
    c.* EXCLUDE (fetch_time, fetch_interval, generate_time, metadata, row_address),
    CASE WHEN s.too_far THEN CAST(:now AS TIMESTAMPTZ) ELSE c.fetch_time END AS fetch_time,
    CAST(s.interval_now AS INTEGER) AS fetch_interval,
    CAST(:now AS TIMESTAMPTZ) AS generate_time,
    c.metadata,
    s.list,
    s.part,
    s.position,
    s.fetch_delay_ms,
    s.not_before
FROM placed AS s
JOIN crawldb AS c ON c.row_address = s.row_address AND c.bucket = s.bucket
