-- Select, first half: within one bucket, what is due, and of each host the best.
-- The HostDb's rows and the limits file's meet the URLs by host; nothing outside this bucket is looked at.
-- reads: crawldb, hostdb, locked, listed, limits
-- params: now, max_interval, gen_delay_from, restrict_status, exclude_status, min_score, interval_at_most, max_count, lists, together, time_budget_ms, default_delay_ms, min_delay_ms
-- fragments: sort_value, expression, url_filter, max_count_expr, fetch_delay_expr, is_locked, lock_join, is_listed, list_join, host_join

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

-- step: judged (kept)
-- Every row under the first reason that drops it; null: a candidate.
SELECT
    c.url_key, c.host, c.host_key, c.domain, c.bucket, c.sort_value, c.too_far, c.fetch_interval AS interval_now,
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
        ELSE {url_filter}
    END AS reason
FROM valued AS c
{lock_join}
{list_join}

-- step: reason_counts (kept)
SELECT reason, count(*) AS urls FROM judged GROUP BY reason

-- step: host_policy
-- One row a host that has a HostDb row: its own limit and delay, null where the expression gives none.
SELECT
    h.host,
    TRY_CAST(trunc({max_count_expr}) AS BIGINT) AS max_count,
    TRY_CAST(trunc({fetch_delay_expr}) AS BIGINT) AS fetch_delay_ms,
    h.crawl_delay_ms,
    h.retry_at,
    h.ip
FROM hostdb AS h

-- step: with_policy
-- What is said of a host itself beats what is said of its domain, and both beat the expression. Nothing known of a
-- host, or nothing its expression says: the defaults, never those of another host.
SELECT
    j.* EXCLUDE (reason),
    coalesce(hl.urls, dl.urls_per_host, p.max_count, :max_count) AS host_limit,
    dl.urls AS domain_limit,
    dl.hosts AS domain_hosts,
    dl.parts AS domain_parts,
    coalesce(hl.delay_ms, dl.delay_ms, CASE WHEN p.fetch_delay_ms >= 0 THEN p.fetch_delay_ms END) AS fetch_delay_ms,
    p.crawl_delay_ms,
    p.retry_at AS not_before,
    p.ip,
    p.host IS NOT NULL AND p.max_count IS NULL AS no_limit_said,
    p.host IS NOT NULL AND (p.fetch_delay_ms IS NULL OR p.fetch_delay_ms < 0) AS no_delay_said
FROM judged AS j
LEFT JOIN host_policy AS p ON p.host = j.host
LEFT JOIN limits AS hl ON hl.name = j.host AND j.host <> j.domain
LEFT JOIN limits AS dl ON dl.name = j.domain
WHERE j.reason IS NULL

-- step: ranked
SELECT
    * EXCLUDE (crawl_delay_ms),
    greatest(coalesce(fetch_delay_ms, :default_delay_ms), coalesce(crawl_delay_ms, 0), :min_delay_ms) AS delay_ms,
    row_number() OVER (PARTITION BY host_key, host ORDER BY sort_value DESC, url_key) AS host_rank
FROM with_policy

-- step: budgeted
SELECT
    *,
    CASE WHEN :time_budget_ms IS NOT NULL AND delay_ms > 0 THEN 1 + :time_budget_ms // delay_ms END AS host_budget
FROM ranked

-- step: host_ranked (kept)
-- cut: what no list can take any more. URLs of a host are dealt to the lists in runs of `together`.
SELECT
    *,
    CASE
        WHEN host_limit >= 0 AND host_rank > (host_limit + :together - 1) // :together * :together * :lists
            THEN 'host_limit'
        WHEN (:lists = 1 OR host_limit < 0)
            AND host_rank > (host_budget + :together - 1) // :together * :together * :lists
            THEN 'time_budget'
    END AS cut
FROM budgeted

-- step: cut_counts (kept)
SELECT cut AS reason, count(*) AS urls FROM host_ranked WHERE cut IS NOT NULL GROUP BY cut

-- step: undecided_hosts (kept)
-- Hosts in the HostDb for which an expression gave nothing: counted, and the first few are named.
SELECT
    count(DISTINCT host) FILTER (WHERE no_limit_said) AS without_limit,
    count(DISTINCT host) FILTER (WHERE no_delay_said) AS without_delay,
    min(host) FILTER (WHERE no_limit_said) AS limit_example,
    min(host) FILTER (WHERE no_delay_said) AS delay_example
FROM host_ranked
