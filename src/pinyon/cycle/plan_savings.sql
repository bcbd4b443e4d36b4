-- How long the slowest part would take under other limits of a host, and how many of the chosen URLs would stay out:
-- over the hosts_planned that plan.sql keeps.
-- reads:
-- params: max_counts, budgets_s

-- step: limits_tried
SELECT 'max_count' AS name, unnest(CAST(:max_counts AS BIGINT[])) AS value
UNION ALL
SELECT 'time_budget', unnest(CAST(:budgets_s AS BIGINT[]))

-- step: hosts_limited
SELECT
    t.name, t.value, h.list, h.group_key, h.urls, h.delay_ms,
    CASE
        WHEN t.name = 'max_count' THEN least(h.urls, t.value)
        WHEN h.delay_ms > 0 THEN least(h.urls, 1 + t.value * 1000 // h.delay_ms)
        ELSE h.urls
    END AS kept
FROM hosts_planned AS h
CROSS JOIN limits_tried AS t

-- step: groups_limited
SELECT name, value, list, group_key, sum(kept * (delay_ms + 1)) AS time_ms, sum(urls - kept) AS fewer
FROM hosts_limited
GROUP BY name, value, list, group_key

-- step: savings (kept)
SELECT
    name, value, CAST(max(time_ms) AS BIGINT) AS slowest_ms, CAST(sum(fewer) AS BIGINT) AS urls_fewer
FROM groups_limited
GROUP BY name, value
