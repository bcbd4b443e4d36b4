-- Rows of one bucket as the mappers of the reference take them: what only SQL can say of a row stands beside it.
-- reads: crawldb, hostdb, locked, listed
-- params: now, max_interval
-- fragments: sort_value, expression, url_filter, is_locked, lock_join, is_listed, list_join, host_join

-- step: mapped
-- Expressions see the interval as the schedule has already lowered it; the mapper lowers it by its own rule.
SELECT
    c.url, c.url_key, c.host, c.host_key, c.domain, c.bucket, c.status, c.fetch_time, c.own_interval AS fetch_interval,
    c.generate_time,
    CAST({sort_value} AS DOUBLE) AS sort_value,
    {expression} AS expression,
    {url_filter} AS filtered,
    false AS blocked,
    {is_locked} AS locked,
    NOT ({is_listed}) AS listed
FROM (
    SELECT
        * REPLACE (
            CASE
                WHEN fetch_time > CAST(:now AS TIMESTAMPTZ) + to_seconds(:max_interval) AND fetch_interval > :max_interval
                    THEN CAST(round(:max_interval * 0.9) AS INTEGER)
                ELSE fetch_interval
            END AS fetch_interval
        ),
        fetch_interval AS own_interval
    FROM crawldb
) AS c
{host_join}
{lock_join}
{list_join}
