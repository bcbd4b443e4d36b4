-- The HostDb's rows meet the URLs: both inputs in one sort, a host's own row before its URLs (NUTCH-2455).
-- reads:

-- step: both_inputs
SELECT
    p.host, 0 AS place,
    CAST(NULL AS BIGINT) AS url_key, CAST(NULL AS BIGINT) AS host_key, CAST(NULL AS VARCHAR) AS domain,
    CAST(NULL AS INTEGER) AS bucket, CAST(NULL AS BIGINT) AS row_address, CAST(NULL AS DOUBLE) AS sort_value, CAST(NULL AS BOOLEAN) AS too_far,
    CAST(NULL AS INTEGER) AS interval_now,
    p.max_count, p.said_delay_ms, p.crawl_delay_ms, p.retry_at, p.ip
FROM host_policy AS p
UNION ALL
SELECT
    j.host, 1, j.url_key, j.host_key, j.domain, j.bucket, j.row_address, j.sort_value, j.too_far, j.interval_now,
    NULL, NULL, NULL, NULL, NULL
FROM candidates AS j

-- step: in_order
-- What the first row of a host says is carried on to its URLs: null where that is no HostDb row.
SELECT
    b.* EXCLUDE (max_count, said_delay_ms, crawl_delay_ms, retry_at, ip),
    first_value(b.max_count) OVER hosts AS max_count,
    first_value(b.said_delay_ms) OVER hosts AS said_delay_ms,
    first_value(b.crawl_delay_ms) OVER hosts AS crawl_delay_ms,
    first_value(b.retry_at) OVER hosts AS retry_at,
    first_value(b.ip) OVER hosts AS ip,
    first_value(b.place) OVER hosts = 0 AS in_hostdb,
    row_number() OVER hosts - CASE WHEN first_value(b.place) OVER hosts = 0 THEN 1 ELSE 0 END AS host_rank
FROM both_inputs AS b
WINDOW hosts AS (
    PARTITION BY b.host ORDER BY b.place, b.sort_value DESC NULLS LAST, b.url_key
    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
)

-- step: ranked
SELECT * EXCLUDE (place) FROM in_order WHERE place = 1
