-- Partition, second half: part and position of every chosen URL. Inside a part hosts are interleaved: the first URL of
-- every host, then the second of each, so that few workers never wait behind one slow host.
-- reads: chosen, assigned
-- params: seed, parts
-- fragments: group_key

-- step: parted
SELECT
    s.*,
    CASE
        WHEN :parts = 1 THEN 0
        ELSE CAST(coalesce(
            a.part,
            CAST('0x' || substr(md5(CAST(:seed AS VARCHAR) || ':' || {group_key}), 1, 15) AS BIGINT) % :parts
        ) AS INTEGER)
    END AS part
FROM chosen AS s
LEFT JOIN assigned AS a ON a.list = s.list AND a.group_key = {group_key}

-- step: placed
SELECT
    url_key, bucket, row_address, too_far, interval_now, fetch_delay_ms, not_before, list, part,
    row_number() OVER (PARTITION BY list, part ORDER BY host_rank, sort_value DESC, url_key) - 1 AS position
FROM parted
