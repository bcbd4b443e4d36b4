-- One bucket of the HostDb: counted anew from the crawldb, and what fetching learned of its hosts.
-- reads: crawldb, hostdb, pages, hosts

-- step: counted
SELECT
    host,
    any_value(domain) AS domain,
    any_value(bucket) AS bucket,
    count(*) FILTER (WHERE retries > 0) AS connection_failures,
    count(*) FILTER (WHERE status = 'db_unfetched') AS unfetched,
    count(*) FILTER (WHERE status = 'db_fetched') AS fetched,
    count(*) FILTER (WHERE status = 'db_notmodified') AS not_modified,
    count(*) FILTER (WHERE status = 'db_redir_temp') AS redir_temp,
    count(*) FILTER (WHERE status = 'db_redir_perm') AS redir_perm,
    count(*) FILTER (WHERE status = 'db_gone') AS gone,
    count(*) FILTER (WHERE status = 'db_duplicate') AS duplicate,
    count(*) FILTER (WHERE status = 'db_parse_failed') AS parse_failed,
    count(*) FILTER (WHERE status = 'db_robots_denied') AS robots_denied,
    count(*) FILTER (WHERE status = 'db_orphan') AS orphan,
    -- the front page over https, else over http, if either was ever met
    max(url) FILTER (
        WHERE url IN (concat('https://', host, '/'), concat('http://', host, '/'))
            AND status IN ('db_fetched', 'db_notmodified')
    ) AS homepage_url
FROM crawldb
WHERE host IS NOT NULL
GROUP BY host

-- step: front_redirects
-- A front page that redirects: the target is the home page.
SELECT host, max_by(redirect_to, (fetch_time, url)) AS homepage_url
FROM pages
WHERE redirect_to IS NOT NULL AND url IN (concat('https://', host, '/'), concat('http://', host, '/'))
GROUP BY host

-- step: timed
-- Response times of the pages that are applied now; only answers count.
SELECT
    host,
    CAST(round(avg(duration_ms)) AS BIGINT) AS rt_avg_ms,
    CAST(quantile_disc(duration_ms, 0.50) AS BIGINT) AS rt_p50_ms,
    CAST(quantile_disc(duration_ms, 0.75) AS BIGINT) AS rt_p75_ms,
    CAST(quantile_disc(duration_ms, 0.95) AS BIGINT) AS rt_p95_ms,
    CAST(quantile_disc(duration_ms, 0.99) AS BIGINT) AS rt_p99_ms
FROM pages
WHERE duration_ms IS NOT NULL AND http_status IS NOT NULL
GROUP BY host

-- step: limited
SELECT host, max(retry_at) AS retry_at FROM pages WHERE retry_at IS NOT NULL GROUP BY host

-- step: met
-- Facts of the latest segment that met the host; failed look-ups add up until one succeeds.
SELECT
    host,
    max(checked_at) AS checked_at,
    max_by(ip, checked_at) FILTER (WHERE ip IS NOT NULL) AS ip,
    sum(dns_failures) AS dns_failures,
    bool_or(ip IS NOT NULL) AS reached,
    max_by(crawl_delay_ms, checked_at) FILTER (WHERE robots_status <> 'unavailable') AS crawl_delay_ms,
    max_by(robots_digest, checked_at) FILTER (WHERE robots_status <> 'unavailable') AS robots_digest,
    bool_or(robots_status <> 'unavailable') AS robots_read,
    max(retry_at) AS retry_at
FROM hosts
GROUP BY host

-- step: updated_hosts (kept)
SELECT
    coalesce(c.host, h.host) AS host,
    coalesce(c.domain, h.domain) AS domain,
    CAST(coalesce(c.bucket, h.bucket) AS INTEGER) AS bucket,
    coalesce(h.score, CAST(0 AS FLOAT)) AS score,
    coalesce(c.homepage_url, f.homepage_url, h.homepage_url) AS homepage_url,
    coalesce(m.ip, h.ip) AS ip,
    coalesce(m.checked_at, h.last_check) AS last_check,
    CAST(CASE
        WHEN m.reached THEN 0
        ELSE coalesce(h.dns_failures, 0) + coalesce(m.dns_failures, 0)
    END AS BIGINT) AS dns_failures,
    coalesce(c.connection_failures, 0) AS connection_failures,
    coalesce(c.unfetched, 0) AS unfetched,
    coalesce(c.fetched, 0) AS fetched,
    coalesce(c.not_modified, 0) AS not_modified,
    coalesce(c.redir_temp, 0) AS redir_temp,
    coalesce(c.redir_perm, 0) AS redir_perm,
    coalesce(c.gone, 0) AS gone,
    coalesce(c.duplicate, 0) AS duplicate,
    coalesce(c.parse_failed, 0) AS parse_failed,
    coalesce(c.robots_denied, 0) AS robots_denied,
    coalesce(c.orphan, 0) AS orphan,
    coalesce(
        c.unfetched + c.fetched + c.not_modified + c.redir_temp + c.redir_perm + c.gone + c.duplicate
            + c.parse_failed + c.robots_denied + c.orphan,
        0
    ) AS num_records,
    CASE WHEN m.robots_read THEN m.crawl_delay_ms ELSE h.crawl_delay_ms END AS crawl_delay_ms,
    greatest(l.retry_at, m.retry_at, h.retry_at) AS retry_at,
    coalesce(t.rt_avg_ms, h.rt_avg_ms) AS rt_avg_ms,
    coalesce(t.rt_p50_ms, h.rt_p50_ms) AS rt_p50_ms,
    coalesce(t.rt_p75_ms, h.rt_p75_ms) AS rt_p75_ms,
    coalesce(t.rt_p95_ms, h.rt_p95_ms) AS rt_p95_ms,
    coalesce(t.rt_p99_ms, h.rt_p99_ms) AS rt_p99_ms,
    CASE WHEN m.robots_read THEN m.robots_digest ELSE h.robots_digest END AS robots_digest,
    coalesce(h.metadata, CAST(MAP {} AS MAP(VARCHAR, VARCHAR))) AS metadata
FROM counted AS c
FULL OUTER JOIN hostdb AS h ON h.host = c.host
LEFT JOIN front_redirects AS f ON f.host = coalesce(c.host, h.host)
LEFT JOIN timed AS t ON t.host = coalesce(c.host, h.host)
LEFT JOIN limited AS l ON l.host = coalesce(c.host, h.host)
LEFT JOIN met AS m ON m.host = coalesce(c.host, h.host)
