-- Partition, first half: what must stay together, and how long it will take.
-- reads: chosen
-- params: seed, parts
-- fragments: group_key

-- step: grouped (kept)
SELECT
    list,
    {group_key} AS group_key,
    count(*) AS urls,
    count(DISTINCT host) AS hosts,
    sum(delay_ms + 1) AS estimated_ms,
    CAST('0x' || substr(md5(CAST(:seed AS VARCHAR) || ':' || {group_key}), 1, 15) AS BIGINT) % :parts AS hashed_part
FROM chosen AS s
GROUP BY list, group_key
