-- Seeds meet what is known, within one bucket.
-- reads: crawldb, seeds
-- params: now, mode, default_score, default_interval

-- step: merged_seeds
-- Lines that name one URL are one seed: of each field, the last line that gives it counts.
SELECT
    url,
    any_value(url_key) AS url_key,
    any_value(host) AS host,
    any_value(host_key) AS host_key,
    any_value(domain) AS domain,
    any_value(bucket) AS bucket,
    max_by(score, line) FILTER (WHERE score IS NOT NULL) AS score,
    max_by(fetch_interval, line) FILTER (WHERE fetch_interval IS NOT NULL) AS fetch_interval,
    max_by(metadata, line) FILTER (WHERE cardinality(metadata) > 0) AS metadata
FROM seeds
GROUP BY url

-- step: seed_rows
SELECT
    url, url_key, host, host_key, domain, bucket,
    'db_unfetched' AS status,
    CAST(:now AS TIMESTAMPTZ) AS fetch_time,
    coalesce(fetch_interval, :default_interval) AS fetch_interval,
    CAST(NULL AS TIMESTAMPTZ) AS last_fetch_time,
    CAST(NULL AS TIMESTAMPTZ) AS modified_time,
    CAST(:now AS TIMESTAMPTZ) AS first_seen,
    CAST(0 AS SMALLINT) AS retries,
    CAST(coalesce(score, :default_score) AS FLOAT) AS score,
    0 AS inlinks,
    CAST(0 AS SMALLINT) AS depth,
    CAST(NULL AS BLOB) AS signature,
    CAST(NULL AS VARCHAR) AS etag,
    CAST(NULL AS VARCHAR) AS last_modified,
    CAST(NULL AS TIMESTAMPTZ) AS generate_time,
    coalesce(metadata, CAST(MAP {} AS MAP(VARCHAR, VARCHAR))) AS metadata,
    score AS given_score,
    fetch_interval AS given_interval,
    metadata AS given_metadata
FROM merged_seeds

-- step: injected (kept)
-- keep: a row that is there stays as it is. update: it takes what the seed gives. overwrite: it starts anew.
SELECT
    coalesce(c.url, s.url) AS url,
    coalesce(c.url_key, s.url_key) AS url_key,
    coalesce(c.host, s.host) AS host,
    coalesce(c.host_key, s.host_key) AS host_key,
    coalesce(c.domain, s.domain) AS domain,
    CAST(coalesce(c.bucket, s.bucket) AS INTEGER) AS bucket,
    CASE WHEN s.url IS NULL OR (c.url IS NOT NULL AND :mode <> 'overwrite') THEN c.status ELSE s.status END AS status,
    CASE WHEN s.url IS NULL OR (c.url IS NOT NULL AND :mode <> 'overwrite') THEN c.fetch_time ELSE s.fetch_time END
        AS fetch_time,
    CAST(CASE
        WHEN c.url IS NULL OR :mode = 'overwrite' AND s.url IS NOT NULL THEN s.fetch_interval
        WHEN :mode = 'update' THEN coalesce(s.given_interval, c.fetch_interval)
        ELSE c.fetch_interval
    END AS INTEGER) AS fetch_interval,
    CASE WHEN s.url IS NULL OR :mode <> 'overwrite' THEN c.last_fetch_time END AS last_fetch_time,
    CASE WHEN s.url IS NULL OR :mode <> 'overwrite' THEN c.modified_time END AS modified_time,
    CASE WHEN s.url IS NULL OR (c.url IS NOT NULL AND :mode <> 'overwrite') THEN c.first_seen ELSE s.first_seen END
        AS first_seen,
    CASE WHEN s.url IS NULL OR (c.url IS NOT NULL AND :mode <> 'overwrite') THEN c.retries ELSE s.retries END
        AS retries,
    CASE
        WHEN c.url IS NULL OR :mode = 'overwrite' AND s.url IS NOT NULL THEN s.score
        WHEN :mode = 'update' THEN CAST(coalesce(s.given_score, c.score) AS FLOAT)
        ELSE c.score
    END AS score,
    CASE WHEN s.url IS NULL OR (c.url IS NOT NULL AND :mode <> 'overwrite') THEN c.inlinks ELSE s.inlinks END
        AS inlinks,
    CASE WHEN s.url IS NULL OR (c.url IS NOT NULL AND :mode <> 'overwrite') THEN c.depth ELSE s.depth END AS depth,
    CASE WHEN s.url IS NULL OR :mode <> 'overwrite' THEN c.signature END AS signature,
    CASE WHEN s.url IS NULL OR :mode <> 'overwrite' THEN c.etag END AS etag,
    CASE WHEN s.url IS NULL OR :mode <> 'overwrite' THEN c.last_modified END AS last_modified,
    CASE WHEN s.url IS NULL OR :mode <> 'overwrite' THEN c.generate_time END AS generate_time,
    CASE
        WHEN c.url IS NULL OR :mode = 'overwrite' AND s.url IS NOT NULL THEN s.metadata
        WHEN :mode = 'update' AND s.given_metadata IS NOT NULL THEN map_concat(c.metadata, s.given_metadata)
        ELSE c.metadata
    END AS metadata
FROM crawldb AS c
FULL OUTER JOIN seed_rows AS s ON c.url_key = s.url_key AND c.url = s.url

-- step: inject_counts (kept)
SELECT
    count(*) AS urls,
    count(*) FILTER (WHERE c.url IS NULL) AS new
FROM merged_seeds AS s
LEFT JOIN crawldb AS c ON c.url_key = s.url_key AND c.url = s.url
