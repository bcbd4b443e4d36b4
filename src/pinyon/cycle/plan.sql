-- What a list that is not made yet would cost: hosts by their URLs and delays, and what other limits would change.
-- reads: chosen, placed
-- params: shown
-- fragments: group_key

-- step: hosts_chosen
SELECT
    s.list, {group_key} AS group_key, s.host,
    count(*) AS urls, max(s.delay_ms) AS delay_ms, min(s.url_key) AS url_key, any_value(s.bucket) AS bucket
FROM chosen AS s
GROUP BY s.list, {group_key}, s.host

-- step: hosts_planned (kept)
-- A host lies in one part: one of its URLs says which.
SELECT
    h.list, p.part, h.group_key, h.host, CAST(h.urls AS BIGINT) AS urls, h.delay_ms,
    CAST(h.urls * (h.delay_ms + 1) AS BIGINT) AS time_ms
FROM hosts_chosen AS h
JOIN placed AS p ON p.list = h.list AND p.bucket = h.bucket AND p.url_key = h.url_key

-- step: group_times
-- What waits one after another: a part takes as long as the slowest of its groups.
SELECT
    list, part, group_key, sum(time_ms) AS time_ms,
    row_number() OVER (PARTITION BY list, part ORDER BY sum(time_ms) DESC, group_key) AS place
FROM hosts_planned
GROUP BY list, part, group_key

-- step: slowest
SELECT * FROM hosts_planned ORDER BY time_ms DESC, list, host LIMIT :shown

-- step: slowest_hosts (kept)
-- Without the host its part takes what is left of its group, or the slowest other group of the part.
SELECT
    s.list, s.part, s.host, s.urls, s.delay_ms, s.time_ms,
    greatest(own.time_ms - s.time_ms, coalesce(other.time_ms, 0)) AS part_without_ms
FROM slowest AS s
JOIN group_times AS own ON own.list = s.list AND own.part = s.part AND own.group_key = s.group_key
LEFT JOIN group_times AS other
    ON other.list = s.list AND other.part = s.part AND other.place = CASE WHEN own.place = 1 THEN 2 ELSE 1 END
