-- Select: within one bucket every row under the first reason that drops it.
-- reads: crawldb, hostdb, locked, listed
-- params: now, max_interval, gen_delay_from, restrict_status, exclude_status, min_score, interval_at_most, cut_below
-- fragments: sort_value, expression, url_filter, is_locked, lock_join, is_listed, list_join, host_join, score_reaches

-- step: seen_by_schedule
-- A row that lies further ahead than the longest interval is due now, at most 0.9 of that interval apart
-- (AbstractFetchSchedule.shouldFetch).
SELECT
    c.* REPLACE (
        CASE
            WHEN c.fetch_time > CAST(:now AS TIMESTAMPTZ) + to_seconds(:max_interval) AND c.fetch_interval > :max_interval
                THEN CAST(round(:max_interval * 0.9) AS INTEGER)
            ELSE c.fetch_interval
        END AS fetch_interval
    ),
    c.fetch_time > CAST(:now AS TIMESTAMPTZ) + to_seconds(:max_interval) AS too_far
FROM crawldb AS c

-- step: valued
-- adding zero makes -0.0 what it equals: orders would tell them apart
SELECT c.*, CAST({sort_value} AS DOUBLE) + 0.0 AS sort_value, coalesce({expression}, false) AS wanted
FROM seen_by_schedule AS c
{host_join}

-- step: judged
-- Every row under the first reason that drops it; null: a candidate.
SELECT
    c.url_key, c.host, c.host_key, c.domain, c.bucket, c.row_address, c.sort_value, c.fetch_time, c.score, c.too_far, c.fetch_interval AS interval_now,
    CASE
        WHEN c.host IS NULL THEN 'no_host'
        WHEN {is_listed} THEN 'not_listed'
        WHEN list_contains(:exclude_status, c.status) THEN 'excluded_status'
        WHEN c.fetch_time > :now AND NOT c.too_far THEN 'not_due'
        WHEN c.generate_time > :gen_delay_from THEN 'awaiting_update'
        WHEN {is_locked} THEN 'awaiting_update'
        WHEN len(:restrict_status) > 0 AND NOT list_contains(:restrict_status, c.status) THEN 'status'
        -- isnan: column statistics know nothing of NaN, and a comparison may be decided by them alone
        WHEN c.sort_value IS NULL OR (NOT isnan(c.sort_value) AND c.sort_value < :min_score) THEN 'min_score'
        WHEN c.fetch_interval > :interval_at_most THEN 'interval'
        WHEN NOT c.wanted THEN 'expression'
        ELSE coalesce({url_filter}, CASE WHEN c.sort_value < :cut_below AND NOT isnan(c.sort_value) THEN 'top_n' END)
    END AS reason
FROM valued AS c
{lock_join}
{list_join}

-- step: reason_counts (kept)
SELECT reason, count(*) AS urls FROM judged WHERE reason IS NOT NULL GROUP BY reason

-- step: candidates
-- Said once more in a form that a scan understands: rows that are not due are not even unpacked.
SELECT * EXCLUDE (reason, fetch_time, score)
FROM judged
WHERE reason IS NULL
    AND (fetch_time <= :now OR fetch_time > CAST(:now AS TIMESTAMPTZ) + to_seconds(:max_interval))
    AND {score_reaches}
