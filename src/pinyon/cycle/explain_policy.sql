-- What holds for a host: the limits file (of the host, then of its domain), its HostDb row, the defaults.
-- reads: hostdb, limits
-- params: max_count, max_per_domain, max_hosts_per_domain, time_budget_ms, default_delay_ms, min_delay_ms
-- fragments: max_count_expr, fetch_delay_expr

-- step: host_policy
SELECT
    h.host,
    TRY_CAST(trunc({max_count_expr}) AS BIGINT) AS said_limit,
    TRY_CAST(trunc({fetch_delay_expr}) AS BIGINT) AS said_delay_ms,
    h.crawl_delay_ms
FROM hostdb AS h

-- step: with_policy
SELECT
    a.*,
    p.host IS NOT NULL AS in_hostdb,
    p.said_limit,
    p.said_delay_ms,
    p.crawl_delay_ms,
    hl.urls AS file_host_limit,
    dl.urls_per_host AS file_domain_host_limit,
    coalesce(
        CASE WHEN hl.delay_ms >= 0 THEN hl.delay_ms END,
        CASE WHEN dl.delay_ms >= 0 THEN dl.delay_ms END
    ) AS file_delay_ms,
    coalesce(hl.urls, dl.urls_per_host, p.said_limit, :max_count) AS host_limit,
    coalesce(dl.urls, :max_per_domain) AS domain_limit,
    coalesce(dl.hosts, :max_hosts_per_domain) AS domain_hosts
FROM hosts_asked AS a
LEFT JOIN host_policy AS p ON p.host = a.host
LEFT JOIN limits AS hl ON hl.name = a.host AND a.host <> a.domain
LEFT JOIN limits AS dl ON dl.name = a.domain

-- step: delayed
SELECT *, coalesce(file_delay_ms, CASE WHEN said_delay_ms >= 0 THEN said_delay_ms END) AS fetch_delay_ms
FROM with_policy

-- step: timed
SELECT
    *,
    greatest(coalesce(fetch_delay_ms, :default_delay_ms), coalesce(crawl_delay_ms, 0), :min_delay_ms) AS delay_ms
FROM delayed

-- step: policies
SELECT
    *,
    CASE WHEN :time_budget_ms IS NOT NULL AND delay_ms > 0 THEN 1 + :time_budget_ms // delay_ms END AS host_budget
FROM timed
