-- Every row of the scope, and of every rule of a candidate whether it drops the row: all are asked, not only the first.
-- reads: hostdb, locked, listed
-- params: now, max_interval, gen_delay_from, restrict_status, exclude_status, min_score, interval_at_most
-- fragments: sort_value, expression, url_filter, host_join, is_locked, is_listed

-- step: seen_by_schedule
-- A row beyond the longest interval is due now, with at most 0.9 of that interval (AbstractFetchSchedule.shouldFetch).
SELECT
    c.* REPLACE (
        CASE
            WHEN c.fetch_time > CAST(:now AS TIMESTAMPTZ) + to_seconds(:max_interval) AND c.fetch_interval > :max_interval
                THEN CAST(round(:max_interval * 0.9) AS INTEGER)
            ELSE c.fetch_interval
        END AS fetch_interval
    ),
    c.fetch_time > CAST(:now AS TIMESTAMPTZ) + to_seconds(:max_interval) AS too_far
FROM scoped AS c

-- step: valued
SELECT
    c.*,
    CAST({sort_value} AS DOUBLE) + 0.0 AS sort_value,
    CAST({expression} AS BOOLEAN) AS wanted,
    {url_filter} AS filtered
FROM seen_by_schedule AS c
{host_join}

-- step: asked_of_each
SELECT
    c.*,
    c.host IS NULL AS drops_no_host,
    NOT {is_listed} AS drops_not_listed,
    list_contains(:exclude_status, c.status) AS drops_excluded_status,
    c.fetch_time > :now AND NOT c.too_far AS drops_not_due,
    coalesce(c.generate_time > :gen_delay_from, false) OR {is_locked} AS drops_awaiting_update,
    len(:restrict_status) > 0 AND NOT list_contains(:restrict_status, c.status) AS drops_status,
    c.sort_value IS NULL OR (NOT isnan(c.sort_value) AND c.sort_value < :min_score) AS drops_min_score,
    coalesce(c.fetch_interval > :interval_at_most, false) AS drops_interval,
    NOT coalesce(c.wanted, false) AS drops_expression,
    c.filtered IS NOT NULL AS drops_url_filter
FROM valued AS c

-- step: judged
SELECT
    *,
    CASE
        WHEN drops_no_host THEN 'no_host'
        WHEN drops_not_listed THEN 'not_listed'
        WHEN drops_excluded_status THEN 'excluded_status'
        WHEN drops_not_due THEN 'not_due'
        WHEN drops_awaiting_update THEN 'awaiting_update'
        WHEN drops_status THEN 'status'
        WHEN drops_min_score THEN 'min_score'
        WHEN drops_interval THEN 'interval'
        WHEN drops_expression THEN 'expression'
        WHEN drops_url_filter THEN 'url_filter'
    END AS reason
FROM asked_of_each
