-- One bucket of the HostDb: counted anew from the crawldb, and what fetching learned of its hosts.
-- reads: crawldb, hostdb, pages, hosts
-- params: interval_max, min_records
-- fragments: host_score

-- step: counted
SELECT
    host,
    any_value(domain) AS domain,
    any_value(bucket) AS bucket,
    CAST({host_score} AS FLOAT) AS score,
    count(*) FILTER (WHERE retries <> 0) AS connection_failures,
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
    -- the front page over https, else over http, if either is there
    max(url) FILTER (
        WHERE url IN (concat('https://', host, '/'), concat('http://', host, '/'))
            AND status IN ('db_fetched', 'db_notmodified')
    ) AS homepage_url
FROM crawldb
WHERE host IS NOT NULL
GROUP BY host

-- step: front_redirects
-- A front page that redirects: the target is the home page.
SELECT host, redirect_to AS homepage_url
FROM pages
WHERE redirect_to IS NOT NULL AND url IN (concat('https://', host, '/'), concat('http://', host, '/'))
QUALIFY row_number() OVER (PARTITION BY host ORDER BY fetch_time DESC, url DESC) = 1

-- step: timed
-- Response times of the pages that are merged now; only answers count.
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
-- Who asks for a year is asked again after the longest interval.
SELECT host, max(least(retry_at, asked_at + to_seconds(:interval_max))) AS retry_at
FROM (
    SELECT host, retry_at, fetch_time AS asked_at FROM pages WHERE retry_at IS NOT NULL
    UNION ALL
    SELECT host, retry_at, checked_at AS asked_at FROM hosts WHERE retry_at IS NOT NULL
) AS asked
GROUP BY host

-- step: met
-- Segments may come in any order: what is older than the last check of the HostDb is not news.
SELECT f.*, f.checked_at > coalesce(h.last_check, CAST('1970-01-01 00:00:00+00' AS TIMESTAMPTZ)) AS news
FROM hosts AS f
LEFT JOIN hostdb AS h ON h.host = f.host

-- step: checked
SELECT host, max(checked_at) AS checked_at FROM met GROUP BY host

-- step: reached
SELECT host, ip, checked_at, news
FROM met
WHERE ip IS NOT NULL
QUALIFY row_number() OVER (PARTITION BY host ORDER BY checked_at DESC, ip) = 1

-- step: unnamed
-- Failed look-ups since the last one that succeeded.
SELECT m.host, CAST(sum(m.dns_failures) AS BIGINT) AS dns_failures
FROM met AS m
LEFT JOIN reached AS r ON r.host = m.host
WHERE r.host IS NULL OR m.checked_at > r.checked_at
GROUP BY m.host

-- step: ruled
SELECT host, crawl_delay_ms, robots_digest, checked_at
FROM met
WHERE news AND robots_status <> 'unavailable'
QUALIFY row_number() OVER (PARTITION BY host ORDER BY checked_at DESC, robots_digest NULLS LAST) = 1

-- step: updated_hosts (kept)
SELECT
    coalesce(c.host, h.host) AS host,
    coalesce(c.domain, h.domain) AS domain,
    CAST(coalesce(c.bucket, h.bucket) AS INTEGER) AS bucket,
    coalesce(c.score, h.score, CAST(0 AS FLOAT)) AS score,
    coalesce(c.homepage_url, f.homepage_url, h.homepage_url) AS homepage_url,
    CASE WHEN a.news OR h.ip IS NULL THEN coalesce(a.ip, h.ip) ELSE h.ip END AS ip,
    greatest(k.checked_at, h.last_check) AS last_check,
    CAST(coalesce(u.dns_failures, 0) + CASE WHEN a.news THEN 0 ELSE coalesce(h.dns_failures, 0) END AS BIGINT)
        AS dns_failures,
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
    CASE WHEN r.host IS NULL THEN h.crawl_delay_ms ELSE r.crawl_delay_ms END AS crawl_delay_ms,
    greatest(l.retry_at, h.retry_at) AS retry_at,
    coalesce(t.rt_avg_ms, h.rt_avg_ms) AS rt_avg_ms,
    coalesce(t.rt_p50_ms, h.rt_p50_ms) AS rt_p50_ms,
    coalesce(t.rt_p75_ms, h.rt_p75_ms) AS rt_p75_ms,
    coalesce(t.rt_p95_ms, h.rt_p95_ms) AS rt_p95_ms,
    coalesce(t.rt_p99_ms, h.rt_p99_ms) AS rt_p99_ms,
    CASE WHEN r.host IS NULL THEN h.robots_digest ELSE r.robots_digest END AS robots_digest,
    CASE
        -- kept for updatedb, which may be run after this and must still see the change
        WHEN h.last_check IS NOT NULL AND r.host IS NOT NULL AND r.robots_digest IS DISTINCT FROM h.robots_digest
            THEN map_concat(h.metadata, MAP {'robots_changed': CAST(
                date_diff('second', CAST('1970-01-01 00:00:00+00' AS TIMESTAMPTZ), r.checked_at) * 1000 AS VARCHAR
            )})
        ELSE coalesce(h.metadata, CAST(MAP {} AS MAP(VARCHAR, VARCHAR)))
    END AS metadata
FROM counted AS c
FULL OUTER JOIN hostdb AS h ON h.host = c.host
LEFT JOIN front_redirects AS f ON f.host = coalesce(c.host, h.host)
LEFT JOIN timed AS t ON t.host = coalesce(c.host, h.host)
LEFT JOIN limited AS l ON l.host = coalesce(c.host, h.host)
LEFT JOIN checked AS k ON k.host = coalesce(c.host, h.host)
LEFT JOIN reached AS a ON a.host = coalesce(c.host, h.host)
LEFT JOIN unnamed AS u ON u.host = coalesce(c.host, h.host)
LEFT JOIN ruled AS r ON r.host = coalesce(c.host, h.host)
WHERE coalesce(
    c.unfetched + c.fetched + c.not_modified + c.redir_temp + c.redir_perm + c.gone + c.duplicate
        + c.parse_failed + c.robots_denied + c.orphan,
    0
) >= :min_records
