-- Limits of hosts: what no list can take any more of a host falls out here, within its bucket.
-- reads: limits
-- params: max_count, lists, together, time_budget_ms, default_delay_ms, min_delay_ms

-- step: with_limits
-- What the limits file says of a host beats what it says of its domain, and both beat the expression. Nothing known
-- of a host, or nothing its expression says: the defaults, never those of another host.
SELECT
    r.* EXCLUDE (max_count, said_delay_ms, crawl_delay_ms, retry_at, in_hostdb),
    coalesce(hl.urls, dl.urls_per_host, r.max_count, :max_count) AS host_limit,
    dl.urls AS domain_limit,
    dl.hosts AS domain_hosts,
    dl.parts AS domain_parts,
    coalesce(
        CASE WHEN hl.delay_ms >= 0 THEN hl.delay_ms END,
        CASE WHEN dl.delay_ms >= 0 THEN dl.delay_ms END,
        CASE WHEN r.said_delay_ms >= 0 THEN r.said_delay_ms END
    ) AS fetch_delay_ms,
    coalesce(r.crawl_delay_ms, 0) AS crawl_delay_ms,
    r.retry_at AS not_before,
    r.in_hostdb AND r.max_count IS NULL AS no_limit_said,
    r.in_hostdb AND (r.said_delay_ms IS NULL OR r.said_delay_ms < 0) AS no_delay_said
FROM ranked AS r
LEFT JOIN limits AS hl ON hl.name = r.host AND r.host <> r.domain
LEFT JOIN limits AS dl ON dl.name = r.domain

-- step: timed
SELECT
    * EXCLUDE (crawl_delay_ms),
    greatest(coalesce(fetch_delay_ms, :default_delay_ms), crawl_delay_ms, :min_delay_ms) AS delay_ms
FROM with_limits

-- step: budgeted
SELECT
    *,
    CASE WHEN :time_budget_ms IS NOT NULL AND delay_ms > 0 THEN 1 + :time_budget_ms // delay_ms END AS host_budget
FROM timed

-- step: host_ranked (kept)
-- cut: what no list can take any more. URLs of a host are dealt to the lists in runs of `together`.
SELECT
    *,
    CASE
        WHEN host_limit >= 0 AND (host_rank - 1) // (:together * :lists) * :together >= host_limit
            THEN 'host_limit'
        WHEN (:lists = 1 OR host_limit < 0)
            AND (host_rank - 1) // (:together * :lists) * :together >= host_budget
            THEN 'time_budget'
    END AS cut
FROM budgeted

-- step: cut_counts (kept)
SELECT cut AS reason, count(*) AS urls, count(DISTINCT host) AS hosts
FROM host_ranked
WHERE cut IS NOT NULL
GROUP BY cut

-- step: undecided_hosts (kept)
-- Hosts in the HostDb for which an expression gave nothing: counted, and the first few are named.
SELECT
    count(DISTINCT host) FILTER (WHERE no_limit_said) AS without_limit,
    count(DISTINCT host) FILTER (WHERE no_delay_said) AS without_delay,
    min(host) FILTER (WHERE no_limit_said) AS limit_example,
    min(host) FILTER (WHERE no_delay_said) AS delay_example
FROM host_ranked
